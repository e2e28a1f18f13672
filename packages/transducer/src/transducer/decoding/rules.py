"""The vocabularies of a model as tables for the rules of decoding."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

import torch
from torch import Tensor

from graphconv.conversion.labels import edge_label
from transducer.data.batches import characters
from transducer.data.trees import FIRST_LABELS, RowKind, TreeRules, relation_kind
from transducer.data.vocabularies import ROOT, UNK, Vocabularies
from transducer.model.network import TransducerModel

if TYPE_CHECKING:
    from transducer.decoding.constraints import Constraints

_CORE_ROLE = re.compile(r"ARG\d+")


class Framework(Protocol):
    """What decoding asks a framework for."""

    @property
    def trees(self) -> TreeRules:
        """What its trees look like."""

    @property
    def constraints(self) -> type[Constraints]:
        """What may come next in them."""


class Rules(NamedTuple):
    """What every batch needs: V labels, R relations."""

    trees: TreeRules
    constraints: type[Constraints]
    label_leaf: Tensor  # (V,) labels whose rows have no children
    label_first: Tensor  # (V,) labels that only the first row can have
    label_vectors: Tensor  # (V, node size) their embeddings
    kinds: Tensor  # (R,) RelationKind of each relation; -1 for what is never predicted
    core: Tensor  # (R,) number of the core role of each relation, or -1
    n_core: int
    labels: tuple[str, ...]
    relations: tuple[str, ...]
    frames: tuple[str, ...]  # none if the model does not tell them


def make_rules(model: TransducerModel, vocabularies: Vocabularies, framework: Framework) -> Rules:
    """Prepare the tables of a model."""
    device = next(model.parameters()).device
    trees = framework.trees
    labels, relations = vocabularies.labels.items, vocabularies.relations.items
    kinds = [-1 if i <= ROOT else int(relation_kind(name)) for i, name in enumerate(relations)]
    roles = [edge_label(name)[0] for name in relations]
    core = sorted({role for role in roles if _CORE_ROLE.fullmatch(role)})
    leaf = [trees.row_kind(label, "", False) == RowKind.LEAF for label in labels]
    return Rules(
        trees=trees,
        constraints=framework.constraints,
        label_leaf=torch.tensor(leaf, device=device),
        label_first=torch.tensor([label in FIRST_LABELS for label in labels], device=device),
        label_vectors=_label_vectors(model, vocabularies, device),
        kinds=torch.tensor(kinds, device=device),
        core=torch.tensor([core.index(r) if r in core else -1 for r in roles], device=device),
        n_core=len(core),
        labels=labels,
        relations=relations,
        frames=() if model.frames is None else vocabularies.frames.items,
    )


def _label_vectors(model: TransducerModel, v: Vocabularies, device: torch.device) -> Tensor:
    embedding = model.node_embedding
    nodes = torch.tensor([v.nodes[label] for label in v.labels.items], device=device)
    pos = torch.full_like(nodes, UNK)
    table = characters(v.labels.items, v.chars).to(device)
    vectors = embedding.embed(nodes, torch.arange(len(nodes), device=device), pos, table)
    copied = vectors.new_zeros(len(nodes), 2 * model.config.encoder_size)
    return embedding.join(vectors, copied)
