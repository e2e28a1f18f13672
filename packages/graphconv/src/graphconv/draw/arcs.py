"""A bilexical graph (DM, PAS, PSD) as arcs over the words.

Arcs are as low as they can be without touching one another's labels. Where several arcs meet at a
word they get ports of their own, shorter arcs outside, so that no two arcs share a line. Words of a
language that is written from right to left stand in that order; numbers are theirs in the text.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from graphconv.draw import canvas
from graphconv.draw.canvas import Drawing, Highlight
from graphconv.graph import Graph

_WORD_GAP = 13
_PORT_GAP = 7
_LEVEL_HEIGHT = 23
_RADIUS = 7


class _Arc(NamedTuple):
    number: int
    left: int
    right: int
    label: str
    to_right: bool
    """Whether the target is the right end."""


def draw_arcs(graph: Graph, highlight: Highlight) -> Drawing:
    """Draw the words of *graph* and its edges as arcs above them."""
    order = canvas.visual_order(graph.tokens)
    column = {word: place for place, word in enumerate(order)}
    position = {node.id: column[node.anchors[0]] for node in graph.nodes if node.anchors}
    arcs = []
    for number, edge in enumerate(graph.edges):
        if edge.source in position and edge.target in position:
            source, target = position[edge.source], position[edge.target]
            ends = (min(source, target), max(source, target))
            arcs.append(_Arc(number, *ends, edge.label, to_right=target == ends[1]))
    offsets = _ports(arcs)
    centers = _columns([graph.tokens[word].form for word in order], arcs, offsets)
    levels = _levels(arcs)
    baseline = (max(levels.values(), default=0) + 1) * _LEVEL_HEIGHT + 4
    elements: list[str] = []
    labels: list[str] = []
    for arc in sorted(arcs, key=lambda arc: -levels[arc.number]):
        state = highlight.edges.get(arc.number)
        x1 = centers[arc.left] + offsets[arc.number, "left"]
        x2 = centers[arc.right] + offsets[arc.number, "right"]
        y = baseline - levels[arc.number] * _LEVEL_HEIGHT
        elements.append(
            canvas.path(
                f"M{x1:.1f} {baseline:.1f}V{y + _RADIUS:.1f}q0 -{_RADIUS} {_RADIUS} -{_RADIUS}"
                f"H{x2 - _RADIUS:.1f}q{_RADIUS} 0 {_RADIUS} {_RADIUS}V{baseline:.1f}",
                canvas.classes_of("line", state),
            )
        )
        end = x2 if arc.to_right else x1
        elements.append(canvas.tip(end, baseline + 2, 0, 1, canvas.tip_classes(state)))
        labels.append(canvas.label((x1 + x2) / 2, y, arc.label))
    middles = {word: centers[place] for place, word in enumerate(order)}
    words, width, height = _words(graph, middles, baseline + 14, highlight)
    return Drawing(width, height, (*elements, *labels, *words))


def _ports(arcs: list[_Arc]) -> dict[tuple[int, str], float]:
    """Return where each end of each arc meets its word, relative to the word's middle."""
    meeting: dict[int, list[tuple[int, int, _Arc, str]]] = defaultdict(list)
    for arc in arcs:
        length = arc.right - arc.left
        # Left-going arcs first, short ones outermost; then right-going, short ones outermost.
        meeting[arc.right].append((0, length, arc, "right"))
        meeting[arc.left].append((1, -length, arc, "left"))
    offsets = {}
    for ends in meeting.values():
        ends.sort(key=lambda end: end[:2])
        # A loop's own two ends: open to the left first.
        loops = [end for end in ends if end[2].left == end[2].right]
        others = [end for end in ends if end[2].left != end[2].right]
        middle = sum(1 for end in others if end[0] == 0)
        loops.sort(key=lambda end: (end[3] == "right", end[2].number))
        order = [*others[:middle], *loops, *others[middle:]]
        for place, (_, _, arc, side) in enumerate(order):
            offsets[arc.number, side] = (place - (len(order) - 1) / 2) * _PORT_GAP
    return offsets


def _columns(
    forms: list[str], arcs: list[_Arc], offsets: dict[tuple[int, str], float]
) -> list[float]:
    """Return the middle of each word: no two touch and every label fits below its arc."""
    spread: dict[int, float] = defaultdict(float)
    for arc in arcs:
        for word, side in ((arc.left, "left"), (arc.right, "right")):
            spread[word] = max(spread[word], abs(offsets[arc.number, side]))
    ending: dict[int, list[_Arc]] = defaultdict(list)
    for arc in arcs:
        ending[arc.right].append(arc)
    centers: list[float] = []
    edge = 0.0
    for i, form in enumerate(forms):
        loop = max(
            (canvas.text_width(arc.label, canvas.SMALL) for arc in ending[i] if arc.left == i),
            default=0.0,
        )
        half = max(canvas.text_width(form) / 2, spread[i] + 3, loop / 2)
        center = edge + half
        for arc in ending[i]:
            if arc.left < i:
                room = canvas.text_width(arc.label, canvas.SMALL) + 2 * _RADIUS + 6
                start = centers[arc.left] + offsets[arc.number, "left"]
                center = max(center, start + room - offsets[arc.number, "right"])
        centers.append(center)
        edge = center + half + _WORD_GAP
    return centers


def _levels(arcs: list[_Arc]) -> dict[int, int]:
    """Return the height of each arc: above every shorter arc that it overlaps."""
    levels: dict[int, int] = {}
    # Per gap between two words, the highest arc so far.
    skyline: dict[int, int] = defaultdict(int)
    for arc in sorted(arcs, key=lambda arc: (arc.right - arc.left, arc.left, arc.number)):
        # A word counts as two places, so that arcs which only touch at a word do not overlap.
        places = range(2 * arc.left + 1, 2 * arc.right) or range(2 * arc.left, 2 * arc.left + 1)
        level = 1 + max(skyline[place] for place in places)
        levels[arc.number] = level
        for place in places:
            skyline[place] = level
    return levels


def _words(
    graph: Graph, centers: dict[int, float], y: float, highlight: Highlight
) -> tuple[list[str], float, float]:
    nodes = {node.anchors[0]: node.id for node in graph.nodes if node.anchors}
    tops = set(graph.tops)
    elements: list[str] = []
    right = 60.0
    for i, token in enumerate(graph.tokens):
        width = canvas.text_width(token.form)
        right = max(right, centers[i] + width / 2)
        node = nodes.get(i)
        state = highlight.nodes.get(node) if node is not None else None
        shape: list[str] = []
        if node in tops or state not in (None, canvas.MATCH):
            base = "box top" if node in tops else "box"
            shape.append(canvas.box(centers[i], y, width + 8, 21, canvas.classes_of(base, state)))
        shape.append(
            canvas.text(centers[i], y, token.form, "faint" if node is None else "ink strong")
        )
        elements.append(canvas.linked(shape, (i,), node))
        elements.append(canvas.text(centers[i], y + 19, str(i), "faint small"))
        if node in tops:
            elements.append(canvas.text(centers[i], y + 33, "top", "name small"))
    return elements, right + 6, y + (40 if tops else 28)
