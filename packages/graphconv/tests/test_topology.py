"""Orders and parts, compared with networkx on random graphs."""

import networkx
from hypothesis import given
from hypothesis import strategies as st

from graphconv.topology import components, has_cycle, parents_first

NODES = range(7)
EDGES = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=10)


def other_graph(edges: list[tuple[int, int]]) -> "networkx.MultiDiGraph":
    graph = networkx.MultiDiGraph(edges)
    graph.add_nodes_from(NODES)
    return graph


@given(EDGES)
def test_parents_come_first_and_cycles_and_what_is_below_them_nowhere(
    edges: list[tuple[int, int]],
) -> None:
    order = parents_first(NODES, edges)
    place = {node: number for number, node in enumerate(order)}
    assert len(place) == len(order)
    assert all(source in place and place[source] < place[t] for source, t in edges if t in place)
    graph = other_graph(edges)
    on_cycle = {n for n in NODES if any(n == s or networkx.has_path(graph, s, n)
                for s, t in edges if networkx.has_path(graph, t, s))}  # fmt: skip
    assert set(place) == set(NODES) - on_cycle
    assert has_cycle(NODES, edges) == (not networkx.is_directed_acyclic_graph(graph))


@given(EDGES)
def test_components_are_those_of_networkx(edges: list[tuple[int, int]]) -> None:
    expected = networkx.weakly_connected_components(other_graph(edges))
    found = components(NODES, edges)
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))
    assert [part[0] for part in found] == [min(part) for part in found]
