"""A UCCA graph as a tree over the words.

A unit is a dot above the words it covers; an edge leaves its parent sideways and drops onto the
child, so that the lines of a continuous tree never cross. Remote edges, and edges to a unit that
hangs elsewhere already (linkage), are dashed curves; an implicit unit stands among the words as ∅.
The tree of a language that is written from right to left is mirrored.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from graphconv.conversion.labels import is_linkage
from graphconv.draw import canvas
from graphconv.draw.canvas import Drawing, Highlight
from graphconv.graph import Edge, Graph, Node
from graphconv.views import words_of

_WORD_GAP = 12
_MIN_COLUMN = 30
_LEVEL_HEIGHT = 40
_DOT = 4.5

Point = tuple[float, float]


class _Forest(NamedTuple):
    """The part of a graph that is drawn as a tree."""

    children: dict[str, list[str]]
    order: list[str]
    """All nodes, children before parents."""
    edges: dict[int, Edge]
    others: dict[int, Edge]


def draw_units(graph: Graph, highlight: Highlight) -> Drawing:
    """Draw the units of *graph* as a tree over its words."""
    forest = _forest(graph)
    nodes = {node.id: node for node in graph.nodes}
    words, columns, width = _columns(graph, nodes, forest)
    levels = _levels(nodes, forest, words, columns)
    floor = (max(levels.values(), default=0) + 0.6) * _LEVEL_HEIGHT
    places = {
        node_id: (columns[node_id], floor - level * _LEVEL_HEIGHT)
        for node_id, level in levels.items()
    }
    lines: list[str] = []
    labels: list[str] = []
    for node in graph.nodes:
        for anchor in node.anchors:
            lines.append(_elbow(places[node.id], (words[anchor], floor - 12), "thin"))
    for number, edge in forest.edges.items():
        state = highlight.edges.get(number)
        x, y = places[edge.target]
        lines.append(_elbow(places[edge.source], (x, y), canvas.classes_of("line", state)))
        labels.append(canvas.label(x, y - 0.42 * _LEVEL_HEIGHT, edge.label))
    for number, edge in forest.others.items():
        lines.extend(_curve(edge, places, highlight.edges.get(number)))
        (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
        middle = (x1 + x2) / 2, (y1 + y2) / 4 + (min(y1, y2) - _LEVEL_HEIGHT / 2) / 2
        labels.append(canvas.label(*middle, edge.label, "accent small"))
    below = words_of(graph)
    dots = [
        canvas.linked([_dot(node, places[node.id], graph.tops, highlight)], below[node.id], node.id)
        for node in graph.nodes
    ]
    texts = [
        element
        for i, token in enumerate(graph.tokens)
        for element in (
            canvas.linked([canvas.text(words[i], floor, token.form, "ink strong")], (i,)),
            canvas.text(words[i], floor + 18, str(i), "faint small"),
        )
    ]
    return Drawing(width, floor + 28, (*lines, *labels, *dots, *texts))


def _forest(graph: Graph) -> _Forest:
    """Choose one parent for each node, so that the result has no cycle."""
    parent_edge: dict[str, int] = {}
    for number, edge in enumerate(graph.edges):
        if not edge.remote and not is_linkage(edge.label):
            parent_edge.setdefault(edge.target, number)
    hanging: dict[str, list[int]] = defaultdict(list)
    for number in parent_edge.values():
        hanging[graph.edges[number].source].append(number)
    order: list[str] = []
    seen: set[str] = set()
    edges: dict[int, Edge] = {}
    roots = [node.id for node in graph.nodes if node.id not in parent_edge]
    # After the true roots every node is tried: what is still unseen lies on a cycle.
    for root in (*roots, *(node.id for node in graph.nodes)):
        stack = [root] if root not in seen else []
        seen.update(stack)
        while stack:
            node_id = stack.pop()
            order.append(node_id)
            for number in hanging.get(node_id, ()):
                edge = graph.edges[number]
                if edge.target not in seen:
                    seen.add(edge.target)
                    edges[number] = edge
                    stack.append(edge.target)
    children: dict[str, list[str]] = defaultdict(list)
    for edge in edges.values():
        children[edge.source].append(edge.target)
    others = {i: edge for i, edge in enumerate(graph.edges) if i not in edges}
    return _Forest(children, order[::-1], edges, others)


def _columns(
    graph: Graph, nodes: dict[str, Node], forest: _Forest
) -> tuple[list[float], dict[str, float], float]:
    """Return the middles of the words and of the units, and the width of it all."""
    last = _last_words(nodes, forest)
    empty: dict[int, list[str]] = defaultdict(list)  # leaves without words, by the word before
    parent = {child: node_id for node_id, below in forest.children.items() for child in below}
    linking = {edge.source for edge in forest.others.values()}
    for node_id in reversed(forest.order):
        if last[node_id] is None and node_id in parent:
            last[node_id] = last[parent[node_id]]
        wordless = not nodes[node_id].anchors and not forest.children.get(node_id)
        if wordless and (node_id in parent or node_id not in linking):
            after = last[node_id]
            empty[-1 if after is None else after].append(node_id)
    words: list[float] = []
    columns: dict[str, float] = {}
    edge = 0.0
    for i in range(-1, len(graph.tokens)):
        if i >= 0:
            width = max(canvas.text_width(graph.tokens[i].form), _MIN_COLUMN)
            words.append(edge + width / 2)
            edge += width + _WORD_GAP
        for node_id in empty[i]:
            columns[node_id] = edge + _MIN_COLUMN / 2
            edge += _MIN_COLUMN + _WORD_GAP
    for node_id in forest.order:
        below = [columns[child] for child in forest.children.get(node_id, ())]
        below.extend(words[anchor] for anchor in nodes[node_id].anchors)
        if below:
            columns[node_id] = (min(below) + max(below)) / 2
    for node_id in forest.order:  # linkage units stand over what they link
        if node_id not in columns:
            linked = [
                columns.get(edge.target, 0.0)
                for edge in forest.others.values()
                if edge.source == node_id
            ]
            columns[node_id] = sum(linked) / len(linked)
    width = max(edge, 60.0)
    if canvas.visual_order(graph.tokens) != range(len(graph.tokens)):
        words = [width - x for x in words]
        columns = {node_id: width - x for node_id, x in columns.items()}
    return words, columns, width


def _last_words(nodes: dict[str, Node], forest: _Forest) -> dict[str, int | None]:
    """Return the last word below each node."""
    last: dict[str, int | None] = {}
    for node_id in forest.order:
        below = [last[child] for child in forest.children.get(node_id, ())]
        positions = [*nodes[node_id].anchors, *(i for i in below if i is not None)]
        last[node_id] = max(positions, default=None)
    return last


def _levels(
    nodes: dict[str, Node], forest: _Forest, words: list[float], columns: dict[str, float]
) -> dict[str, int]:
    """Return how high each unit stands: above its children, and clear of others at its height."""
    height: dict[str, int] = {}
    spans: dict[str, tuple[float, float]] = {}
    for node_id in forest.order:
        below = forest.children.get(node_id, ())
        height[node_id] = 1 + max((height[child] for child in below), default=0)
        across = [columns[node_id], *(columns[child] for child in below)]
        across.extend(words[anchor] for anchor in nodes[node_id].anchors)
        spans[node_id] = (min(across), max(across))
    hanging = {edge.target for edge in forest.edges.values()}
    for edge in forest.others.values():  # a linkage unit stands above what it links
        if edge.source not in hanging and not forest.children.get(edge.source):
            height[edge.source] = max(height[edge.source], height[edge.target] + 1)
    taken: dict[int, list[tuple[float, float]]] = defaultdict(list)
    levels: dict[str, int] = {}
    for node_id in sorted(height, key=lambda n: (height[n], spans[n][1] - spans[n][0])):
        low, high = spans[node_id]
        below = forest.children.get(node_id, ())
        level = max(height[node_id], 1 + max((levels[child] for child in below), default=0))
        while any(a < high + 8 and b > low - 8 for a, b in taken[level]):
            level += 1
        taken[level].append((low, high))
        levels[node_id] = level
    return levels


def _elbow(start: Point, end: Point, classes: str) -> str:
    return canvas.path(f"M{start[0]:.1f} {start[1]:.1f}H{end[0]:.1f}V{end[1]:.1f}", classes)


def _curve(edge: Edge, places: dict[str, Point], state: str | None) -> list[str]:
    (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
    mx, my = (x1 + x2) / 2, min(y1, y2) - _LEVEL_HEIGHT / 2
    return [
        canvas.path(
            f"M{x1:.1f} {y1:.1f}Q{mx:.1f} {my:.1f} {x2:.1f} {y2 - _DOT:.1f}",
            canvas.classes_of("remote", state),
        ),
        canvas.tip(x2, y2 - _DOT, x2 - mx, y2 - my, canvas.tip_classes(state, remote=True)),
    ]


def _dot(node: Node, place: Point, tops: tuple[str, ...], highlight: Highlight) -> str:
    x, y = place
    classes = canvas.classes_of(
        "box top" if node.id in tops else "box", highlight.nodes.get(node.id)
    )
    if node.implicit:
        return canvas.box(x, y, 20, 20, f"{classes} dashed") + canvas.text(x, y, "∅", "faint")
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_DOT}" class="{classes}"/>'
