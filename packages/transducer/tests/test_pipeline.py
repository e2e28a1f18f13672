"""Text in, document out: small random models, since here only the way there counts."""

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import evaltools
import graphconv
import transducer
from graphconv import Edge, Graph, Node, Row, Token
from graphconv.errors import ConversionError
from transducer import Doc, Pipeline, Transducer
from transducer.cli import main
from transducer.errors import ConfigError, TransducerError
from transducer.frameworks.amr.anchoring import anchored, places
from transducer.frameworks.tasks import Task
from transducer.parsing.document import Mention, Problem
from transducer.parsing.pipeline import with_words

TEXT = "The boy wants to go. He left.\n\nDogs\nbark loudly, don't they?"
TASKS = ("amr", "dm", "ucca")


@pytest.fixture(scope="module")
def nlp(make_small: Callable[..., object]) -> Pipeline:
    parsers = {}
    for task in TASKS:
        small = make_small(task)
        parsers[task] = Transducer(small.task, small.vocabularies, small.model, {})  # type: ignore[attr-defined]
    return Pipeline(parsers)


@pytest.fixture
def broken(nlp: Pipeline, monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    """A pipeline whose DM model cannot finish sentences with the word *left*."""
    finish = Task.graph

    def graph(self: Task, document: object, *rest: object, **more: object) -> Graph:
        words = [token.form for part in document.sentences for token in part.tokens]  # type: ignore[attr-defined]
        if self.name == "dm" and "left" in words:
            raise ConversionError("it is broken")
        return finish(self, document, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Task, "graph", graph)
    return nlp


def test_words_and_sentences_know_their_characters(nlp: Pipeline) -> None:
    doc = nlp(TEXT)
    assert doc.text == str(doc) == TEXT
    for token in doc.tokens:
        assert token.span is not None
        assert TEXT[slice(*token.span)] == token.form
    texts = ["The boy wants to go.", "He left.", "Dogs\nbark loudly, don't they?"]
    assert [sentence.text for sentence in doc.sentences] == texts
    for sentence in doc.sentences:
        assert TEXT[sentence.start : sentence.end] == sentence.text
        words = doc.tokens[sentence.first : sentence.last]
        assert words[0].span == (sentence.start, sentence.start + len(words[0].form))
    assert [sentence.paragraph for sentence in doc.sentences] == [0, 0, 1]


def test_a_graph_a_sentence_and_a_passage_a_paragraph(nlp: Pipeline) -> None:
    doc = nlp(TEXT)
    assert (len(doc.amr), len(doc.dm), len(doc.ucca)) == (3, 3, 2)
    assert doc.graphs["dm"] == doc.dm
    assert nlp.tasks == TASKS
    assert not doc.problems


def test_all_frameworks_have_the_same_words(nlp: Pipeline) -> None:
    doc = nlp(TEXT)
    for graphs in doc.graphs.values():
        words = [
            (token.form, (token.span[0] + doc.offset(graph), token.span[1] + doc.offset(graph)))
            for graph in graphs
            for token in graph.tokens
            if token.span
        ]
        assert words == [(token.form, token.span) for token in doc.tokens]
    assert doc.amr[2].text == "Dogs bark loudly, don't they?"


def test_nodes_of_all_frameworks_are_linked_by_their_characters(nlp: Pipeline) -> None:
    doc = nlp(TEXT)
    for task in ("dm", "ucca"):
        graph = doc.graphs[task][1]
        node = next(node for node in graph.nodes if node.anchors)
        span = doc.span(graph, node.id)
        assert span is not None
        ends = (span[1], span[0] + 1) if len(node.anchors) == 1 else (span[1],)
        for end in ends:  # a part of a word is the word
            found = doc.nodes_at(span[0], end)
            assert all(span[0] <= m.span[0] and m.span[1] <= span[1] for m in found)
            assert node in [mention.node for mention in found if mention.task == task]
    assert doc.nodes_at(7, 7) == doc.nodes_at(7, 8) == []  # between two words
    everything = doc.nodes_at(0, len(TEXT))
    assert {mention.task for mention in everything} >= {"dm", "ucca"}
    assert doc.ucca[0].tops[0] in {m.node.id for m in everything if m.task == "ucca"}


def test_a_document_comes_back_from_json(nlp: Pipeline) -> None:
    doc = nlp(TEXT)
    assert Doc.from_json(json.dumps(doc.to_json())) == doc
    assert Doc.from_json(doc.to_json()) == doc


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ({"document": 2}, "version 2 of a document is not supported, only 1"),
        ({}, "this is not a parsed document: 'document' is missing"),
        ("{", "this is not a parsed document: "),
        ({**Doc("a").to_json(), "graphs": {"dm": [{"id": 1}]}}, "'id' is not a string"),
    ],
)
def test_what_is_no_document_is_told(record: object, says: str) -> None:
    with pytest.raises(TransducerError, match=says) as caught:
        Doc.from_json(record)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_a_prompt_shows_a_line_and_not_every_token(nlp: Pipeline) -> None:
    doc = nlp("He left.")
    assert repr(nlp) == "<Pipeline: amr, dm, ucca>"
    assert repr(doc) == "<Doc 'He left.': 1 amr, 1 dm, 1 ucca>"
    assert repr(Doc("word " * 100)) == f"<Doc {('word ' * 12 + '…')!r}: no graphs>"
    assert repr(Doc("a", problems=(Problem("dm", 0, "a", "why"),))) == "<Doc 'a': 1 problems>"
    boy = Mention("amr", Graph("1", "amr"), Node("b", "boy"), (4, 7))
    assert repr(boy) == "<amr graph 1: node b (boy) at (4, 7)>"
    assert repr(boy._replace(node=Node("b"))) == "<amr graph 1: node b at (4, 7)>"


def test_a_notebook_shows_every_graph(nlp: Pipeline) -> None:
    doc = nlp(TEXT)
    assert doc._repr_html_().count("<svg") == 8


def test_many_texts_are_parsed_lazily_and_in_order(nlp: Pipeline) -> None:
    texts = ["The boy left.", "", "Dogs bark. They run.", "He left at five in the morning, too."]
    read: list[str] = []

    def reader() -> object:
        for text in texts:
            read.append(text)
            yield text

    stream = nlp.pipe(reader(), batch_size=2)  # type: ignore[arg-type]
    first = next(stream)
    assert read == texts[:2]
    docs = [first, *stream]
    assert [doc.text for doc in docs] == texts
    assert docs[1].amr == docs[1].ucca == ()
    assert docs == [nlp(text) for text in texts]


def test_an_error_raises(broken: Pipeline) -> None:
    with pytest.raises(TransducerError, match=r"dm: sentence 2 is not parsed: .*'He left\.'"):
        broken(TEXT)
    with pytest.raises(TypeError, match="text 2 of the batch: a text is a string, not NoneType"):
        list(broken.pipe(["Dogs.", None]))  # type: ignore[list-item]


def test_an_error_is_skipped_or_kept_and_never_silent(broken: Pipeline) -> None:
    skipped, kept = (broken(TEXT, errors=errors) for errors in ("skip", "keep"))
    problem = Problem("dm", 1, "He left.", "it is broken")
    assert skipped.problems == kept.problems == (problem,)
    assert [graph.id for graph in skipped.dm] == ["1", "3"]
    assert [graph.id for graph in kept.dm] == ["1", "2", "3"]
    assert kept.dm[1].nodes == ()
    assert kept.dm[1].text == "He left."
    assert len(kept.amr) == 3
    assert "it is broken" in kept._repr_html_()
    assert Doc.from_json(kept.to_json()) == kept
    docs = list(broken.pipe([None, "Dogs."], errors="keep"))  # type: ignore[list-item]
    assert [len(doc.problems) for doc in docs] == [3, 0]


def test_bad_arguments_are_one_sentence(nlp: Pipeline) -> None:
    with pytest.raises(ConfigError, match="errors='ignore' is none of 'raise', 'skip', 'keep'"):
        nlp.pipe(["a"], errors="ignore")
    with pytest.raises(TypeError, match="call the pipeline itself for one text"):
        nlp.pipe("a b")
    with pytest.raises(ConfigError, match="there is no option 'beams'; there are beam"):
        nlp("a", beams=4)
    with pytest.raises(ConfigError, match="batch_size is 0"):
        nlp.pipe([], batch_size=0)
    with pytest.raises(AttributeError, match="was not parsed to psd, only to amr, dm, ucca"):
        nlp("a").psd  # noqa: B018
    with pytest.raises(ConfigError, match="say what to load"):
        transducer.load()
    with pytest.raises(ConfigError, match="drs is neither a folder nor a task"):
        transducer.load("drs")
    with pytest.raises(ConfigError, match=r"there is no folder ./nothing$"):
        transducer.load("./nothing")
    with pytest.raises(TypeError, match="load takes the names one by one, each a string, not list"):
        transducer.load(["amr", "dm"])  # type: ignore[arg-type]
    with pytest.raises(TransducerError, match="has no node 'z'"):
        nlp("He left.").span(nlp("He left.").dm[0], "z")


def test_models_are_loaded_by_folder(memorized: Callable[[str], tuple[Path, Path]]) -> None:
    file, folder = memorized("dm")
    nlp = transducer.load(folder, device="cpu")
    gold = next(graphconv.read(file))
    doc = nlp(gold.text)
    assert [token.form for token in doc.tokens] == [token.form for token in gold.tokens]
    assert doc.dm == tuple(Transducer.load(folder, "cpu").parse([gold.text]))
    assert nlp.tasks == ("dm",)
    about = doc.models["dm"]
    assert about["name"] == "model"
    assert len(about["sha256"]) == 64
    signature = f"model {about['version']} sha256:{about['sha256'][:16]}"
    assert dict(doc.dm[0].metadata)["model"] == signature
    assert dict(graphconv.loads(graphconv.dumps(doc.dm, "mrp"))[0].metadata)["model"] == signature
    with pytest.raises(ConfigError, match="there are two models for dm"):
        transducer.load(folder, folder, device="cpu")


def test_words_that_a_model_passes_over_are_words_of_the_document() -> None:
    words = tuple(Token(form, span=(3 + 2 * i, 4 + 2 * i)) for i, form in enumerate("abcb"))
    graph = Graph("1", "amr", (Token("a"), Token("b")), (Node("x", "x", (1,)),), (), ("x",))
    found = with_words(graph, words)
    assert found.nodes[0].anchors == (1,)
    assert found.span("x") == (2, 3)
    with pytest.raises(TransducerError, match="words that its sentence does not have"):
        with_words(graph, words[2:3])


def test_parse_takes_raw_sentences_and_tokens(nlp: Pipeline) -> None:
    parser = nlp.parsers["amr"]
    raw = parser.parse(["The boy goes."])
    assert [token.form for token in raw[0].tokens] == ["The", "boy", "goes", "."]
    assert raw[0].text == "The boy goes."
    strings = parser.parse([["The", "boy", "goes", "."]])
    tokens = parser.parse([[Token(form) for form in ("The", "boy", "goes", ".")]])
    blanks = parser.parse(["The boy goes ."], tokenized=True)
    assert strings == tokens == blanks
    assert raw[0].nodes == blanks[0].nodes
    [graph] = nlp.parsers["dm"].parse(["Don't go.\u200b"], tokenized=True)
    assert [token.form for token in graph.tokens] == ["Don't", "go."]


def test_parse_raises_skips_or_keeps(broken: Pipeline, caplog: pytest.LogCaptureFixture) -> None:
    parser = broken.parsers["dm"]
    texts = ["Dogs bark.", "He left.", ""]
    with pytest.raises(TransducerError, match="sentence 2: it is broken"):
        parser.parse(texts)
    with caplog.at_level(logging.WARNING):
        assert [graph.id for graph in parser.parse(texts, errors="skip")] == ["1"]
    assert "sentence 2 is left out: it is broken" in caplog.text
    kept = parser.parse(texts, errors="keep")
    assert [graph.id for graph in kept] == ["1", "2", "3"]
    assert kept[1].metadata == (("problem", "it is broken"),)
    with pytest.raises(TypeError, match="put the string into a list"):
        parser.parse("He left.")
    with pytest.raises(TypeError, match="a token is a string, not int"):
        parser.parse([[1]])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="a sentence is a string or a list of tokens, not int"):
        parser.parse([1])  # type: ignore[list-item]


def test_the_command_writes_a_document_a_line(
    memorized: Callable[[str], tuple[Path, Path]], tmp_path: Path
) -> None:
    folder = memorized("dm")[1]
    text = tmp_path / "text.txt"
    text.write_text("Dogs bark. They\nrun.\n\nHe left.\n")
    command = ["parse", "--model", str(folder), str(text), "--to", "json", "--device", "cpu"]
    run = CliRunner().invoke(main, command)
    assert run.exit_code == 0, run.output
    docs = [Doc.from_json(line) for line in run.stdout.splitlines()]
    assert [(doc.id, doc.text) for doc in docs] == [
        ("1", "Dogs bark. They\nrun.\n"),
        ("2", "He left.\n"),
    ]
    assert [len(doc.dm) for doc in docs] == [2, 1]
    lines = CliRunner().invoke(main, [*command, "--input", "sentences"]).stdout.splitlines()
    assert len(lines) == 3
    for arguments, says in (
        (["--input", "treebank"], "choose --input text or --input sentences"),
        (["--scores"], "--scores does not go with --to json"),
        (["--model", str(folder)], "there are two models for dm"),
        (["--model", str(folder), "--to", "sdp"], "several models are written with --to json"),
    ):
        run = CliRunner().invoke(main, [*command, *arguments])
        assert run.exit_code != 0
        assert says in run.stderr


def test_parsed_amr_nodes_know_their_words(nlp: Pipeline) -> None:
    doc = nlp("The boy wants to go.")
    [graph] = doc.amr
    assert graph.nodes
    assert all(len(node.anchors) == 1 for node in graph.nodes)
    found = {m.node.id for m in doc.nodes_at(0, len(doc.text)) if m.task == "amr"}
    assert found == {node.id for node in graph.nodes}


def test_alignments_are_written_to_penman(
    memorized: Callable[[str], tuple[Path, Path]],
) -> None:
    file, folder = memorized("amr")
    command = ["parse", "--model", str(folder), str(file), "--device", "cpu"]
    plain = CliRunner().invoke(main, command).stdout
    isi, jamr = (
        CliRunner().invoke(main, [*command, "--alignments", style]).stdout
        for style in ("isi", "jamr")
    )
    assert "~" not in plain
    assert "::alignments" not in plain
    for text in (isi, jamr):
        assert evaltools.score(plain, text).f1 == 100  # scorers pass over alignments
    marked, listed = graphconv.loads(isi), graphconv.loads(jamr)
    for one, two in zip(marked, listed, strict=True):
        assert [node.anchors for node in one.nodes] == [node.anchors for node in two.nodes]
    assert any(node.anchors for graph in marked for node in graph.nodes)
    refused = CliRunner().invoke(main, [*command, "--alignments", "isi", "--to", "mrp"])
    assert refused.exit_code == 1
    assert "--alignments is for AMR in PENMAN" in refused.stderr


def test_what_holds_a_name_together_stands_for_its_words() -> None:
    rows = (
        Row("city", 1, 0, "root"),
        Row("name", 2, 1, "name"),
        Row("=New", 3, 2, "op1"),
        Row("=York", 4, 2, "op2"),
        Row("=-", 5, 1, "polarity"),
    )
    forms = ("Not", "New", "York", "!")
    offers = tuple((f"={form}",) for form in forms)
    graph = Graph(
        "1",
        "amr",
        tuple(map(Token, forms)),
        tuple(
            Node(f"n{row.index}", row.label.strip("="), constant="=" in row.label) for row in rows
        ),
        tuple(Edge(f"n{row.head}", f"n{row.index}", row.relation) for row in rows[1:]),
        ("n1",),
    )
    found = places(rows, forms, offers, [(0.1, 0.1, 0.1, 0.7)] * 5)
    anchors = [node.anchors for node in anchored(graph, found).nodes]
    assert anchors == [(1, 2), (1, 2), (1,), (2,), (0,)]
