"""Links between words: what they say about the next row is a probability, and they are learned."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from transducer.model.links import KINDS, by_word, of_path, open_rows, traverse
from transducer.model.losses import link_loss

HEADS = torch.tensor([[0, 0, 1, 2, 1]])  # row 1 is the root; 2 and 4 hang below it, 3 below 2
TOKENS = torch.tensor([[0, 3, 1, 2, 5]])  # their words, of six


def free_words() -> torch.Tensor:
    used = torch.zeros(1, 5, 6, dtype=torch.bool)
    for step in range(1, 5):
        used[0, step:, int(TOKENS[0, step]) - 1] = True
    return used


@pytest.mark.parametrize("seed", range(5))
def test_all_that_can_follow_has_probability_one(seed: int) -> None:
    links = torch.randn(1, 6, KINDS, 6, generator=torch.Generator().manual_seed(seed))
    path = open_rows(HEADS, torch.ones_like(HEADS, dtype=torch.bool))
    seen = traverse(by_word(links), path, of_path(TOKENS, path), free_words(), ordered=True)
    following = seen.following.exp().sum((2, 4))  # over open rows and words
    torch.testing.assert_close(following + seen.end.exp(), torch.ones(1, 5, KINDS))


def test_the_deepest_row_and_the_first_word_come_first() -> None:
    links = torch.full((1, 6, KINDS, 6), -20.0)
    links[0, 0, :, 3] = links[0, 2, :, 5] = 20.0  # word 1, row 2's, to word 4; word 3 to word 6
    path = open_rows(HEADS, torch.ones_like(HEADS, dtype=torch.bool))
    seen = traverse(by_word(links), path, of_path(TOKENS, path), free_words(), ordered=True)
    best = seen.following.logsumexp(2).argmax(-1)  # (1, steps, KINDS)
    assert best[0, 3].tolist() == [3, 3]  # row 2 is open: its link to word 4
    assert best[0, 4].tolist() == [5, 5]  # below row 4 there is nothing, and row 2 is closed


def test_a_copy_has_no_children() -> None:
    expands = torch.tensor([[True, True, True, True, False]])
    assert open_rows(HEADS, expands)[0, 4, :2].tolist() == [1, 0]


MASK = torch.ones(1, 6, dtype=torch.bool)
ROWS = torch.tensor([[False, False, True, True, True]])


def linked() -> torch.Tensor:
    """Which pairs of words the rows above link: 3 of 36, and either way 6."""
    pairs = torch.zeros(1, 6, KINDS, 6)
    for head, word in ((3, 1), (1, 2), (3, 5)):
        pairs[0, head - 1, :, word - 1] = 1
        pairs[0, word - 1, 1, head - 1] = 1  # the second kind has no direction
    return pairs


def test_the_loss_knows_the_rows() -> None:
    right = 40 * linked() - 20
    assert float(link_loss(right, MASK, TOKENS, HEADS, ROWS)) < 1e-3
    assert float(link_loss(-right, MASK, TOKENS, HEADS, ROWS)) > 100


def test_smoothing_is_least_sure_of_links() -> None:
    usual = torch.tensor([3 / 36, 6 / 36]).view(KINDS, 1)
    best = torch.logit(0.8 * linked() + 0.2 * usual).requires_grad_()
    link_loss(best, MASK, TOKENS, HEADS, ROWS, smoothing=0.2).backward()
    torch.testing.assert_close(best.grad, torch.zeros_like(best))
    assert best.max() < 2 < -best.min()


def test_links_take_part_in_every_choice(make_small: Any) -> None:
    small = make_small("dm")
    before = small.model.teacher_force(small.batch())
    with torch.no_grad():
        small.model.links.weight.mul_(50)
    after = small.model.teacher_force(small.batch())
    for part in ("source", "nodes", "switch"):
        assert not torch.allclose(getattr(before.nodes, part), getattr(after.nodes, part))
    assert not torch.allclose(before.sources, after.sources)
    torch.testing.assert_close(before.relations, after.relations)
