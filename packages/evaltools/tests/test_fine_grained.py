from evaltools.counts import Counts
from evaltools.smatch import ZERO, pair_counts
from evaltools.smatch.fine_grained import NAMES
from graphconv.codecs import Block
from graphconv.codecs.amr import parse
from graphconv.graph import Graph

GOLD = """
(w / want-01 :polarity -
   :ARG0 (c / city :wiki "Rome" :name (n / name :op1 "Rome"))
   :ARG1 (g / go-02 :ARG0 c :time-of (d / day)))
"""
PRED = """
(w / want-02
   :ARG0 (c / country :wiki - :name (n / name :op1 "Rome"))
   :ARG2 (g / go-01 :ARG0 c :time (d / day :polarity -)))
"""


def amr(text: str) -> Graph:
    return parse(Block(text, "test.amr", 1))


def fine(gold: str, pred: str | None) -> dict[str, Counts]:
    return pair_counts(amr(gold), amr(pred) if pred else None, fine_grained=True).fine_grained


def test_a_graph_has_full_scores_against_itself() -> None:
    assert {name: counts.f1 for name, counts in fine(GOLD, GOLD).items()} == dict.fromkeys(
        NAMES, 100
    )


def test_each_score_looks_at_its_own_part() -> None:
    found = fine(GOLD, PRED)
    # 5 concepts, 1 top, 5 edges, 3 constants in gold and in the prediction.
    assert found["Unlabeled"] == Counts(14, 14, 9)
    assert found["No WSD"] == Counts(14, 14, 9)
    assert found["Concepts"] == Counts(5, 5, 2)
    assert found["Named Ent."] == Counts(1, 1, 0)
    assert found["Wikification"] == Counts(1, 1, 0)
    assert found["Negation"] == Counts(1, 1, 0)
    # In gold city and go-02 have two incoming edges, with time-of turned round: 4 edges, 4
    # concepts, 1 top; in the prediction only country has: 2 edges, 3 concepts, 1 top.
    assert found["Reentrancies"] == Counts(9, 6, 3)
    # ARG0, ARG1, ARG0, three concepts, a top.
    assert found["SRL"] == Counts(7, 7, 3)


def test_senses_are_ignored_without_wsd() -> None:
    found = fine("(l / look-over-06)", "(l / look-over-01)")
    assert found["No WSD"].f1 == 100
    assert found["Concepts"].match == 0


def test_unlabeled_keeps_the_written_direction() -> None:
    found = fine("(a / x :ARG0-of (b / y))", "(a / x :ARG1 (b / y))")
    assert found["Unlabeled"].f1 == 100


def test_concepts_count_as_often_as_they_occur() -> None:
    found = fine("(a / and :op1 (b / x) :op2 (c / x))", "(a / and :op1 (b / x))")
    assert found["Concepts"] == Counts(3, 2, 2)


def test_graphs_without_the_phenomenon_have_empty_counts() -> None:
    found = fine("(a / x)", "(b / y)")
    assert [name for name in NAMES if found[name] == Counts()] == [
        "Reentrancies",
        "Named Ent.",
        "Wikification",
        "Negation",
        "SRL",
    ]


def test_no_prediction_and_sums() -> None:
    one = pair_counts(amr(GOLD), None, fine_grained=True)
    two = pair_counts(amr(GOLD), amr(PRED), fine_grained=True)
    total = ZERO + one + two
    assert total.certified
    assert total.fine_grained["SRL"] == Counts(14, 7, 3)
    assert list(total.to_json()["fine_grained"]) == list(NAMES)
