"""A graph as statements: what it says piece by piece, in one form for all frameworks.

Ways of writing that mean the same become one. In AMR, nodes that stand for a relation
(``be-located-at-91``) become that relation, ``:domain`` is turned into ``:mod``, ``and`` is given
up for what holds of each of its parts, and names, quantities and dates become values of their node:

>>> from graphconv import loads
>>> [graph] = loads('(a / and :op1 (s / sing-01 :ARG0 (b / bird)) :op2 (f / fly-01 :ARG0 b))')
>>> found = statements(graph)
>>> [(fact.source, fact.role, fact.target) for fact in found.facts], sorted(found.tops)
([('s', 'ARG0', 'b'), ('f', 'ARG0', 'b')], ['a', 'f', 's'])
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from evaltools.amr_triples import REIFICATIONS
from evaltools.entailment.tables import CONJUNCTIONS, NEGATIONS, SYMMETRIC, UNITS
from evaltools.entailment.values import Interval, comparison, exactly, number_of
from graphconv.graph import Graph, Node, Token, attribute

Date = dict[str, Interval | str]

_SENSE = re.compile(r"-[0-9][0-9]+$")
_EDS_PREDICATE = re.compile(r"_([^_/]+)[_/].*")
_NUMBERED = re.compile(r"(.*?)([0-9]+)$")
_UNHEARD = frozenset({"wiki", "polite", "li", "example"})
"""Constants of these roles are not part of what a sentence says."""
_NAME, _NUMBER = "<name>", "<number>"
"""The concepts of words of DM, PAS, PSD and EDS that are values."""


class Fact(NamedTuple):
    """A relation between two nodes, or between a node and a constant."""

    source: str
    role: str
    target: str
    is_value: bool = False
    """Whether *target* is a constant, and not the id of a node."""
    turned: bool = False
    """Whether it was written from its target, so that its source is below its target."""
    nodes: tuple[str, ...] = ()
    """Nodes that it was made of, beside its ends."""

    @property
    def above(self) -> str:
        """The node from which it was written."""
        return self.target if self.turned and not self.is_value else self.source

    @property
    def below(self) -> str:
        """The other node; of a constant none."""
        return "" if self.is_value else self.source if self.turned else self.target


@dataclass
class Statements:
    """What a graph says."""

    graph: Graph
    concepts: dict[str, str]
    """Of every node that is left, its concept; "" where it has none."""
    facts: list[Fact] = field(default_factory=list)
    tops: set[str] = field(default_factory=set)
    negated: set[str] = field(default_factory=set)
    modes: dict[str, str] = field(default_factory=dict)
    """Questions and commands."""
    predicates: set[str] = field(default_factory=set)
    """Nodes that say that something is the case, and not only what there is."""
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    wiki: dict[str, str] = field(default_factory=dict)
    quantities: dict[tuple[str, str], Interval] = field(default_factory=dict)
    """By node and role."""
    dates: dict[str, Date] = field(default_factory=dict)
    parts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """For each node those whose words it has taken over: its name, its number."""

    def out(self, node: str) -> list[Fact]:
        """Return the facts with *node* as source."""
        return [fact for fact in self.facts if fact.source == node]

    def about(self, node: str) -> list[Fact]:
        """Return the facts that *node* takes part in."""
        return [f for f in self.facts if f.source == node or (f.target == node and not f.is_value)]

    def swallow(self, node: str, part: str) -> None:
        """Let *node* stand for *part*, too."""
        self.concepts.pop(part, None)
        self.parts[node] += [part, *self.parts.pop(part, [])]


def lemma(concept: str) -> str:
    """Return a concept without its sense.

    >>> lemma("want-01"), lemma("boy"), lemma("_want_v_1"), lemma("have-condition-91")
    ('want', 'boy', 'want', 'have-condition')
    """
    predicate = _EDS_PREDICATE.fullmatch(concept)
    return predicate[1] if predicate else _SENSE.sub("", concept)


def is_frame(concept: str) -> bool:
    """Say whether a concept of AMR is a frame."""
    return _SENSE.search(concept) is not None


def statements(graph: Graph) -> Statements:
    """Return what *graph* says."""
    return _of_amr(graph) if graph.framework == "amr" else _of_labels(graph)


def _of_amr(graph: Graph) -> Statements:
    constants = {node.id: _bare(node.label) for node in graph.nodes if node.constant}
    found = Statements(
        graph,
        {node.id: _bare(node.label) for node in graph.nodes if not node.constant},
        tops=set(graph.tops[:1]),
    )
    for source, target, label, _, attributes in graph.edges:
        turned = bool(attribute(attributes, "inverted"))
        if source in constants:
            continue  # a constant says nothing of its own
        if target in constants:
            _constant(found, source, label, constants[target], target)
        elif label == "domain":
            found.predicates.add(source)
            found.facts.append(Fact(target, "mod", source, turned=not turned))
        else:
            found.facts.append(Fact(source, label, target, turned=turned))
    found.predicates |= {node for node, concept in found.concepts.items() if is_frame(concept)}
    _take_names(found)
    _take_dates(found)
    _take_quantities(found)
    _take_conjunctions(found)
    _take_reifications(found)
    for place, fact in enumerate(found.facts):
        if fact.role in (roles := SYMMETRIC.get(found.concepts.get(fact.source, ""), ())):
            found.facts[place] = fact._replace(role="/".join(roles))
    return found


def _bare(label: str | None) -> str:
    text = (label or "").lower()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _constant(found: Statements, source: str, role: str, value: str, node: str) -> None:
    number = number_of(value)
    found.parts[source].append(node)
    if role == "polarity" and value == "-":
        found.negated.add(source)
    elif role == "mode":
        found.modes[source] = value
    elif role == "wiki" and value != "-":
        found.wiki[source] = value
    elif found.concepts[source] == "date-entity":
        found.dates.setdefault(source, {})[role] = value if number is None else exactly(number)
    elif number is not None and found.concepts[source] != "name":
        found.quantities[source, role] = exactly(number)
    elif role not in _UNHEARD:
        found.facts.append(Fact(source, role, value, is_value=True))


def _take_names(found: Statements) -> None:
    for link in [fact for fact in found.facts if fact.role == "name" and not fact.is_value]:
        if found.concepts.get(link.target) != "name":
            continue
        parts = sorted(
            (f for f in found.out(link.target) if f.is_value and f.role.startswith("op")),
            key=lambda fact: (len(fact.role), fact.role),
        )
        found.names[link.source] = tuple(part.target for part in parts)
        _remove(found, [link, *found.out(link.target)])
        if not found.about(link.target):
            found.swallow(link.source, link.target)


def _take_dates(found: Statements) -> None:
    for node, concept in [*found.concepts.items()]:
        if concept != "date-entity":
            continue
        date = found.dates.setdefault(node, {})
        for fact in found.out(node):
            if (
                fact.role in ("weekday", "dayperiod", "season")
                and len(found.about(fact.target)) == 1
            ):
                date[fact.role] = found.concepts[fact.target]
                _remove(found, [fact])
                found.swallow(node, fact.target)
    # Between two years, before one, after one: a date whose year is an interval.
    for node, concept in [*found.concepts.items()]:
        ends = [fact for fact in found.out(node) if fact.role.startswith("op")]
        dates = [found.dates.get(fact.target, {}) for fact in ends]
        years = [date.get("year") for date in dates if date.keys() == {"year"}]
        numbers = [year.low for year in years if isinstance(year, Interval)]
        span = comparison(concept, numbers) if len(numbers) == len(ends) > 0 else None
        if span is not None and len(ends) == len(found.out(node)):
            found.concepts[node] = "date-entity"
            found.dates[node] = {"year": span}
            _remove(found, ends)
            for fact in ends:
                del found.dates[fact.target]
                found.swallow(node, fact.target)


def _take_quantities(found: Statements) -> None:
    for fact in [*found.facts]:
        concept = found.concepts.get(fact.target, "")
        own = {role: q.low for (node, role), q in found.quantities.items() if node == fact.target}
        span = comparison(concept, [*own.values()]) if not fact.is_value and own else None
        if span is None or len(found.about(fact.target)) > 1:
            continue
        for role in own:
            del found.quantities[fact.target, role]
        found.quantities[fact.source, fact.role] = span
        _remove(found, [fact])
        found.swallow(fact.source, fact.target)
    for fact in [fact for fact in found.facts if fact.role == "unit" and not fact.is_value]:
        unit = UNITS.get(found.concepts.get(fact.target, ""))
        amount = found.quantities.get((fact.source, "quant"))
        if unit is not None and amount is not None and len(found.about(fact.target)) == 1:
            found.quantities[fact.source, "quant"] = amount.scaled(unit[1])
            found.facts[found.facts.index(fact)] = Fact(fact.source, "unit", unit[0], is_value=True)
            found.swallow(fact.source, fact.target)


def _take_reifications(found: Statements) -> None:
    for node in [n for n, concept in found.concepts.items() if concept in REIFICATIONS]:
        role, first, second = REIFICATIONS[found.concepts[node]]
        ends = {fact.role.lower(): fact.target for fact in found.out(node) if not fact.is_value}
        if ends.keys() != {first, second} or len(found.about(node)) != 2 or node in found.negated:
            continue
        if any(key[0] == node for key in found.quantities) or node in found.modes:
            continue
        _remove(found, found.out(node))
        found.facts.append(Fact(ends[first], role, ends[second], nodes=(node,)))
        if node in found.tops:
            found.tops |= {ends[first]}
        del found.concepts[node]


def _take_conjunctions(found: Statements) -> None:
    """Give up each conjunction whose parts can stand in its place."""
    for node in [n for n, concept in found.concepts.items() if concept in CONJUNCTIONS]:
        role = CONJUNCTIONS[found.concepts[node]]
        out = found.out(node)
        links = [f for f in out if not f.is_value and _stem(f.role) == role]
        if not links or node in found.negated or any(key[0] == node for key in found.quantities):
            continue
        parts = [fact.target for fact in links]
        others = [fact for fact in found.about(node) if fact not in links]
        _remove(found, [*links, *others])
        for fact in others:
            for part in parts:
                source = part if fact.source == node else fact.source
                target = part if fact.target == node and not fact.is_value else fact.target
                found.facts.append(fact._replace(source=source, target=target))
        mode = found.modes.pop(node, None)
        for part in parts:
            if mode is not None:
                found.modes.setdefault(part, mode)
            if node in found.tops:
                found.tops.add(part)
        del found.concepts[node]


def _remove(found: Statements, facts: Iterable[Fact]) -> None:
    gone = set(facts)
    found.facts = [fact for fact in found.facts if fact not in gone]


def _stem(role: str) -> str:
    numbered = _NUMBERED.fullmatch(role)
    return numbered[1] if numbered else role


def _of_labels(graph: Graph) -> Statements:
    """Read a graph of a framework whose labels are words or predicates."""
    found = Statements(graph, {}, tops=set(graph.tops))
    for node in graph.nodes:
        token = graph.tokens[node.anchors[0]] if node.anchors else None
        found.concepts[node.id] = _word(node, graph.tokens)
        _values(found, node, token)
        if (token and (token.pos or "").startswith("V")) or "_v_" in (node.label or ""):
            found.predicates.add(node.id)
    for source, target, label, _, _ in graph.edges:
        if source in found.concepts and target in found.concepts:
            found.facts.append(Fact(source, label, target))
    for node_id in [n for n, c in found.concepts.items() if lemma(c) in NEGATIONS]:
        around = found.about(node_id)
        for fact in around:
            other = fact.target if fact.source == node_id else fact.source
            found.negated ^= {other}
            found.parts[other].append(node_id)
        _remove(found, around)
        del found.concepts[node_id]
        found.tops.discard(node_id)
    return found


def _word(node: Node, tokens: tuple[Token, ...]) -> str:
    if node.label is not None:
        return node.label.lower()
    words = [tokens[place] for place in node.anchors]
    return " ".join((word.lemma or word.form).lower() for word in words)


def _values(found: Statements, node: Node, token: Token | None) -> None:
    name = attribute(node.attributes, "CARG") or attribute(node.attributes, "carg")
    pos = (token.pos or "") if token else ""
    if name is None and node.label is None and len(node.anchors) == 1:
        name = token.form if token and pos.startswith(("NNP", "CD")) else None
    if not isinstance(name, str):
        return
    number = number_of(name)
    if number is not None:
        found.concepts[node.id] = _NUMBER if node.label is None else node.label.lower()
        found.quantities[node.id, "value"] = exactly(number)
    elif not pos.startswith("CD"):
        found.concepts[node.id] = _NAME if node.label is None else node.label.lower()
        found.names[node.id] = tuple(name.lower().replace("+", " ").split())
