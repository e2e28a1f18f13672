"""Read two files graph by graph, pair them, and score the pairs.

Graphs are paired by id; where a whole file has no ids, by order. A file in which some graphs have
an id and others have none is an error: which graph would be whose is a guess. Files in the same
order are scored in lock-step, so memory does not grow with them: only graphs whose counterpart has
not come yet are held, and the small results of what comes after them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from evaltools.counts import Statistics
from evaltools.errors import EvaluationError
from evaltools.loading import framework_of, load, meant_by, peek
from evaltools.metrics import METRICS, metric_of
from evaltools.sources import Source, by_order, source_of
from graphconv.codecs import Block
from graphconv.errors import GraphconvError
from graphconv.graph import Graph, attribute
from graphconv.io import MIXED_FORMATS, read_blocks
from graphconv.io.parallel import ordered_map


@dataclass(frozen=True, slots=True)
class Result:
    """The score of one gold graph."""

    index: int
    """Its place in the gold file, from 0."""
    id: str
    statistics: Statistics
    missing: bool = False
    """Whether there is no prediction that could be scored."""


class Plan(NamedTuple):
    """What to compare, and how; it goes to every worker."""

    gold_path: str
    gold_format: str
    pred_path: str
    pred_format: str
    metric: str
    framework: str
    options: dict[str, Any]
    skip_invalid: bool
    filtered: bool
    """Whether gold graphs of other frameworks are passed over, not refused."""
    by_order: bool = False
    """Whether graphs are pairs by their place, whatever their ids."""

    def pair(self, gold: Graph, pred: Graph | None) -> Statistics:
        """Score one pair."""
        return METRICS[self.metric].pair_counts(gold, pred, self.options)


class Outcome(NamedTuple):
    """What a worker found in two blocks: a scored pair, or what stands there."""

    gold: Graph | str | None
    """The graph, or only its id if it is scored."""
    pred: Graph | GraphconvError | str | None
    anonymous: tuple[bool | None, bool | None] = (None, None)
    """Whether the gold graph and the prediction have no id; None: there is no graph to ask."""
    statistics: Statistics | None = None
    trouble: str = ""
    """Why the prediction counts as empty."""
    other_text: bool = False
    """Whether the sentences differ."""
    passed_over: bool = False
    """Whether the prediction is of another framework."""


Pair = tuple[Block | Graph | None, Block | Graph | None]
"""The texts of two graphs, or graphs that are there already; None where a file has ended."""


class Evaluation:
    """One comparison of two files: iterate over its results, then ask what was noticed."""

    def __init__(
        self,
        gold: str | Source,
        pred: str | Source,
        *,
        metric: str = "auto",
        framework: str | None = None,
        options: dict[str, Any] | None = None,
        skip_invalid: bool = False,
        jobs: int = 1,
    ) -> None:
        gold, pred = (
            one if isinstance(one, Source) else source_of(Path(one), framework=framework)
            for one in (gold, pred)
        )
        self._digests = {"gold": gold.digest, "pred": pred.digest}
        gold_first, self._gold_blocks = peek(gold.format, gold.blocks, metric, framework)
        pred_first, self._pred_blocks = peek(pred.format, pred.blocks, metric, framework)
        target = framework or framework_of(gold.format, gold_first, pred_first)
        self.plan = Plan(
            gold.name,
            gold.format,
            pred.name,
            pred.format,
            metric_of(target) if metric == "auto" else metric,
            target,
            options or {},
            skip_invalid,
            filtered=framework is not None or bool(meant_by(metric)),
            by_order=by_order(gold, pred),
        )
        if target not in METRICS[self.plan.metric].frameworks:
            known = ", ".join(METRICS[self.plan.metric].frameworks)
            message = f"{self.plan.metric} scores {known}, not {target}"
            raise EvaluationError(message, filename=gold.name)
        found = framework_of(pred.format, pred_first, target)
        if pred.format not in MIXED_FORMATS and found != target:
            message = f"the prediction is {found} but gold ({gold.name}) is {target}"
            raise EvaluationError(message, filename=pred.name)
        self.jobs = jobs
        self.by_order = False
        """Whether graphs are paired by order, because one side has no ids."""
        self.missing: list[str] = []
        """The ids of gold graphs that count as not found."""
        self.extra: list[str] = []
        """The ids of predictions without a gold graph."""
        self.broken: list[str] = []
        """What is wrong with the predictions that count as empty."""
        self.other_texts: list[str] = []
        """The ids of pairs, made by order, whose sentences differ."""
        self.outcomes: Iterator[Outcome] | None = None
        """What workers found in the pairs, in order, where that is done elsewhere."""

    @property
    def hashes(self) -> dict[str, str]:
        """The SHA-256 of both sides; ask for it when everything is read."""
        return {side: digest() for side, digest in self._digests.items()}

    def pairs(self) -> Iterator[Pair]:
        """Yield what stands side by side in the files; to be read once."""
        return zip_longest(self._gold_blocks, self._pred_blocks)

    def __iter__(self) -> Iterator[Result]:
        """Yield the results in the order of the gold file."""
        held: dict[int, Result] = {}
        following = 0
        for result in self._results():
            held[result.index] = result
            while following in held:
                yield held.pop(following)
                following += 1
        assert not held, "every gold graph has one result"

    def _results(self) -> Iterator[Result]:
        outcomes = self.outcomes
        if outcomes is None:
            outcomes = ordered_map(Worker(self.plan), self.pairs(), self.jobs)
        # A file's first graph that can be read tells whether it has ids; most often it is the
        # first of all. What comes before it says nothing.
        seen: list[Outcome] = []
        has_ids: list[bool | None] = [None, None]
        n_gold = 0
        for outcome in outcomes:
            seen.append(outcome)
            n_gold += outcome.gold is not None
            for side, anonymous in enumerate(outcome.anonymous):
                if has_ids[side] is None and anonymous is not None:
                    has_ids[side] = not anonymous
            if None not in has_ids or has_ids[0] is False:
                break
        if not n_gold:
            for outcome in seen:
                self._refuse_or_note(outcome)
            message = f"there is no {self.plan.framework} graph"
            raise EvaluationError(message, filename=self.plan.gold_path)
        found = chain(seen, outcomes)
        if self.plan.by_order:
            self.by_order = True
            yield from self._by_order(found)
            return
        self.by_order = False in has_ids
        pair = self._by_order if self.by_order else self._by_id
        yield from pair(self._consistent(found, has_ids))

    def _consistent(
        self, outcomes: Iterable[Outcome], has_ids: list[bool | None]
    ) -> Iterator[Outcome]:
        """Refuse a graph without id in a file that has ids, and the other way round."""
        paths = self.plan.gold_path, self.plan.pred_path
        for outcome in outcomes:
            graphs = outcome.gold, outcome.pred
            for side, anonymous in enumerate(outcome.anonymous):
                if anonymous is None:
                    continue
                if has_ids[side] is None:
                    has_ids[side] = not anonymous
                if has_ids[side] == anonymous:
                    graph = graphs[side]
                    name = graph.id if isinstance(graph, Graph) else graph
                    has = "has no id" if anonymous else "has an id"
                    others = "others have one" if anonymous else "others have none"
                    message = f"graph {name} {has}, but {others}: all of a file, or none"
                    raise EvaluationError(message, filename=paths[side])
            yield outcome

    def _by_order(self, outcomes: Iterable[Outcome]) -> Iterator[Result]:
        # Where both files hold several frameworks, two graphs of others may meet.
        outcomes = (each for each in outcomes if (each.gold, each.pred) != (None, None))
        for index, outcome in enumerate(outcomes):
            gold, pred = outcome.gold, outcome.pred
            if gold is None or pred is None:
                counts = self._count_rest(index, outcome, outcomes)
                message = (
                    f"{counts[1]} graphs, but {counts[0]} in {self.plan.gold_path}; without ids "
                    "they are paired by order, so the numbers must be equal"
                )
                raise EvaluationError(message, filename=self.plan.pred_path)
            self._refuse_or_note(outcome)
            if outcome.statistics is not None:
                if outcome.other_text:
                    self.other_texts.append(str(gold))
                if outcome.trouble:
                    self.missing.append(str(gold))
                yield Result(index, str(gold), outcome.statistics, bool(outcome.trouble))
            elif isinstance(gold, Graph):
                yield self._without_prediction(index, gold)

    def _by_id(self, outcomes: Iterable[Outcome]) -> Iterator[Result]:
        golds: dict[str, tuple[int, Graph]] = {}
        preds: dict[str, Graph] = {}
        seen: tuple[set[str], set[str]] = set(), set()
        n_gold = n_matched = n_other = 0
        for outcome in outcomes:
            n_other += outcome.passed_over
            self._refuse_or_note(outcome)
            self._check_ids(outcome, seen)
            gold, pred, statistics = outcome.gold, outcome.pred, outcome.statistics
            if gold is not None:
                if statistics is not None:
                    n_matched += 1
                    if outcome.trouble:
                        self.missing.append(str(gold))
                    yield Result(n_gold, str(gold), statistics, bool(outcome.trouble))
                elif isinstance(gold, Graph):
                    golds[gold.id] = n_gold, gold
                n_gold += 1
            if isinstance(pred, Graph):
                preds[pred.id] = pred
            for graph_id in {g.id for g in (gold, pred) if isinstance(g, Graph)}:
                if graph_id in golds and graph_id in preds:
                    n_matched += 1
                    yield self._scored(*golds.pop(graph_id), preds.pop(graph_id))
        if n_other and not seen[1]:
            message = f"there is no {self.plan.framework} graph"
            raise EvaluationError(message, filename=self.plan.pred_path)
        if not n_matched and preds and golds:
            message = (
                f"no prediction has the id of a gold graph: the first ids are "
                f"{next(iter(preds))!r} and, in {self.plan.gold_path}, {next(iter(golds))!r}"
            )
            raise EvaluationError(message, filename=self.plan.pred_path)
        self.extra += preds
        for index, gold in golds.values():
            yield self._without_prediction(index, gold)

    def _scored(self, index: int, gold: Graph, pred: Graph) -> Result:
        statistics, trouble = _score(self.plan, gold, pred)
        if trouble:
            self.broken.append(trouble)
            self.missing.append(gold.id)
        return Result(index, gold.id, statistics, bool(trouble))

    def _without_prediction(self, index: int, gold: Graph) -> Result:
        self.missing.append(gold.id)
        return Result(index, gold.id, self.plan.pair(gold, None), missing=True)

    def _refuse_or_note(self, outcome: Outcome) -> None:
        if isinstance(outcome.pred, GraphconvError):
            if not self.plan.skip_invalid:
                raise outcome.pred
            self.broken.append(str(outcome.pred))
        if outcome.trouble:
            self.broken.append(outcome.trouble)

    def _check_ids(self, outcome: Outcome, seen: tuple[set[str], set[str]]) -> None:
        paths = self.plan.gold_path, self.plan.pred_path
        for item, known, path in zip((outcome.gold, outcome.pred), seen, paths, strict=True):
            if item is None or isinstance(item, GraphconvError):
                continue
            graph_id = item.id if isinstance(item, Graph) else item
            if graph_id in known:
                raise EvaluationError(f"two graphs have the id {graph_id!r}", filename=path)
            known.add(graph_id)

    def _count_rest(self, index: int, outcome: Outcome, rest: Iterable[Outcome]) -> tuple[int, int]:
        golds = preds = index
        for gold, pred, *_ in chain([outcome], rest):
            golds += gold is not None
            preds += pred is not None
        return golds, preds


class Worker:
    """Parse two blocks and score them if they are a pair; picklable."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __call__(self, blocks: Pair) -> Outcome:
        """Return what is found in a pair."""
        plan = self.plan
        gold = blocks[0] and self._gold(blocks[0])
        pred = blocks[1] and self._pred(blocks[1])
        anonymous = (
            None if gold is None else _anonymous(gold),
            _anonymous(pred) if isinstance(pred, Graph) else None,
        )
        by_order = plan.by_order or True in anonymous
        if gold is None or not isinstance(pred, Graph) or not (by_order or gold.id == pred.id):
            passed_over = blocks[1] is not None and pred is None
            return Outcome(gold, pred, anonymous, passed_over=passed_over)
        statistics, trouble = _score(plan, gold, pred)
        other_text = by_order and plan.framework == "amr" and _letters(gold) != _letters(pred)
        return Outcome(gold.id, pred.id, anonymous, statistics, trouble, other_text)

    def _gold(self, block: Block | Graph) -> Graph | None:
        plan = self.plan
        graph = load(plan.gold_format, block, plan.framework)
        if graph.framework == plan.framework:
            return graph
        if plan.filtered:
            return None
        message = (
            f"{plan.framework} and {graph.framework} graphs together: choose one with "
            "framework= (--framework)"
        )
        raise EvaluationError(message, filename=plan.gold_path)

    def _pred(self, block: Block | Graph) -> Graph | GraphconvError | None:
        try:
            graph = load(self.plan.pred_format, block, self.plan.framework)
        except GraphconvError as error:
            return error
        return graph if graph.framework == self.plan.framework else None


def _score(plan: Plan, gold: Graph, pred: Graph) -> tuple[Statistics, str]:
    """Score a pair; if that is impossible and may be, return why the prediction is empty."""
    try:
        return plan.pair(gold, pred), ""
    except GraphconvError as error:
        message = str(error)
        if not plan.skip_invalid:
            raise EvaluationError(message, filename=plan.pred_path) from error
        return plan.pair(gold, None), f"{plan.pred_path}: {message}"


def _anonymous(graph: Graph) -> bool:
    return bool(attribute(graph.extras, "anonymous"))


def _letters(graph: Graph) -> str:
    return "".join(filter(str.isalnum, "".join(token.form for token in graph.tokens))).casefold()


def graphs_of(evaluation: Evaluation, results: list[Result]) -> list[tuple[Graph, Graph]]:
    """Read both files again and return the graphs of some results; a missing one is empty."""
    plan = evaluation.plan
    wanted = {result.index for result in results}
    golds: dict[int, Graph] = {}
    for index, graph in enumerate(_again(plan, plan.gold_path, plan.gold_format)):
        if index in wanted and graph is not None:
            golds[index] = graph
    by_order = {index: index for index in golds} if evaluation.by_order else None
    ids = {graph.id: index for index, graph in golds.items()}
    preds: dict[int, Graph] = {}
    for index, graph in enumerate(_again(plan, plan.pred_path, plan.pred_format)):
        place = None if graph is None else by_order.get(index) if by_order else ids.get(graph.id)
        if graph is not None and place is not None:
            preds[place] = graph
    return [
        (
            golds[r.index],
            Graph(r.id, plan.framework, golds[r.index].tokens)
            if r.missing or r.index not in preds
            else preds[r.index],
        )
        for r in results
    ]


def _again(plan: Plan, path: str, name: str) -> Iterator[Graph | None]:
    """Yield the graphs of a file; None stands for one that was broken."""
    for block in read_blocks(path, format=name)[1]:
        try:
            graph = load(name, block, plan.framework)
        except GraphconvError:
            yield None
        else:
            if graph.framework == plan.framework:
                yield graph
