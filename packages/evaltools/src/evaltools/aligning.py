"""Which node of one graph stands for which of another, and what matches.

>>> found = align("(w / want-01 :ARG0 (b / boy))", "(x / want-01 :ARG1 (y / boy))")
>>> found.pairs, found.certified
((('w', 'x'), ('b', 'y')), True)
>>> found.missing, found.extra
(('want-01 :ARG0 boy',), ('want-01 :ARG1 boy',))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evaltools.diff import Difference, difference
from evaltools.errors import EvaluationError
from evaltools.loading import load
from evaltools.metrics import METRICS, metric_of
from evaltools.sources import Scorable, source_of
from graphconv.graph import Graph


@dataclass(frozen=True)
class Alignment:
    """The best alignment of two graphs."""

    a: Graph
    b: Graph
    pairs: tuple[tuple[str, str], ...]
    """The ids of nodes of *a* and *b* that stand for each other."""
    matched: tuple[str, ...]
    """What both graphs say: nodes, edges and tops."""
    missing: tuple[str, ...]
    """What only *a* says."""
    extra: tuple[str, ...]
    """What only *b* says."""
    certified: bool
    """Whether no alignment can match more."""
    difference: Difference

    def __str__(self) -> str:
        return self.difference.text()

    def _repr_html_(self) -> str:
        """Return both graphs as a notebook shows them, with what is not in the other marked."""
        from graphconv.draw import svg  # noqa: PLC0415 - slow to import, and few need it

        marks = self.difference.gold, self.difference.pred
        pictures = (
            f'<div style="overflow-x:auto">{svg(graph, highlight=mark)}</div>'
            for graph, mark in zip((self.a, self.b), marks, strict=True)
        )
        return '<div style="display:flex;flex-wrap:wrap;gap:1em">' + "\n".join(pictures) + "</div>"


def align(a: Scorable, b: Scorable, **options: Any) -> Alignment:
    """Align two graphs, each a graph, a string or a path that holds one.

    AMR nodes are aligned so that most triples match (the options are those of Smatch); DM, PAS and
    PSD nodes by their word, UCCA units by their words.

    Raises:
        EvaluationError: There are several graphs, or the two are of different frameworks.
    """
    framework = options.pop("framework", None)
    left, right = _only(a, "a", framework), _only(b, "b", framework)
    if left.framework != right.framework:
        message = f"a is {left.framework} and b is {right.framework}"
        raise EvaluationError(f"{message}: only graphs of one framework can be aligned")
    metric = metric_of(left.framework)
    for name in options:
        if name not in METRICS[metric].option_names:
            raise EvaluationError(f"{name} is no option of {metric}: leave it out")
    found = difference(left, right, metric, options)
    return Alignment(
        left,
        right,
        found.pairs,
        tuple(found.matched),
        tuple(found.missing),
        tuple(found.extra),
        found.certified,
        found,
    )


def _only(given: Scorable, side: str, framework: str | None) -> Graph:
    source = source_of(given, side)
    graphs = [load(source.format, block, framework) for block in source.blocks]
    if len(graphs) != 1:
        raise EvaluationError(f"{source.name} holds {len(graphs)} graphs: align one with one")
    return graphs[0]
