"""The language of patterns: PENMAN with wildcards, optional and negated parts, paths and words.

>>> pattern = parse("(x / *-01 :ARG0 (y / boy|girl) :!polarity - :^mod+ (z))")
>>> [node.name for node in pattern.nodes]
['x', 'y', '', 'z']
>>> [edge.target for edge in pattern.body.edges], len(pattern.body.negations)
([1, 3], 1)
"""

from __future__ import annotations

import re
from fnmatch import translate
from typing import NamedTuple

from graphconv.errors import FormatError


class Demand(NamedTuple):
    """What a label, role or word must be: one of some globs, or none of them."""

    globs: tuple[str, ...]
    negated: bool
    regex: re.Pattern[str]

    @property
    def exact(self) -> tuple[str, ...] | None:
        """The only texts that pass, if they can be listed."""
        return None if self.negated or any(map(_is_glob, self.globs)) else self.globs

    def passes(self, text: str) -> bool:
        """Say whether a text is as demanded."""
        return (self.regex.match(text) is None) == self.negated


class WordDemand(NamedTuple):
    """What one of a node's words must be: its form, or another field of it."""

    field: str
    test: Demand


class PatternNode(NamedTuple):
    """A node to be found; without demands it is any."""

    name: str
    label: Demand | None = None
    words: tuple[WordDemand, ...] = ()
    top: bool = False


class PatternEdge(NamedTuple):
    """An edge between two nodes to be found (by number), or a path of such edges."""

    source: int
    target: int
    role: Demand
    inverse: Demand | None
    """What ``X-of`` means the other way round."""
    path: bool


class Group(NamedTuple):
    """Nodes and edges that are found together, parts that may be missing, parts that must be."""

    nodes: list[int]
    edges: list[PatternEdge]
    options: list[Group]
    negations: list[Group]


class Pattern(NamedTuple):
    """A pattern; *nodes* are those of all groups."""

    text: str
    nodes: tuple[PatternNode, ...]
    body: Group


_TOKEN = re.compile(
    r"""\s*(?:(?P<bracket>[()/])|(?P<string>"(?:[^"\\]|\\.)*")|(?P<role>:[^\s()"]*)"""
    r"""|(?P<word>@(?:[^\s()"]*"(?:[^"\\]|\\.)*"|[^\s()"]+))|(?P<symbol>[^\s()"/:@][^\s()"/]*))"""
)
_GLOB = re.compile(r"[*?\[]")
_WORD_FIELD = re.compile(r"@(?:([a-z_]+):)?(.+)", re.DOTALL)


def parse(text: str) -> Pattern:
    """Parse a pattern; FormatError says where it is wrong."""
    return _Parser(text).pattern()


def demand(text: str, *, ignore_case: bool = False) -> Demand:
    """Return the test that a text of the pattern stands for.

    >>> [demand("*-0?|be").passes(label) for label in ("go-02", "be", "bee")]
    [True, True, False]
    >>> demand("!boy").passes("girl")
    True
    """
    negated = len(text) > 1 and text.startswith("!")
    body = text[negated:]
    if body.startswith('"'):
        globs: tuple[str, ...] = (body,)
        regex = re.escape(body) + r"\Z"
    else:
        globs = tuple(body.split("|"))
        regex = "|".join(map(translate, globs))
    return Demand(globs, negated, re.compile(regex, re.IGNORECASE if ignore_case else 0))


def _is_glob(text: str) -> bool:
    return not text.startswith('"') and bool(_GLOB.search(text))


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._lexed()
        self.place = 0
        self.nodes: list[PatternNode] = []
        self.numbers: dict[str, int] = {}
        self.homes: dict[int, list[int]] = {}  # the groups around each node, by identity
        self.defined = set(re.findall(r'\(\s*\^?([^\s()"/:@]+)', text))

    def _lexed(self) -> list[tuple[str, str, int]]:
        found = []
        place = 0
        while self.text[place:].strip():
            match = _TOKEN.match(self.text, place)
            if match is None:
                raise self._error(place, "this cannot be read")
            kind = match.lastgroup or ""
            found.append((kind, match[kind], match.start(kind)))
            place = match.end()
        return found

    def _error(self, place: int, message: str) -> FormatError:
        rest = self.text[place:].strip()
        return FormatError(
            f"bad pattern at character {place + 1}: {message}", text=rest or self.text
        )

    def _peek(self) -> tuple[str, str, int]:
        return (
            self.tokens[self.place] if self.place < len(self.tokens) else ("", "", len(self.text))
        )

    def _take(self, kind: str, text: str = "") -> str:
        found, value, place = self._peek()
        if found != kind or (text and value != text):
            raise self._error(place, f"{text or kind} expected")
        self.place += 1
        return value

    def pattern(self) -> Pattern:
        body = Group([], [], [], [])
        self._node([body])
        if self.place < len(self.tokens):
            raise self._error(self._peek()[2], "text behind the pattern")
        return Pattern(self.text, tuple(self.nodes), body)

    def _node(self, groups: list[Group]) -> int:
        """Parse a bracketed node into the last of *groups*; the others are around it."""
        self._take("bracket", "(")
        name, top = "", False
        if self._peek()[0] == "symbol":
            name = self._take("symbol")
            top = len(name) > 1 and name.startswith("^")
            name = name[top:]
        name = "" if name == "_" else name
        label = None
        if self._peek()[1] == "/" and self._peek()[0] == "bracket":
            self.place += 1
            kind, value, place = self._peek()
            if kind not in ("symbol", "string"):
                raise self._error(place, "a label expected")
            self.place += 1
            label = None if value == "*" else demand(value)
        words = []
        while self._peek()[0] == "word":
            words.append(self._word(self._take("word")))
        number = self._number(name, groups)
        old = self.nodes[number]
        if (label or words or top) and (old.label or old.words or old.top):
            raise self._error(self._peek()[2], f"{name} is described twice")
        if label or words or top:
            self.nodes[number] = PatternNode(name, label, tuple(words), top)
        while self._peek()[0] == "role":
            self._branch(number, groups)
        self._take("bracket", ")")
        return number

    def _word(self, text: str) -> WordDemand:
        match = _WORD_FIELD.fullmatch(text)
        assert match is not None, "the lexer has seen to it"
        value = match[2]
        if '"' in value:
            value = value.strip('"').replace('\\"', '"')
            return WordDemand(match[1] or "form", Demand((value,), False, _literal(value)))
        field = match[1] or "form"
        return WordDemand(field, demand(value, ignore_case=field in ("form", "lemma")))

    def _number(self, name: str, groups: list[Group]) -> int:
        """Return the number of the node called *name*; a new one belongs to the last group."""
        if name and name in self.numbers:
            number = self.numbers[name]
            around = [id(group) for group in groups]
            if self.homes[number] != around[: len(self.homes[number])]:
                raise self._error(
                    self._peek()[2], f"{name} is defined in an optional or negated part elsewhere"
                )
            return number
        number = len(self.nodes)
        self.nodes.append(PatternNode(name))
        groups[-1].nodes.append(number)
        self.homes[number] = [id(group) for group in groups]
        if name:
            self.numbers[name] = number
        return number

    def _branch(self, source: int, groups: list[Group]) -> None:
        _, text, place = self._peek()
        self.place += 1
        role = text[1:]
        negated = role.startswith("!")
        role = role[negated:]
        optional = role.endswith("?") and len(role) > 1
        role = role[: len(role) - optional]
        path = role.startswith("^")
        if path:
            if not role.endswith("+"):
                raise self._error(place, "a path is written :^ROLE+")
            role = role[1:-1]
        if not role:
            raise self._error(place, "a role expected")
        inner = groups
        if negated or optional:
            group = Group([], [], [], [])
            (groups[-1].negations if negated else groups[-1].options).append(group)
            inner = [*groups, group]
        target = self._target(inner)
        inner[-1].edges.append(PatternEdge(source, target, demand(role), _inverse(role), path))

    def _target(self, groups: list[Group]) -> int:
        kind, text, place = self._peek()
        if (kind, text) == ("bracket", "("):
            return self._node(groups)
        if kind not in ("symbol", "string"):
            # A role alone: any target.
            return self._number("", groups)
        self.place += 1
        if kind == "symbol" and text in self.defined:
            if text not in self.numbers:
                raise self._error(place, f"{text} is mentioned before it is defined")
            return self._number(text, groups)
        number = self._number("", groups)
        self.nodes[number] = PatternNode("", None if text == "*" else demand(text))
        return number


def _literal(value: str) -> re.Pattern[str]:
    return re.compile(re.escape(value) + r"\Z", re.IGNORECASE)


def _inverse(role: str) -> Demand | None:
    parts = role.removeprefix("!").split("|")
    turned = [part.removesuffix("-of") for part in parts if part.endswith("-of")]
    if not turned or role.startswith("!"):
        return None
    return demand("|".join(turned))
