"""The best graphs of a document, where search kept more than one hypothesis a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from graphconv.errors import GraphconvError
from transducer.decoding.results import Decoded
from transducer.parsing.document import Hypothesis
from transducer.parsing.parser import Parse, Transducer


def best_graphs(parser: Transducer, parse: Parse, n: int) -> list[Hypothesis]:
    """Return at most *n* different graphs of a document, best first.

    The first one is the graph of the parse. Two hypotheses may finish as one graph, which has the
    score of the better one.
    """
    if parse.graph is None:
        return []
    found: list[Hypothesis] = []
    for score, sentences in combined(parse.hypotheses, n):
        try:
            graph = parser.graph(parse.document, sentences)
        except GraphconvError:  # what cannot be a graph is not one of the best
            continue
        if all(graph != one.graph for one in found):
            found.append(Hypothesis(graph, score))
    return found


def combined(
    sentences: Sequence[Sequence[Decoded]], n: int
) -> list[tuple[float, tuple[Decoded, ...]]]:
    """Return the *n* best choices of one hypothesis for each sentence, with the sum of scores.

    The hypotheses of one sentence stay in their order, which a length penalty may have changed.

    >>> a, b = Decoded((), -1.0), Decoded((), -3.0)
    >>> c, d = Decoded((), -0.5), Decoded((), -1.0)
    >>> [score for score, _ in combined([[a, b], [c, d]], 3)]
    [-1.5, -2.0, -3.5]
    """
    if len(sentences) == 1:
        return [(one.score, (one,)) for one in sentences[0][:n]]
    choices: list[tuple[float, tuple[Decoded, ...]]] = [(0.0, ())]
    for hypotheses in sentences:
        longer = [(score + h.score, (*some, h)) for score, some in choices for h in hypotheses]
        # The first choice is the first hypothesis of each, as in the graph of the document.
        choices = [longer[0], *sorted(longer[1:], key=lambda choice: -choice[0])][:n]
    return choices
