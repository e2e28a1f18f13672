"""Parses of a DM treebank's sentences: those that agree with its graphs are kept."""

import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from graphconv import Graph, loads, write

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from click.testing import CliRunner
from dm_silver import Candidate, agreement, chosen, judge, main, sentences, silver
from join_open_amr import digest

ROWS = (
    ("The", "the", "DT", "-", "+", "BV", "_", "_"),
    ("young", "young", "JJ", "-", "+", "_", "_", "_"),
    ("boy", "boy", "NN", "-", "-", "ARG1", "ARG1", "_"),
    ("likes", "like", "VBZ", "+", "+", "_", "_", "_"),
    ("it", "it", "PRP", "-", "-", "_", "_", "ARG2"),
)
"""young -ARG1-> boy, The -BV-> boy, likes -ARG2-> it; the boy is not linked to what he likes."""


def dm() -> Graph:
    rows = [list(row) for row in ROWS]
    rows[2][-1] = "ARG1"
    lines = ["#7"]
    for number, (form, lemma, pos, top, pred, *arguments) in enumerate(rows, start=1):
        lines.append("\t".join([str(number), form, lemma, pos, top, pred, "_", *arguments]))
    return loads("\n".join(lines) + "\n\n")[0]


def amr(graph: str) -> Graph:
    return loads(f"# ::id 1\n# ::tok The young boy likes it\n{graph}")[0]


GOOD = "(l / like-01~e.3 :ARG0 (b / boy~e.2 :mod (y / young~e.1)) :ARG1 (i / it~e.4))"
SHORT = "(l / like-01~e.3 :ARG1 (i / it~e.4))"
CHAIN = "(b / boy~e.2 :mod (l / like-01~e.3 :mod (i / it~e.4 :mod (y / young~e.1))))"


def test_the_same_words_and_links_agree() -> None:
    assert agreement(amr(GOOD), dm()) == 1.0
    assert agreement(amr(SHORT), dm()) < 0.8
    assert agreement(amr(CHAIN), dm()) < 1.0
    assert agreement(amr("(b / boy~e.2)"), dm()) == 0.0


def test_a_node_without_a_word_is_no_distance() -> None:
    person = ":ARG0 (p / person :mod (t / thing :mod (b / boy~e.2)))"
    named = f"(l / like-01~e.3 {person} :ARG1 (i / it~e.4) :mod (y / young~e.1))"
    assert agreement(amr(named), dm()) == 1.0


def test_the_graph_that_agrees_most_is_kept() -> None:
    found = [Candidate(amr(g), agreement(amr(g), dm())) for g in (SHORT, GOOD, GOOD)]
    assert chosen(found) is found[1]
    [kept] = silver([(dm(), found)], 0.9)
    assert (kept.id, kept.text, kept.tokens) == ("silver.7", "The young boy likes it", ())
    assert {node.anchors for node in kept.nodes} == {()}
    assert list(silver([(dm(), found[:1])], 0.9)) == []
    unsound = amr(GOOD.replace(":mod (y", ':mod "x" :mod (y'))
    assert list(silver([(dm(), [Candidate(unsound, 1.0)])], 0.9)) == []


def test_sentences_are_new_and_of_a_good_length(tmp_path: Path) -> None:
    file = str(tmp_path / "some.sdp")
    write([dm(), dm()], file)
    assert [graph.id for graph in sentences(file, set())] == ["7"]
    assert list(sentences(file, {digest("The young boy likes it")})) == []


def test_the_choice_is_judged() -> None:
    found = [Candidate(amr(g), agreement(amr(g), dm())) for g in (SHORT, GOOD)]
    table = judge([(dm(), found)], {digest("The young boy likes it"): amr(GOOD)})
    assert table.splitlines()[-1].split()[-2:] == ["100.0", "100.0"]
    assert float(table.splitlines()[-1].split()[-3]) == pytest.approx(66.7, abs=5)


@pytest.mark.parametrize("text", ["#1\n1\tbad\n", "(b / boy)\n"])
def test_a_file_that_is_not_dm_is_one_sentence(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser = Mock(stream=lambda documents, _: iter(list(documents)))
    monkeypatch.setattr("dm_silver.Transducer.shipped", lambda _: parser)
    file, output = tmp_path / "bad.sdp", tmp_path / "out.amr"
    file.write_text(text)
    result = CliRunner().invoke(main, [str(file), "-o", str(output)])
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith(f"Error: {file}")
    assert not output.exists()
