"""Small models and corpora that the tests of this package share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import graphconv
from graphconv.graph import Graph
from transducer import sample
from transducer.config import Config, ModelConfig, TrainConfig
from transducer.constraints import Rules, make_rules
from transducer.data import Batch, Item, build_vocabularies, collate, number
from transducer.model import TransducerModel
from transducer.tasks import Task, make_task, training_graphs
from transducer.vocab import Vocabularies

TASKS = ("amr", "dm", "ucca")

torch.set_num_threads(1)  # the models here are too small for more


class Small:
    """A random model of a few thousand weights for some sentences of the sample corpus."""

    def __init__(self, task: str, size: int = 12, seed: int = 0, **switches: object) -> None:
        settings: dict[str, object] = {
            "word_size": 8, "pos_size": 4, "char_size": 4, "char_embedding": 4, "index_size": 4,
            "relation_size": 4, "encoder_size": 8, "decoder_size": 16, "attention_size": 8,
            "biaffine_size": 8, "bilinear_size": 8, "dropout": 0.2, "anchored": True,
            "copy_attention": True,
            "copy_ways": 2 if task == "amr" else 1,
        }  # fmt: skip
        model = ModelConfig(**{**settings, **switches})  # type: ignore[arg-type]
        self.config = Config(task, model=model, train=TrainConfig())
        self.graphs = training_graphs(self.config, sample_graphs(task, size))
        self.task: Task = make_task(self.config, self.graphs)
        self.examples = list(self.task.examples(self.graphs))
        self.vocabularies: Vocabularies = build_vocabularies(self.examples)
        self.items: list[Item] = [number(example, self.vocabularies) for example in self.examples]
        torch.manual_seed(seed)
        self.model = TransducerModel(model, self.vocabularies).eval()

    @property
    def rules(self) -> Rules:
        """The tables for decoding with the weights as they are."""
        return make_rules(self.model, self.vocabularies, self.task.name)

    def batch(self, items: list[Item] | None = None) -> Batch:
        """Collate items, all by default."""
        return collate(self.items if items is None else items, self.vocabularies)

    def shake(self, seed: int, scale: float) -> None:
        """Draw new weights, large enough for wild behavior."""
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for weight in self.model.parameters():
                weight.copy_(torch.randn(weight.shape, generator=generator) * scale)


def sample_graphs(task: str, size: int) -> list[Graph]:
    """Return the first graphs of the sample corpus."""
    graphs = graphconv.read(sample.path(task, "train"), framework=task)
    return [graph for graph, _ in zip(graphs, range(size), strict=False)]


@pytest.fixture(params=TASKS)
def small(request: pytest.FixtureRequest) -> Small:
    """A small random model of each framework."""
    return Small(request.param)


@pytest.fixture
def make_small() -> Callable[..., Small]:
    """The maker of small models, for tests that set switches."""
    return Small


@pytest.fixture
def corpora() -> Path:
    """The folder of real treebanks; tests that need it are skipped where there is none."""
    default = Path(__file__).parents[3].parent / "shared" / "corpora"
    folder = Path(os.environ.get("ARBORA_CORPORA", default))
    if not folder.is_dir():
        pytest.skip("no treebanks here")
    return folder
