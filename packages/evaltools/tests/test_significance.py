from random import Random

import pytest

from evaltools.counts import Counts
from evaltools.significance import bootstrap, compare


def noisy(rate: float, n: int = 200, seed: int = 1) -> list[Counts]:
    rng = Random(seed)
    return [Counts(10, 10, sum(rng.random() < rate for _ in range(10))) for _ in range(n)]


def test_the_interval_covers_the_score() -> None:
    pairs = noisy(0.8)
    low, high = bootstrap(pairs, samples=500)
    assert low < sum(pairs, Counts()).f1 < high
    assert high - low < 5


def test_the_seed_decides() -> None:
    pairs = noisy(0.8)
    assert bootstrap(pairs, 100, seed=3) == bootstrap(pairs, 100, seed=3)
    assert bootstrap(pairs, 100, seed=3) != bootstrap(pairs, 100, seed=4)


def test_a_large_difference_is_significant() -> None:
    found = compare(noisy(0.6), noisy(0.8, seed=2), samples=500)
    assert found.difference == pytest.approx(20, abs=4)
    assert found.interval.low > 0
    assert found.randomization_p < 0.01
    assert found.bootstrap_p < 0.01


def test_the_same_system_does_not_differ() -> None:
    pairs = noisy(0.7)
    found = compare(pairs, pairs, samples=200)
    assert found.difference == 0
    assert (found.randomization_p, found.bootstrap_p) == (1, 1)


def test_exchanging_the_systems_turns_the_sign() -> None:
    one, two = noisy(0.6), noisy(0.62, seed=2)
    forth, back = compare(one, two, samples=500), compare(two, one, samples=500)
    assert forth.difference == -back.difference
    assert forth.interval.low == pytest.approx(-back.interval.high)


def test_empty_sentences_are_no_problem() -> None:
    assert bootstrap([Counts()], samples=10) == (100, 100)
