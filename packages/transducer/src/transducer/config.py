"""What can be configured: frozen dataclasses, read from TOML recipes. Imports no torch.

A recipe is a TOML file with the sections of :class:`Config`; what it leaves out is as in the recipe
that it names as its ``base``, or has the defaults below, which are the paper's. Sections such as
``[task.ucca.model]`` apply to that task alone. Unknown names are errors:

>>> config = load_recipe("paper-ucca", task="ucca")
>>> config.model.decoder_size, config.train.batch_size
(1024, 64)
>>> override(config, ["model.decoder_size=256"]).model.decoder_size
256
>>> override(config, ["model.decodersize=256"])   # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
transducer.errors.ConfigError: --set model.decodersize=256: unknown key, ...
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from transducer.earlier import name_of_today, renamed
from transducer.errors import ConfigError
from transducer.registry import FRAMEWORKS
from transducer.schema import (
    Choice,
    Known,
    Name,
    Range,
    SchemaError,
    check_limits,
    checked,
    unknown,
)

TASKS = tuple(FRAMEWORKS)
"""The frameworks a model can be trained for."""

# What settings can be, wherever they come from: a recipe, --set or the config of a model directory.
Size = Annotated[int, Range(1, 8192)]
Feature = Annotated[int, Range(0, 8192)]
Layers = Annotated[int, Range(1, 16)]
Items = Annotated[int, Range(1, 1_000_000)]
Count = Annotated[int, Range(1, 1_000_000)]
Limit = Annotated[int, Range(0, 1_000_000_000)]
Rate = Annotated[float, Range(0, 1e30)]
Weight = Annotated[float, Range(0, 1000)]
Share = Annotated[float, Range(0, 1, below=True)]


COPY_WAYS = ("concept", "constant", "joined", "other")
"""What copying a token of AMR can give; who has one has those before it."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Sizes and switches of the network; a feature of size 0 is off."""

    contextual: Name = ""
    """Contextual encoder: a folder, or a name such as sentence-transformers/all-MiniLM-L6-v2."""
    contextual_layers: Annotated[str, Choice(("last", "mix"))] = "last"
    """Which layers of it: ``last``, or ``mix`` for a learned scalar mix of all."""
    contextual_tuned: bool = False
    """Fine-tune the layers of the contextual encoder instead of caching its frozen features; its
    embeddings stay as they are."""
    contextual_depth: Annotated[int, Range(0, 100)] = 0
    """How many layers of a tuned contextual encoder, from the first; 0 is all of them."""
    contextual_rank: Annotated[int, Range(0, 1024)] = 0
    """Tune differences of this rank to its matrices (LoRA) instead of the matrices; 0 is off."""
    contextual_size: Feature = 0
    """Vectors of the contextual encoder are projected to this size; 0 leaves them as they are."""
    word_size: Size = 300
    """Word vectors, on both sides."""
    word_vectors: Name = ""
    """A GloVe-format text file that initializes them."""
    pos_size: Feature = 100
    """Part-of-speech tags, on both sides."""
    ner_size: Feature = 0
    """Entity types."""
    dep_size: Feature = 0
    """Dependency labels."""
    shape_size: Feature = 0
    """Word shapes."""
    punct_size: Feature = 0
    """Whether a token is punctuation."""
    anonymous_size: Feature = 0
    """AMR: whether a token is a placeholder made by anonymization."""
    char_size: Feature = 100
    """Channels of the CharCNN, on both sides."""
    char_embedding: Size = 100
    """Vectors of characters."""
    char_kernel: Annotated[int, Range(1, 32)] = 3
    """Characters that the CharCNN sees at once."""
    index_size: Size = 50
    """Node indices d_u and d_v."""
    relation_size: Size = 100
    """Relation types r, as input of the next step."""
    encoder_layers: Layers = 2
    """Layers of the BiLSTM."""
    encoder_size: Size = 512
    """Per direction."""
    decoder_layers: Layers = 2
    """Layers of the LSTM."""
    decoder_size: Size = 1024
    """Of each layer."""
    attention_size: Size = 256
    """Hidden layer of the two MLP attentions."""
    biaffine_size: Size = 256
    """Input of the biaffine source pointer."""
    bilinear_size: Size = 128
    """Input of the bilinear relation classifier."""
    dropout: Share = 0.33
    """Of inputs and states, in training."""
    word_vocabulary: Items = 10000
    """The most frequent words have vectors of their own."""
    node_vocabulary: Items = 10000
    """The same for node labels; these can be generated."""
    anchored: bool = False
    """Beyond the paper: the decoder also reads the encoder state of the word it copied, and edges
    are scored from the attended context as well as from the LSTM state."""
    copy_attention: bool = False
    """Beyond the paper: source copy has an attention of its own, from z, which knows the previous
    edge; the paper copies with the attention of the context, from h, which does not."""
    pointer_reach: Annotated[int, Range(0, 1000)] = 0
    """Beyond the paper: the copy attention also sees how far a word is from the last one that is a
    node, up to so many words either way, and which words are nodes already."""
    link_size: Feature = 0
    """Beyond the paper: a biaffine classifier of this size says which words are linked, and the
    decoder sees where links lead from the rows it has."""
    frame_size: Feature = 0
    """Beyond the paper: a classifier of this size says each word's frame (the seventh column of SDP
    2015), which the decoder sees, and which the finished graph has."""
    copy_ways: Annotated[str, Choice(COPY_WAYS)] = "concept"
    """AMR: what copying a token can give, each with all before it: ``concept`` is its lemma,
    ``constant`` a name or a number, ``joined`` a constant together with others (``B-Raf``, 2
    million), ``other`` another concept, alone or together (``give-up``)."""
    source_candidates: Annotated[str, Choice(("preceding", "open-path"))] = "open-path"
    """Over which rows P(u) is a distribution: all ``preceding`` ones, as in the paper, or those
    from which a pre-order can continue. Search takes the latter in both cases, since the decoder
    has never seen anything but a pre-order."""
    unit_labels: bool = True
    """UCCA: non-terminals carry their category as label."""

    @property
    def n_copy_ways(self) -> int:
        """In how many ways a token can be copied."""
        return COPY_WAYS.index(self.copy_ways) + 1

    def __post_init__(self) -> None:
        _check(self)
        _require(
            self.contextual_tuned or not (self.contextual_depth or self.contextual_rank),
            "contextual_depth and contextual_rank need contextual_tuned",
        )
        _require(
            self.copy_attention or not self.pointer_reach, "pointer_reach needs copy_attention"
        )
        _require(self.copy_attention or not self.link_size, "link_size needs copy_attention")


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """How to train."""

    batch_size: Count = 64
    """Sentences per update and process, at most."""
    batch_tokens: Limit = 0
    """Tokens per update and process, at most; 0 is no limit."""
    accumulate: Count = 1
    """Batches per update."""
    epochs: Count = 120
    """Passes over the training data, at most."""
    patience: Count = 20
    """Epochs without a better dev score before training stops."""
    updates: Limit = 0
    """Stop after so many updates, whatever the epochs; 0 is no limit."""
    minutes: Annotated[float, Range(0, 1_000_000)] = 0
    """Stop after so many minutes of training; 0 is no limit."""
    learning_rate: Rate = 0.001
    """Adam's."""
    contextual_rate: Rate = 0.00002
    """Learning rate of a tuned contextual encoder; 0 tunes it no further, and is faster."""
    contextual_from: Name = ""
    """A model directory whose tuned contextual encoder this one starts from, or a task: the model
    that ships for it."""
    start_from: Name = ""
    """A model directory of the same task and sizes whose weights and vocabularies this one starts
    from, to fine-tune it on other data. What it does not have is initialized: words and labels that
    only the new data has, more layers of the same contextual encoder, frames."""
    warmup: Limit = 0
    """Updates over which the learning rates rise linearly."""
    schedule: Annotated[str, Choice(("constant", "cosine"))] = "constant"
    """``constant``, or ``cosine``: fall to zero over the epochs, the updates or the minutes."""
    max_norm: Weight = 5.0
    """Gradients are clipped to this norm."""
    coverage: Weight = 1.0
    """Weight of the coverage loss."""
    link_loss: Weight = 1.0
    """Weight of the loss of pairs of words, where ``model.link_size`` asks for them."""
    link_smoothing: Share = 0.0
    """Label smoothing of pairs of words, towards how many of them are linked."""
    frame_loss: Weight = 0.5
    """Weight of the loss of the words' frames, where ``model.frame_size`` asks for them."""
    smoothing: Share = 0.1
    """Label smoothing of the node distribution, over the possible slots."""
    edge_smoothing: Share = 0.0
    """The same for sources and relation types."""
    force_copy: bool = False
    """Copy where copying gives the label, instead of summing over copying and generating."""
    word_dropout: Weight = 0.0
    """A word of count c is hidden with probability word_dropout / (word_dropout + c)."""
    feature_dropout: Annotated[float, Range(0, 1)] = 0.0
    """Probability of hiding the tags of a sentence, so that text without tags is parsed, too."""
    subword_dropout: Annotated[float, Range(0, 1)] = 0.0
    """Probability of masking a sub-word of a tuned contextual encoder, so that it learns to look
    around."""
    moving_average: Annotated[float, Range(0, 1)] = 0.0
    """Decay of a moving average of the weights that is evaluated and saved; 0 is off."""
    evaluate_from: Count = 1
    """First epoch after which the dev section is parsed."""
    evaluate_every: Count = 1
    """Epochs between two evaluations."""
    annotator: Name = "none"
    """Annotator for what the files do not say: none, auto, or a spaCy model."""
    precision: Annotated[str, Choice(("auto", "fp32", "bf16", "fp16"))] = "auto"
    """On a GPU: auto (bf16 or fp16 if it is fast), fp32, bf16 or fp16. On a CPU: bf16, or else
    fp32."""

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True)
class DecodeConfig:
    """How to decode."""

    beam: Annotated[int, Range(1, 1000)] = 1
    """1 is greedy search."""
    batch_tokens: Annotated[int, Range(1, 1_000_000)] = 4000
    """Padded tokens per batch (times the beam)."""
    unique_core_roles: bool = False
    """Forbid a second ARG0..ARGn of the same name below one node."""
    limit_copies: bool = False
    """AMR: copy a constant at most as often as words offer it, a concept once more."""
    length_penalty: Annotated[float, Range(0, 10)] = 0.0
    """Finished hypotheses of a beam are compared by log-probability / rows ** length_penalty."""
    nbest: Annotated[int, Range(1, 1000)] = 1
    """Hypotheses that are kept; at most the beam."""
    int8: bool = False
    """Compute with 8-bit weights (a contextual encoder: 16, where the CPU has them): faster on a
    CPU, nearly as precise. On a GPU it changes nothing."""
    node_temperature: Annotated[float, Range(0.01, 100)] = 1.0
    """What the log-odds of nodes are divided by in the scores of a graph: a calibrated model has it
    from ``tools/calibrate.py``. Search is the same."""
    edge_temperature: Annotated[float, Range(0.01, 100)] = 1.0
    """The same for edges."""

    def __post_init__(self) -> None:
        _check(self)
        _require(self.nbest <= self.beam, "nbest is at most the beam")


@dataclass(frozen=True, slots=True)
class AmrConfig:
    """Pre- and post-processing of AMR (paper, section 5); see transducer.frameworks.amr."""

    wiki: bool = True
    """Remove Wikipedia pages and look them up afterwards."""
    polarity: bool = False
    """Add the negations that the model left out, by rules that are learned from the training
    data."""
    anonymize: bool = False
    """Fold entities into placeholders."""
    senses: bool = True
    """Remove the senses that the table restores."""
    spotlight: Name = ""
    """Address of a DBpedia Spotlight endpoint that training asks; empty: none. Parsing has
    ``--spotlight``."""
    rolesets: Name = ""
    """PropBank's rolesets, one a line, or a table of them whose header names the columns ``id``,
    ``aliases`` (``decide/v;decision/n``) and ``amr``."""
    gazetteer: Name = ""
    """Beyond the paper: well-known names, a line each: name, type and Wikipedia page, with tabs
    between them."""


AMR_STEPS = ("wiki", "polarity", "anonymize", "senses")
"""The switches of AMR's steps, in the order of preprocessing; postprocessing goes backwards."""


@dataclass(frozen=True, slots=True)
class Config:
    """A recipe."""

    task: Annotated[str, Known(FRAMEWORKS)]
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    decode: DecodeConfig = field(default_factory=DecodeConfig)
    amr: AmrConfig = field(default_factory=AmrConfig)

    def __post_init__(self) -> None:
        _check(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, as TOML and JSON hold them."""
        return dataclasses.asdict(self)


def recipes() -> tuple[str, ...]:
    """Return the names of the recipes that ship with the package."""
    folder = resources.files("transducer") / "recipes"
    return tuple(
        sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml"))
    )


def load_recipe(name: str, *, task: str | None = None) -> Config:
    """Load a recipe that ships with the package."""
    return _parse(_recipe_text(name), name, task)


def load_config(path: str | Path, *, task: str | None = None) -> Config:
    """Load a config file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    return _parse(text, str(path), task)


def from_dict(values: Mapping[str, Any], *, name: str = "config") -> Config:
    """Build a Config from plain dicts; unknown keys and values out of range are errors."""
    try:
        config: Config = checked(Config, values)
    except SchemaError as error:
        raise ConfigError(f"{name}: {error}") from error
    return config


def override(config: Config, settings: Sequence[str]) -> Config:
    """Apply ``section.key=value`` settings; values are TOML, a bare word is a string."""
    values = config.to_dict()
    for setting in settings:
        path, _, text = setting.partition("=")
        *sections, key = name_of_today(path.strip()).split(".")
        target = values
        for section in sections:
            if not isinstance(target.get(section), dict):
                raise ConfigError(f"--set {setting}: there is no section {section!r}")
            target = target[section]
        if key not in target or isinstance(target[key], dict):
            raise ConfigError(f"--set {setting}: {unknown(key, target)}")
        target[key] = _value(text.strip(), target[key])
    return from_dict(values, name="--set")


def _recipe_text(name: str) -> str:
    if name not in recipes():
        raise ConfigError(f"there is no recipe {name!r}; the recipes are {', '.join(recipes())}")
    return (resources.files("transducer") / "recipes" / f"{name}.toml").read_text(encoding="utf-8")


class _Tables(NamedTuple):
    """What a recipe says, and in its sections [task.NAME...] of each task alone."""

    values: dict[str, Any]
    by_task: dict[str, Any]


def _tables(text: str, name: str) -> _Tables:
    """Read TOML; what it does not say comes from the recipe that it names as its ``base``."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: {error}") from error
    for task in FRAMEWORKS:
        moved = {f.name for f in dataclasses.fields(Config)}.intersection(values.get(task) or ())
        if moved:
            section = f"{task}.{min(moved)}"
            raise ConfigError(f"{name}: the section [{section}] is called [task.{section}]")
    by_task = values.pop("task") if isinstance(values.get("task"), dict) else {}
    for task, sections in by_task.items():
        if task not in FRAMEWORKS or not isinstance(sections, dict):
            raise ConfigError(f"{name}: task.{task}: {unknown(task, FRAMEWORKS)}")
    base = values.pop("base", None)
    values, by_task = renamed(values), {name: renamed(given) for name, given in by_task.items()}
    if base is None:
        return _Tables(values, by_task)
    below = _tables(_recipe_text(str(base)), str(base))
    return _Tables(_merged(below.values, values), _merged(below.by_task, by_task))


def _merged(base: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of both, those of *values* where both say something."""
    result = dict(base)
    for key, value in values.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = _merged(result[key], value) if both else value
    return result


def _parse(text: str, name: str, task: str | None) -> Config:
    values, by_task = _tables(text, name)
    if task is not None:
        values["task"] = task
    if "task" not in values:
        raise ConfigError(f"{name} does not say the task; add --task")
    return from_dict(_merged(values, by_task.get(values["task"], {})), name=name)


def _value(text: str, example: Any) -> Any:
    if isinstance(example, str):
        return text.strip("\"'")
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _check(section: Any) -> None:
    try:
        check_limits(section)
    except SchemaError as error:
        raise ConfigError(str(error)) from error


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ConfigError(message)
