"""The commands ``graphconv grep`` and ``graphconv index`` as functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from json import dumps
from typing import NamedTuple

from graphconv.draw import EXTRA, Highlight, page, svg
from graphconv.io import files, stream
from graphconv.io.stream import Input, Source
from graphconv.search import Hit, Match, as_json, as_text, find, parse
from graphconv.search.index import build, candidates, is_index

MOST_DRAWN = 200


class Result(NamedTuple):
    """The hits in one graph of a file."""

    path: str
    item: Input
    hits: tuple[Hit, ...]
    complete: bool


def search(pattern: str, source: Source, time_limit: float = 10.0) -> Iterator[Result]:
    """Yield what is found in each graph of files and indexes, graphs without a hit left out."""
    wanted = parse(pattern)
    for path in source.paths:
        one = source._replace(paths=(path,))
        items = (
            candidates(path, wanted, source.framework)
            if is_index(path)
            else stream.results(_itself, one)
        )
        for item in items:
            found = find(wanted, item.graph, time_limit=time_limit)
            if found.hits or not found.complete:
                yield Result(path, item, found.hits, found.complete)


class Line(NamedTuple):
    """A line for the user: on standard output, or a note beside it."""

    text: str
    hits: int = 0
    note: bool = False


def lines(
    results: Iterable[Result],
    pattern: str,
    paths: Iterable[str],
    *,
    count: bool = False,
    json: bool = False,
    output: str | None = None,
) -> Iterator[Line]:
    """Yield what the command prints: hits, or counts, or nothing where they are drawn."""
    late: list[str] = []
    finished = _finished(results, late)
    if output is not None:
        yield _draw(pattern, finished, output)
    elif count:
        yield from _counts(finished, paths)
    else:
        for result in finished:
            for hit in result.hits:
                match = Match(result.item.graph, hit)
                text = dumps(as_json(match), ensure_ascii=False) if json else as_text(match)
                yield Line(text, 1)
    for graph_id in late:
        yield Line(
            f"graph {graph_id}: the time limit ended the search, hits may be missing", 0, True
        )


def _finished(results: Iterable[Result], late: list[str]) -> Iterator[Result]:
    """Pass results on; the graphs where time was up are listed in *late*."""
    for result in results:
        if not result.complete:
            late.append(result.item.graph.id)
        yield result


def _counts(results: Iterable[Result], paths: Iterable[str]) -> Iterator[Line]:
    graphs: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for result in results:
        graphs[result.path] += bool(result.hits)
        hits[result.path] += len(result.hits)
    for path in dict.fromkeys(paths):
        yield Line(f"{path}\t{graphs[path]}\t{hits[path]}", hits[path])


def _draw(pattern: str, results: Iterable[Result], output: str) -> Line:
    """Write a page with a picture of each graph that has hits, everything that they need marked."""
    found = (result for result in results if result.hits)
    figures = [
        (
            f"{result.path}: {result.item.graph.id}, hits: {len(result.hits)}",
            svg(result.item.graph, highlight=_marked(result.hits), title=""),
        )
        for result in islice(found, MOST_DRAWN)
    ]
    number = len(figures) + sum(1 for _ in found)
    with files.output(output) as file:
        file.write(page(f"Hits of {pattern}", figures).encode())
    more = f"; the first {MOST_DRAWN} are drawn" if number > MOST_DRAWN else ""
    return Line(f"{number:,} graphs have hits{more}", number, True)


def write_index(source: Source, output: str) -> int:
    """Write an index of the source's graphs and return how many there are."""
    return build(stream.results(_itself, source), output)


def _itself(item: Input) -> Input:
    return item


def _marked(hits: Iterable[Hit]) -> Highlight:
    nodes: dict[str, str] = {}
    edges: dict[int, str] = {}
    for hit in hits:
        nodes.update((node_id, EXTRA) for _, node_id in hit.nodes)
        edges.update((number, EXTRA) for number in hit.edges)
    return Highlight(nodes, edges)
