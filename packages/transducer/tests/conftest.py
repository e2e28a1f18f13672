"""Small models and corpora that the tests of this package share."""

from __future__ import annotations

import json
import os
import string
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import graphconv
from graphconv.graph import Graph
from transducer import sample
from transducer.config import Config, ModelConfig, TrainConfig
from transducer.data.examples import Batch, Item, build_vocabularies, collate, number
from transducer.data.vocabularies import Vocabularies
from transducer.decoding.constraints import Rules, make_rules
from transducer.encoders.places import look, parse_reference
from transducer.frameworks.tasks import Task, make_task, training_graphs
from transducer.model.network import TransducerModel

TASKS = ("amr", "dm", "ucca")

torch.set_num_threads(1)  # the models here are too small for more


class Small:
    """A random model of a few thousand weights for some sentences of the sample corpus."""

    def __init__(self, task: str, size: int = 12, seed: int = 0, **switches: object) -> None:
        settings: dict[str, object] = {
            "word_size": 8, "pos_size": 4, "char_size": 4, "char_embedding": 4, "index_size": 4,
            "relation_size": 4, "encoder_size": 8, "decoder_size": 16, "attention_size": 8,
            "biaffine_size": 8, "bilinear_size": 8, "dropout": 0.2, "anchored": True,
            "copy_attention": True, "pointer_reach": 4, "link_size": 6,
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
    default = Path(__file__).parents[3].parent / "shared" / "corpora"
    folder = Path(os.environ.get("ARBORA_CORPORA", default))
    if not folder.is_dir():
        pytest.skip("no treebanks here")
    return folder


def memory_config(task: str, **settings: object) -> Config:
    """Return a config that learns ten sentences by heart in seconds."""
    model = ModelConfig(
        word_size=16, pos_size=4, char_size=8, char_embedding=8, index_size=16, relation_size=8,
        encoder_size=48, decoder_size=96, attention_size=48, biaffine_size=48, bilinear_size=48,
        dropout=0.0, anchored=True, copy_ways=2 if task == "amr" else 1,
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
            from transducer.training.trainer import Trainer  # the other tests do without it

            folder = tmp_path_factory.mktemp(task)
            file = write_ten(task, folder)
            trainer = Trainer(memory_config(task), [str(file)], [str(file)], folder / "model")
            trainer.fit()
            known[task] = (file, folder / "model")
        return known[task]

    return get
