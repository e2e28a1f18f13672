"""An arborescence as an indented list of its rows; copies are linked to their primary row.

A row shows its number, the relation to its head and its label. The rows of a re-entrant node
are colored and tied together on the right; an arrow points to the primary one, in bold.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphconv.arborescence import Arborescence, Row
from graphconv.draw import canvas
from graphconv.draw.canvas import Drawing

ROW_HEIGHT = 23
_INDENT = 22
_NUMBER_WIDTH = 30
_LANE_WIDTH = 9


def draw_rows(tree: Arborescence) -> Drawing:
    """Draw the rows of *tree* as an indented list."""
    rows = tree.rows
    if not rows:
        return Drawing(80, ROW_HEIGHT, (canvas.text(0, 12, "(no nodes)", "faint", anchor="start"),))
    depths = _depths(rows)
    primary = _primaries(rows)
    copied = {row.index for number, row in enumerate(rows, start=1) if row.index != number}
    elements: list[str] = _branches(rows, depths)
    ends: list[float] = []
    for number, row in enumerate(rows, start=1):
        x, y = _place(number, depths[number - 1])
        style = "ink strong" if primary[row.index] == number else "accent"
        if row.index in copied and style != "accent":
            style = "accent strong"
        parts = [
            (row.relation if row.head else "", "name small"),
            (row.label or "∅", style),
            (str(row.anchors[0]) if row.anchors else "", "faint small"),
        ]
        elements.append(canvas.text(0, y, str(number), "faint small", anchor="start"))
        elements.append(canvas.phrase(x, y, parts))
        ends.append(x + canvas.phrase_width(parts) + 4)
    links, width = _links(rows, primary, ends)
    return Drawing(width, ROW_HEIGHT * len(rows), (*elements, *links))


def _place(number: int, depth: int) -> tuple[float, float]:
    return _NUMBER_WIDTH + depth * _INDENT, (number - 0.5) * ROW_HEIGHT


def _depths(rows: Sequence[Row]) -> list[int]:
    depths: list[int] = []
    for row in rows:
        depths.append(depths[row.head - 1] + 1 if row.head else 0)
    return depths


def _primaries(rows: Sequence[Row]) -> dict[int, int]:
    """Return the row with children of each node, else its first row."""
    primary = {row.index: row.index for row in rows}
    for row in rows:
        if row.head:
            primary[rows[row.head - 1].index] = row.head
    return primary


def _branches(rows: Sequence[Row], depths: Sequence[int]) -> list[str]:
    """Return the lines from each head to its children."""
    last_child = {row.head: number for number, row in enumerate(rows, start=1) if row.head}
    elements = []
    for head, last in last_child.items():
        x, y = _place(head, depths[head - 1])
        _, end = _place(last, 0)
        elements.append(canvas.path(f"M{x + 7:.1f} {y + 10:.1f}V{end:.1f}", "thin"))
    for number, row in enumerate(rows, start=1):
        if row.head:
            x, y = _place(number, depths[number - 1])
            elements.append(canvas.path(f"M{x - _INDENT + 7:.1f} {y:.1f}H{x - 3:.1f}", "thin"))
    return elements


def _links(
    rows: Sequence[Row], primary: dict[int, int], ends: Sequence[float]
) -> tuple[list[str], float]:
    """Tie each node's copies to its primary row, in lanes to the right that never share a place."""
    copies: dict[int, list[int]] = {}
    for number, row in enumerate(rows, start=1):
        if primary[row.index] != number:
            copies.setdefault(row.index, []).append(number)
    width = max(ends)
    spans = sorted(
        (max(primary[node], *numbers) - min(primary[node], *numbers), node)
        for node, numbers in copies.items()
    )
    occupied: list[list[tuple[int, int]]] = []
    elements = []
    for _, node in spans:
        numbers = copies[node]
        low, high = min(primary[node], *numbers), max(primary[node], *numbers)
        lane = next(
            (i for i, spans_ in enumerate(occupied) if all(b < low or a > high for a, b in spans_)),
            len(occupied),
        )
        if lane == len(occupied):
            occupied.append([])
        occupied[lane].append((low, high))
        x = width + 10 + lane * _LANE_WIDTH
        _, top = _place(low, 0)
        _, bottom = _place(high, 0)
        elements.append(canvas.path(f"M{x:.1f} {top:.1f}V{bottom:.1f}", "remote"))
        for number in (primary[node], *numbers):
            _, y = _place(number, 0)
            start = ends[number - 1] + 2
            elements.append(canvas.path(f"M{start:.1f} {y:.1f}H{x:.1f}", "remote"))
        _, y = _place(primary[node], 0)
        elements.append(canvas.tip(ends[primary[node] - 1] + 1, y, -1, 0, "tip-remote"))
    return elements, width + (10 + len(occupied) * _LANE_WIDTH if occupied else 0)
