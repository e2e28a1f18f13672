"""Entities of a sentence, found in its tokens: names, dates, ordinals, percentages, URLs, numbers.

>>> tokens = tuple(Token(form) for form in "On May 5 , 2010 , she bought 3 %".split())
>>> spans = find_entities(tokens, {}, {})
>>> [(span.start, span.end, span.template) for span in spans][0]
(1, 5, Template(label='date-entity', values=(('year', '2010'), ('month', '5'), ('day', '5'))))
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from graphconv.graph import Token
from transducer.frameworks.amr.numbers import MONTH, NUMBER_WORDS, parse_number, parse_ordinal
from transducer.text.annotation import shape, token_features

# Of the spans that a pattern finds, at least this share must be in the graph.
_RELIABLE = 0.3
# Capitals mean nothing before training says so: every sentence starts with one.
_UNLEARNED = {"shape": 0.0, "run": 0.0}
LONGEST = 10
"""Tokens of a name."""
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_DAY = re.compile(r"(0?[1-9]|[12][0-9]|3[01])(?:st|nd|rd|th)?")
_ISO = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
# After these a capital says as little as at the beginning.
_BEFORE_CAPITAL = frozenset("\" ' “ ‘ « ( . ? ! : -".split())
_NUMERIC_NER = frozenset("DATE TIME PERCENT MONEY QUANTITY ORDINAL CARDINAL O".split())


class Template(NamedTuple):
    """What a placeholder stands for: a concept with constants, or a constant."""

    label: str
    values: tuple[tuple[str, str], ...] | None
    """Pairs (role, constant); None if the label itself is a constant."""


class Span(NamedTuple):
    """Tokens [start, end) and what they stand for."""

    start: int
    end: int
    kind: str
    pattern: str
    """What found it; how often a pattern is right is learned."""
    template: Template


def find_entities(
    tokens: Sequence[Token], known: Mapping[str, Sequence[str]], rates: Mapping[str, float]
) -> list[Span]:
    """Return the entities of a sentence, in order and disjoint.

    *known* maps names in the text to names in the graph; *rates* says how often each pattern was
    right in training; one that was never seen is as good as the next more general one.
    """

    def rate(span: Span) -> float:
        levels = pattern_levels(span.pattern)
        seen = (rates[level] for level in levels if level in rates)
        return next(seen, _UNLEARNED.get(levels[-1], 1.0))

    spans = [span for span in candidates(tokens, known) if rate(span) >= _RELIABLE]
    # The pattern that is right most often first; of equally good ones the longest span.
    spans.sort(key=lambda span: (-rate(span), span.start - span.end, span))
    taken: set[int] = set()
    chosen = []
    for span in spans:
        positions = range(span.start, span.end)
        if taken.isdisjoint(positions):
            taken.update(positions)
            chosen.append(span)
    return sorted(chosen)


def pattern_levels(pattern: str) -> list[str]:
    """Return a pattern and the more general ones that contain it; the last is its family.

    >>> pattern_levels("shape:in:Xxxx|NNP|Friday")
    ['shape:in:Xxxx|NNP|Friday', 'shape:in:Xxxx|NNP', 'shape:in:Xxxx', 'shape']
    >>> pattern_levels("name:a|b")
    ['name:a|b', 'name']
    """
    family = pattern.partition(":")[0]
    parts = pattern.split("|") if family in _UNLEARNED else [pattern]
    levels = ["|".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return levels if pattern == family else [*levels, family]


def candidates(tokens: Sequence[Token], known: Mapping[str, Sequence[str]]) -> Iterator[Span]:
    """Yield everything that looks like an entity."""
    forms = [token.form for token in tokens]
    for start in range(len(tokens)):
        yield from _values(forms, start)
        for end in range(start + 1, min(len(tokens), start + LONGEST) + 1):
            key = " ".join(forms[start:end])
            if key in known:
                yield _name(start, end, f"name:{key}", known[key])
    yield from _by_entity_type(tokens)
    yield from _by_shape(tokens)


def _name(start: int, end: int, pattern: str, parts: Sequence[str]) -> Span:
    values = tuple((f"op{number}", part) for number, part in enumerate(parts, start=1))
    return Span(start, end, "name", pattern, Template("name", values))


def _values(forms: Sequence[str], start: int) -> Iterator[Span]:
    """Yield dates, ordinals, percentages, scores, URLs and numbers that start here."""

    def span(length: int, kind: str, form: str, template: Template) -> Span:
        return Span(start, start + length, kind, f"{kind}:{form}", template)

    first = forms[start]
    folded = first.lower()
    for length, values in _dates(forms, start):
        pattern = "-".join(role for role, _ in values)
        yield span(length, "date", pattern, Template("date-entity", values))
    ordinal = parse_ordinal(first)
    if ordinal is not None:
        form = folded if folded.isalpha() else "digits"
        yield span(1, "ordinal", form, Template("ordinal-entity", (("value", ordinal),)))
    if _URL.fullmatch(first):
        yield span(1, "url", "", Template("url-entity", (("value", f'"{first}"'),)))
    if not (folded[:1].isdecimal() or folded in NUMBER_WORDS):
        return
    for length in range(1, min(6, len(forms) - start + 1)):
        number = parse_number(forms[start : start + length])
        if number is None:
            continue
        form = folded if length == 1 and folded.isalpha() else "digits" if length == 1 else "words"
        yield span(length, "number", form, Template(number, None))
        after = forms[start + length : start + length + 2]
        if after[:1] in (["%"], ["percent"]):
            yield span(
                length + 1, "percent", "", Template("percentage-entity", (("value", number),))
            )
        other = parse_number(after[1:]) if after[:1] in (["-"], ["–"], [":"]) else None
        if other is not None:
            both = (("op1", number), ("op2", other))
            yield span(length + 2, "score", "", Template("score-entity", both))


def _dates(forms: Sequence[str], start: int) -> Iterator[tuple[int, tuple[tuple[str, str], ...]]]:
    """Yield (length, values) of the dates that start here."""
    window = [form.lower().rstrip(".") for form in forms[start : start + 4]]
    window += [""] * (4 - len(window))
    first, second, third, fourth = window
    iso = _ISO.fullmatch(first)
    if iso:
        numbers = [str(int(group)) for group in iso.groups()]
        yield 1, tuple(zip(("year", "month", "day"), numbers, strict=True))
    if _YEAR.fullmatch(first):
        yield 1, (("year", first),)
    month = MONTH.get(first)
    if month:
        day = _DAY.fullmatch(second)
        if day:
            yield 2, (("month", month), ("day", str(int(day[1]))))
            gap = 1 if third == "," else 0
            year = fourth if gap else third
            if _YEAR.fullmatch(year):
                dated = (("year", year), ("month", month), ("day", str(int(day[1]))))
                yield 3 + gap, dated
        elif _YEAR.fullmatch(second):
            yield 2, (("year", second), ("month", month))
        elif forms[start][:1].isupper():
            yield 1, (("month", month),)
    day = _DAY.fullmatch(first)
    if day and second in MONTH:
        yield 2, (("month", MONTH[second]), ("day", str(int(day[1]))))
        if _YEAR.fullmatch(third):
            yield 3, (("year", third), ("month", MONTH[second]), ("day", str(int(day[1]))))


def _by_entity_type(tokens: Sequence[Token]) -> Iterator[Span]:
    """Yield the names that an annotator found."""
    types = [token_features(token)["ner"] or "O" for token in tokens]
    start = 0
    while start < len(tokens):
        end = start + 1
        while end < len(tokens) and types[end] == types[start]:
            end += 1
        if types[start] not in _NUMERIC_NER:
            first = start + (tokens[start].form.lower() == "the")
            last = end - (tokens[end - 1].form in ("'s", "’s"))
            if first < last:
                yield _name(first, last, f"ner:{types[start]}", quoted(tokens[first:last]))
        start = end


def _by_shape(tokens: Sequence[Token]) -> Iterator[Span]:
    """Yield words and runs of words whose capitals or digits look like a name.

    Their tags tell more, where there are tags, and of a word the form: "Friday" is no name.
    """
    marked = [_looks_like_name(token.form) for token in tokens]
    tags = [token_features(token)["pos"] or "" for token in tokens]
    for start, token in enumerate(tokens):
        if not marked[start]:
            continue
        place = "first" if start == 0 or tokens[start - 1].form in _BEFORE_CAPITAL else "in"
        pattern = f"shape:{place}:{shape(token.form)}|{tags[start]}|{token.form}"
        yield _name(start, start + 1, pattern, quoted([token]))
        end = start + 1
        hyphens = 0
        while end < len(tokens) and end - start < LONGEST:
            joined = tokens[end].form == "-" and end + 1 < len(tokens)
            if joined and tokens[end + 1].form[:1].isalnum():
                end, hyphens = end + 2, hyphens + 1
            elif marked[end]:
                end += 1
            else:
                break
            if end - start > 1:
                shapes = f"{shape(token.form)}:{shape(tokens[end - 1].form)}"
                pattern = f"run:{place}:{min(hyphens, 1)}:{shapes}|{tags[start]}:{tags[end - 1]}"
                yield _name(start, end, pattern, quoted(tokens[start:end]))


def _looks_like_name(form: str) -> bool:
    return any(c.isalpha() for c in form) and any(c.isupper() or c.isdigit() for c in form)


def quoted(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return tokens as the parts of a name: quoted, joined where no white space stood between."""
    parts: list[str] = []
    last: Token | None = None
    for token in tokens:
        if last is not None and _touching(last, token):
            parts[-1] += token.form
        else:
            parts.append(token.form)
        last = token
    return tuple(f'"{as_text(part)}"' for part in parts)


def as_text(part: str) -> str:
    """Escape what stands between the quotes of a constant."""
    return part.replace("\\", "\\\\").replace('"', '\\"')


def _touching(left: Token, right: Token) -> bool:
    if left.span is not None and right.span is not None:
        return left.span[1] == right.span[0]
    return left.form == "-" or right.form == "-"
