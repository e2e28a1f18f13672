"""Training and preparing data as the paper says: what the recipe asks for reaches the updates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from reference.decoder import Reference
from reference.encoder import mix_layers
from reference.losses import losses

import graphconv
from graphconv.graph import Edge, Graph, Node, Token
from transducer.config import Config
from transducer.frameworks.amr.anonymize import placeholder
from transducer.frameworks.tasks import Task, make_task, training_graphs
from transducer.model.inputs import make_batch, make_features
from transducer.training.trainer import Trainer, make_trainer

Ten = Callable[[str], Path]
Paper = Callable[..., Config]


@pytest.fixture
def paper(of_recipe: Callable[..., Any]) -> Callable[..., Config]:
    """The maker of the paper's recipes: small, for one epoch, and without what is random."""

    def make(task: str, kind: str = "paper", **train: Any) -> Config:
        config: Config = of_recipe(kind, task, size=1, dropout=0.0).config
        plain = {
            "annotator": "none", "epochs": 1, "word_dropout": 0.0, "feature_dropout": 0.0,
            "contextual_from": "", "batch_tokens": 0, "precision": "fp32", "warmup": 0,
        }  # fmt: skip
        return replace(config, train=replace(config.train, **{**plain, **train}))

    return make


def trainer(config: Config, file: Path, folder: Path) -> Trainer:
    return make_trainer(config, [str(file)], [], folder, device="cpu")


CASES = [(kind, task) for kind in ("paper", "shipped") for task in ("amr", "dm", "ucca")]


@pytest.mark.parametrize(("kind", "task"), CASES)
def test_the_first_update_has_the_recipes_loss(
    kind: str, task: str, paper: Paper, ten: Ten, tmp_path: Path
) -> None:
    """Every term with its weight, smoothing and the forced copy are passed on."""
    config = paper(task, kind)
    made = trainer(config, ten(task), tmp_path / "model")
    torch.manual_seed(5)
    with torch.no_grad():  # as they begin, weights are too small for some terms to differ
        for weight in made.model.parameters():
            weight.add_(torch.randn(weight.shape), alpha=0.3)
        if made.model.links is not None:  # else all pairs have about the same score
            made.model.links.weight.mul_(20)
    weights = {k: v.clone() for k, v in made.model.state_dict().items()}
    told: list[dict[str, float]] = []
    made.on_progress = lambda progress: told.append(progress.losses)
    made.fit()
    graphs = training_graphs(config, graphconv.read(ten(task), framework=task))
    examples = list(made.task.examples(graphs))
    models = [Reference(weights, made.config.model, made.vocabularies, e) for e in examples]
    t = config.train
    expected = losses(
        models,
        smoothing=t.smoothing,
        edge_smoothing=t.edge_smoothing,
        link_smoothing=t.link_smoothing,
        force_copy=t.force_copy,
    )
    steps = sum(len(example.rows) + 1 for example in examples)
    factors = {"coverage": t.coverage, "links": t.link_loss, "frames": t.frame_loss}
    terms = expected._asdict()
    total = sum(factors.get(name, 1.0) * value for name, value in terms.items())
    assert len(told) == 1  # all ten in one update
    for name, value in {**terms, "total": total}.items():
        assert told[0][name] == pytest.approx(value / steps, rel=1e-4, abs=1e-6), name
    if kind == "paper":
        assert (t.smoothing, t.coverage, t.force_copy) == (0.1, 1.0, True)
        assert expected.coverage > 0.01 * expected.node


@pytest.mark.parametrize("max_norm", [0.05, 1000.0])
def test_gradients_are_clipped(paper: Paper, ten: Ten, tmp_path: Path, max_norm: float) -> None:
    made = trainer(paper("dm", max_norm=max_norm), ten("dm"), tmp_path / "model")
    norms = []

    def record(*_: Any) -> None:
        gradients = [w.grad for w in made.model.parameters() if w.grad is not None]
        norms.append(float(torch.cat([g.flatten() for g in gradients]).norm()))

    inner: Any = made.optimizer  # Accelerate's, around Adam
    inner.optimizer.register_step_pre_hook(record)
    made.fit()
    assert norms
    assert all((norm <= 0.0501) == (max_norm == 0.05) for norm in norms)


def test_adam_begins_with_the_papers_rate(paper: Paper, ten: Ten, tmp_path: Path) -> None:
    """The first step of Adam moves each weight by the learning rate; nothing is averaged."""
    made = trainer(paper("dm", max_norm=1000.0), ten("dm"), tmp_path / "model")
    before = {k: v.clone() for k, v in made.model.state_dict().items()}
    made.fit()
    moved = max(float((v - before[k]).abs().max()) for k, v in made.model.state_dict().items())
    assert moved == pytest.approx(0.001, rel=1e-3)
    assert not made.moving_average.weights


def test_training_begins_with_the_word_vectors(
    of_recipe: Callable[..., Any], paper: Paper, ten: Ten, tmp_path: Path
) -> None:
    both = of_recipe("paper", "dm", size=10).vocabularies
    word = next(w for w in both.words.items if w in both.nodes and w.isalpha())
    vectors = tmp_path / "glove.txt"
    vectors.write_text(f"{word} " + " ".join(["0.5"] * 8) + "\n", encoding="utf-8")
    config = paper("dm")
    config = replace(config, model=replace(config.model, word_vectors=str(vectors)))
    made = trainer(config, ten("dm"), tmp_path / "model")
    weights, known = made.model.state_dict(), made.vocabularies
    for side, vocabulary in (
        ("encoder_embedding.tables", known.words),
        ("node_embedding", known.nodes),
    ):
        assert word in vocabulary
        name = f"{side}.words.weight"
        assert weights[name][vocabulary[word]].tolist() == [0.5] * 8


def test_a_tokens_anonymization_reaches_the_model(of_recipe: Callable[..., Any]) -> None:
    small = of_recipe("paper", "amr")
    flags = [bool(flag) for item in small.items for flag in item.anonymous]
    marked = [placeholder(t) is not None for example in small.examples for t in example.tokens]
    assert flags == marked
    assert any(flags)
    assert not all(flags)


def sentences(*texts: str) -> tuple[Token, ...]:
    return tuple(Token(form) for text in texts for form in text.split())


def test_ucca_texts_are_split_and_the_graphs_joined(of_recipe: Callable[..., Any]) -> None:
    """Section 5: multi-sentence texts are split at test time, and their graphs joined into one."""
    task: Task = of_recipe("paper", "ucca").task
    tokens = sentences("He came .", "She saw it .")
    document = task.document("d", tokens)
    assert [len(s.tokens) for s in document.sentences] == [3, 4]
    rows = [
        next(iter(task.examples([_flat(sentence.tokens)]))).rows for sentence in document.sentences
    ]
    graph = task.graph(document, rows)
    assert graph.tokens == tokens
    assert len(graph.tops) == 1
    assert sorted(place for node in graph.nodes for place in node.anchors) == list(range(7))


def _flat(tokens: tuple[Token, ...]) -> Graph:
    """Return a passage whose words are all participants of its root."""
    units = tuple(Node(f"1.{i + 2}", None, (i,)) for i in range(len(tokens)))
    edges = tuple(Edge("1.1", unit.id, "A") for unit in units)
    return Graph("p", "ucca", tokens, (Node("1.1"), *units), edges, ("1.1",))


@pytest.mark.parametrize("kind", ["paper", "shipped"])
def test_words_have_the_mean_of_their_subwords(
    kind: str, of_recipe: Callable[..., Any], tiny_mpnet: Path
) -> None:
    """The contextual encoder's part of the embedding, computed by `transformers` itself."""
    from transformers import AutoTokenizer, MPNetModel

    recipe = {"paper": {}, "shipped": {"contextual_tuned": True, "contextual_layers": "mix"}}[kind]
    if kind == "shipped":
        recipe |= {"contextual_rank": 2, "contextual_depth": 2, "contextual_size": 6}
    small = of_recipe(kind, "dm", size=4, contextual=str(tiny_mpnet), **recipe)
    features = make_features(small.config, None)
    batch = make_batch(small.items, small.vocabularies, small.config, features)
    tokenizer = AutoTokenizer.from_pretrained(tiny_mpnet)
    encoder: Any = MPNetModel.from_pretrained(tiny_mpnet)
    encoder.eval()
    weights = small.model.state_dict()
    with torch.no_grad():
        states = small.model.encode(batch).states
    for b, example in enumerate(small.examples):
        layers = _word_vectors(tokenizer, encoder, [token.form for token in example.tokens])
        if kind == "shipped":
            layers = [word[:3] for word in layers]  # the embeddings and two layers
        vectors = _mixed(weights, small.config.model, layers)
        model = Reference(weights, small.config.model, small.vocabularies, example, vectors)
        for t, state in enumerate(model.encoded.states):
            # Frozen vectors are kept as half floats.
            torch.testing.assert_close(states[b, t].double(), state, atol=1e-3, rtol=0)


def _word_vectors(tokenizer: Any, encoder: Any, forms: list[str]) -> list[list[torch.Tensor]]:
    """Return for each word, and each layer, the mean of its sub-words."""
    pieces = [tokenizer(form, add_special_tokens=False)["input_ids"] for form in forms]
    ids = [tokenizer.cls_token_id, *(i for piece in pieces for i in piece), tokenizer.sep_token_id]
    with torch.no_grad():
        output = encoder(input_ids=torch.tensor([ids]), output_hidden_states=True)
    words, start = [], 1
    for piece in pieces:
        rows = range(start, start + len(piece))
        words.append(
            [sum(layer[0, i].double() for i in rows) / len(rows) for layer in output.hidden_states]
        )
        start += len(piece)
    assert any(len(piece) > 1 for piece in pieces)
    return words


def _mixed(weights: Any, model: Any, words: list[list[torch.Tensor]]) -> list[torch.Tensor]:
    doubles = {name: weight.double() for name, weight in weights.items()}
    return [mix_layers(doubles, model, layers) for layers in words]


def test_the_task_of_the_paper_has_every_step(of_recipe: Callable[..., Any]) -> None:
    small = of_recipe("paper", "amr")
    task = make_task(small.config, small.graphs)
    assert task.config.amr == small.task.config.amr
    steps = small.task.config.amr
    assert steps.anonymize
    assert steps.senses
    assert steps.wiki
    assert steps.polarity
