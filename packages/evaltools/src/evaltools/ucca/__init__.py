"""UCCA: the official scores of the ``ucca`` toolkit 1.3.11, with its normalization or without."""

from evaltools.ucca.items import items, paired_items
from evaltools.ucca.score import ZERO, Constructions, Scores, pair_counts, score

__all__ = ["ZERO", "Constructions", "Scores", "items", "pair_counts", "paired_items", "score"]
