"""The open AMR corpus without its sentences, and the command that puts them back."""

import gzip
import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import graphconv
from evaltools.linting.tables import ENTITY_TYPES
from transducer.frameworks.amr import read_gazetteer
from transducer.frameworks.amr.gazetteer import Gazetteer

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from join_open_amr import PUBLISHED, digest, main, read_graphs

SENTENCES = {
    "pud.n01": "He said: “It's done” — twice.",
    "ewt.a-1": "Mail me@home.org!",
    "ws.1001": "The free (open) software's here.",
    "ws.1002": "Links are blue.",
    "uw.7": "Ann's here (now).",
    "pb.give-up-07.HASH": 'She gave up: "no more", & left.',
}
SENTENCES = {key.replace("HASH", digest(text)[:6]): text for key, text in SENTENCES.items()}
AMR = "\n".join(
    f"# ::id {name}\n# ::snt {text}\n(s / sentence\n      :ord {number})\n"
    for number, (name, text) in enumerate(SENTENCES.items())
)
PUD = "# newdoc id = n\n# sent_id = n01\n# text = He said: “It's done” — twice.\n1\tHe\n\n"
EWT = "# sent_id = a-1\n# text = Mail me@home.org!\n1\tMail\n\n# sent_id = a-2\n# text = No.\n"
ITEM = (
    "1001@web@none@s@1@S@The free (open) software's here.@7@1@@me@1-1-2020\n"
    "1002@web@none@s@1@S@[[Link|Links]] are ''blue''.@4@1@@me@1-1-2020\n"
)
SDP = "#SDP 2015\n#1001\n" + "".join(
    f"{i}\t{form}\t_\t_\t-\t-\t_\n"
    for i, form in enumerate(
        ("The", "free", "(", "open", ")", "software", "’s", "here", "."), start=1
    )
)
WORD = '<node ID="0.{0}" type="Word"><attributes paragraph="1" text="{1}"/></node>'
EDGE = '<edge toID="0.{0}" type="Terminal"><attributes/></edge>'
FORMS = list(enumerate(("Ann", "'s", "here", "(", "now", ")", "."), start=1))
UCCA = (
    '<root passageID="7"><attributes/><layer layerID="0"><attributes/>'
    + "".join(WORD.format(*form) for form in FORMS)
    + '</layer><layer layerID="1"><attributes/><node ID="1.1" type="FN"><attributes/>'
    + "".join(EDGE.format(*form) for form in FORMS)
    + "</node></layer></root>"
)
FRAMES = """<frameset><predicate lemma="give_up"><roleset id="give_up.07" name="stop"><example>
<text>She gave up : `` no more '' , &amp; left .</text></example></roleset></predicate></frameset>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {"pud.conllu": PUD, "ewt.conllu": EWT, "item": ITEM, "whole.amr": AMR, "ws.sdp": SDP}
    files |= {"7.xml": UCCA, "give_up.xml": FRAMES}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    result = run(tmp_path, "--split", "whole.amr", "-o", "few.graphs.gz")
    assert result.exit_code == 0, result.output
    return tmp_path


def run(folder: Path, *arguments: str) -> Result:
    names = [a if a.startswith("-") else str(folder / a) for a in arguments]
    return CliRunner().invoke(main, names)


def joined(folder: Path, *arguments: str) -> Result:
    return run(folder, *arguments, "--graphs", "few.graphs.gz", "-o", "out.amr")


def test_the_sentences_come_back(folder: Path) -> None:
    text = gzip.decompress((folder / "few.graphs.gz").read_bytes()).decode()
    assert not any(word in text for word in ("said", "Mail", "free", "blue", "snt"))
    sources = "--pud", "pud.conllu", "--ewt", "ewt.conllu", "--wescience", "item"
    result = joined(folder, *sources, "--ucca", "7.xml", "--propbank", "give_up.xml")
    assert result.exit_code == 0, result.output
    assert (folder / "out.amr").read_text(encoding="utf-8") == AMR
    assert [graph.id for graph in graphconv.read(folder / "out.amr")] == list(SENTENCES)


def test_profiles_and_sdp_files(folder: Path) -> None:
    profile = folder / "ws01"
    profile.mkdir()
    schema = "item:\n  i-id :integer :key\n  i-input :string\n\nparse:\n  i-id :integer\n"
    (profile / "relations").write_text(schema)
    (profile / "item.gz").write_bytes(gzip.compress(b"1002@Links are blue.\n"))
    sources = "--pud", "pud.conllu", "--ewt", "ewt.conllu", "--ucca", "7.xml", "--propbank", ""
    result = joined(folder, *sources, "--wescience", "ws01", "--wescience", "ws.sdp")
    assert result.exit_code == 0, result.output
    assert (folder / "out.amr").read_text(encoding="utf-8") == AMR


def test_examples_of_propbank_as_json_lines(folder: Path) -> None:
    text = "She gave up : `` no more '' , & left ."
    line = json.dumps({"id": "give-up-07", "text": text})
    (folder / "examples.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    result = joined(folder, "--propbank", "examples.jsonl.gz", "--partial")
    assert result.exit_code == 0, result.output
    (graph,) = graphconv.read(folder / "out.amr")
    assert SENTENCES[graph.id] == graph.text


def test_what_is_missing_or_differs(folder: Path) -> None:
    (folder / "pud.conllu").write_text(PUD.replace("twice", "thrice"), encoding="utf-8")
    sources = "--pud", "pud.conllu", "--ewt", "ewt.conllu", "--ucca", "7.xml", "--propbank", ""
    result = joined(folder, *sources)
    assert result.exit_code == 1
    assert "2 sentences are missing: ws.1001, ws.1002" in result.stderr
    assert "1 sentences are not the ones that were annotated: pud.n01" in result.stderr
    assert not (folder / "out.amr").exists()
    result = joined(folder, *sources, "--partial")
    assert result.exit_code == 0
    assert [graph.id for graph in graphconv.read(folder / "out.amr")] == [
        name for name in SENTENCES if not name.startswith(("pud", "ws"))
    ]


@pytest.mark.parametrize("text", ["7@too@few\n", "\udcff"])
def test_bad_sources(folder: Path, text: str) -> None:
    (folder / "item").write_bytes(text.encode("utf-8", "surrogateescape"))
    result = joined(folder, "--wescience", "item")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert "item" in result.stderr
    (folder / "empty").mkdir()
    assert "there is none" in joined(folder, "--wescience", "empty").stderr


def test_the_hash_is_of_characters() -> None:
    assert digest("a “b”  – c") == digest('a "b" - c') != digest("a b - c")
    assert re.fullmatch("[0-9a-f]{16}", digest(""))


@pytest.mark.parametrize(
    ("name", "number", "sources"),
    [
        ("open-train.graphs.gz", 4418, {"pud", "ewt", "ws"}),
        ("open-dev.graphs", 208, {"pud", "ewt", "ws"}),
        ("open-more.graphs.gz", 1679, {"uw", "pb"}),
        ("open-mixed.graphs.gz", 1895, {"uw", "pb", "rw"}),
    ],
)
def test_what_is_published(name: str, number: int, sources: set[str]) -> None:
    blocks = list(read_graphs(PUBLISHED / name))
    assert len({graph_id for graph_id, _, _ in blocks}) == len(blocks) == number
    assert {graph_id.partition(".")[0] for graph_id, _, _ in blocks} == sources
    assert not any("::" in graph for _, _, graph in blocks)
    graphs = list(graphconv.read(PUBLISHED / name, format="amr"))
    assert [graph.id for graph in graphs] == [graph_id for graph_id, _, _ in blocks]


def test_written_sentences_are_published_with_their_graphs() -> None:
    graphs = list(graphconv.read(PUBLISHED / "written.amr.gz"))
    assert len({graph.id for graph in graphs}) == len(graphs) == 5381
    assert all(graph.id.startswith("ar.") and graph.text for graph in graphs)


def test_well_known_names_are_published() -> None:
    names = read_gazetteer(str(PUBLISHED / "names.tsv.gz"))
    assert len(names) == 41_248
    types = {reading.type for name in names for reading in Gazetteer(names).readings([name])}
    assert types <= ENTITY_TYPES
    first = {name: Gazetteer(names).readings([name])[0].type for name in ("Seychelles", "Hamas")}
    assert first == {"Seychelles": "country", "Hamas": "organization"}
