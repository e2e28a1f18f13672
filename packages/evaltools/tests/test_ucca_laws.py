"""Laws of the UCCA scores on arbitrary graphs, and odd or bad input."""

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltools.counts import Counts
from evaltools.ucca import ZERO, Constructions, Scores, pair_counts, score
from graphconv.errors import ConversionError
from graphconv.graph import Edge, Graph, Node, Token

WORDS = tuple(map(Token, "abcd"))
MARK = Token(".", features=(("type", "Punctuation"),))
LABELS = st.sampled_from(
    ["H", "A", "P", "S", "C", "E", "F", "L", "N", "R", "U", "A|P", "C|F", "P|H"]
)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Draw a graph over four words and a mark: any edges, cycles of remote and other edges too."""
    size = draw(st.integers(1, 7))
    tokens = (*WORDS, MARK)
    ids = [f"1.{number}" for number in range(1, size + 1)]
    positions = draw(st.lists(st.integers(0, size - 1), min_size=5, max_size=5))
    kinds = st.sampled_from(["FN"] * 6 + ["PNCT", "LKG"])
    nodes = [
        Node(
            unit,
            anchors=tuple(i for i, place in enumerate(positions) if place == index),
            implicit=index > 0 and index not in positions and draw(st.booleans()),
            attributes=(("type", kind),) if index and (kind := draw(kinds)) != "FN" else (),
        )
        for index, unit in enumerate(ids)
    ]
    ends = st.integers(0, size - 1)
    tree = [Edge(ids[draw(st.integers(0, i - 1))], ids[i], draw(LABELS)) for i in range(1, size)]
    more = draw(st.lists(st.tuples(ends, ends, LABELS, st.booleans()), max_size=4))
    coordinated = (("Coordinated_Main_Rel.", "True"),)
    edges = [
        edge._replace(attributes=coordinated) if draw(st.integers(0, 9)) == 0 else edge
        for edge in (*tree, *(Edge(ids[s], ids[t], label, r) for s, t, label, r in more))
    ]
    return Graph("7", "ucca", tokens, tuple(nodes), tuple(edges), ("1.1",))


def swapped(result: Constructions) -> Constructions:
    """Exchange the roles of gold and prediction."""
    parts = (result.primary, result.remote, result.implicit)
    return Constructions(*(Counts(part.pred, part.gold, part.match) for part in parts))


@pytest.mark.property
@given(graphs(), graphs(), st.booleans())
def test_laws_of_a_pair(gold: Graph, pred: Graph, normalize: bool) -> None:
    before = repr((gold, pred))
    result = pair_counts(gold, pred, normalize=normalize)
    assert repr((gold, pred)) == before
    assert result == pair_counts(gold, pred, normalize=normalize)
    other = pair_counts(pred, gold, normalize=normalize)
    assert other.labelled == swapped(result.labelled)
    assert other.unlabelled == swapped(result.unlabelled)
    labelled, weak, unlabelled = (
        part.all.match for part in (result.labelled, result.weak, result.unlabelled)
    )
    assert labelled <= weak <= unlabelled <= min(result.main.gold, result.main.pred)
    itself = pair_counts(gold, gold, normalize=normalize)
    for part in (itself.labelled, itself.unlabelled, itself.weak):
        assert part.all.f1 == part.implicit.f1 == 100.0


@pytest.mark.property
@given(st.lists(st.tuples(graphs(), st.none() | graphs()), max_size=3))
def test_a_corpus_is_the_sum_of_its_pairs(pairs: list[tuple[Graph, Graph | None]]) -> None:
    total = score([gold for gold, _ in pairs], [pred for _, pred in pairs])
    assert total == sum((pair_counts(gold, pred) for gold, pred in pairs), start=ZERO)


def sentence(text: str, units: dict[str, str], root: str = "1.1") -> Graph:
    """Build a graph; units map an id to its parent, category and words, as in ``1.1 H`` or so."""
    nodes, edges = [Node(root)], []
    for unit, description in units.items():
        parent, label, *words = description.split()
        nodes.append(Node(unit, anchors=tuple(int(word) for word in words)))
        edges.append(Edge(parent, unit, label))
    tokens = tuple(Token(form) for form in text.split())
    return Graph("7", "ucca", tokens, tuple(nodes), tuple(edges), (root,))


DOGS = sentence("dogs bark", {"1.2": "1.1 H", "1.3": "1.2 A 0", "1.4": "1.2 P 1"})


@pytest.mark.parametrize("pred", [None, Graph("7", "ucca"), Graph("7", "ucca", DOGS.tokens)])
@pytest.mark.parametrize("normalize", [True, False])
def test_a_missing_prediction_has_no_units(pred: Graph | None, normalize: bool) -> None:
    result = pair_counts(DOGS, pred, normalize=normalize)
    assert result.main == Counts(3, 0, 0)
    assert result.main.f1 == 0.0
    assert result.labelled.remote.f1 == 100.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dogs bite", "graph 7: token 2 is 'bark' in gold but 'bite' in the prediction"),
        ("dogs bark loudly", "graph 7: there are 2 tokens in gold but 3 in the prediction"),
    ],
)
def test_different_tokens_are_refused(text: str, message: str) -> None:
    pred = replace(DOGS, tokens=tuple(Token(form) for form in text.split()))
    with pytest.raises(ConversionError) as error:
        pair_counts(DOGS, pred)
    assert str(error.value) == message


def test_keys_of_the_report() -> None:
    report = pair_counts(DOGS, DOGS).to_json()
    assert list(report) == ["labelled", "unlabelled", "weak"]
    for part in report.values():
        assert list(part) == ["primary", "remote", "implicit", "all"]
    leaf = {"p": 100.0, "r": 100.0, "f1": 100.0, "gold": 3, "pred": 3, "match": 3}
    assert report["labelled"]["all"] == leaf


def test_other_ids_and_no_types_as_in_mrp() -> None:
    typed = replace(
        sentence("dogs bark .", {"1.2": "1.1 H", "1.3": "1.2 A 0", "1.4": "1.2 P 1"}),
        tokens=(Token("dogs"), Token("bark"), MARK),
    )
    mark = Node("1.5", anchors=(2,), attributes=(("type", "PNCT"),))
    typed = replace(
        typed, nodes=(*typed.nodes, mark), edges=(*typed.edges, Edge("1.2", "1.5", "U"))
    )
    bare = sentence("dogs bark .", {"0": "9 H", "1": "0 A 0", "2": "0 P 1", "3": "9 U 2"}, root="9")
    for normalize in (True, False):
        for gold, pred in ((typed, bare), (bare, typed)):
            assert pair_counts(gold, pred, normalize=normalize).main == Counts(3, 3, 3)
    spans = tuple(Token(t.form, span=(i, i + 1)) for i, t in enumerate(bare.tokens))
    alone = replace(bare, tokens=spans)
    assert pair_counts(alone, alone).main == Counts(3, 3, 3)


def test_every_token_is_a_word_where_nothing_says_otherwise() -> None:
    percent = sentence("100 %", {"1.2": "1.1 H", "1.3": "1.2 E 0", "1.4": "1.2 C 1"})
    assert pair_counts(percent, percent).main == Counts(3, 3, 3)


def terminal_edge(label: str) -> Graph:
    """Return DOGS with an edge to the second word that is not a plain Terminal edge."""
    unit = Node("1.4")
    word = Node("0.2", anchors=(1,), attributes=(("terminal", True),))
    edges = (*DOGS.edges[:2], Edge("1.2", "1.4", "P"), Edge("1.4", "0.2", label))
    return replace(DOGS, nodes=(*DOGS.nodes[:3], unit, word), edges=edges)


@pytest.mark.parametrize("label", ["F", "A", "E|Terminal", "P"])
@pytest.mark.parametrize("normalize", [True, False])
def test_odd_edges_to_terminals_keep_the_yield(label: str, normalize: bool) -> None:
    assert pair_counts(DOGS, terminal_edge(label), normalize=normalize).main == Counts(3, 3, 3)


def test_a_lone_center_that_is_a_terminal_loses_its_unit() -> None:
    assert pair_counts(DOGS, terminal_edge("C"), normalize=False).main == Counts(3, 3, 3)
    assert pair_counts(DOGS, terminal_edge("C")).main == Counts(3, 2, 2)


@pytest.mark.parametrize("label", ["A|H", "P|H", "H|A"])
def test_a_scene_as_second_category_comes_to_an_end(label: str) -> None:
    units = {"1.2": "1.1 H", "1.3": f"1.2 {label} 0", "1.4": "1.2 P 1"}
    odd = sentence("dogs bark", units)
    assert pair_counts(DOGS, odd).unlabelled.all.match == 3


def test_a_coordinated_relation_without_centers_is_not_split() -> None:
    coordinated = (("Coordinated_Main_Rel.", "True"),)
    odd = replace(DOGS, edges=(*DOGS.edges[:2], DOGS.edges[2]._replace(attributes=coordinated)))
    assert pair_counts(DOGS, odd).main == Counts(3, 3, 3)


def test_an_implicit_participant_listed_twice_goes_once() -> None:
    units = {"1.2": "1.1 H", "1.3": "1.2 A 0", "1.4": "1.2 P", "1.5": "1.4 C 1"}
    gold = sentence("dogs bark", {**units, "1.6": "1.4 A"})
    nodes = (*gold.nodes[:-1], gold.nodes[-1]._replace(implicit=True))
    odd = replace(gold, nodes=nodes, edges=(*gold.edges, gold.edges[-1]))
    result = pair_counts(odd, odd)
    assert result.labelled.implicit == Counts()
    assert result.main == Counts(3, 3, 3)


def chain(label: str, size: int) -> Graph:
    units = {f"1.{i}": f"1.{i - 1} {label}" for i in range(2, size)}
    last = f"1.{size - 1} {label} 0 1"
    return sentence("deep down", {**units, f"1.{size}": last})


@pytest.mark.parametrize("label", ["C", "H", "F", "A", "E"])
def test_deep_chains(label: str) -> None:
    deep = chain(label, 10000)
    start = time.process_time()
    result = pair_counts(deep, deep)
    assert result.main.f1 == 100.0
    assert time.process_time() - start < 5


def test_wide_passages_take_linear_time() -> None:
    units = {}
    for i in range(3000):
        units[f"1.{3 * i + 2}"] = "1.1 H"
        units[f"1.{3 * i + 3}"] = f"1.{3 * i + 2} A {2 * i}"
        units[f"1.{3 * i + 4}"] = f"1.{3 * i + 2} P {2 * i + 1}"
    wide = sentence("dogs bark " * 3000, units)
    start = time.process_time()
    assert pair_counts(wide, wide).main == Counts(9000, 9000, 9000)
    assert time.process_time() - start < 10


def test_the_neutral_element() -> None:
    assert ZERO.to_json()["labelled"]["all"]["f1"] == 100.0
    assert pair_counts(DOGS, DOGS) + ZERO == pair_counts(DOGS, DOGS)
    assert Scores() == ZERO
