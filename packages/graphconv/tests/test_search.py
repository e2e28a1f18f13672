"""grep finds what brute force over all mappings finds, and an index changes nothing."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from graphconv import FormatError, Graph, grep, read
from graphconv.check import SAMPLE
from graphconv.cli import main
from graphconv.graph import Edge, Node, split_categories
from graphconv.search import find, parse
from graphconv.search.match import names_of
from graphconv.search.pattern import Demand, Group, Pattern, PatternEdge
from graphconv.testing import CORPORA, graphs

AMR = str(SAMPLE / "sample.amr")
PATTERNS = (
    "(x)", "(x / boy)", "(x / *-0?|boy :ARG0 (y))", "(x :ARG0 (y) :ARG1 y)", "(x :mod (y :mod x))",
    "(x :ARG0-of (y))", "(x :* (y / !boy))", "(x :!polarity)", "(x :!ARG0 (z / boy) :mod (y))",
    "(x :ARG0? (y :mod? (z :ARG1 y)))", "(x :^*+ (y))", "(x :^ARG0|mod+ (y :mod (z)))",
    "(^x :op2 (y))", "(x :ARG0? (y) :mod? (z))",
    "(x :ARG1 x)", "(x :ARG0 (y :!mod x :ARG1? (z)))", "(x :A|P (y @the))", "(x @pos:DT @cat|the)",
    "(x :polarity - :ARG0 5)",
)  # fmt: skip


def brute(pattern: Pattern, graph: Graph) -> set[tuple[tuple[int, int], ...]]:
    """Try every mapping of the pattern's nodes, straight from the definition."""
    return {tuple(sorted(found.items())) for found in _ways(pattern, graph, pattern.body, {})}


def _ways(
    pattern: Pattern, graph: Graph, group: Group, bound: dict[int, int]
) -> Iterator[dict[int, int]]:
    free = [number for number in range(len(graph.nodes)) if number not in bound.values()]
    for choice in permutations(free, len(group.nodes)):
        found = {**bound, **dict(zip(group.nodes, choice, strict=True))}
        if not all(_fits(pattern, graph, n, found[n]) for n in group.nodes):
            continue
        if not all(_connected(graph, e, found[e.source], found[e.target]) for e in group.edges):
            continue
        if any(next(_ways(pattern, graph, no, found), None) is not None for no in group.negations):
            continue
        results = [found]
        for option in group.options:
            results = [
                longer
                for result in results
                for longer in (list(_ways(pattern, graph, option, result)) or [result])
            ]
        yield from results


def _passes(test: Demand, texts: tuple[str, ...]) -> bool:
    globs = [test._replace(negated=False).passes(text) for text in texts]
    return not any(globs) if test.negated else any(globs)


def _fits(pattern: Pattern, graph: Graph, number: int, chosen: int) -> bool:
    wanted, node = pattern.nodes[number], graph.nodes[chosen]
    if wanted.top and node.id not in graph.tops:
        return False
    if wanted.label and not _passes(wanted.label, names_of(graph)[chosen]):
        return False
    return all(
        any(
            word.test.passes(str(value))
            for anchor in node.anchors
            if (value := getattr(graph.tokens[anchor], word.field)) is not None
        )
        for word in wanted.words
    )


def _connected(graph: Graph, edge: PatternEdge, source: int, target: int) -> bool:
    steps = set()
    for item in graph.edges:
        roles = split_categories(item.label) if graph.framework == "ucca" else (item.label,)
        if _passes(edge.role, roles):
            steps.add((item.source, item.target))
        if edge.inverse and _passes(edge.inverse, roles):
            steps.add((item.target, item.source))
    reached = {end for start, end in steps if start == graph.nodes[source].id}
    for _ in graph.nodes if edge.path else ():
        reached |= {end for start, end in steps if start in reached}
    return graph.nodes[target].id in reached


@pytest.mark.property
@given(
    st.sampled_from(PATTERNS),
    st.sampled_from(("amr", "dm", "ucca", "eds", "ptg", "drg")).flatmap(graphs),
)
def test_hits_are_those_of_brute_force(text: str, graph: Graph) -> None:
    graph = replace(graph, nodes=tuple(node._replace(attributes=()) for node in graph.nodes))
    pattern = parse(text)
    found = find(pattern, graph)
    numbers = {node.id: i for i, node in enumerate(graph.nodes)}
    hits = [sorted(numbers[node_id] for _, node_id in hit.nodes) for hit in found.hits]
    assert found.complete
    assert sorted(hits) == sorted(sorted(n for _, n in way) for way in brute(pattern, graph))


@pytest.mark.corpora
@pytest.mark.skipif(not CORPORA.exists(), reason="no corpora")
def test_hits_are_those_of_networkx() -> None:
    isomorphism = pytest.importorskip("networkx.algorithms.isomorphism")
    networkx = pytest.importorskip("networkx")
    wanted = networkx.DiGraph([("x", "y", {"r": "ARG0"}), ("x", "z", {"r": "ARG1"})])
    total = 0
    for graph in list(read(CORPORA / "amr" / "lpp-dev.amr"))[:60]:
        host = networkx.DiGraph()
        host.add_nodes_from(node.id for node in graph.nodes)
        for edge in graph.edges:
            roles = host.get_edge_data(edge.source, edge.target, {"r": frozenset()})["r"]
            host.add_edge(edge.source, edge.target, r=roles | {edge.label})
        matcher = isomorphism.DiGraphMatcher(
            host, wanted, edge_match=lambda host, wanted: wanted["r"] in host["r"]
        )
        expected = {
            frozenset((name, node) for node, name in found.items())
            for found in matcher.subgraph_monomorphisms_iter()
        }
        hits = {frozenset(m.hit.nodes) for m in grep("(x :ARG0 (y) :ARG1 (z))", [graph])}
        assert hits == expected
        total += len(hits)
    assert total > 20


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("", "expected"), ("(x", ") expected"), ("(x :)", "a role expected"), ("(x) y", "behind"),
        ("(x :^a (y))", ":^ROLE+"), ("(x / )", "a label expected"), ("(x :a y :b (y))", "before"),
        ("(x :!a (y) :b y)", "negated part"),
        ("(x / a :b (x / c))", "described twice"), ('(x / "a)', "cannot be read"),
    ],
)  # fmt: skip
def test_bad_patterns(pattern: str, message: str) -> None:
    with pytest.raises(FormatError, match="bad pattern at character") as error:
        parse(pattern)
    assert message in str(error.value)


def test_time_limit_is_told() -> None:
    nodes = tuple(Node(f"n{i}", "a") for i in range(24))
    edges = tuple(Edge(a.id, b.id, "r") for a in nodes for b in nodes if a.id < b.id)
    graph = Graph("slow", "amr", nodes=nodes, edges=edges, tops=("n0",))
    pattern = "(a :r (b :r (c :r (d :r (e :r (f :r (g :r (h :r a))))))))"
    late: list[Graph] = []
    assert list(grep(pattern, [graph], time_limit=0.0, on_timeout=late.append)) == []
    assert late == [graph]
    with pytest.raises(TimeoutError, match="graph slow"):
        list(grep(pattern, [graph], time_limit=0.0))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    "pattern", ["(x / *-0? :ARG0 (y))", "(x :ARG0-of (y))", "(x / b* :mod? (z))", "(x / !boy)"]
)
def test_an_index_changes_nothing(pattern: str, tmp_path: Path) -> None:
    paths = [AMR, SAMPLE / "sample.sdp", SAMPLE / "ucca"]
    index = tmp_path / "x.idx"
    assert run("index", *paths, "-o", index).exit_code == 0
    with_index, without = run("grep", pattern, index), run("grep", pattern, *paths)
    assert with_index.exit_code == without.exit_code == 0
    assert with_index.stdout == without.stdout != ""


def test_output_forms(tmp_path: Path) -> None:
    first = json.loads(run("grep", "--json", "(x :ARG0 (y))", AMR).stdout.splitlines()[0])
    assert first["framework"] == "amr"
    assert [node["name"] for node in first["nodes"]] == ["x", "y"]
    assert [edge[2] for edge in first["edges"]] == ["ARG0"]
    path, in_graphs, hits = run("grep", "--count", "(x :ARG0 (y))", AMR).stdout.split()
    assert path == AMR
    assert int(hits) >= int(in_graphs) > 0
    page = tmp_path / "hits.html"
    done = run("grep", "(x :ARG0 (y))", AMR, "-o", page)
    assert done.exit_code == 0
    assert page.read_text().count("<svg") == int(in_graphs)
    plain = tmp_path / "plain.html"
    assert run("grep", "(x / *)", AMR, "-o", plain).exit_code == 0
    assert plain.read_text() != page.read_text()


def test_exit_codes(tmp_path: Path) -> None:
    assert run("grep", "(x / no-such-label)", AMR).exit_code == 1
    bad = run("grep", "(x", AMR)
    assert bad.exit_code == 1
    assert "bad pattern" in bad.stderr
    broken = tmp_path / "x.idx"
    broken.write_bytes(b"SQLite format 3\x00" + bytes(200))
    done = run("grep", "(x)", broken)
    assert done.exit_code == 1
    assert "index" in done.stderr
    assert "Traceback" not in done.output
