"""No rule of decoding excludes a graph of the treebanks: their rows are followed step by step."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

import graphconv
from transducer.config import DecodeConfig
from transducer.data.batches import Batch, batches, collate
from transducer.data.examples import COPY, Item, build_vocabularies, numericalize
from transducer.data.trees import candidate_heads
from transducer.data.vocabularies import EOS
from transducer.decoding.hypotheses import NEVER, RowScore
from transducer.decoding.steps import Steps
from transducer.frameworks import task_of
from transducer.frameworks.tasks import make_task, training_graphs
from transducer.model.network import TransducerModel

FEW = 60
FILES = [
    ("dm", "dm/wescience-dev.sdp"),
    ("dm", "dm/redwoods-train.sdp"),
    ("ucca", "ucca/wiki-dev"),
    ("amr", "amr/lpp-dev.amr"),
    ("amr", "amr/bio-dev.amr"),
    ("amr", "amr/massive-dev.amr"),
    ("amr", "amr/qald9-train.amr"),
    ("amr", "amr/lpp-train.amr"),
    ("amr", "amr/bio-train.amr"),
    ("amr", "amr/massive-train.amr"),
]


def excluded_steps(search: Steps, batch: Batch, items: list[Item]) -> Iterator[str]:
    """Yield what the rules forbid while hypotheses follow the gold rows of a batch."""
    hyp = search.start(batch, items, 1)
    rows = batch.target_mask.sum(1) - 1
    sentence = torch.arange(len(items))
    for step in range(int(rows.max()) + 1):
        log_p, found = search.outcomes(hyp, sys.maxsize)
        possible = torch.zeros_like(log_p, dtype=torch.bool).scatter(1, found, log_p > NEVER)
        outcome = batch.outcomes[sentence, step]
        # The node that the next row repeats; a hypothesis at its end repeats none.
        node = batch.indices[sentence, min(step + 1, batch.indices.shape[1] - 1)]
        copied = search.n_labels + hyp.sentences.offers.shape[1] - 1 + node
        outcome = torch.where(outcome == COPY, copied, outcome)
        everyone = torch.arange(len(sentence))
        for k in (~possible[everyone, outcome]).nonzero().flatten().tolist():
            yield f"item {int(sentence[k])}: outcome {int(outcome[k])} of row {step + 1}"
        going = (outcome != EOS).nonzero().flatten()
        if not len(going):
            return
        hyp.select(going, going)
        sentence, outcome = sentence[going], outcome[going]
        everyone = torch.arange(len(sentence))
        choice = search.consume(hyp, everyone, outcome, torch.zeros(len(sentence)))
        head = batch.heads[sentence, step + 1]
        relation = batch.relations[sentence, step + 1]
        source = search.sources(hyp, choice)[everyone, (head - 1).clamp(min=0)]
        allowed = search.relations(hyp, choice, head)[everyone, relation]
        for k in ((source == NEVER) | (allowed == NEVER)).nonzero().flatten().tolist():
            what = "head" if source[k] == NEVER else "relation"
            number_of = int(head[k] if what == "head" else relation[k])
            yield f"item {int(sentence[k])}: {what} {number_of} of row {step + 1}"
        nothing = torch.zeros(len(head))
        search.append(hyp, choice, head, relation, RowScore(nothing, nothing, nothing))


def excluded(
    make_small: Callable[..., Any], task: str, graphs: list[Any], **switches: object
) -> list[str]:
    """Return what is excluded of some graphs, with a model whose vocabularies know them all."""
    config = make_small(task, size=2, **switches).config
    prepared = training_graphs(config, graphs)
    examples = list(make_task(config, prepared).examples(prepared))
    problems = []
    for example in examples:
        for row, heads in zip(
            example.rows, candidate_heads(example.trees, example.rows), strict=True
        ):
            if row.head not in heads:
                problems.append(f"{example.id}: head {row.head} of {row}")
    vocabularies = build_vocabularies(examples)
    items = [numericalize(example, vocabularies) for example in examples]
    model = TransducerModel(config.model, vocabularies, task_of(task).trees).eval()
    rules = make_small_rules(model, vocabularies, task)
    search = Steps(model, rules, DecodeConfig())
    with torch.inference_mode():
        for group in batches(items, 24):
            chosen = [items[i] for i in group]
            names = [examples[i].id for i in group]
            for problem in excluded_steps(search, collate(chosen, vocabularies), chosen):
                place = int(problem.split()[1].rstrip(":"))
                problems.append(f"{names[place]}: {problem}")
    return problems


def make_small_rules(model: TransducerModel, vocabularies: Any, task: str) -> Any:
    from transducer.decoding.rules import make_rules

    with torch.inference_mode():
        return make_rules(model, vocabularies, task_of(task))


@pytest.mark.parametrize("task", ["amr", "dm", "ucca"])
def test_no_graph_of_the_sample_is_excluded(task: str, make_small: Callable[..., Any]) -> None:
    from transducer import sample

    graphs = list(islice(graphconv.read(sample.path(task, "dev"), framework=task), FEW))
    assert not excluded(make_small, task, graphs)


def test_no_graph_with_units_of_one_label_is_excluded(make_small: Callable[..., Any]) -> None:
    from transducer import sample

    graphs = list(islice(graphconv.read(sample.path("ucca", "dev"), framework="ucca"), FEW))
    assert not excluded(make_small, "ucca", graphs, unit_labels=False)


@pytest.mark.corpora
@pytest.mark.parametrize(("task", "name"), FILES)
def test_no_treebank_graph_is_excluded(
    task: str, name: str, corpora: Path, make_small: Callable[..., Any]
) -> None:
    graphs = list(islice(graphconv.read(corpora / name, framework=task), FEW))
    assert not excluded(make_small, task, graphs)


@pytest.mark.slow
@pytest.mark.corpora
@pytest.mark.parametrize(("task", "name"), FILES)
def test_no_graph_of_whole_treebanks_is_excluded(
    task: str, name: str, corpora: Path, make_small: Callable[..., Any]
) -> None:
    graphs = list(islice(graphconv.read(corpora / name, framework=task), 2000))
    assert not excluded(make_small, task, graphs)


def test_a_wrong_row_is_noticed(make_small: Callable[..., Any]) -> None:
    """The test above can fail: a word that comes twice as a new node is forbidden."""
    small = make_small("dm")
    item = next(item for item in small.items if (item.node_tokens[2:] > 0).sum() > 2)
    outcomes = item.outcomes.copy()
    new = [i for i, outcome in enumerate(outcomes) if outcome >= len(small.vocabularies.labels)]
    outcomes[new[1]] = outcomes[new[0]]
    search = Steps(small.model, small.rules, DecodeConfig())
    wrong = item._replace(outcomes=outcomes)
    with torch.inference_mode():
        assert list(excluded_steps(search, small.batch([wrong]), [wrong]))
