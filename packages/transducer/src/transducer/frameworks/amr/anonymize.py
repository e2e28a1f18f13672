"""Entities: names, dates, ordinals, percentages, scores, URLs and numbers become placeholders.

In the text each word of an entity gets the feature ``placeholder`` (``name_1``) and keeps its form,
so that nothing is hidden from the encoder; source copy offers the placeholder instead of the lemma.
In the graph the part that the entity stands for, such as ``(n / name :op1 "Acme")``, becomes one
node of that label. What a placeholder stands for is decided from the tokens alone, with tables
learned from the training data, so training and test are treated alike, and the graph is folded only
where unfolding gives it back: the round trip is exact.

>>> tokens = tuple(Token(form) for form in "On May 5 , 2010 , she bought 3 %".split())
>>> spans = find_entities(tokens, {}, {})
>>> [(span.start, span.end, span.template) for span in spans][0]
(1, 5, Template(label='date-entity', values=(('year', '2010'), ('month', '5'), ('day', '5'))))
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from graphconv.codecs.amr import as_symbol
from graphconv.graph import Edge, Graph, Node, Token, attribute
from transducer.frameworks.amr.numbers import MONTH, NUMBER_WORDS, parse_number, parse_ordinal
from transducer.frameworks.amr.structure import constant_edges, fresh_constants, names, outgoing
from transducer.text.annotation import shape, token_features

PLACEHOLDER = "placeholder"
"""The feature of a token that belongs to an entity."""

# Of the spans that a pattern finds, at least this share must be in the graph.
_RELIABLE = 0.3
# A pattern counts as seen this many times more, as often right as the next more general one.
_PRIOR = 2
# Capitals mean nothing before training says so: every sentence starts with one.
_UNLEARNED = {"shape": 0.0, "run": 0.0}
_LONGEST = 10
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_DAY = re.compile(r"(0?[1-9]|[12][0-9]|3[01])(?:st|nd|rd|th)?")
_ISO = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"([a-z]+)_[0-9]+")
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
        levels = _levels(span.pattern)
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


def _levels(pattern: str) -> list[str]:
    """Return a pattern and the more general ones that contain it; the last is its family.

    >>> _levels("shape:in:Xxxx|NNP|Friday")
    ['shape:in:Xxxx|NNP|Friday', 'shape:in:Xxxx|NNP', 'shape:in:Xxxx', 'shape']
    >>> _levels("name:a|b")
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
        for end in range(start + 1, min(len(tokens), start + _LONGEST) + 1):
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
        while end < len(tokens) and end - start < _LONGEST:
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


class Anonymous(NamedTuple):
    """The tokens of a sentence with placeholders, and what these stand for."""

    tokens: tuple[Token, ...]
    templates: dict[str, Template]


def anonymize_tokens(
    tokens: Sequence[Token], known: Mapping[str, Sequence[str]], rates: Mapping[str, float]
) -> Anonymous:
    """Mark the entities of a sentence; equal entities share a placeholder."""
    placeholders: dict[Template, str] = {}
    counts: Counter[str] = Counter()
    result = list(tokens)
    for span in find_entities(tokens, known, rates):
        if span.template not in placeholders:
            counts[span.kind] += 1
            placeholders[span.template] = f"{span.kind}_{counts[span.kind]}"
        for position in range(span.start, span.end):
            mark = (PLACEHOLDER, placeholders[span.template])
            features = result[position].features
            result[position] = result[position]._replace(features=(*features, mark))
    return Anonymous(tuple(result), {name: t for t, name in placeholders.items()})


def fold(graph: Graph, templates: Mapping[str, Template]) -> Graph:
    """Replace what placeholders stand for by the placeholders."""
    placeholders = {_sorted(template): name for name, template in templates.items()}
    nodes = {node.id: node for node in graph.nodes}
    edges = outgoing(graph)
    sources = {edge.source for edge in graph.edges}
    labels: dict[str, str] = {}
    dropped: set[str] = set()
    for node in graph.nodes:
        template = _template(node, edges[node.id], nodes)
        if template in placeholders and node.id not in dropped:
            below = {e.target for e in edges[node.id] if nodes[e.target].constant}
            if not (below & sources) and node.label is not None:
                labels[node.id] = placeholders[template]
                dropped |= below
                for name in below:
                    labels.pop(name, None)
    # A constant becomes a variable, so its edges must not be needed for its place as a constant.
    return replace(
        graph,
        nodes=tuple(
            node._replace(label=labels[node.id], constant=False) if node.id in labels else node
            for node in graph.nodes
            if node.id not in dropped
        ),
        edges=tuple(edge for edge in graph.edges if edge.target not in dropped),
    )


def _template(node: Node, edges: list[Edge], nodes: dict[str, Node]) -> Template:
    if node.constant:
        return Template(node.label or "", None)
    return _sorted(Template(node.label or "", tuple(constant_edges(edges, nodes))))


def _sorted(template: Template) -> Template:
    """Return the template in a form that does not depend on the written order."""
    return template._replace(values=template.values and tuple(sorted(template.values)))


def unfold(graph: Graph, templates: Mapping[str, Template]) -> Graph:
    """Replace placeholders by what they stand for.

    One that does not occur in the text stands for the last one of its kind, else for a thing.
    """
    ids = fresh_constants(graph)
    nodes: list[Node] = []
    added: dict[str, list[Edge]] = {}
    for node in graph.nodes:
        template = None if node.constant else _lookup(node.label or "", templates)
        if template is None:
            nodes.append(node)
        elif template.values is None:
            nodes.append(node._replace(label=template.label, constant=True))
        else:
            nodes.append(node._replace(label=template.label))
            for role, value in template.values:
                nodes.append(Node(next(ids), value, constant=True))
                added.setdefault(node.id, []).append(Edge(node.id, nodes[-1].id, role))
    edges: list[Edge] = []
    for edge in graph.edges:
        edges += added.pop(edge.source, ())
        edges.append(edge)
    for rest in added.values():
        edges += rest
    return replace(graph, nodes=tuple(nodes), edges=tuple(edges))


def _lookup(label: str, templates: Mapping[str, Template]) -> Template | None:
    if label in templates:
        return templates[label]
    match = _PLACEHOLDER.fullmatch(label)
    if match is None or match.group(1) not in _KINDS:
        return None
    same = [t for name, t in templates.items() if name.startswith(f"{match.group(1)}_")]
    return same[-1] if same else Template("thing", ())


_KINDS = frozenset("name date ordinal percent score url number".split())


def learn_names(pairs: Iterable[tuple[Sequence[Token], Graph]]) -> dict[str, list[str]]:
    """Map each name in the texts to the most frequent name in the graphs.

    They differ in white space, plural endings and capitals: "IECs" is ``"IEC"``.
    """
    counts: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    for tokens, graph in pairs:
        wanted: dict[str, tuple[str, ...]] = {}
        for _, _, parts in names(graph):
            key = "".join(part.strip('"') for part in parts).lower()
            wanted.setdefault(key, parts)
            wanted.setdefault(key + "s", parts)
        if not wanted:
            continue
        longest = max(map(len, wanted))
        for start in range(len(tokens)):
            joined = ""
            for end in range(start, min(len(tokens), start + _LONGEST)):
                joined += tokens[end].form.lower()
                if len(joined) > longest:
                    break
                if joined in wanted:
                    text = " ".join(token.form for token in tokens[start : end + 1])
                    counts[text][wanted[joined]] += 1
    return {text: _most_frequent(row) for text, row in sorted(counts.items())}


def _most_frequent(counts: Counter[tuple[str, ...]]) -> list[str]:
    best = min(counts, key=lambda parts: (-counts[parts], parts))
    return list(best)


def learn_rates(
    pairs: Iterable[tuple[Sequence[Token], Graph]], known: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """Say how often what a pattern finds is in the graph; also for more general patterns."""
    tries: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for tokens, graph in pairs:
        nodes = {node.id: node for node in graph.nodes}
        edges = outgoing(graph)
        present = {_template(node, edges[node.id], nodes) for node in graph.nodes}
        spans = list(candidates(tokens, known))
        right = _outermost([span for span in spans if _sorted(span.template) in present])
        for span in spans:
            for pattern in _levels(span.pattern):
                tries[pattern] += 1
                hits[pattern] += span in right
    rates: dict[str, float] = {}
    for pattern in sorted(tries):  # more general ones come first
        general = next((rates[level] for level in _levels(pattern)[1:]), None)
        weight = 0 if general is None else _PRIOR
        rates[pattern] = round(
            (hits[pattern] + (general or 0.0) * weight) / (tries[pattern] + weight), 4
        )
    return rates


def _outermost(spans: Iterable[Span]) -> set[Span]:
    """Return the spans that are not part of a longer one: the day is not the date."""
    result: set[Span] = set()
    start, end = -1, 0  # of the span that reaches furthest so far
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.end > end or (span.start, span.end) == (start, end):
            result.add(span)
            start, end = span.start, span.end
    return result


def placeholder(token: Token) -> str | None:
    """Return the placeholder of a token, if it belongs to an entity."""
    value = attribute(token.features, PLACEHOLDER)
    return None if value is None else str(value)


def constant_label(form: str) -> str:
    """Return what a word is as a constant: a number, else a string in quotes."""
    number = parse_number([form])
    return number if number is not None else as_symbol(f'"{as_text(form)}"')
