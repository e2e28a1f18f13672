"""A graph as layers from left to right, for AMR and every framework whose nodes are not words.

The classic steps (Sugiyama, Tagawa and Toda 1981): turn edges so that all lead to the right, give
each node a layer, route long edges through empty places in the layers between, order the layers
so that few edges cross, then move every node towards its neighbors. Edges enter a node on the
left, each at its own height, with the role written where it enters.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from graphconv.draw import canvas
from graphconv.draw.canvas import Drawing, Highlight
from graphconv.graph import Edge, Graph, Node, attribute
from graphconv.topology import parents_first

_NODE_HEIGHT = 26
_PORT_HEIGHT = 16
_NODE_GAP = 10
_LAYER_GAP = 52
_EMPTY_HEIGHT = 6
_SWEEPS = 12
_RELAXATIONS = 16


class _Route(NamedTuple):
    """An edge as drawn: from left to right, through empty places."""

    number: int
    stations: tuple[str, ...]
    turned: bool


class _Box(NamedTuple):
    """The place of a station; *y* is its middle."""

    left: float
    right: float
    y: float
    height: float


class _Plan(NamedTuple):
    """What stands in which layer, in order; *heights* are those of the stations."""

    layers: list[list[str]]
    routes: list[_Route]
    heights: dict[str, float]


def draw_layers(graph: Graph, highlight: Highlight) -> Drawing:
    """Draw *graph* in layers from left to right."""
    if not graph.nodes:
        return Drawing(80, 24, (canvas.text(0, 12, "(no nodes)", "faint", anchor="start"),))
    plan = _plan(graph)
    _reduce_crossings(plan)
    ys = _heights(plan)
    boxes, width = _boxes(graph, plan, ys)
    ports = _ports(plan, ys)
    tree_routes = {route.stations[-1]: route.number for route in reversed(plan.routes)}
    lines: list[str] = []
    labels: list[str] = []
    for route in plan.routes:
        edge = graph.edges[route.number]
        state = highlight.edges.get(route.number)
        last = boxes[route.stations[-1]]
        points = [(boxes[route.stations[0]].right, boxes[route.stations[0]].y)]
        for station in route.stations[1:-1]:
            points.extend(((boxes[station].left, ys[station]), (boxes[station].right, ys[station])))
        room = canvas.text_width(edge.label, canvas.SMALL)
        y = last.y + ports[route.number]
        points.extend(((last.left - room - 20, y), (last.left, y)))  # level below the label
        again = tree_routes[route.stations[-1]] != route.number
        lines.extend(_line(points, turned=route.turned, again=again, state=state))
        labels.append(canvas.label(last.left - 13 - room / 2, y, edge.label))
    for number, edge in enumerate(graph.edges):
        if edge.source == edge.target:
            labels.extend(_loop(boxes[edge.source], edge.label, highlight.edges.get(number)))
    shapes = [
        canvas.linked(
            _shape(node, boxes[node.id], graph.tops, highlight.nodes.get(node.id)),
            node.anchors,
            node.id,
        )
        for node in graph.nodes
    ]
    height = max(box.y + box.height / 2 for box in boxes.values())
    return Drawing(width, height, (*lines, *labels, *shapes))


def _plan(graph: Graph) -> _Plan:
    """Turn edges to the right, give every node a layer and long edges their empty places."""
    ahead = _directed(graph)
    layer = _layer_numbers(graph, ahead)
    layers: list[list[str]] = [[] for _ in range(max(layer.values()) + 1)]
    for node_id in layer:
        layers[layer[node_id]].append(node_id)
    incoming: dict[str, int] = defaultdict(int)
    routes = []
    heights: dict[str, float] = {}
    for number, (left, right) in ahead.items():
        incoming[right] += 1
        empty = [f"{number}\0{i}" for i in range(layer[left] + 1, layer[right])]
        for i, station in enumerate(empty, start=layer[left] + 1):
            layers[i].append(station)
            heights[station] = _EMPTY_HEIGHT
        turned = graph.edges[number].source != left
        routes.append(_Route(number, (left, *empty, right), turned))
    for node_id in layer:
        heights[node_id] = max(_NODE_HEIGHT, incoming[node_id] * _PORT_HEIGHT)
    return _Plan(layers, routes, heights)


def _directed(graph: Graph) -> dict[int, tuple[str, str]]:
    """Return the left and the right end of every edge (loops left out), such that no cycle remains.

    Edges follow their written direction except those that close a cycle: all lead from lower to
    higher rank, and the rank is the reverse of the order in which a depth-first search leaves.
    """
    leaving: dict[str, list[str]] = defaultdict(list)
    for edge in graph.edges:
        source, target = _written(edge)
        leaving[source].append(target)
    left_at: dict[str, int] = {}
    entered: set[str] = set()
    for root in (*graph.tops, *(node.id for node in graph.nodes)):
        stack = [] if root in entered else [(root, iter(leaving[root]))]
        entered.add(root)
        while stack:
            node_id, targets = stack[-1]
            new = next((t for t in targets if t not in entered), None)
            if new is None:
                stack.pop()
                left_at[node_id] = len(left_at)
            else:
                entered.add(new)
                stack.append((new, iter(leaving[new])))
    ahead = {}
    for number, edge in enumerate(graph.edges):
        left, right = sorted((edge.source, edge.target), key=lambda end: -left_at[end])
        if left != right:
            ahead[number] = (left, right)
    return ahead


def _written(edge: Edge) -> tuple[str, str]:
    if attribute(edge.attributes, "inverted"):
        return edge.target, edge.source
    return edge.source, edge.target


def _layer_numbers(graph: Graph, ahead: dict[int, tuple[str, str]]) -> dict[str, int]:
    """Return the layer of each node: one more than that of its rightmost predecessor."""
    following: dict[str, list[str]] = defaultdict(list)
    for left, right in ahead.values():
        following[left].append(right)
    layer = {node.id: 0 for node in graph.nodes}
    for node_id in parents_first(layer, ahead.values()):
        for right in following[node_id]:
            layer[right] = max(layer[right], layer[node_id] + 1)
    first = [node_id for node_id, number in layer.items() if not number]
    for node_id in first:  # a node that nothing leads to stands next to what it leads to
        if node_id not in graph.tops and following[node_id]:
            layer[node_id] = min(layer[right] for right in following[node_id]) - 1
    return layer


def _neighbors(plan: _Plan) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    before: dict[str, list[str]] = defaultdict(list)
    after: dict[str, list[str]] = defaultdict(list)
    for route in plan.routes:
        for left, right in pairwise(route.stations):
            after[left].append(right)
            before[right].append(left)
    return before, after


def _reduce_crossings(plan: _Plan) -> None:
    """Order every layer by the mean place of its neighbors, to and fro; keep the best order."""
    before, after = _neighbors(plan)
    best = [list(layer) for layer in plan.layers]
    fewest = _crossings(plan.layers, after)
    place = {station: float(i) for layer in plan.layers for i, station in enumerate(layer)}
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        forward = sweep % 2 == 0
        near = before if forward else after
        for layer in plan.layers if forward else reversed(plan.layers):
            wanted = {s: fmean(place[n] for n in near[s]) if near[s] else place[s] for s in layer}
            layer.sort(key=wanted.__getitem__)
            place.update((station, float(i)) for i, station in enumerate(layer))
        count = _crossings(plan.layers, after)
        if count < fewest:
            fewest, best = count, [list(layer) for layer in plan.layers]
    plan.layers[:] = best


def _crossings(layers: list[list[str]], after: dict[str, list[str]]) -> int:
    """Count the pairs of edges that cross between neighboring layers."""
    total = 0
    for left, right in pairwise(layers):
        place = {station: i for i, station in enumerate(right)}
        seen: list[int] = []
        for station in left:
            ends = sorted(place[s] for s in after[station])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _heights(plan: _Plan) -> dict[str, float]:
    """Return the middle of every station: near its neighbors, without touching others."""
    before, after = _neighbors(plan)
    ys: dict[str, float] = {}
    for layer in plan.layers:
        _stack(layer, dict.fromkeys(layer, 0.0), plan, ys)
    for round_ in range(_RELAXATIONS):
        forward = round_ % 2 == 1
        for layer in plan.layers if forward else reversed(plan.layers):
            wanted = {}
            for station in layer:
                near = before[station] if forward else after[station]
                near = near or before[station] or after[station]
                wanted[station] = fmean(ys[n] for n in near) if near else ys[station]
            _stack(layer, wanted, plan, ys)
    top = min(ys[s] - plan.heights[s] / 2 for layer in plan.layers for s in layer)
    return {station: y - top for station, y in ys.items()}


def _stack(layer: list[str], wanted: dict[str, float], plan: _Plan, ys: dict[str, float]) -> None:
    """Place a layer's stations in order, as near to where they are *wanted* as they fit.

    Stations that would touch form a block, which stands at the mean of what its members want.
    """
    blocks: list[tuple[float, int, list[str]]] = []  # (first wanted, members, stations)
    offset = {}
    down = 0.0
    for i, station in enumerate(layer):
        half = plan.heights[station] / 2
        down += half + (_NODE_GAP if i else 0)
        offset[station] = down
        down += half
        block = (wanted[station] - offset[station], 1, [station])
        while blocks and blocks[-1][0] > block[0]:
            mean, count, members = blocks.pop()
            total = count + block[1]
            block = ((mean * count + block[0] * block[1]) / total, total, members + block[2])
        blocks.append(block)
    for start, _, members in blocks:
        for station in members:
            ys[station] = start + offset[station]


def _boxes(graph: Graph, plan: _Plan, ys: dict[str, float]) -> tuple[dict[str, _Box], float]:
    """Return the place of every station, and the width of it all."""
    nodes = {node.id: node for node in graph.nodes}
    room: dict[str, float] = defaultdict(float)
    for route in plan.routes:
        needed = canvas.text_width(graph.edges[route.number].label, canvas.SMALL)
        room[route.stations[-1]] = max(room[route.stations[-1]], needed)
    loops = {edge.source: edge.label for edge in graph.edges if edge.source == edge.target}
    boxes: dict[str, _Box] = {}
    x = 0.0
    for i, layer in enumerate(plan.layers):
        if i:
            x += max(room[station] for station in layer) + _LAYER_GAP
        widths = {s: canvas.text_width(_shown(nodes[s])) + 16 for s in layer if s in nodes}
        right = x + max(widths.values(), default=0.0)
        for s in layer:
            end = x + widths[s] if s in widths else right
            boxes[s] = _Box(x, end, ys[s], plan.heights[s])
        x = right
        x += max(
            (canvas.text_width(loops[s], canvas.SMALL) + 24 for s in layer if s in loops), default=0
        )
    return boxes, x


def _shown(node: Node) -> str:
    return node.label or "∅"


def _ports(plan: _Plan, ys: dict[str, float]) -> dict[int, float]:
    """Return where every route enters its node, relative to the node's middle."""
    entering: dict[str, list[_Route]] = defaultdict(list)
    for route in plan.routes:
        entering[route.stations[-1]].append(route)
    ports = {}
    for routes in entering.values():
        routes.sort(key=lambda route: ys[route.stations[-2]])
        for i, route in enumerate(routes):
            ports[route.number] = (i - (len(routes) - 1) / 2) * _PORT_HEIGHT
    return ports


def _line(
    points: Sequence[tuple[float, float]], *, turned: bool, again: bool, state: str | None
) -> list[str]:
    """Return the curve through *points* with its arrow head; a turned edge points to the left."""
    commands = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x1, y1), (x2, y2) in pairwise(points):
        bend = (x2 - x1) * 0.5
        commands.append(f"C{x1 + bend:.1f} {y1:.1f} {x2 - bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f}")
    end, direction = (points[0], -1) if turned else (points[-1], 1)
    base = "remote" if again else "line"
    return [
        canvas.path("".join(commands), canvas.classes_of(base, state)),
        canvas.tip(*end, direction, 0, canvas.tip_classes(state, remote=again)),
    ]


def _loop(box: _Box, role: str, state: str | None) -> list[str]:
    x, y = box.right, box.y
    return [
        canvas.path(f"M{x:.1f} {y - 6:.1f}c18 -8 18 20 0 12", canvas.classes_of("remote", state)),
        canvas.tip(x, y + 6, -1, -0.4, canvas.tip_classes(state, remote=True)),
        canvas.text(x + 17, y, role, "name small", anchor="start"),
    ]


def _shape(node: Node, box: _Box, tops: tuple[str, ...], state: str | None) -> list[str]:
    base = ("constant" if node.constant else "box") + (" top" if node.id in tops else "")
    middle = (box.left + box.right) / 2
    return [
        canvas.box(middle, box.y, box.right - box.left, box.height, canvas.classes_of(base, state)),
        canvas.text(middle, box.y, _shown(node), "ink" if node.constant else "ink strong"),
    ]
