"""What is hidden in training: words, tags and sub-words now and then, so that none is relied on."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from transducer.data.batches import Batch
from transducer.data.vocabularies import UNK


def hide_words(batch: Batch, counts: Tensor, rate: float) -> Batch:
    """Replace rare words by the unknown word now and then, so that it is learned, too.

    A word of count c is hidden with probability rate / (rate + c). The node that a hidden word is,
    or offers, is unknown as well, as it is in parsing.
    """
    hidden = torch.rand(batch.words.shape) < rate / (rate + counts[batch.words])
    hidden &= batch.words > UNK
    hidden_nodes = functional.pad(hidden, (1, 0)).gather(1, batch.node_tokens)
    return batch._replace(
        words=torch.where(hidden, UNK, batch.words),
        nodes=torch.where(hidden_nodes, UNK, batch.nodes),
    )


def hide_tags(batch: Batch, rate: float) -> Batch:
    """Make the tags of some sentences unknown, on both sides."""
    hidden = torch.rand(len(batch.words), 1) < rate
    pos, ner, dep, node_pos = (
        torch.where(hidden & (tag > UNK), UNK, tag)
        for tag in (batch.pos, batch.ner, batch.dep, batch.node_pos)
    )
    return batch._replace(pos=pos, ner=ner, dep=dep, node_pos=node_pos)


def hide_subwords(batch: Batch, mask: int, rate: float) -> Batch:
    """Put *mask* in place of some of the sub-words that belong to words."""
    assert batch.subwords is not None
    ids, words = batch.subwords.ids, batch.subwords.words
    hidden = (torch.rand(ids.shape) < rate) & (words >= 0)
    return batch._replace(subwords=batch.subwords._replace(ids=torch.where(hidden, mask, ids)))
