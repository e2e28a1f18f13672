from hypothesis import given
from hypothesis import strategies as st

from evaltools.counts import Counts

COUNTS = st.builds(
    lambda match, more_gold, more_pred: Counts(match + more_gold, match + more_pred, match),
    *[st.integers(0, 50)] * 3,
)


@given(COUNTS)
def test_percentages_are_never_above_100(counts: Counts) -> None:
    assert all(0 <= value <= 100 for value in (counts.p, counts.r, counts.f1))


@given(COUNTS, COUNTS)
def test_counts_add_up(one: Counts, two: Counts) -> None:
    total = one + two
    assert (total.gold, total.pred, total.match) == (
        one.gold + two.gold,
        one.pred + two.pred,
        one.match + two.match,
    )


def test_empty_sides() -> None:
    assert (Counts().p, Counts().r, Counts().f1) == (100, 100, 100)
    assert (Counts(gold=3).r, Counts(gold=3).f1) == (0, 0)
    assert (Counts(pred=3).p, Counts(pred=3).f1) == (0, 0)


def test_json_has_the_fixed_keys() -> None:
    assert Counts(4, 5, 3).to_json() == {
        "p": 60.0,
        "r": 75.0,
        "f1": 200 * 3 / 9,
        "gold": 4,
        "pred": 5,
        "match": 3,
    }
