r"""Parse the sentences of a DM treebank into AMR, and keep the graphs that agree with its graphs.

    python tools/dm_silver.py $C/dm/wescience-train.sdp --without open-dev.amr -o silver.amr

DM and AMR both say which word of a sentence is an argument or a modifier of which. Beam search
gives several AMR graphs of a sentence; the one whose words are linked most like those of the DM
graph is taken, and kept if it agrees well enough. So a model learns from sentences of which
somebody has checked the structure, though nobody has annotated their AMR.

``--judge open-dev.amr`` says how good the choice is instead: Smatch of the first graph, of the
chosen one and of the best one, for the sentences of which there is an AMR graph.
"""

from __future__ import annotations

import re
import statistics
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import click
from join_open_amr import digest, untokenized
from propbank_silver import sound

from evaltools import score
from graphconv import cliutil, read, write
from graphconv.graph import Graph, Token
from transducer.errors import TransducerError
from transducer.frameworks.tasks import Document
from transducer.parsing.hypotheses import best_graphs
from transducer.parsing.parser import Transducer

SHORTEST, LONGEST = 5, 28
_REACH = 2
"""Words that are so many edges apart in one graph may be neighbors in the other."""
_SAY_LITTLE = frozenset({"BV"})
"""Labels of DM that AMR leaves out: articles."""
_CONTENT = re.compile(r"(NN|VB|JJ|RB|CD|PRP|W|FW)")
_LIGHT = frozenset("be have do will would a an the of to that which who there".split())
_ODD = re.compile(r"[*\[\]/\\<>|{}]")

Neighbors = Mapping[int, Iterable[int]]


class Candidate(NamedTuple):
    """A graph of a sentence, and how much it agrees with the sentence's DM graph."""

    graph: Graph
    agreement: float


def agreement(amr: Graph, dm: Graph) -> float:
    r"""Return how much two graphs of the same tokens agree on which words belong together.

    It is the harmonic mean of two shares: of DM's content words and links that AMR has, and of
    AMR's links that DM has.

    >>> from graphconv import loads
    >>> (dm,) = loads("#1\n1\tboys\tboy\tNNS\t-\t-\t_\tARG1\n2\tran\trun\tVBD\t+\t+\t_\t_\n\n")
    >>> (amr,) = loads("# ::tok boys ran\n(r / run-02~e.1 :ARG0 (b / boy~e.0))")
    >>> agreement(amr, dm)
    1.0
    """
    words = {node.id: node.anchors[0] for node in dm.nodes if node.anchors}
    content = {i for i in words.values() if _is_content(dm, i)}
    dm_pairs = {
        frozenset((words[e.source], words[e.target]))
        for e in dm.edges
        if e.label not in _SAY_LITTLE and {words[e.source], words[e.target]} <= content
    }
    anchored = {node.id: node.anchors for node in amr.nodes}
    amr_pairs = {
        frozenset((i, j))
        for e in amr.edges
        for i in anchored[e.source]
        for j in anchored[e.target]
        if i != j and {i, j} <= content
    }
    present = {i for anchors in anchored.values() for i in anchors}
    amr_reach = _reach(amr, anchored)
    dm_reach = _reach(dm, {node.id: node.anchors for node in dm.nodes})
    had = [i in present for i in content]
    had += [_linked(pair, amr_reach) for pair in dm_pairs]
    right = [_linked(pair, dm_reach) for pair in amr_pairs]
    recall = sum(had) / len(had) if had else 0.0
    precision = sum(right) / len(right) if right else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _is_content(dm: Graph, position: int) -> bool:
    token = dm.tokens[position]
    return bool(_CONTENT.match(token.pos or "")) and (token.lemma or "").lower() not in _LIGHT


def _linked(pair: frozenset[int], reach: Neighbors) -> bool:
    first, *rest = pair
    return bool(rest) and rest[0] in reach.get(first, ())


def _reach(graph: Graph, anchors: Mapping[str, Sequence[int]]) -> dict[int, set[int]]:
    """Return, for each word, the words that are at most `_REACH` edges away."""
    neighbors: dict[str, set[str]] = defaultdict(set)
    for edge in graph.edges:
        neighbors[edge.source].add(edge.target)
        neighbors[edge.target].add(edge.source)
    found: dict[int, set[int]] = defaultdict(set)
    for start, words in anchors.items():
        if not words:
            continue
        distance, queue = {start: 0}, deque([start])
        while queue:
            node = queue.popleft()
            # A node without a word, such as a name or a date, costs nothing.
            step = distance[node] + bool(anchors[node])
            for other in sorted(neighbors[node]):
                if other not in distance and step <= _REACH:
                    distance[other] = step
                    queue.append(other)
        for word in words:
            found[word].update(i for node in distance for i in anchors[node])
    return found


def candidates(
    parser: Transducer, treebank: Iterable[Graph], beam: int
) -> Iterator[tuple[Graph, list[Candidate]]]:
    """Yield each DM graph with the AMR graphs of its sentence, the model's first choice first."""
    settings = parser.settings({"beam": beam, "nbest": beam, "int8": True})
    waiting = deque[Graph]()

    def documents() -> Iterator[Document]:
        for dm in treebank:
            waiting.append(dm)
            tokens = [Token(token.form) for token in dm.tokens]
            yield parser.task.document(dm.id, tokens, parser.said(_text(dm)))

    for parse in parser.stream(documents(), settings):
        dm = waiting.popleft()
        found = best_graphs(parser, parse, beam)
        yield dm, [Candidate(one.graph, agreement(one.graph, dm)) for one in found]


def chosen(found: Sequence[Candidate]) -> Candidate:
    """Return the graph that agrees most; of equal ones the model's first choice."""
    return max(found, key=lambda candidate: candidate.agreement)


def sentences(path: str, known: set[str]) -> Iterator[Graph]:
    """Yield the DM graphs of whole sentences, once each, but those whose hash is *known*."""
    seen = set(known)
    for dm in read(path, framework="dm"):
        text = _text(dm)
        fits = SHORTEST <= len(dm.tokens) <= LONGEST and dm.edges and not _ODD.search(text)
        if fits and (key := digest(text)) not in seen:
            seen.add(key)
            yield dm


def _text(dm: Graph) -> str:
    return untokenized([token.form for token in dm.tokens])


def silver(found: Iterable[tuple[Graph, list[Candidate]]], least: float) -> Iterator[Graph]:
    """Yield the chosen graphs that agree well enough and are sound, with their sentences."""
    for dm, graphs in found:
        fitting = [one for one in graphs if one.agreement >= least and sound(one.graph)]
        if fitting:
            yield _unaligned(chosen(fitting).graph, f"silver.{dm.id}", _text(dm))


def _unaligned(graph: Graph, name: str, text: str) -> Graph:
    """Return a graph as treebanks have it: with its sentence, which is tokenized anew."""
    nodes = tuple(node._replace(anchors=()) for node in graph.nodes)
    return replace(graph, id=name, tokens=(), nodes=nodes, metadata=(("snt", text),), scores=None)


def judge(found: Iterable[tuple[Graph, list[Candidate]]], gold: Mapping[str, Graph]) -> str:
    """Return Smatch of the first graph, the chosen one and the best, by how much it agrees."""
    rows = list[tuple[float, float, float, float]]()
    for dm, graphs in found:
        if graphs:
            f1 = {id(one): _smatch(gold[digest(_text(dm))], one.graph) for one in graphs}
            best = chosen(graphs)
            rows.append((best.agreement, f1[id(graphs[0])], f1[id(best)], max(f1.values())))
    rows.sort(reverse=True)
    lines = ["graphs  agreement  first  chosen   best"]
    for part in (4, 2, 1):
        some = rows[: max(len(rows) // part, 1)]
        means = [statistics.fmean(column) for column in zip(*some, strict=True)]
        lines.append(
            f"{len(some):6}  {some[-1][0]:9.2f}" + "".join(f"  {m:5.1f}" for m in means[1:])
        )
    return "\n".join(lines)


def _smatch(gold: Graph, pred: Graph) -> float:
    scored = score([gold], [replace(pred, id=gold.id)], metric="smatch")
    return float(scored.f1)


@click.command()
@click.argument("treebanks", nargs=-1, required=True, type=cliutil.existing())
@click.option("--without", multiple=True, type=cliutil.existing(), help="AMR files to leave out.")
@click.option("--model", type=cliutil.existing(), help="Default: the model that ships.")
@click.option("--beam", default=5, show_default=True)
@click.option("--least", default=0.9, show_default=True, help="Agreement of what is kept.")
@click.option("--judge", "gold", type=cliutil.existing(), help="AMR graphs to compare with.")
@click.option("-o", "--output", "target", metavar="OUT")
@cliutil.data_errors(TransducerError)
def main(
    *,
    treebanks: tuple[str, ...],
    without: tuple[str, ...],
    model: str | None,
    beam: int,
    least: float,
    gold: str | None,
    target: str | None,
) -> None:
    """Parse the sentences of DM treebanks into AMR; keep the graphs that agree with DM's."""
    if (gold is None) == (target is None):
        raise click.UsageError("give -o OUT or --judge GOLD")
    parser = Transducer.load(model) if model else Transducer.shipped("amr")
    known = {digest(graph.text) for path in without for graph in read(path)}
    found = (dm for path in treebanks for dm in sentences(path, known))
    if gold is not None:
        graphs = {digest(graph.text): graph for graph in read(gold)}
        both = (dm for dm in found if digest(_text(dm)) in graphs)
        click.echo(judge(candidates(parser, both, beam), graphs))
        return
    assert target is not None
    write(silver(candidates(parser, found, beam), least), target, format="amr")


if __name__ == "__main__":
    main()
