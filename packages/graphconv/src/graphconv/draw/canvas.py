"""The pieces of a picture: SVG elements, how wide a text is, light and dark colors.

A :class:`Drawing` is a list of SVG elements with a size; layouts make drawings and
:func:`beside` and :func:`below` put two together. Every element has classes from one table of
colors, so that a picture follows the reader's light or dark setting, and one file is all there is.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import NamedTuple

from graphconv.graph import Token

FONT_SIZE = 14
SMALL = 11.5
MARGIN = 16
_PART_GAP = 6
_NARROW = frozenset("ijlt.,:;'|!()[]{}I f-r")
_WIDE = frozenset("mwMW@%&—…")
_RTL_MARK = "\u200f"
"""Around a line, it says where the line's punctuation stands; programs differ on `direction`."""
_hidden = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]").sub

MATCH, MISSING, EXTRA = "match", "missing", "extra"
"""States of a highlighted node or edge: in both graphs, only in the gold one, only in the other."""

DOUBTS = ("doubt-1", "doubt-2", "doubt-3", "doubt-4")
"""States of what a parser was not sure of, a little to very much."""

_MARKED = frozenset({MISSING, EXTRA, *DOUBTS})

# class: (property, light, dark); the order matters, later rules win
_COLORS = (
    ("bg", "fill", "#ffffff", "#16181d"),
    ("ink", "fill", "#1b1f24", "#e8eaed"),
    ("faint", "fill", "#8a9099", "#8b929c"),
    ("name", "fill", "#1c5fb0", "#7fb4f5"),
    ("accent", "fill", "#b3470b", "#f0a060"),
    ("line", "stroke", "#7b8794", "#79828e"),
    ("thin", "stroke", "#ccd2d8", "#3d444d"),
    ("box", "fill", "#eef3f9", "#232a34"),
    ("box", "stroke", "#9db4cc", "#51647a"),
    ("constant", "fill", "#f6f2e6", "#2d2a20"),
    ("constant", "stroke", "#cbbd8c", "#6f663f"),
    ("top", "stroke", "#1c5fb0", "#7fb4f5"),
    ("tip", "fill", "#7b8794", "#79828e"),
    ("remote", "stroke", "#b3470b", "#f0a060"),
    ("tip-remote", "fill", "#b3470b", "#f0a060"),
    ("missing", "stroke", "#c81e3c", "#ff7a8a"),
    ("tip-missing", "fill", "#c81e3c", "#ff7a8a"),
    ("extra", "stroke", "#7a3fd0", "#c39bff"),
    ("tip-extra", "fill", "#7a3fd0", "#c39bff"),
    *(
        rule
        for doubt, fill, line in zip(
            DOUBTS,
            (
                ("#fdf0d5", "#3a3120"),
                ("#fbdcae", "#56401c"),
                ("#f7b978", "#7d4d17"),
                ("#ee8a4a", "#a8531a"),
            ),
            (
                ("#c9a24a", "#b89a58"),
                ("#d18a2c", "#d49a48"),
                ("#c9641a", "#ea9048"),
                ("#b23a0e", "#ff8a50"),
            ),
            strict=True,
        )
        for rule in (
            (doubt, "stroke", *line),
            (f"box.{doubt}", "fill", *fill),
            (f"constant.{doubt}", "fill", *fill),
            (f"tip-{doubt}", "fill", *line),
        )
    ),
)

_SHAPES = (
    f"text{{font-family:'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif;"
    f"font-size:{FONT_SIZE}px}}",
    f".small{{font-size:{SMALL}px}}",
    ".strong{font-weight:600}",
    ".line,.thin,.remote{fill:none;stroke-width:1.3px}",
    ".remote,.dashed,line.missing,path.missing{stroke-dasharray:5 3}",
    ".box,.constant{stroke-width:1.2px}",
    ".top{stroke-width:2.4px}",
    ".missing,.extra{stroke-width:2.4px}",
)


class Highlight(NamedTuple):
    """The states of nodes (by id) and edges (by their place in ``Graph.edges``)."""

    nodes: Mapping[str, str] = MappingProxyType({})
    edges: Mapping[int, str] = MappingProxyType({})


def shown(text: str) -> str:
    """Return a text for XML and HTML; what they cannot hold has the sign of a missing character."""
    return escape(_hidden("\ufffd", text))


class Drawing(NamedTuple):
    """SVG elements and the size of the box they fill, from (0, 0)."""

    width: float
    height: float
    elements: tuple[str, ...]


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Estimate the width of *text* in pixels; a little too wide rather than too narrow.

    >>> text_width("wide") < text_width("wider") < text_width("全角文字列")
    True
    """
    units = 0.0
    for character in text:
        if character in _NARROW:
            units += 0.42
        elif character in _WIDE:
            units += 0.98
        elif unicodedata.east_asian_width(character) in "WF":
            units += 1.05
        elif not unicodedata.combining(character):
            units += 0.72 if character.isupper() else 0.62
    return units * size


def is_rtl(content: str) -> bool:
    """Return whether a text is read from right to left: its first letter with a direction says so.

    >>> is_rtl("שלום, world"), is_rtl("hello, עולם"), is_rtl("1, 2")
    (True, False, False)
    """
    directions = (unicodedata.bidirectional(character) for character in content)
    return next((one != "L" for one in directions if one in ("L", "R", "AL")), False)


def visual_order(tokens: Sequence[Token]) -> range:
    """Return the positions of words as they stand from left to right."""
    positions = range(len(tokens))
    return positions[::-1] if is_rtl(" ".join(token.form for token in tokens)) else positions


def text(x: float, y: float, content: str, classes: str = "ink", *, anchor: str = "middle") -> str:
    """Return a text whose middle line is at *y*."""
    size = _size(classes)
    return (
        f'<text x="{x:.1f}" y="{y + size * 0.35:.1f}" text-anchor="{anchor}" class="{classes}">'
        f"{shown(content)}</text>"
    )


def phrase(x: float, y: float, parts: Iterable[tuple[str, str]]) -> str:
    """Return (text, classes) parts as one line from *x* on, whose middle line is at *y*."""
    spans = "".join(
        f'<tspan dx="{_PART_GAP if i else 0}" class="{classes}">{shown(content)}</tspan>'
        for i, (content, classes) in enumerate(part for part in parts if part[0])
    )
    return f'<text x="{x:.1f}" y="{y + FONT_SIZE * 0.35:.1f}">{spans}</text>'


def phrase_width(parts: Iterable[tuple[str, str]]) -> float:
    """Estimate the width of a :func:`phrase`."""
    widths = [text_width(content, _size(classes)) for content, classes in parts if content]
    return sum(widths) + _PART_GAP * len(widths)


def label(x: float, y: float, content: str, classes: str = "name small") -> str:
    """Return a small text on a patch of background, readable on top of lines."""
    width = text_width(content, SMALL) + 4
    left, top = x - width / 2, y - 7
    patch = f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="14" class="bg"/>'
    return patch + text(x, y, content, classes)


def box(x: float, y: float, width: float, height: float, classes: str = "box") -> str:
    """Return a rounded box around the middle (*x*, *y*)."""
    return (
        f'<rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="6" class="{classes}"/>'
    )


def path(commands: str, classes: str = "line") -> str:
    """Return a path that is stroked, not filled."""
    return f'<path d="{commands}" fill="none" class="{classes}"/>'


def tip(x: float, y: float, dx: float, dy: float, classes: str = "tip") -> str:
    """Return an arrow head whose point is (*x*, *y*) and which points along (*dx*, *dy*)."""
    norm = math.hypot(dx, dy) or 1.0
    ux, uy = dx / norm, dy / norm
    bx, by = x - 7 * ux, y - 7 * uy
    points = f"{x:.1f},{y:.1f} {bx - 3.5 * uy:.1f},{by + 3.5 * ux:.1f} "
    return f'<polygon points="{points}{bx + 3.5 * uy:.1f},{by - 3.5 * ux:.1f}" class="{classes}"/>'


def classes_of(base: str, state: str | None) -> str:
    """Return the classes of an element with a highlight *state*; a match looks as usual."""
    return f"{base} {state}" if state in _MARKED else base


def tip_classes(state: str | None, *, remote: bool = False) -> str:
    """Return the classes of the arrow head that fits :func:`classes_of`."""
    if state in _MARKED:
        return f"tip-{state}"
    return "tip-remote" if remote else "tip"


def linked(elements: Iterable[str], words: Iterable[int], node: str | None = None) -> str:
    """Return elements as a group that says which words it stands for, and which node it is.

    >>> linked(["<circle/>"], (0, 2), "n1")
    '<g data-node="n1" data-words="0 2"><circle/></g>'
    """
    name = "" if node is None else f' data-node="{shown(node)}"'
    places = " ".join(map(str, words))
    return f'<g{name} data-words="{places}">{"".join(elements)}</g>'


def beside(left: Drawing, right: Drawing, gap: float = 48) -> Drawing:
    """Put *right* to the right of *left*, with a thin line between them."""
    x = left.width + gap
    height = max(left.height, right.height)
    middle = left.width + gap / 2
    separator = path(f"M{middle:.1f} 0V{height:.1f}", "thin")
    return Drawing(
        x + right.width, height, (*left.elements, separator, *_translated(right.elements, x, 0))
    )


def below(upper: Drawing, lower: Drawing, gap: float = 24) -> Drawing:
    """Put *lower* below *upper*."""
    y = upper.height + gap
    return Drawing(
        max(upper.width, lower.width),
        y + lower.height,
        (*upper.elements, *_translated(lower.elements, 0, y)),
    )


def paragraph(content: str, width: float, classes: str = "ink") -> Drawing:
    """Return *content* as lines of text that are at most about *width* wide.

    Text that is read from right to left begins at the right.
    """
    size = _size(classes)
    lines = [""]
    for word in content.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    height = size * 1.5
    widest = max(text_width(line, size) for line in lines)
    begin, anchor, mark = (widest, "end", _RTL_MARK) if is_rtl(content) else (0, "start", "")
    elements = (
        text(begin, (number + 0.5) * height, f"{mark}{line}{mark}", classes, anchor=anchor)
        for number, line in enumerate(lines)
    )
    return Drawing(widest, len(lines) * height, tuple(elements))


def document(drawing: Drawing, title: str) -> str:
    """Return the drawing as a self-contained SVG file."""
    width, height = drawing.width + 2 * MARGIN, drawing.height + 2 * MARGIN
    body = "\n".join(_translated(drawing.elements, MARGIN, MARGIN))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">\n'
        f"<title>{shown(title)}</title>\n<style>{stylesheet()}</style>\n"
        f'<rect width="100%" height="100%" class="bg"/>\n{body}\n</svg>\n'
    )


def stylesheet() -> str:
    """Return the CSS of all pictures, with the dark colors for those who prefer them."""
    light = "".join(f".{name}{{{key}:{color}}}" for name, key, color, _ in _COLORS)
    dark = "".join(f".{name}{{{key}:{color}}}" for name, key, _, color in _COLORS)
    return f"{''.join(_SHAPES)}{light}@media (prefers-color-scheme:dark){{{dark}}}"


def _size(classes: str) -> float:
    return SMALL if "small" in classes.split() else FONT_SIZE


def _translated(elements: Iterable[str], x: float, y: float) -> tuple[str, ...]:
    return (f'<g transform="translate({x:.1f} {y:.1f})">', *elements, "</g>")
