"""align marks nodes with words, keeps what is there, and tells what it leaves."""

import json
import runpy
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given

from graphconv import Graph, align, read
from graphconv.check import SAMPLE
from graphconv.cli import main
from graphconv.codecs import Block, amr
from graphconv.testing import CORPORA, graphs

ROOT = Path(__file__).parents[3]
GOLD = CORPORA / "alignments" / "leamr-dev.amr"


def words(sentence: str, graph: str) -> dict[str | None, str]:
    parsed = amr.parse(Block(f"# ::tok {sentence}\n{graph}", "text", 1))
    forms = sentence.split()
    labels = {node.id: node.label for node in parsed.nodes}
    return {
        labels[n]: " ".join(forms[i] for i in found) for n, found in align(parsed).words.items()
    }


def test_rules() -> None:
    found = words(
        "Barack Obama never saw the teachers of New York",
        '(s / see-01 :polarity - :ARG0 (p / person :wiki "Barack_Obama" :name (n / name :op1'
        ' "Barack" :op2 "Obama")) :ARG1 (w / worker :ARG0-of (t / teach-01) :location (c / city'
        ' :name (m / name :op1 "New" :op2 "York"))))',
    )
    assert found["see-01"] == "saw"
    assert found["-"] == "never"
    assert found["person"] == found['"Obama"'] == "Barack Obama"
    assert found["teach-01"] == "teachers"
    assert found["city"] == "New York"
    assert '"Barack_Obama"' not in found
    assert "worker" not in found


def test_equal_labels_go_to_words_near_their_neighbors() -> None:
    text = "(a / and :op1 (r / run-02 :ARG0 (d / dog)) :op2 (s / sleep-01 :ARG0 (d2 / dog)))"
    parsed = amr.parse(Block(f"# ::tok a dog sleeps and a dog runs\n{text}", "text", 1))
    assert align(parsed).words["d"] == (5,)
    assert align(parsed).words["d2"] == (1,)


@pytest.mark.property
@given(graphs("amr"))
def test_nothing_but_marks_changes(graph: Graph) -> None:
    result = align(graph)
    assert all(0 <= p < len(graph.tokens) for found in result.words.values() for p in found)
    for old, new in zip(graph.nodes, result.graph.nodes, strict=True):
        assert old._replace(anchors=(), attributes=()) == new._replace(anchors=(), attributes=())
        assert new.anchors[: len(old.anchors)] == old.anchors
        assert new.attributes[: len(old.attributes)] == old.attributes
        assert len(new.attributes) - len(old.attributes) in (0, 1)
    assert replace(result.graph, nodes=graph.nodes) == graph
    assert align(result.graph).graph == result.graph


def test_command(tmp_path: Path) -> None:
    output, report = tmp_path / "out.amr", tmp_path / "report.jsonl"
    sample = str(SAMPLE / "sample.amr")
    arguments = ["align", sample, "-o", str(output), "--report", str(report)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert "nodes have no word" in done.stderr
    aligned = list(read(output))
    assert "~e." in output.read_text(encoding="utf-8")
    entries = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()]
    assert [entry["id"] for entry in entries] == [graph.id for graph in aligned]


def test_graphs_without_a_sentence_are_told() -> None:
    done = CliRunner().invoke(main, ["align", "-"], input="(w / want-01 :ARG0 (b / boy))\n")
    assert done.exit_code == 0
    assert "~e." not in done.stdout
    assert "1 graphs have no sentence" in done.stderr


def test_other_frameworks_are_refused(tmp_path: Path) -> None:
    output = tmp_path / "out.amr"
    done = CliRunner().invoke(main, ["align", str(SAMPLE / "sample.sdp"), "-o", str(output)])
    assert done.exit_code == 1
    assert "only AMRs are aligned, not dm" in done.stderr
    assert not output.exists()


def test_statistics_say_what_rules_do_not() -> None:
    graph = "(d / delay-01 :ARG1 (t / train) :ARG1-of (c / cause-01 :ARG0 (s / snow-01)))"
    sentence = "The train was delayed due to snow ."
    assert words(sentence, graph)["cause-01"] == "due"
    parsed = amr.parse(Block(f"# ::tok {sentence}\n{graph}", "text", 1))
    assert [node.label for node in align(parsed, statistics=False).unaligned] == ["cause-01"]


def test_roles_say_which_of_several_words() -> None:
    graph = "(l / like-01 :ARG0 (h / he) :ARG1 (d / dog :ARG1-of (s / see-01 :ARG0 (h2 / he))))"
    parsed = amr.parse(Block(f"# ::tok he likes the dog he saw\n{graph}", "text", 1))
    assert align(parsed).words["h"] == (0,)
    assert align(parsed).words["h2"] == (4,)


def test_names_that_are_cut_into_words() -> None:
    found = words(
        "the B @-@ Raf gene",
        '(g / gene :name (n / name :op1 "B-Raf"))',
    )
    assert found['"B-Raf"'] == found["name"] == "B Raf"


def test_marks_stay_and_help() -> None:
    graph = '(s / say-01~e.3 :ARG0 (p / person :name (n / name :op1 "Ann"~e.2)))'
    parsed = amr.parse(Block(f"# ::tok Ann and Ann said\n{graph}", "text", 1))
    assert align(parsed).words == {"s": (3,), "p": (2,), "n": (2,), ":0": (2,)}


def test_nothing_is_sure_of_an_unknown_concept() -> None:
    graph = "(q / quux-01 :ARG0 (z / zorp))"
    parsed = amr.parse(Block(f"# ::tok the of and in a to\n{graph}", "text", 1))
    assert [node.label for node in align(parsed).unaligned] == ["quux-01", "zorp"]


def test_the_table_learns_from_what_it_is_given(tmp_path: Path) -> None:
    said = [(word, verb) for word in ("grumf", "cat", "cow") for verb in ("run", "sleep", "eat")]
    text = "\n\n".join(
        f"# ::id {number}\n# ::tok the {word} {verb}s\n"
        f"(v / {verb}-01 :ARG0 (d / {word if len(word) == 3 else 'dog'}))"
        for number, (word, verb) in enumerate(said)
    )
    (tmp_path / "some.amr").write_text(text + "\n", encoding="utf-8")
    first = text.partition("\n\n")[0]
    (tmp_path / "held.amr").write_text(first + "\n", encoding="utf-8")
    tool = runpy.run_path(str(ROOT / "tools" / "learn_alignments.py"))

    def learned(*without: Path) -> dict[str, float]:
        found = tool["learn"](tool["sentences"]([tmp_path / "some.amr"], without))
        return dict(found.pairs.get("dog", {}))

    assert learned() == {"grumf": pytest.approx(3, abs=0.2)}
    assert learned(tmp_path / "held.amr").get("grumf", 0) < 2.5


@pytest.mark.corpora
@pytest.mark.skipif(not GOLD.exists(), reason="no corpora")
def test_agrees_with_gold() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "measure_align.py"))
    f1 = [
        tool["summed"](tool["compared"](GOLD, statistics=learned)).f1()[2]
        for learned in (False, True)
    ]
    assert 85 < f1[0] < f1[1]
