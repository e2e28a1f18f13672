"""The cheapest way to read a broken graph: a shortest path through pieces, depths and states.

PENMAN's brackets are all alike, so that a parser's whole memory is how many are open (*depth*),
which of a few states it is in, and which variables are defined. A path goes from left to right
through the text; at each place it takes a piece, leaves one out or puts one in. Its cost is the
number of edits, and among equals the *doubt*: what an edit loses, and how badly the brackets fit
the indentation. Short texts are searched whole, so that no repair has fewer edits. In long texts
only the best states at each place are followed, so that the cost is linear in the length.

States, and what may come next:

======  ====================================  ======  =====================================
START   the first bracket                     ROLE    a value, or an alignment (MARKED: had)
VAR     a variable                            ATOM    as BRANCH, or an alignment
NAMED   a slash (AGAIN: defined before)       BRANCH  a role, or a closing bracket
SLASH   a concept                             END     nothing
LABEL   as BRANCH, or an alignment            LONG_   a label or atom of several words
======  ====================================  ======  =====================================
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections import defaultdict
from typing import Any, NamedTuple

from graphconv.codecs.amr.writer import NO_SYMBOL
from graphconv.mend.pieces import Piece, pieces_at, skip_blanks

START, VAR, NAMED, AGAIN, SLASH, LABEL, ROLE, ATOM, BRANCH, END = range(10)
LONG_LABEL, LONG_ATOM = 10, 11  # of several words
MARKED = 12  # a role with its alignment, of which it has one
_INSIDE = frozenset({LABEL, ATOM, BRANCH, LONG_LABEL, LONG_ATOM})
_JOINED = {LABEL: LONG_LABEL, ATOM: LONG_ATOM}
_WORDS = frozenset("STG")
_NEXT = {
    **dict.fromkeys([(START, "("), (ROLE, "("), (MARKED, "(")], VAR),
    (VAR, "S"): NAMED,
    **dict.fromkeys([(NAMED, "/"), (AGAIN, "/")], SLASH),
    **{(SLASH, kind): LABEL for kind in "STG"},
    **{(state, kind): ATOM for state in (ROLE, MARKED) for kind in "STG"},
    (ROLE, "A"): MARKED,
    **{(state, "A"): BRANCH for state in _INSIDE if state != BRANCH},
    **{(state, "R"): ROLE for state in _INSIDE},
    **{(state, ")"): BRANCH for state in (*_INSIDE, AGAIN)},
}
"""Where each kind of piece leads without an edit; the last bracket leads to END."""

# Longer texts are searched with a beam: so many states a place, so many edits more than the best.
_WHOLE = 160
_BEAM = 40
_WINDOW = 4

# How doubtful an edit is, beside that it is one: a deletion loses something, a colon nothing.
_DELETE = {"(": 12, ")": 12, "/": 5, "A": 5, "X": 5, "C": 5, "R": 30, "S": 30, "T": 30, "G": 30}
_INSERT = {"(": 10, ")": 10, "/": 5, "role": 15, "concept": 15, "variable": 10}
_AGAIN, _JOIN, _JOIN_VARIABLE, _COLON, _ODD_COLON, _CONNECT, _JUNK, _MENDED = (
    10, 8, 25, 4, 25, 20, 10, 5,
)  # fmt: skip
_MISFIT = 8  # a line whose indentation says another depth

_DEFINITION = re.compile(rf"\(\s*([^{NO_SYMBOL}]+)|(?<![^\s(:])([^{NO_SYMBOL}]+)(?=\s*/)")
_LIKELY_ROLE = re.compile(
    r"(?:ARG\d|op\d+|snt\d+|mod|polarity|name|wiki|quant|time|location|manner|degree|domain|poss"
    r"|purpose|part|topic|cause|mode|value|unit|day|month|year|condition|source|duration)(?:-of)?"
)
_REST_OF_LINE = re.compile(r'[^\n()":]+')


class Op(NamedTuple):
    """One step of a path: a piece taken, left out or put in."""

    name: str
    """``take``, or the kind of edit."""
    piece: Piece
    state: int
    """The state in which it happens."""


class _Line(NamedTuple):
    """A line above: its indentation, the depth at its start, and the lines around it."""

    indent: int
    depth: int
    outer: Any  # a line or None; a recursive type is too much for a named tuple


class _Way(NamedTuple):
    """The end of a path, and the path behind it."""

    cost: int
    doubt: int
    depth: int
    state: int
    odd: frozenset[int]
    """Places that look like definitions and are none on this path, and the other way round."""
    lines: _Line | None
    """Indentation and depth of the lines above, innermost first."""
    back: Any
    op: Op | None


_Ways = dict[tuple[int, int, frozenset[int]], _Way]


class _Text(NamedTuple):
    text: str
    definitions: dict[str, list[int]]
    """Where each variable looks defined."""
    names: frozenset[str]


def cheapest(text: str) -> list[Op]:
    """Return the steps that make one valid graph of *text* with the fewest edits."""
    source = _prepared(text)
    begin = skip_blanks(text, 0)
    ways: dict[int, _Ways] = defaultdict(dict)
    ways[begin][0, START, frozenset()] = _Way(0, 0, 0, START, frozenset(), None, None, None)
    places = [begin]  # a heap of the places to go on from
    done = -1
    while True:
        place = heapq.heappop(places)
        if place <= done:
            continue
        done = place
        at_end = place == len(text)
        choices = [] if at_end else pieces_at(text, place)
        for way in _settled(ways.pop(place), choices, len(text) > _WHOLE, at_end):
            if at_end and way.state == END:
                return _steps(way)
            for piece in choices:
                for new in _taken(source, way, piece):
                    after = skip_blanks(text, piece.end)
                    if after not in ways:
                        heapq.heappush(places, after)
                    _keep(ways[after], new)
            if choices and way.state == END:
                _leave_junk(source, way, place, ways, places)


def _prepared(text: str) -> _Text:
    found: dict[str, list[int]] = defaultdict(list)
    for match in _DEFINITION.finditer(text):
        group = 1 if match[1] is not None else 2
        found[match[group]].append(match.start(group))
    return _Text(text, dict(found), frozenset(found))


def _keep(ways: _Ways, way: _Way) -> bool:
    key = (way.depth, way.state, way.odd)
    best = ways.get(key)
    if best is not None and best[:2] <= way[:2]:
        return False
    ways[key] = way
    return True


def _settled(ways: _Ways, choices: list[Piece], beam: bool, at_end: bool) -> list[_Way]:
    """Return the ways at one place, best first, after everything that may be put in there."""
    order = itertools.count()
    heap = [(way[:2], next(order), way) for way in ways.values()]
    heapq.heapify(heap)
    kinds = {piece.kind for piece in choices}
    result: list[_Way] = []
    while heap:
        _, _, way = heapq.heappop(heap)
        if ways[way.depth, way.state, way.odd] is not way:
            continue
        if (
            beam
            and not at_end
            and result
            and (len(result) >= _BEAM or way.cost > result[0].cost + _WINDOW)
        ):
            break
        result.append(way)
        for new in _put_in(way, kinds):
            if _keep(ways, new):
                heapq.heappush(heap, (new[:2], next(order), new))
    return result


def _put_in(way: _Way, kinds: set[str]) -> list[_Way]:
    """Return what follows if something is put in before a piece of one of the *kinds*."""
    state, depth = way.state, way.depth
    found = []
    if state == START or (state in (ROLE, MARKED) and kinds & {"S", "/"}):
        found.append(_inserted(way, "(", VAR, depth + 1))
    elif state == VAR and not kinds & {"S", "("}:
        # Before a word or a bracket something else is cheaper; so no path puts in things for ever.
        found.append(_inserted(way, "variable", NAMED, depth))
    elif state in (NAMED, AGAIN, SLASH):
        if state != SLASH and kinds & _WORDS:
            found.append(_inserted(way, "/", SLASH, depth))
        found.append(_inserted(way, "concept", BRANCH, depth))
    elif state in _INSIDE:
        if kinds & _WORDS or "(" in kinds:
            found.append(_inserted(way, "role", ROLE, depth))
        after = BRANCH if depth > 1 else END
        found.append(_inserted(way, ")", after, depth - 1, at_end=not kinds))
    return found


def _inserted(way: _Way, what: str, state: int, depth: int, *, at_end: bool = False) -> _Way:
    op = Op(f"insert {what}", Piece(what, -1, -1, ""), way.state)
    cost, doubt = way.cost + 1, way.doubt + _INSERT[what] - at_end
    return _Way(cost, doubt, depth, state, way.odd, way.lines, way, op)


def _taken(source: _Text, way: _Way, piece: Piece) -> list[_Way]:
    """Return what follows if *piece* is taken in each possible way, or left out."""
    found = []
    for name, state, depth, cost, doubt in _uses(source, way, piece):
        extra = 1 if piece.edit else 0
        defines = name == "take" and way.state == VAR
        new_state = state
        if defines and _is_defined(source, way, piece):
            new_state, extra, doubt = AGAIN, extra + 1, doubt + _AGAIN  # noqa: PLW2901
        misfit, lines = _fit(source, way, piece)
        found.append(
            _Way(
                way.cost + cost + extra,
                way.doubt + doubt + misfit + (_MENDED if piece.edit else 0),
                depth,
                new_state,
                _odd(source, way, piece, defines),
                lines,
                way,
                Op(name, piece, way.state),
            )
        )
    if not piece.edit:
        # Of two roles with one value the second has it.
        second = piece.kind == "R" and way.state == ROLE
        cost, doubt = way.cost + 1, way.doubt + _DELETE[piece.kind] + second
        odd = _odd(source, way, piece, False)
        op = Op("delete", piece, way.state)
        found.append(_Way(cost, doubt, way.depth, way.state, odd, way.lines, way, op))
    return found


def _uses(source: _Text, way: _Way, piece: Piece) -> list[tuple[str, int, int, int, int]]:
    """Return (name, next state, next depth, edits, doubt) for each use of a piece."""
    state, kind, depth = way.state, piece.kind, way.depth
    if kind == "R" and len(piece.text) == 1:
        return []
    if state == END and kind == "(":
        return [("connect", VAR, depth + 1, 1, _CONNECT)]
    after = SLASH if piece.text == ":instance" and state in (NAMED, AGAIN) else None
    after = _NEXT.get((state, kind), after)
    if after is None:
        return _joins(source, state, piece, depth)
    if kind == "(":
        depth += 1
    elif kind == ")":
        depth -= 1
        after = after if depth else END
    return [("take", after, depth, 0, 0)]


def _joins(
    source: _Text, state: int, piece: Piece, depth: int
) -> list[tuple[str, int, int, int, int]]:
    """Return what a word can be where none is expected: a part of the last, or a role."""
    if piece.kind != "S" or state not in _INSIDE:
        return []
    doubt = _COLON if _LIKELY_ROLE.fullmatch(piece.text) else _ODD_COLON
    found = [("colon", ROLE, depth, 1, doubt)]
    if state in _JOINED:
        doubt = _JOIN_VARIABLE if piece.text in source.names else _JOIN
        found.append(("join", _JOINED[state], depth, 1, doubt))
    elif state in (LONG_LABEL, LONG_ATOM):
        found.append(("more", state, depth, 0, _JOIN))
    return found


def _is_defined(source: _Text, way: _Way, piece: Piece) -> bool:
    """Say whether the variable is defined before this place on this path."""
    places = source.definitions.get(piece.text, [])
    if any(place < piece.start and place not in way.odd for place in places):
        return True
    # Defined where nothing looked like it.
    return any(
        place not in places and source.text.startswith(piece.text, place)
        and not source.text[place + len(piece.text) : place + len(piece.text) + 1].strip(NO_SYMBOL)
        for place in way.odd
    )  # fmt: skip


def _odd(source: _Text, way: _Way, piece: Piece, defines: bool) -> frozenset[int]:
    """Return the oddities of the path after *piece*; only variables defined twice matter."""
    places = source.definitions.get(piece.text if not piece.edit else "", [])
    later = bool(places) and places[-1] > piece.start
    return way.odd | {piece.start} if later and defines != (piece.start in places) else way.odd


def _fit(source: _Text, way: _Way, piece: Piece) -> tuple[int, _Line | None]:
    """Return how badly the depth fits the indentation, and the lines above, this one included."""
    lines = way.lines
    begin = source.text.rfind("\n", max(0, piece.start - 400), piece.start) + 1
    if piece.kind == ")" or (begin == 0 and piece.start > 0):
        return 0, lines
    if source.text[begin : piece.start].strip():
        return 0, lines
    indent = piece.start - begin
    while lines is not None and lines.indent > indent:
        lines = lines.outer
    if lines is None:
        return 0, _Line(indent, way.depth, None)
    if lines.indent == indent:
        return (_MISFIT if lines.depth != way.depth else 0), _Line(indent, way.depth, lines.outer)
    return (_MISFIT if lines.depth >= way.depth else 0), _Line(indent, way.depth, lines)


def _leave_junk(
    source: _Text, way: _Way, place: int, ways: dict[int, _Ways], places: list[int]
) -> None:
    """Leave out what stands behind the graph in its line, as one edit."""
    match = _REST_OF_LINE.match(source.text, place)
    if not match:
        return
    piece = Piece("X", place, place + len(match[0].rstrip()), match[0].rstrip())
    after = skip_blanks(source.text, match.end())
    if after not in ways:
        heapq.heappush(places, after)
    op = Op("junk", piece, way.state)
    _keep(ways[after], way._replace(cost=way.cost + 1, doubt=way.doubt + _JUNK, back=way, op=op))


def _steps(way: _Way) -> list[Op]:
    steps = []
    last: _Way | None = way
    while last is not None and last.op is not None:
        steps.append(last.op)
        last = last.back
    return steps[::-1]
