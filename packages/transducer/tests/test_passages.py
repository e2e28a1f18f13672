from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphconv.graph import Edge, Graph, Node, Token
from graphconv.testing import CORPORA, graphs
from transducer.frameworks.passages import (
    count_splits,
    find_boundaries,
    join_passages,
    mark_paragraph,
    split_passage,
    split_tokens,
)


def words(text: str) -> tuple[Token, ...]:
    return tuple(Token(form) for form in text.split())


BOUNDARIES = {
    "It began . It ended .": [3],
    "Mr . Li met J . R . Smith .": [],
    'He said : " I came . I saw . " She left .': [11],
    "He left ( It was late . I know . ) and slept .": [],
    "No . 2 sold $ 3 . 5 million . They won .": [10],
    "Really ? Yes ! Good": [2, 4],
    "It is so ... He went on": [],
    '" Herb said , " It is good . The best there is .': [],
}


@pytest.mark.parametrize(("text", "expected"), BOUNDARIES.items())
def test_boundaries(text: str, expected: Any) -> None:
    assert find_boundaries(words(text)) == expected


def test_paragraphs_end_sentences_and_quotations() -> None:
    tokens = words('He said : " Go') + mark_paragraph(words("A . B"), 2)
    assert [len(part) for part in split_tokens(tokens)] == [5, 3]
    assert tokens[5].features == (("paragraph", "2"),)


def passage(*, spanning: bool = False, remote: bool = False) -> Graph:
    nodes = [Node("1.1"), *(Node(f"1.{n + 2}", anchors=(n,)) for n in range(6))]
    edges = [Edge("1.1", f"1.{n + 2}", "U" if n % 3 == 2 else "H") for n in range(6)]
    if spanning:
        edges[1:4] = [Edge("1.1", "1.9", "H"), Edge("1.9", "1.3", "A"), Edge("1.9", "1.5", "P")]
        nodes.append(Node("1.9"))
    if remote:
        edges.append(Edge("1.6", "1.2", "A", remote=True))
        edges.append(Edge("1.10", "1.2", "LA"))
        edges.append(Edge("1.10", "1.6", "LA"))
        nodes.append(Node("1.10", attributes=(("type", "LKG"),)))
    tokens = words("One went . Two came .")
    return Graph("7", "ucca", tokens, tuple(nodes), tuple(edges), ("1.1",), (("source", "x"),))


def test_split_and_join() -> None:
    gold = passage()
    first, second = split_passage(gold)
    assert [node.anchors for node in second.nodes] == [(), (0,), (1,), (2,)]
    assert [edge.target for edge in second.edges] == ["1.5", "1.6", "1.7"]
    first.validate()
    second.validate()
    assert join_passages([first, second], id="7") == gold


def test_what_leads_from_part_to_part_is_counted_and_comes_back() -> None:
    gold = passage(remote=True)
    parts = split_passage(gold)
    assert sum(len(part.edges) for part in parts) == 6
    assert count_splits(gold) == Counter(
        passages=1, boundaries=1, spanned=0, parts=2, remote=1, linkage=2
    )
    assert join_passages(parts, id="7") == gold


def test_a_unit_across_the_boundary_prevents_the_split() -> None:
    gold = passage(spanning=True)
    assert split_passage(gold) == (gold,)
    assert count_splits(gold)["spanned"] == 1


def test_join_of_predicted_graphs() -> None:
    parts = [
        Graph(p.id, "ucca", p.tokens, p.nodes, p.edges, p.tops) for p in split_passage(passage())
    ]
    joined = join_passages(parts, id="new")
    joined.validate()
    assert joined.tokens == passage().tokens
    assert [node.anchors for node in joined.nodes] == [(), (0,), (1,), (2,), (3,), (4,), (5,)]
    assert [edge.label for edge in joined.edges] == ["H", "H", "U", "H", "H", "U"]
    assert join_passages([], id="e").tops == ("1.1",)


@st.composite
def with_sentences(draw: st.DrawFn) -> Graph:
    """Any UCCA graph, with forms that make boundaries likely."""
    graph = draw(graphs("ucca"))
    forms = st.sampled_from([".", "A", "b", '"', "(", ")"])
    tokens = tuple(Token(draw(forms), features=token.features) for token in graph.tokens)
    return Graph(
        graph.id, "ucca", tokens, graph.nodes, graph.edges, graph.tops, graph.metadata, graph.extras
    )


@pytest.mark.property
@given(with_sentences())
def test_law_join_undoes_split(graph: Graph) -> None:
    parts = split_passage(graph)
    for part in parts:
        part.validate()
    assert join_passages(parts, id=graph.id) == graph
    assert tuple(token for part in parts for token in part.tokens) == graph.tokens


@pytest.mark.corpora
def test_real_passages() -> None:
    folder = CORPORA / "ucca" / "wiki-dev"
    if not folder.exists():
        pytest.skip("no corpora")
    from graphconv.io import read

    counts: Counter[str] = Counter()
    for graph in read(folder, format="ucca"):
        parts = split_passage(graph)
        assert join_passages(parts, id=graph.id) == graph
        counts += count_splits(graph)
    assert counts["spanned"] / counts["boundaries"] < 0.1
    assert counts["parts"] == 566
