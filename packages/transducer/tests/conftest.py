"""Small models and corpora that the tests of this package share."""

from __future__ import annotations

import importlib.util
import json
import string
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import torch

import graphconv
from graphconv.graph import Graph
from graphconv.testing import CORPORA
from transducer import sample
from transducer.config import Config, ModelConfig, TrainConfig, load_recipe
from transducer.data.batches import Batch, collate
from transducer.data.examples import Item, build_vocabularies, numericalize
from transducer.data.vocabularies import Vocabularies
from transducer.decoding.rules import Rules, make_rules
from transducer.encoders.places import look
from transducer.encoders.references import parse_reference
from transducer.frameworks.tasks import Task, make_task, training_graphs
from transducer.model.network import TransducerModel

TASKS = ("amr", "dm", "ucca")

torch.set_num_threads(1)  # the models here are too small for more


SMALL = {
    "word_size": 8, "pos_size": 4, "char_size": 4, "char_embedding": 4, "index_size": 4,
    "relation_size": 4, "encoder_size": 8, "decoder_size": 16, "attention_size": 8,
    "biaffine_size": 8, "bilinear_size": 8,
}  # fmt: skip
"""Sizes that keep the paper's proportion: a decoder as wide as both directions of the encoder."""

OPTIONAL = {
    "ner_size": 3, "dep_size": 3, "shape_size": 3, "punct_size": 2, "anonymous_size": 2,
    "pointer_reach": 4, "link_size": 6, "frame_size": 5,
}  # fmt: skip
"""The same for what a recipe may leave out."""


def _small_model(task: str, switches: dict[str, object]) -> ModelConfig:
    """Return a config with every switch beyond the paper."""
    settings: dict[str, object] = {
        **SMALL, "dropout": 0.2, "anchored": True, "copy_attention": True, "pointer_reach": 4,
        "link_size": 6, "copy_ways": "constant" if task == "amr" else "concept",
    }  # fmt: skip
    return ModelConfig(**{**settings, **switches})  # type: ignore[arg-type]


def shrunk(config: Config, **model: object) -> Config:
    """Return a recipe with small sizes and all its switches, but without a contextual encoder."""
    sizes: dict[str, object] = {k: v for k, v in OPTIONAL.items() if getattr(config.model, k)}
    none = ModelConfig()
    for name in ("", "_tuned", "_depth", "_rank", "_size", "_layers"):
        sizes[f"contextual{name}"] = getattr(none, f"contextual{name}")
    return replace(config, model=replace(config.model, **{**SMALL, **sizes, **model}))  # type: ignore[arg-type]


RECIPES = {
    "paper": {"amr": "paper-amr2", "dm": "paper-dm", "ucca": "paper-ucca"},
    "shipped": dict.fromkeys(TASKS, "large"),
}
"""The paper's configuration of each task, and that of the models that ship."""


class Small:
    """A random model of a few thousand weights for some sentences of the sample corpus."""

    def __init__(
        self,
        task: str,
        size: int = 12,
        seed: int = 0,
        config: Config | None = None,
        **switches: object,
    ) -> None:
        self.config = Config(task, model=_small_model(task, switches)) if config is None else config
        model = self.config.model
        self.graphs = training_graphs(self.config, sample_graphs(task, size))
        self.task: Task = make_task(self.config, self.graphs)
        self.examples = list(self.task.examples(self.graphs))
        self.vocabularies: Vocabularies = build_vocabularies(self.examples)
        self.items: list[Item] = [
            numericalize(example, self.vocabularies) for example in self.examples
        ]
        torch.manual_seed(seed)
        self.model = TransducerModel(model, self.vocabularies, self.task.trees).eval()

    @property
    def rules(self) -> Rules:
        """The tables for decoding with the weights as they are."""
        return make_rules(self.model, self.vocabularies, self.task)

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


@pytest.fixture(scope="session")
def of_recipe() -> Callable[..., Small]:
    """The maker of small models with the paper's switches, or those of the models that ship."""

    def make(kind: str, task: str, size: int = 40, seed: int = 0, **model: object) -> Small:
        config = load_recipe(RECIPES[kind][task], task=task)
        return Small(task, size, seed, shrunk(config, **model))

    return make


@pytest.fixture(scope="session")
def make_small() -> Callable[..., Small]:
    """The maker of small models, for tests that set switches."""
    return Small


@pytest.fixture(scope="session")
def tiny_mpnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random MPNet of three layers whose sub-words are letters."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import MPNetConfig, MPNetModel

    folder = tmp_path_factory.mktemp("mpnet")
    special = ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"]
    letters = string.ascii_letters + string.digits + string.punctuation
    pieces = [*special, *letters, *(f"##{letter}" for letter in letters)]
    tokenizer = Tokenizer(models.WordPiece({p: i for i, p in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    names = zip(("cls", "pad", "sep", "unk", "mask"), special, strict=True)
    said = {"tokenizer_class": "TokenizersBackend"} | {f"{n}_token": token for n, token in names}
    (folder / "tokenizer_config.json").write_text(json.dumps(said))
    torch.manual_seed(0)
    config = MPNetConfig(
        vocab_size=len(pieces), hidden_size=24, num_hidden_layers=3, num_attention_heads=4,
        intermediate_size=40, max_position_embeddings=514, initializer_range=0.5,
    )  # fmt: skip
    MPNetModel(config).save_pretrained(folder)  # type: ignore[no-untyped-call]
    return folder


@pytest.fixture(scope="session")
def random_encoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the maker of small random encoders by their kind (``encoders_for_tests``)."""
    specification = importlib.util.spec_from_file_location(
        "encoders_for_tests", Path(__file__).with_name("encoders_for_tests.py")
    )
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)

    @cache
    def make(kind: str) -> Path:
        path: Path = module.write_encoder(kind, tmp_path_factory.mktemp(kind))
        return path

    return make


@pytest.fixture(scope="session")
def here() -> Callable[[str], str]:
    """Return a function that skips a test unless an encoder is here; nothing is fetched."""

    def check(name: str) -> str:
        if look(parse_reference(name)) is None:
            pytest.skip(f"{name} is not here: transducer fetch {name}")
        return name

    return check


@pytest.fixture
def corpora() -> Path:
    """The folder of real treebanks; tests that need it are skipped where there is none."""
    if not CORPORA.is_dir():
        pytest.skip("no treebanks here")
    return CORPORA


def memory_config(task: str, **settings: object) -> Config:
    """Return a config that learns ten sentences by heart in seconds."""
    model = ModelConfig(
        word_size=16, pos_size=4, char_size=8, char_embedding=8, index_size=16, relation_size=8,
        encoder_size=48, decoder_size=96, attention_size=48, biaffine_size=48, bilinear_size=48,
        dropout=0.0, anchored=True, copy_ways="constant" if task == "amr" else "concept",
    )  # fmt: skip
    train: dict[str, object] = {
        "batch_size": 5, "epochs": 100, "learning_rate": 0.01, "schedule": "cosine",
        "smoothing": 0.0, "coverage": 0.0, "force_copy": True, "evaluate_from": 100,
    }  # fmt: skip
    return Config(task, model=model, train=TrainConfig(**{**train, **settings}))  # type: ignore[arg-type]


SUFFIXES = {"amr": "ten.amr", "dm": "ten.sdp", "ucca": "ten"}
FORMATS = {"amr": "amr", "dm": "sdp", "ucca": "ucca"}


def write_ten(task: str, folder: Path) -> Path:
    """Write ten graphs of the sample corpus to a file."""
    path = folder / SUFFIXES[task]
    graphconv.write(sample_graphs(task, 10), path, format=FORMATS[task])
    return path


@pytest.fixture
def ten(tmp_path: Path) -> Callable[[str], Path]:
    """The maker of files of ten graphs."""
    return lambda task: write_ten(task, tmp_path)


@pytest.fixture(scope="session")
def memorized(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Path]]:
    """Return, for a framework, a file of ten graphs and the model that knows them by heart."""
    known: dict[str, tuple[Path, Path]] = {}

    def get(task: str) -> tuple[Path, Path]:
        if task not in known:
            from transducer.training.trainer import make_trainer  # the other tests do without it

            folder = tmp_path_factory.mktemp(task)
            file = write_ten(task, folder)
            trainer = make_trainer(memory_config(task), [str(file)], [str(file)], folder / "model")
            trainer.fit()
            known[task] = (file, folder / "model")
        return known[task]

    return get
