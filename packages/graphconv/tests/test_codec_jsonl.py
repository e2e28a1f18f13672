"""Our own formats: arborescences as JSON lines, relations as JSON lines and TSV."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphconv import io
from graphconv.arborescence import Arborescence, Relation, Row
from graphconv.codecs import Block, arborescence, relations
from graphconv.conversion import from_relations, to_graph
from graphconv.errors import FormatError
from graphconv.graph import Token
from graphconv.testing import arborescences

TREE = Arborescence(
    "1",
    "dm",
    tokens=(
        Token("He", "he", "PRP"),
        Token("saw", "see", "VBD", (3, 6), (("frame", "v"),)),
        Token("_"),
    ),
    rows=(Row("saw", 1, 0, "root", (1,)), Row("He", 2, 1, "ARG1", (0,)), Row("_", 3, 1, "#", (2,))),
    side={"ids": ["2", "1", "3"], "extras": [["format", "sdp2014"]]},
)
BARE = Arborescence("1", "dm", tuple(Token(*token[:3]) for token in TREE.tokens), TREE.rows)

ANY_TREE = st.sampled_from(["dm", "amr", "ucca", "eds", "ptg", "drg"]).flatmap(arborescences)


def block(text: str) -> Block:
    return Block(text, "a", 1)


def changed(record: str, **changes: Any) -> str:
    data = {**json.loads(record), **changes}
    return json.dumps({key: value for key, value in data.items() if value != "absent"})


def test_an_arborescence_is_one_line() -> None:
    line = arborescence.format(TREE)
    assert json.loads(line) == {
        "arborescence": 1,
        "id": "1",
        "framework": "dm",
        "tokens": [["He", "he", "PRP"], ["saw", "see", "VBD", [3, 6], [["frame", "v"]]], ["_"]],
        "rows": [["saw", 1, 0, "root", [1]], ["He", 2, 1, "ARG1", [0]], ["_", 3, 1, "#", [2]]],
        "side": {"ids": ["2", "1", "3"], "extras": [["format", "sdp2014"]]},
    }
    assert line.count("\n") == 1
    assert arborescence.parse(block(line)) == TREE


def test_relations_say_nothing_else() -> None:
    record = json.loads(relations.format(TREE))
    assert record == {
        "id": "1",
        "framework": "dm",
        "tokens": [["He", "he", "PRP"], ["saw", "see", "VBD"], ["_", None, None]],
        "relations": [
            ["<root>", 0, "root", "saw", 1, 1],
            ["saw", 1, "ARG1", "He", 2, 0],
            ["saw", 1, "#", "_", 3, 2],
        ],
    }
    assert relations.parse(block(relations.format(TREE))) == BARE


def test_relations_as_tsv() -> None:
    text = relations.format_tsv(TREE)
    assert text == (
        "#id\t1\n#framework\tdm\n#token\tHe\the\tPRP\n#token\tsaw\tsee\tVBD\n#token\t\\_\t_\t_\n"
        "<root>\t0\troot\tsaw\t1\t1\nsaw\t1\tARG1\tHe\t2\t0\nsaw\t1\t#\t\\_\t3\t2\n\n"
    )
    assert relations.parse(block(text)) == BARE


@pytest.mark.parametrize(
    "odd", ["#", "#id", "_", "\\_", "\\", "a\tb", "a\nb", "\r", "", " ", "\\#"]
)
def test_tsv_escapes_what_it_must(odd: str) -> None:
    tree = Arborescence(
        odd,
        "amr",
        (Token(odd, odd, odd), Token(odd, None, odd)),
        (Row(odd, 1, 0, "root"), Row(odd, 2, 1, odd), Row("x", 3, 2, odd)),
    )
    text = relations.format_tsv(tree)
    assert text.count("\n\n") == 1
    (only,) = relations.blocks(text.splitlines(keepends=True), "a.tsv")
    assert relations.parse(only) == tree


@pytest.mark.property
@given(ANY_TREE)
def test_every_arborescence_comes_back(tree: Arborescence) -> None:
    assert arborescence.parse(block(arborescence.format(tree))) == tree


@pytest.mark.property
@given(ANY_TREE)
def test_every_relation_sequence_comes_back(tree: Arborescence) -> None:
    bare = Arborescence(
        tree.id, tree.framework, tuple(Token(*token[:3]) for token in tree.tokens), tree.rows
    )
    assert relations.parse(block(relations.format(tree))) == bare
    lines = relations.format_tsv(tree).split("\n")
    (only,) = relations.blocks([line + "\n" for line in lines], "a.tsv")
    assert relations.parse(only) == bare


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arborescence": 2}, "version 2 of the record is not supported, only 1"),
        ({"arborescence": True}, "'arborescence' is not a whole number"),
        ({"arborescence": "absent"}, "'arborescence' is missing"),
        ({"id": 1}, "'id' is not a string"),
        ({"id": "absent"}, "'id' is missing"),
        ({"framework": "ud"}, "unknown framework 'ud'"),
        ({"more": 1}, "unknown key 'more'"),
        ({"side": []}, "'side' is not an object"),
        ({"tokens": {}}, "'tokens' is not a list"),
        ({"tokens": ["He"]}, "a token is not a list"),
        ({"tokens": [[]]}, "a token does not have 1 to 5 elements"),
        ({"tokens": [[1]]}, "a form is not a string"),
        ({"tokens": [["a", 1]]}, "a lemma is not a string"),
        ({"tokens": [["a", None, None, [1]]]}, "a span does not have 2 elements"),
        ({"tokens": [["a", None, None, [1, 2.5]]]}, "an element of a span is not a whole number"),
        ({"tokens": [["a", None, None, None, {"x": 1}]]}, "the list of features is not a list"),
        ({"tokens": [["a", None, None, None, [["x"]]]]}, "a feature is not a pair"),
        ({"tokens": [["a", None, None, None, [["x", {"y": 1}]]]]}, "the value of a feature is not"),
        ({"rows": [["a", 1, 0]]}, "a row does not have 4 or 5 elements"),
        ({"rows": [["a", 1, "0", "root"]]}, "the head of a row is not a whole number"),
        (
            {"rows": [["a", 2, 0, "root"]]},
            "row 1 has index 2, which is not the first row of a node",
        ),
        ({"rows": [["a", 1, 1, "root"]]}, "row 1 hangs below row 1, which breaks the pre-order"),
        (
            {"rows": [["a", 1, 0, "root", [3]]]},
            "row 1 is anchored to token 3, which does not exist",
        ),
    ],
)
def test_bad_arborescences_name_their_line(changes: dict[str, Any], message: str) -> None:
    text = changed(arborescence.format(TREE), **changes)
    with pytest.raises(FormatError) as caught:
        arborescence.parse(Block(text, "a.jsonl", 5))
    assert caught.value.message.startswith(message)
    assert str(caught.value).startswith("a.jsonl:5: ")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"framework": "absent"}, "'framework' is missing"),
        ({"side": {}}, "unknown key 'side'"),
        ({"tokens": [["a"]]}, "a token does not have 3 elements"),
        ({"relations": [["<root>", 0, "root", "a", 1]]}, "a relation does not have 6 elements"),
        ({"relations": [["<root>", 0, "root", "a", 1.5, None]]}, "the index is not a whole number"),
        ({"relations": [["<root>", 0, "root", "a", 1, 7]]}, "row 1 is anchored to token 7"),
        (
            {"relations": [["a", 1, "root", "a", 1, None]]},
            "the source of relation 1 is ('<root>', 0), not",
        ),
        (
            {"relations": [["x", 0, "root", "a", 1, None]]},
            "the source of relation 1 is ('<root>', 0), not ('x', 0)",
        ),
    ],
)
def test_bad_relations_name_their_line(changes: dict[str, Any], message: str) -> None:
    text = changed(relations.format(TREE), **changes)
    with pytest.raises(FormatError) as caught:
        relations.parse(Block(text, "a.jsonl", 5))
    assert caught.value.message.startswith(message)
    assert str(caught.value).startswith("a.jsonl:5: ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("saw\t1\tARG1\tHe\t2", "6 columns expected in a relation, 5 found"),
        ("saw\tx\tARG1\tHe\t2\t0", "'x' is not a number"),
        ("saw\t1\tARG1\t\\x\t2\t0", "unknown escape in '\\\\x'"),
        ("saw\t1\tARG1\t\\", "6 columns expected"),
        ("#word\tx", "not a comment line of this format"),
        ("#id\t2", "two values of #id"),
        ("#token\tx", "not a comment line of this format"),
    ],
)
def test_bad_tsv_is_refused(line: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        relations.parse(block(relations.format_tsv(TREE).rstrip("\n") + f"\n{line}\n"))
    assert caught.value.message.startswith(message)
    assert (caught.value.lineno, caught.value.text) == (9, line)


@pytest.mark.parametrize("text", ["{", "[]", '{"a": NaN}', '"x"', "[" * 100_000, '{"a": 1} x'])
@pytest.mark.parametrize("codec", [arborescence, relations])
def test_what_is_no_json_object_is_refused(codec: Any, text: str) -> None:
    with pytest.raises(FormatError):
        codec.parse(block(text))


def test_what_json_cannot_hold_is_refused() -> None:
    tree = Arborescence("1", "dm", side={"x": float("inf")})
    with pytest.raises(FormatError, match="graph 1: cannot be written as JSON"):
        arborescence.format(tree)


@pytest.mark.parametrize("name", ["a.jsonl", "a.tsv", "a.tsv.gz"])
def test_a_file_of_relations_gives_graphs(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    assert io.write([TREE, TREE], path, format="relations") == 2
    sequence = [
        Relation("<root>", 0, "root", "saw", 1, 1),
        Relation("saw", 1, "ARG1", "He", 2, 0),
        Relation("saw", 1, "#", "_", 3, 2),
    ]
    tree = from_relations(sequence, id="1", framework="dm", tokens=BARE.tokens)
    assert list(io.read(path)) == [to_graph(tree)] * 2
    assert list(io.read_arborescences(path)) == [tree] * 2


def test_tsv_blocks_know_their_lines() -> None:
    text = "\n\n" + relations.format_tsv(TREE) + "\n" + relations.format_tsv(TREE)
    found = list(relations.blocks(text.splitlines(keepends=True), "a.tsv"))
    assert [b.lineno for b in found] == [3, 13]
    assert list(relations.blocks(["\n"], "a.tsv")) == []
