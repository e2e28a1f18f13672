"""The commands that use a model: every input, every output, and nothing that stops them."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

import graphconv
from evaltools.validity import faults
from graphconv.graph import Graph, attribute
from transducer import Transducer
from transducer.cli import main
from transducer.cli.loading import decode_settings
from transducer.config import DecodeConfig
from transducer.frameworks.tasks import Document, Task
from transducer.parsing.inputs import gold_documents, guess_kind

TASKS = ("amr", "dm", "ucca")
# What no weights can make of any text; the rest is a matter of training.
INVALID = {
    "empty", "no root", "node without a label", "token in no unit", "token in two units",
    "unit without content", "two primary parents",
}  # fmt: skip
NATIVE = {"amr": "amr", "dm": "sdp", "ucca": "ucca"}

Memorized = Callable[[str], tuple[Path, Path]]


def run(*arguments: object, stdin: str | bytes | None = None) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def parse(
    model: Path, *arguments: object, stdin: str | bytes | None = None, exit_code: int = 0
) -> Result:
    result = run("parse", "--model", model, "--device", "cpu", *arguments, stdin=stdin)
    assert result.exit_code == exit_code, result.output
    return result


def texts(file: Path) -> list[str]:
    return [" ".join(token.form for token in graph.tokens) for graph in graphconv.read(file)]


def shape(graph: Graph) -> Any:
    """Return what of a graph does not depend on the names of nodes."""
    ends = {end for edge in graph.edges for end in (edge.source, edge.target)} | set(graph.tops)
    labels = {node.id: node.label for node in graph.nodes if node.id in ends}
    edges = sorted((str(labels[e.source]), e.label, str(labels[e.target])) for e in graph.edges)
    return sorted(map(str, labels.values())), edges


# Input and output --------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_treebank_in_treebank_out(task: str, memorized: Memorized, tmp_path: Path) -> None:
    file, model = memorized(task)
    gold = list(graphconv.read(file, framework=task))
    for to in (NATIVE[task], "mrp", "arborescence", "relations"):
        path = tmp_path / f"out-{to}"
        parse(model, file, "-o", path, "--to", to)
        back = list(graphconv.read(path, framework=task))
        assert [graph.id for graph in back] == [graph.id for graph in gold]
        for own, expected in zip(back, gold, strict=True):
            own.validate()
            assert shape(own) == shape(expected)
    assert not list(tmp_path.glob("*.part*"))


def test_amr_keeps_ids_and_sentences(memorized: Memorized) -> None:
    file, model = memorized("amr")
    lines = parse(model, file).stdout.splitlines()
    gold = list(graphconv.read(file))
    said = [line.removeprefix("# ::snt ") for line in lines if line.startswith("# ::snt")]
    assert said == [attribute(graph.metadata, "snt") for graph in gold]
    ids = [line.split()[2] for line in lines if line.startswith("# ::id")]
    assert ids == [graph.id for graph in gold]


def test_sdp_columns(memorized: Memorized) -> None:
    file, model = memorized("dm")
    output = parse(model, file).stdout
    assert output.count("#SDP 2015") == 1
    assert output.startswith("#SDP 2015\n")
    for block in output.split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if line[:1].isdigit()]
        predicates = [row for row in rows if row[5] == "+"]
        columns = list(zip(*(row[7:] for row in rows), strict=True))
        assert len(columns) == len(predicates)
        assert all(any(cell != "_" for cell in column) for column in columns)
        assert all(row[6] == "_" for row in rows)


@pytest.mark.parametrize("task", TASKS)
def test_tokens_sentences_and_text_give_the_same_graphs(
    task: str, memorized: Memorized, tmp_path: Path
) -> None:
    file, model = memorized(task)
    sentences = texts(file)[:5]
    raw = [sentence.replace(" .", ".").replace(" ,", ",") for sentence in sentences]
    found = []
    for kind, text in (
        ("tokens", "\n".join(sentences)),
        ("sentences", "\n".join(raw)),
        ("text", "\n\n".join(raw)),
    ):
        path = tmp_path / f"{kind}.mrp"
        parse(model, "--input", kind, "--to", "mrp", "-o", path, stdin=text)
        found.append([shape(graph) for graph in graphconv.read(path)])
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 5


def test_order_and_empty_lines_are_kept(memorized: Memorized) -> None:
    file, model = memorized("amr")
    sentences = texts(file)
    text = f"{sentences[0]}\n\n   \n{sentences[1]}\n\x00\x07\n{sentences[2]}"
    result = parse(model, "--input", "tokens", stdin=text)
    lines = result.stdout.splitlines()
    assert [line for line in lines if line.startswith("# ::id")] == [
        "# ::id 1", "# ::id 4", "# ::id 6",
    ]  # fmt: skip
    said = [line.removeprefix("# ::snt ") for line in lines if line.startswith("# ::snt")]
    assert said == sentences[:3]


@pytest.mark.parametrize("task", TASKS)
def test_text_is_data(task: str, memorized: Memorized, tmp_path: Path) -> None:
    model = memorized(task)[1]
    odd = [
        "Nul\x00 bell\x07 and \x1b[31m red.", "😀 👩‍👩‍👧 🇩🇪!", "שלום עולם. مرحبا بالعالم.",
        "\ufeff \u200f\u202eabc\u202c", "(((( / :ARG0 \" \\ ~e.1", "# ::id fake", "#SDP 2015",
        "a\tb\tc", "<root>&amp;</root>", "x" * 3000, "word " * 120, "日本語の文。",
    ]  # fmt: skip
    text = "\n".join(odd).encode()
    for kind in ("tokens", "sentences", "text"):
        path = tmp_path / kind
        parse(model, "--input", kind, "-o", path, "--batch-tokens", 500, stdin=text)
        back = list(graphconv.read(path, framework=task))
        # The odd lines are one paragraph of running text: few sentences, for UCCA one passage.
        assert len(back) >= (1 if kind == "text" else 11)
        assert not [found for graph in back if (found := INVALID & set(faults(graph)))]


def test_too_long_a_sentence_is_refused_or_cut(
    memorized: Memorized, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("frameworks.ucca", "parsing.parser", "parsing.inputs"):
        monkeypatch.setattr(f"transducer.{module}.LONGEST", 30)
    text = "a b c\n" + "word , " * 20 + "\nthe end ."
    result = parse(memorized("dm")[1], "--input", "tokens", stdin=text, exit_code=1)
    assert "sentence 2 is not parsed: it has 40 tokens, and 30 is the most" in result.stderr
    assert [line for line in result.stdout.splitlines() if line in ("#1", "#2", "#3")] == [
        "#1",
        "#3",
    ]
    result = parse(memorized("dm")[1], "--input", "text", stdin=text)
    assert "not parsed" not in result.stderr
    path = tmp_path / "passages"
    parse(memorized("ucca")[1], "--input", "tokens", "-o", path, stdin=text)
    assert [len(graph.tokens) for graph in graphconv.read(path)] == [3, 40, 3]


def test_what_cannot_be_parsed_is_told_and_the_rest_goes_on(
    memorized: Memorized, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, model = memorized("dm")
    broken = tmp_path / "broken.sdp"
    broken.write_text(file.read_text(encoding="utf-8") + "#x\n1\tbad\n\n", encoding="utf-8")
    result = parse(model, broken, exit_code=1)
    assert result.stdout.count("\n\n") == 10
    assert "broken.sdp" in result.stderr

    own = Task.graph

    def graph(self: Any, document: Any, *found: Any, **more: Any) -> Graph:
        if document.id == "2":
            raise graphconv.ConversionError("this one is odd")
        return own(self, document, *found, **more)

    monkeypatch.setattr(Task, "graph", graph)
    result = parse(model, "--input", "tokens", stdin="a b\nc d\ne f\n", exit_code=1)
    assert result.stderr == "<stdin>: sentence 2 is not parsed: this one is odd\n"
    assert "#1\n" in result.stdout
    assert "#3\n" in result.stdout


def test_zero_is_a_setting(
    memorized: Memorized, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    shutil.copytree(memorized("dm")[1], model)
    setup = json.loads((model / "config.json").read_text(encoding="utf-8"))
    setup["config"]["decode"]["length_penalty"] = 0.5
    (model / "config.json").write_text(json.dumps(setup), encoding="utf-8")
    seen = []
    own = Transducer.decode

    def decode(self: Any, items: Any, settings: Any, **more: Any) -> Any:
        seen.append(settings.length_penalty)
        return own(self, items, settings, **more)

    monkeypatch.setattr(Transducer, "decode", decode)
    for arguments in ((), ("--length-penalty", 0), ("--length-penalty", 0.3)):
        parse(model, "--input", "tokens", *arguments, stdin="a b\n")
    assert seen == [0.5, 0.0, 0.3]


def test_packed_output(memorized: Memorized, tmp_path: Path) -> None:
    file, model = memorized("dm")
    parse(model, file, "-o", tmp_path / "out.sdp.gz")
    plain = parse(model, file).stdout
    assert gzip.decompress((tmp_path / "out.sdp.gz").read_bytes()).decode() == plain


# Details -----------------------------------------------------------------------------------------


def test_nbest_scores_and_alignments(memorized: Memorized, tmp_path: Path) -> None:
    file, model = memorized("dm")
    lines = parse(model, file, "--nbest", 3).stdout.splitlines()
    records = [json.loads(line) for line in lines]
    assert len(records) == 10
    for record in records:
        [hypotheses] = record["sentences"]
        scores = [hypothesis["score"] for hypothesis in hypotheses]
        assert 1 <= len(scores) <= 3
        assert scores == sorted(scores, reverse=True)
    aligned = tmp_path / "alignments.jsonl"
    output = parse(model, file, "--scores", "--attention", aligned).stdout.splitlines()
    for line, alignment in zip(output, aligned.read_text().splitlines(), strict=True):
        [[best]] = json.loads(line)["sentences"]
        without_end = sum(row["score"] for row in best["rows"])
        assert best["score"] - 1e-4 <= without_end <= 1e-4
        [sentence] = json.loads(alignment)["sentences"]
        assert len(sentence["rows"]) == len(best["rows"])
        for row in sentence["rows"]:
            assert len(row["attention"]) == len(sentence["tokens"])
            assert sum(row["attention"]) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("task", TASKS)
def test_incremental_tells_the_relations_of_the_parse(task: str, memorized: Memorized) -> None:
    file, model = memorized(task)
    lines = parse(model, file, "--incremental", "--input", "treebank").stdout.split("\n")
    told = [line.split("\t") for line in lines if line]
    scored = parse(model, file, "--scores", "--beam", 1).stdout.splitlines()
    rows = [
        (row["relation"], row["label"], str(row["index"]))
        for line in scored
        for [best] in json.loads(line)["sentences"]
        for row in best["rows"]
    ]
    assert [(line[3], line[4], line[5]) for line in told] == rows


def test_options_turn_settings_of_the_model_on_and_off() -> None:
    own = DecodeConfig(int8=True, limit_copies=True, length_penalty=1.0)
    parser: Any = SimpleNamespace(task=SimpleNamespace(config=SimpleNamespace(decode=own)))
    said = {"int8": False, "unique_core_roles": True, "limit_copies": None, "length_penalty": 0.0}
    assert decode_settings(parser, said) == DecodeConfig(limit_copies=True, unique_core_roles=True)


def test_unique_core_roles(memorized: Memorized) -> None:
    file, model = memorized("dm")
    path = parse(model, file, "--unique-core-roles", "--to", "mrp").stdout
    for line in path.splitlines():
        edges = json.loads(line).get("edges", [])
        core = [(e["source"], e["label"]) for e in edges if e["label"].startswith("ARG")]
        assert len(core) == len(set(core))


def test_evaluate_prints_a_table(memorized: Memorized) -> None:
    file, model = memorized("amr")
    result = run("evaluate", "--model", model, file, "--fine-grained")
    assert result.exit_code == 0, result.output
    assert "10 graphs, 0 unparsed, beam 1" in result.output
    assert "faults: none" in result.output
    assert "100.00" in result.output


def test_evaluate_can_leave_out_the_tags_of_the_treebank(
    memorized: Memorized, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, model = memorized("dm")
    seen: list[set[str | None]] = []

    def documents(task: Task, graphs: Sequence[Graph], annotator: None) -> Iterator[Document]:
        seen.append({token.pos for graph in graphs for token in graph.tokens})
        return gold_documents(task, graphs, annotator)

    monkeypatch.setattr("transducer.parsing.report.gold_documents", documents)
    for options in ((), ("--untagged",)):
        assert run("evaluate", "--model", model, file, *options).exit_code == 0
    assert None not in seen[0]
    assert seen[1] == {None}


def test_inspect(memorized: Memorized) -> None:
    assert "paper-amr2" in run("inspect").output.splitlines()
    assert json.loads(run("inspect", "tiny", "--task", "dm").output)["task"] == "dm"
    about = json.loads(run("inspect", memorized("dm")[1]).output)
    assert about["config"]["task"] == "dm"
    assert about["vocabularies"]["relations"] > 3
    assert about["score"]["dev_f1"] == pytest.approx(100)
    assert about["weights_bytes"] > 1000


def test_annotate_and_annotators(
    memorized: Memorized, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    file, model = memorized("ucca")
    path = tmp_path / "annotated"
    result = run("annotate", file, "-o", path, "--annotator", "annotators_for_tests:Upper")
    assert result.exit_code == 0, result.output
    graphs = list(graphconv.read(path))
    assert all(token.pos == token.form.upper() for graph in graphs for token in graph.tokens)
    result = run("annotate", file, "--annotator", "annotators_for_tests:nobody")
    assert (result.exit_code, result.output.count("\n")) == (1, 1)
    assert run("annotate", file, "--annotator", "none").exit_code == 1
    parse(model, "--annotator", "annotators_for_tests:Upper", stdin="A dog barks.")
    result = run("parse", "--model", model, "--annotator", "no-such-pipeline", stdin="A dog.")
    assert (result.exit_code, result.output.count("\n")) == (1, 1)


def test_preprocess_and_postprocess_are_inverse(memorized: Memorized, tmp_path: Path) -> None:
    file, model = memorized("amr")
    small, back = tmp_path / "small.amr", tmp_path / "back.amr"
    result = run("preprocess", file, "--model", model, "-o", small)
    assert result.exit_code == 0, result.output
    steps = [line.split()[0] for line in result.stderr.splitlines()]
    assert steps == ["step", "before", "wiki", "senses", "all"]
    assert "-01" not in small.read_text(encoding="utf-8")
    result = run("postprocess", small, "--model", model, "-o", back)
    assert result.exit_code == 0, result.output
    shown = {line.split()[0]: line.split()[1:] for line in result.stderr.splitlines()}
    assert list(shown) == steps
    assert int(shown["senses"][0]) > 0
    for left, right in zip(graphconv.read(file), graphconv.read(back), strict=True):
        assert shape(left) == shape(right)
    learned = run("preprocess", file, "--step", "senses").stdout
    assert learned == run("preprocess", file, "--train", file, "--step", "senses").stdout
    assert "-01" not in learned
    for arguments in (["postprocess", small], ["preprocess", file, "--model", tmp_path]):
        assert run(*arguments).exit_code == 1
    assert "not for amr" in run("postprocess", small, "--model", memorized("dm")[1]).output
    assert "there is no AMR" in run("preprocess", memorized("dm")[0]).output


def test_pre_and_postprocessing_of_broken_files(tmp_path: Path) -> None:
    path = tmp_path / "broken.amr"
    path.write_text("# ::id x\n(a / b :ARG0 (c / d\n\n# ::id y\n(w / want-01)\n", encoding="utf-8")
    for command in (["preprocess"], ["postprocess", "--train", path]):
        result = run(*command, path)
        assert (result.exit_code, result.output.count("\n")) == (1, 1)
        assert "broken.amr:2" in result.output
    result = run("preprocess", "--skip-invalid", path)
    assert result.exit_code == 0, result.output
    assert "broken.amr:2" in result.stderr
    assert "# ::id y" in result.stdout
    path.write_text("", encoding="utf-8")
    assert run("preprocess", path).exit_code == 1


def test_preprocessing_reads_standard_input_once(tmp_path: Path) -> None:
    graph = "# ::id y\n# ::snt He wants it .\n(w / want-01 :ARG0 (h / he) :ARG1 (i / it))\n"
    path = tmp_path / "one.amr"
    path.write_text(graph, encoding="utf-8")
    piped = run("preprocess", "-", stdin=graph)
    assert (piped.exit_code, piped.stdout) == (0, run("preprocess", path).stdout)


# What is it? -------------------------------------------------------------------------------------


def test_kinds_are_guessed_by_name_and_content(memorized: Memorized, tmp_path: Path) -> None:
    for task in ("amr", "dm"):
        file = memorized(task)[0]
        assert guess_kind(str(file)) == "treebank"
        other = tmp_path / f"{task}.txt"
        shutil.copy(file, other)
        assert guess_kind(str(other)) == "treebank"
        packed = tmp_path / f"{task}.packed"
        packed.write_bytes(gzip.compress(file.read_bytes()))
        assert guess_kind(str(packed)) == "treebank"
    assert guess_kind(str(memorized("ucca")[0])) == "treebank"
    for text in ("A dog barks.", "", "(He left.)", "<b>Bold</b> words", "# A heading", "{x}"):
        path = tmp_path / "text"
        path.write_text(text, encoding="utf-8")
        assert guess_kind(str(path)) == "text", text


def test_sentences_a_line_and_wrapped_lines_are_told_apart(tmp_path: Path) -> None:
    def guess(text: str, **options: Any) -> tuple[str, list[str]]:
        path = tmp_path / "text"
        path.write_text(text, encoding=options.get("encoding", "utf-8"))
        notes: list[str] = []
        return guess_kind(str(path), on_note=notes.append, **options), notes

    assert guess("A dog barks.\nIt is old.\n") == ("text", [])
    kind, (note,) = guess("The boy wants to go\nThe girl sleeps\n")
    assert kind == "sentences"
    assert "--input text" in note
    kind, (note,) = guess("The boy wants\nto go. The girl\nsleeps.\n")
    assert kind == "text"
    assert "--input sentences" in note
    assert guess("The boy goes\nA girl\n", encoding="utf-16")[0] == "sentences"
    # What follows the beginning of a long file is not seen, and its last line may be cut there.
    assert guess("A dog barks.\n" * 20_000) == ("text", [])


def test_the_guess_is_said_and_can_be_changed(memorized: Memorized) -> None:
    model = str(memorized("dm")[1])
    text = "A dog barks\nThe boy goes\n"
    options = ("parse", "--model", model, "--to", "mrp", "-")
    said = run(*options, stdin=text)
    assert len(said.stdout.splitlines()) == 2
    assert "one sentence a line; --input text" in said.stderr
    joined = run(*options, "--input", "text", stdin=text)
    assert len(joined.stdout.splitlines()) == 1
    assert "--input" not in joined.stderr


def test_a_treebank_on_standard_input(memorized: Memorized) -> None:
    file, model = memorized("dm")
    assert parse(model, stdin=file.read_bytes()).stdout == parse(model, file).stdout
    assert parse(model, stdin="A dog barks. It runs.").stdout.count("\n\n") == 2


def test_wrong_wishes_are_one_sentence(memorized: Memorized, tmp_path: Path) -> None:
    file, model = memorized("dm")
    cases: dict[tuple[object, ...], str] = {
        (file, "--to", "amr"): "the format amr cannot hold dm graphs",
        (file, "-o", tmp_path): "is a folder, where a file is to be written",
        (file, "--device", "x"): "there is no device 'x' here",
        (
            tmp_path,
            "--input",
            "treebank",
        ): "there is no .xml or .sdp or .mrp or .amr or .txt file in the folder",
    }
    for arguments, message in cases.items():
        result = run("parse", "--model", model, *arguments)
        assert message in result.output, arguments
    assert run("parse", "--model", tmp_path, file).exit_code == 1


def test_python(memorized: Memorized) -> None:
    file, model = memorized("dm")
    gold = next(iter(graphconv.read(file)))
    [graph] = Transducer.load(model).parse([gold.tokens])
    assert shape(graph) == shape(gold)
    assert [graph.id for graph in Transducer.load(model).parse(["a b", "c"], tokenized=True)] == [
        "1",
        "2",
    ]
