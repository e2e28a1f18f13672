"""entails: the rules by example, laws, the 200 pairs, and the command."""

import importlib.util
import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

import evaltools
from evaltools.cli import main
from evaltools.entailment import check, prepare
from evaltools.entailment.values import Interval, comparison, exactly, relation
from evaltools.errors import EvaluationError
from graphconv import loads
from graphconv.graph import Edge, Graph, Node, Token
from graphconv.testing import graphs

ROOT = Path(__file__).parents[3]
TOOL = ROOT / "tools" / "measure_entails.py"

SOLD = """# ::id s
# ::snt Ann Lee sold three cars on 4 May 2019.
(s / sell-01 :ARG0 (p / person :name (n / name :op1 "Ann" :op2 "Lee")) :ARG1 (c / car :quant 3)
   :time (d / date-entity :day 4 :month 5 :year 2019))
"""


def kinds(claim: str, source: str = SOLD) -> tuple[str, set[str]]:
    """Return the verdict, and the kinds of what is not supported."""
    found = evaltools.entails(claim, source)
    return found.verdict, {one.kind for one in found.contradicted or found.lacking}


@pytest.mark.parametrize(
    ("claim", "verdict", "kind"),
    [
        ("(s / sell-01 :ARG1 (c / car))", "entailed", ""),
        ('(s / sell-01 :ARG0 (p / person :name (n / name :op1 "Lee")))', "entailed", ""),
        ('(s / sell-01 :ARG0 (p / person :name (n / name :op1 "Bo")) :ARG1 (c / car))',
         "contradicted", "name"),
        ("(s / sell-01 :ARG0 (p / person) :ARG1 (c / car :quant 4))", "contradicted", "quantity"),
        ("(s / sell-01 :ARG1 (c / car :quant (a / at-least :op1 2)))", "entailed", ""),
        ("(s / sell-01 :ARG1 (c / car) :time (d / date-entity :year 2020))",
         "contradicted", "date"),
        ("(s / sell-01 :ARG1 (c / car) :time (d / date-entity :century 21))", "entailed", ""),
        ("(s / sell-01 :polarity - :ARG1 (c / car))", "contradicted", "polarity"),
        ("(s / sell-01 :polarity - :ARG1 (c / car :mod (r / rusty)))", "neutral", "concept"),
        ('(s / sell-01 :ARG0 (c / car) :ARG1 (p / person :name (n / name :op1 "Ann")))',
         "contradicted", "role"),
        ("(b / buy-01 :ARG1 (c / car))", "neutral", "concept"),
        ("(s / sell-01 :ARG1 (c / car) :location (p / park))", "neutral", "concept"),
    ],
)  # fmt: skip
def test_kinds(claim: str, verdict: str, kind: str) -> None:
    found = kinds(claim)
    assert found[0] == verdict
    assert kind in found[1] if kind else not found[1]


@pytest.mark.parametrize(
    ("claim", "source", "verdict"),
    [
        ("(g / go-02)", "(w / want-01 :ARG1 (g / go-02))", "neutral"),
        ("(g / go-02)", "(m / manage-02 :ARG1 (g / go-02))", "entailed"),
        ("(g / go-02 :polarity -)", "(m / manage-02 :polarity - :ARG1 (g / go-02))", "entailed"),
        ("(g / go-02)", "(f / fail-01 :ARG2 (g / go-02))", "contradicted"),
        ("(g / go-02)", "(k / know-01 :polarity - :ARG1 (g / go-02))", "entailed"),
        ("(g / go-02)", "(p / possible-01 :polarity - :ARG1 (g / go-02))", "contradicted"),
        ("(g / go-02)", "(o / or :op1 (g / go-02) :op2 (s / stay-01))", "neutral"),
        ("(g / go-02)", "(g / go-02 :ARG0 (a / amr-unknown))", "neutral"),
        ("(g / go-02)", "(g / go-02 :mode imperative)", "neutral"),
        ("(g / go-02)", "(g / go-02 :condition (r / rain-01))", "neutral"),
        ("(d / doctor :domain (h / he))", "(w / want-01 :ARG1 (d / doctor :domain (h / he)))",
         "neutral"),
        ("(h / he :mod (d / doctor))", "(d / doctor :domain (h / he))", "entailed"),
        ("(b / bark-01 :ARG0 (d / dog :mod (a / all)))",
         "(b / bark-01 :ARG0 (d / dog :mod (a / all) :mod (b2 / brown)))", "neutral"),
        ("(g / gun :mod (b / black))", "(g / gun :mod (f / fake) :mod (b / black))", "neutral"),
        ("(l / last-01 :ARG1 (w / war) :ARG2 (t / temporal-quantity :quant 2 :unit (y / day)))",
         "(w / war :duration (t / temporal-quantity :quant 48 :unit (h / hour)))", "entailed"),
    ],
)  # fmt: skip
def test_contexts_and_forms(claim: str, source: str, verdict: str) -> None:
    assert kinds(claim, source)[0] == verdict


def test_intervals() -> None:
    more, least = comparison("more-than", [3]), comparison("at-least", [3])
    assert more is not None
    assert least is not None
    assert [relation(exactly(3), one) for one in (more, least)] == ["contradicted", "lacking"]
    assert [relation(one, exactly(3)) for one in (more, least)] == ["contradicted", "supported"]
    assert relation(least, more) == "supported"
    assert relation(more, least) == "lacking"
    assert comparison("between", [5, 2]) == Interval(2, 5)
    assert comparison("blue", [1]) is comparison("more-than", []) is None
    assert [str(one) for one in (more, exactly(2.5))] == ["(3..]", "2.5"]


UNLABELED = Graph(
    "1",
    "amr",
    nodes=(Node("v0"), Node("v1"), Node("v2")),
    edges=(Edge("v1", "v0", ""), Edge("v2", "v1", "ARG0")),
    tops=("v0",),
)


@pytest.mark.property
@example(UNLABELED)
@given(graphs("amr"))
def test_a_graph_entails_itself(graph: Graph) -> None:
    found = evaltools.entails(graph, graph)
    assert found.certified
    assert not found.lacking
    assert not found.contradicted


@pytest.mark.property
@given(
    st.sampled_from(("amr", "dm", "drg")).flatmap(
        lambda name: st.tuples(graphs(name), graphs(name))
    )
)
def test_any_two_graphs(pair: tuple[Graph, Graph]) -> None:
    found = evaltools.entails(*pair)
    assert (found.verdict == "contradicted") == bool(found.contradicted)
    assert bool(found) == (not found.contradicted and not found.lacking)
    json.dumps(found.to_json())
    marks = found.highlight()
    assert set(marks.nodes) <= {node.id for node in pair[0].nodes}


@pytest.mark.property
@pytest.mark.parametrize("framework", ["dm", "ucca", "eds", "ptg", "drg"])
def test_every_framework(framework: str) -> None:
    @given(graphs(framework))
    def law(graph: Graph) -> None:
        assert evaltools.entails(graph, graph).verdict == "entailed"

    law()


def sentence(*words: tuple[str, str], edges: tuple[tuple[int, int, str], ...]) -> Graph:
    tokens = tuple(Token(form, form.lower(), pos) for form, pos in words)
    nodes = tuple(Node(str(i), None, (i,)) for i in range(len(words)))
    links = tuple(Edge(str(a), str(b), label) for a, b, label in edges)
    return Graph("1", "dm", tokens, nodes, links, ("1",))


def test_dm() -> None:
    source = sentence(
        ("Ann", "NNP"), ("saw", "VBD"), ("dogs", "NNS"), edges=((1, 0, "ARG1"), (1, 2, "ARG2"))
    )
    name = sentence(
        ("Bo", "NNP"), ("saw", "VBD"), ("dogs", "NNS"), edges=((1, 0, "ARG1"), (1, 2, "ARG2"))
    )
    swap = sentence(
        ("dogs", "NNS"), ("saw", "VBD"), ("Ann", "NNP"), edges=((1, 0, "ARG1"), (1, 2, "ARG2"))
    )
    denial = sentence(
        ("Ann", "NNP"), ("saw", "VBD"), ("dogs", "NNS"), ("not", "RB"),
        edges=((1, 0, "ARG1"), (1, 2, "ARG2"), (3, 1, "ARG1")),
    )  # fmt: skip
    found = [evaltools.entails(claim, source) for claim in (name, swap, denial)]
    assert [{one.kind for one in each.contradicted} for each in found] == [
        {"name"},
        {"role"},
        {"polarity"},
    ]


def test_characters() -> None:
    graph = '(s / sell-01 :ARG0 (p / person :name (n / name :op1 "Ann")) :ARG1 (c / car :quant 4))'
    claim = f"# ::snt Ann sold four cars.\n{graph}"
    found = evaltools.entails(claim, SOLD)
    [conflict] = found.contradicted
    texts = [
        [graph.text[start:end] for start, end in spans]
        for graph, spans in (
            (found.claim, conflict.claim_characters),
            (found.source, conflict.source_characters),
        )
        if graph is not None
    ]
    assert texts == [["four cars"], ["three cars"]]
    assert 'car :quant 4 "four cars" (quantity: the source says 3)' in str(found)
    assert "<svg" in found._repr_html_()


def test_a_text_of_several_sentences() -> None:
    text = f"(b / bark-01 :ARG0 (d / dog))\n\n{SOLD}"
    found = evaltools.entails("(s / sell-01 :ARG1 (c / car))", text)
    assert found.source is not None
    assert found.source.id == "s"
    nothing = evaltools.entails("(x / xylophone)", text)
    assert (nothing.verdict, nothing.source, len(nothing.lacking)) == ("neutral", None, 1)
    assert nothing.to_json()["source_text"] is None
    with pytest.raises(EvaluationError, match="one at a time"):
        evaltools.entails(text, SOLD)
    with pytest.raises(EvaluationError, match="only graphs of one framework"):
        check(prepare(loads(SOLD)[0]), [prepare(sentence(("a", "X"), ("b", "X"), edges=()))])


@pytest.mark.parametrize(("part", "errors"), [("dev", 1), ("test", 2)])
def test_the_pairs(part: str, errors: int) -> None:
    """The numbers of the docs; more errors are a defect, fewer a reason to change the docs."""
    if not TOOL.exists():
        pytest.skip("needs the repository")
    spec = importlib.util.spec_from_file_location("measure_entails", TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    results = list(tool.judged(part))
    assert len(results) == 100
    assert min(Counter(pair.label for pair, _ in results).values()) >= 30
    assert all(found.certified for _, found in results)
    assert sum(pair.label != found.verdict for pair, found in results) == errors


def test_command(tmp_path: Path) -> None:
    source, claims = tmp_path / "source.amr", tmp_path / "claims.amr"
    source.write_text(SOLD)
    texts = {
        0: "# ::id s\n(s / sell-01)",
        3: "# ::id s\n(s / sell-01)\n\n# ::id b\n(b / buy-01)",
        4: "# ::id s\n(s / sell-01 :ARG1 (c / car) :polarity -)\n\n# ::id b\n(b / buy-01)",
    }
    for code, text in texts.items():
        claims.write_text(text)
        result = CliRunner().invoke(main, ["entails", str(claims), str(source)])
        assert result.exit_code == code, result.output
    assert result.stderr == "0 entailed, 1 neutral, 1 contradicted\n"
    assert result.stdout.splitlines()[:2] == [
        "s: contradicted",
        "  ! not sell-01 (polarity: the source says that it holds)",
    ]
    piped = CliRunner().invoke(main, ["entails", "-", str(source), "--json"], input=texts[3])
    records = [json.loads(line) for line in piped.stdout.splitlines()]
    assert [record["verdict"] for record in records] == ["entailed", "neutral"]
    page = tmp_path / "page.html"
    CliRunner().invoke(main, ["entails", str(claims), str(source), "-o", str(page)])
    assert page.read_text().count("<svg") == 4
    by_id = CliRunner().invoke(main, ["entails", str(claims), str(source), "--by-id"])
    assert by_id.exit_code == 1
    assert "there is no source for claim 'b'" in by_id.stderr
    both = CliRunner().invoke(main, ["entails", "-", "-"], input="")
    assert both.exit_code == 2
    for side in (claims, source):
        side.write_text("")
        assert CliRunner().invoke(main, ["entails", str(claims), str(source)]).exit_code == 1
    other = tmp_path / "dm.mrp"
    other.write_text('{"id": "1", "framework": "dm", "input": "", "nodes": []}\n')
    missing = CliRunner().invoke(main, ["entails", str(other), str(other), "--framework", "eds"])
    assert missing.exit_code == 1
    assert "there is no eds graph" in missing.stderr
