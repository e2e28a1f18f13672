"""Entities: names, dates, ordinals, percentages, scores, URLs and numbers become placeholders.

In the text each word of an entity gets the feature ``placeholder`` (``name_1``) and keeps its form,
so that nothing is hidden from the encoder; source copy offers the placeholder instead of the lemma.
In the graph the part that the entity stands for, such as ``(n / name :op1 "Acme")``, becomes one
node of that label. What a placeholder stands for is decided from the tokens alone, with tables
learned from the training data, so training and test are treated alike, and the graph is folded only
where unfolding gives it back: the round trip is exact.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from graphconv.codecs.amr import as_symbol
from graphconv.graph import Edge, Graph, Node, Token, attribute
from transducer.frameworks.amr.entities import (
    LONGEST,
    Span,
    Template,
    as_text,
    candidates,
    find_entities,
    pattern_levels,
)
from transducer.frameworks.amr.numbers import parse_number
from transducer.frameworks.amr.structure import constant_edges, fresh_constants, names, outgoing

PLACEHOLDER = "placeholder"
"""The feature of a token that belongs to an entity."""

# A pattern counts as seen this many times more, as often right as the next more general one.
_PRIOR = 2
_PLACEHOLDER = re.compile(r"([a-z]+)_[0-9]+")


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
            for end in range(start, min(len(tokens), start + LONGEST)):
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
            for pattern in pattern_levels(span.pattern):
                tries[pattern] += 1
                hits[pattern] += span in right
    rates: dict[str, float] = {}
    for pattern in sorted(tries):  # more general ones come first
        general = next((rates[level] for level in pattern_levels(pattern)[1:]), None)
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
