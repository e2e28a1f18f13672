"""The worked examples of the official UCCA evaluation, in a compact notation.

Words are numbered from 1. ``(X ...)`` is a unit with category X below the enclosing unit, at the
top below the root; a number is a Terminal edge; ``(U k)`` a punctuation unit; ``X!`` an implicit
unit; ``#a`` names a unit and ``(X*#a)`` is a remote edge to it; ``X|Y`` has two categories; ``^``
marks a coordinated main relation. Ids are given in reading order from 1.2.
"""

import re
from pathlib import Path

import pytest

from evaltools.counts import Counts
from evaltools.ucca import Constructions, Scores, pair_counts, score
from evaltools.ucca.normalize import move_common_functions, normalize_passage
from evaltools.ucca.passage import Node as Unit
from evaltools.ucca.passage import passages
from graphconv.graph import Edge, Graph, Node, Token

_ITEM = re.compile(
    r"\((?P<categories>[A-Z|]+)(?P<flags>[!*^]*)(?:#(?P<name>\w))?|(?P<word>\d+)|(?P<close>\))"
)


def read(text: str, notation: str, graph_id: str = "1") -> Graph:
    """Build the graph of an example."""
    forms = text.split()
    marks = [not any(c.isalnum() for c in form) for form in forms]
    types = ["Punctuation" if mark else "Word" for mark in marks]
    tokens = tuple(Token(f, features=(("type", t),)) for f, t in zip(forms, types, strict=True))
    units: list[tuple[str, bool]] = [("1.1", False)]
    anchors: dict[str, list[int]] = {"1.1": []}
    edges: list[tuple[str, str, str, bool, bool]] = []
    names: dict[str, str] = {}
    path = ["1.1"]
    for item in _ITEM.finditer(notation):
        if item["close"]:
            path.pop()
        elif item["word"]:
            anchors[path[-1]].append(int(item["word"]) - 1)
        elif "*" in item["flags"]:
            edges.append((path[-1], "#" + item["name"], item["categories"], True, False))
            path.append("")
        else:
            unit = f"1.{len(units) + 1}"
            units.append((unit, "!" in item["flags"]))
            anchors[unit] = []
            edges.append((path[-1], unit, item["categories"], False, "^" in item["flags"]))
            if item["name"]:
                names["#" + item["name"]] = unit
            path.append(unit)
    punctuation = {target for _, target, label, *_ in edges if label == "U"}
    coordinated = (("Coordinated_Main_Rel.", "True"),)
    return Graph(
        graph_id,
        "ucca",
        tokens,
        tuple(
            Node(
                unit,
                anchors=tuple(anchors[unit]),
                implicit=implicit,
                attributes=(("type", "PNCT"),) if unit in punctuation else (),
            )
            for unit, implicit in units
        ),
        tuple(
            Edge(parent, names.get(child, child), label, remote, coordinated if split else ())
            for parent, child, label, remote, split in edges
        ),
        ("1.1",),
    )


def counts(summary: str) -> Scores:
    """Read counts written as ``p guessed/ref labelled unlabelled weak; r ...; i ...``."""
    found = {}
    for part in summary.split(";"):
        kind, sizes, *matches = part.split()
        pred, gold = map(int, sizes.split("/"))
        found[kind] = [Counts(gold, pred, int(match)) for match in matches or ("0", "0", "0")]
    kinds = [found.get(kind, [Counts()] * 3) for kind in "pri"]
    return Scores(*(Constructions(*column) for column in zip(*kinds, strict=True)))


LINES = Path(__file__).with_name("ucca_examples.txt").read_text(encoding="utf-8").splitlines()
ROWS = [
    [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)]
    for line in LINES
    if not line.startswith("#")
]


def example(number: int) -> tuple[Graph, Graph]:
    """Return the guessed and the reference graph of an example."""
    _, text, guessed, ref, *_ = ROWS[number - 1]
    return read(text, guessed), read(text, ref)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_worked_example(row: list[str]) -> None:
    _, text, guessed, ref, raw, normalized = row
    pred, gold = read(text, guessed), read(text, ref)
    before = repr((gold, pred))
    assert pair_counts(gold, pred, normalize=False) == counts(raw)
    assert pair_counts(gold, pred) == counts(raw if normalized == "the same" else normalized)
    assert repr((gold, pred)) == before


def test_no_items_at_all_is_perfect() -> None:
    pred, gold = example(35)
    assert pair_counts(gold, pred).to_json()["labelled"]["primary"]["f1"] == 100.0


def render(unit: Unit) -> str:
    """Write a unit and what is below it with its id, as the notation does."""
    children = []
    for edge in unit.out:
        category = "|".join(edge.categories)
        if edge.child.key < 0:
            children.append("terminal")
        elif edge.remote:
            children.append(f"({category}*->1.{edge.child.key})")
        else:
            children.append(f"({category} 1.{edge.child.key} {render(edge.child)})")
    return " ".join(children)


@pytest.mark.parametrize(
    ("number", "tree"),
    [
        (2, "(H 1.2 (A 1.4 (C 1.6 2)) (P 1.7 3)) (F 1.5 1)"),
        (9, "(H 1.5 (A 1.2 1) (P 1.3 2) (A 1.4 3))"),
        (
            12,
            "(H 1.3 (H 1.5 (A 1.6 1) (P 1.7 2)) (L 1.8 3) (H 1.9 (A 1.10 4) (P 1.11 5)))",
        ),
        (
            34,
            "(L 1.6 3) (H 1.9 (A 1.3 1) (P 1.5 2) (A 1.8 5)) "
            "(H 1.10 (A*->1.3) (P 1.7 4) (A*->1.8))",
        ),
        (29, "(H 1.2 (P 1.3 1) (A 1.4 (C 1.5 2) (U 1.6 3)))"),
    ],
)
def test_tree_after_evaluation(number: int, tree: str) -> None:
    sides = passages(*example(number))
    for side in sides:
        normalize_passage(side)
        side.compute_yields()
    move_common_functions(*sides)
    words = re.sub(r"(?<= )\d+(?=\))", "terminal", tree)
    assert render(sides[0].heads()[0]) == words


def test_corpus_scores_are_sums() -> None:
    pairs = [example(18), example(23)]
    total = score([gold for _, gold in pairs], [pred for pred, _ in pairs])

    def average(result: Scores, kind: str) -> float:
        part: Constructions = getattr(result, kind)
        return (part.primary + part.remote + part.implicit).f1

    separate = [pair_counts(gold, pred) for pred, gold in pairs]
    assert [round(average(result, "labelled"), 2) for result in separate] == [83.33, 75.0]
    assert average(total, "labelled") == 80.0
    assert average(total, "unlabelled") == 90.0
    assert separate[1].labelled.remote.f1 == 100.0


def test_a_detached_unit_becomes_a_scene() -> None:
    gold = read("he runs I walk", "(H (A 1) (P 2)) (H (A 3) (P 4))")
    edges = tuple(e for e in gold.edges if (e.source, e.target) != ("1.1", "1.5"))
    assert len(edges) == len(gold.edges) - 1
    pred = Graph(gold.id, gold.framework, gold.tokens, gold.nodes, edges, gold.tops)
    assert pair_counts(gold, pred, normalize=False) == counts("p 5/6 5 5 5")
    assert pair_counts(gold, pred) == counts("p 6/6 6 6 6")
