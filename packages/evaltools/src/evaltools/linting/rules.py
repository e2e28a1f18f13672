"""The rules: each looks at one AMR and yields what breaks it.

A rule is a function in :data:`RULES`, by its code. It yields the node where the fault is, the role
(or None), and a sentence that says what is wrong and, where there is one answer, what is right.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from evaltools.amr_triples import REIFICATIONS
from evaltools.linting.tables import DATE_ROLES, ENTITY_TYPES, MODES, ROLES, USED_FRAMES
from graphconv.graph import Edge, Graph, attribute

Frames = Mapping[str, frozenset[str]]
"""The core roles of each frame."""
Fault = tuple[str, str | None, str]
"""Node, role, message."""

_is_frame = re.compile(r".+-[0-9]{2,3}").fullmatch
_is_core = re.compile(r"ARG[0-9]+").fullmatch
_numbered = re.compile(r"(op|snt)([0-9]+)").fullmatch
_is_number = re.compile(r"[-+]?[0-9][0-9.,:/]*").fullmatch
_is_free = re.compile(r"ARG[0-9]+|(?:op|snt)[1-9][0-9]*|(?:prep|conj)-.+").fullmatch

# Once at most below a node; others may repeat (two times, two modifiers).
_SINGLE = frozenset({"name", "wiki", "polarity", "mode", "unit", "day", "month", "year"})
_WITH_STRING = frozenset({"wiki", "value", "time", "timezone", "era", "li"})
_SIGNS = frozenset({"polarity", "polite", "wiki", "value"})
_WITH_WORD = frozenset({"mode", "polarity"})
_STRINGS = frozenset({"string-entity", "phone-number-entity", "score-entity", "variable"})
_CONJUNCTIONS = frozenset({"and", "or"})
_QUESTIONS = frozenset({"amr-unknown", "amr-choice", "truth-value"})


class View(NamedTuple):
    """A graph as the rules see it."""

    graph: Graph
    concepts: dict[str, str]
    """The concept of each variable, "" if it has none."""
    constants: dict[str, str]
    out: dict[str, list[Edge]]
    into: dict[str, list[Edge]]
    frames: Frames | None


def view(graph: Graph, frames: Frames | None) -> View:
    """Prepare a graph for the rules."""
    out: dict[str, list[Edge]] = defaultdict(list)
    into: dict[str, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        out[edge.source].append(edge)
        into[edge.target].append(edge)
    return View(
        graph,
        {node.id: node.label or "" for node in graph.nodes if not node.constant},
        {node.id: node.label or "" for node in graph.nodes if node.constant},
        out,
        into,
        frames,
    )


def _no_concept(seen: View) -> Iterator[Fault]:
    for variable, concept in seen.concepts.items():
        if not concept:
            yield variable, None, f"{variable} has no concept"


def _concept_form(seen: View) -> Iterator[Fault]:
    for variable, concept in seen.concepts.items():
        if concept != concept.lower():
            yield variable, None, f"the concept {concept} is not in lower case"
        elif concept.startswith('"') or _is_number(concept):
            yield variable, None, f"{concept} is a constant, not a concept"


def _unknown_frame(seen: View) -> Iterator[Fault]:
    for variable, concept in seen.concepts.items() if seen.frames else ():
        if _is_frame(concept) and concept not in (seen.frames or {}) and concept not in USED_FRAMES:
            lemma = concept.rpartition("-")[0]
            others = sorted(f for f in seen.frames or () if f.rpartition("-")[0] == lemma)
            hint = f"; there is {', '.join(others[:6])}" if others else ""
            yield variable, None, f"PropBank has no frame {concept}{hint}"


def _frame_role(seen: View) -> Iterator[Fault]:
    for variable, concept in seen.concepts.items():
        known = (seen.frames or {}).get(concept)
        for edge in seen.out[variable]:
            if not _is_core(edge.label):
                continue
            if concept and not _is_frame(concept):
                yield variable, edge.label, f":{edge.label} of {concept}, which is not a frame"
            elif known and edge.label not in known:
                yield variable, edge.label, f"{concept} has no {edge.label}, only {_list(known)}"


def _unknown_role(seen: View) -> Iterator[Fault]:
    for edge in seen.graph.edges:
        if edge.label not in ROLES and not _is_free(edge.label):
            yield edge.source, edge.label, f"the role :{edge.label} is unknown"


def _repeated_role(seen: View) -> Iterator[Fault]:
    for variable, edges in seen.out.items():
        for role, number in Counter(edge.label for edge in edges).items():
            if number > 1 and (role in _SINGLE or _is_core(role) or _numbered(role)):
                concept = seen.concepts.get(variable, variable)
                yield variable, role, f"{concept} has :{role} {number} times"


def _repeated_edge(seen: View) -> Iterator[Fault]:
    for (source, target, role), number in Counter(edge[:3] for edge in seen.graph.edges).items():
        if number > 1 and role not in _SINGLE and not _is_core(role) and not _numbered(role):
            yield source, role, f":{role} {target} stands below {source} {number} times"


def _gap(seen: View) -> Iterator[Fault]:
    for variable, edges in seen.out.items():
        numbers: dict[str, set[int]] = defaultdict(set)
        for match in filter(None, (_numbered(edge.label) for edge in edges)):
            numbers[match[1]].add(int(match[2]))
        for name, found in numbers.items():
            missing = sorted(set(range(1, max(found) + 1)) - found)
            # "And he left.": the sentence before is the first operand (AMR 3.0).
            goes_on = missing == [1] and seen.concepts.get(variable) in _CONJUNCTIONS
            if missing and not goes_on:
                shown = ", ".join(f":{name}{number}" for number in missing[:6])
                yield variable, f"{name}{max(found)}", f"{shown} is missing"


def _name(seen: View) -> Iterator[Fault]:
    for variable, concept in seen.concepts.items():
        # (n / name :poss i) is the noun, as in "my name".
        named = concept == "name" and any(edge.label == "name" for edge in seen.into[variable])
        if named and not any(_numbered(edge.label) for edge in seen.out[variable]):
            yield variable, None, "a name without :op1"
        for edge in seen.out[variable]:
            if edge.label == "name" and seen.concepts.get(edge.target) not in ("name", *_QUESTIONS):
                yield variable, "name", "the value of :name is not a (n / name ...)"


def _wiki(seen: View) -> Iterator[Fault]:
    for variable in seen.concepts:
        roles = {edge.label: edge for edge in seen.out[variable]}
        wiki = roles.get("wiki")
        if wiki is None:
            continue
        value = seen.constants.get(wiki.target)
        if "name" not in roles:
            yield variable, "wiki", ":wiki without :name"
        if value is None or (value != "-" and not value.startswith('"')):
            yield variable, "wiki", "the value of :wiki is neither a string nor -"
        elif " " in value:
            yield variable, "wiki", f"the title {value} has blanks, not underscores"


def _entity_type(seen: View) -> Iterator[Fault]:
    sentence = str(attribute(seen.graph.metadata, "snt") or "")
    words = re.findall(r"\w+", sentence.lower())
    for variable, concept in seen.concepts.items():
        if not concept or all(edge.label != "name" for edge in seen.out[variable]):
            continue
        if _is_frame(concept):
            yield variable, "name", f"{concept} is a frame and cannot be the type of a name"
        elif concept not in ENTITY_TYPES and words and not _is_in(concept, words):
            message = f"{concept} is neither a type of AMR nor a word of the sentence"
            yield variable, "name", message


def _is_in(concept: str, words: list[str]) -> bool:
    """Say whether a concept is made of words of the sentence; inflection is forgiven."""
    return all(
        any(word.startswith(part[: max(3, len(part) - 2)]) for word in words)
        for part in re.findall(r"\w+", concept)
    )


def _constant(seen: View) -> Iterator[Fault]:
    for edge in seen.graph.edges:
        value = seen.constants.get(edge.target)
        role = edge.label
        concept = seen.concepts.get(edge.source, "")
        # The arguments of have-polarity-91, street-address-91 and the like may be constants.
        if value is None or (concept.endswith("-91") and _is_core(role)):
            continue
        numbered = _numbered(role)
        if value.startswith('"'):
            if role not in _WITH_STRING and not numbered:
                message = f":{role} {value}: a concept or a number belongs here, not a string"
                yield edge.source, role, message
            elif role == "value" and concept not in _STRINGS and _is_number(value.strip('"')):
                yield edge.source, role, f":{role} {value}: a number needs no quotes"
        elif value in ("-", "+"):
            if role not in _SIGNS:
                yield edge.source, role, f":{role} {value}: a sign has no meaning here"
        elif not _is_number(value) and role not in _WITH_WORD:
            yield edge.source, role, f":{role} {value}: a concept needs a variable, a string quotes"


def _fixed_value(seen: View) -> Iterator[Fault]:
    for edge in seen.graph.edges:
        if edge.source not in seen.concepts:
            continue
        value = seen.constants.get(edge.target)
        concept = seen.concepts.get(edge.target)
        if edge.label == "mode" and value not in MODES:
            yield edge.source, "mode", f":mode {value or concept}: it is one of {_list(MODES)}"
        elif edge.label == "polite" and value not in ("+", "-"):
            yield edge.source, "polite", f":polite {value or concept}: it is +"
        elif edge.label == "polarity" and value not in ("-", "+") and concept not in _QUESTIONS:
            yield (
                edge.source,
                "polarity",
                f":polarity {value or concept}: it is - or (a / amr-unknown)",
            )


def _inverse(seen: View) -> Iterator[Fault]:
    for edge in seen.graph.edges:
        written = bool(attribute(edge.attributes, "inverted"))
        place = edge.target if written else edge.source
        if edge.label.endswith("-of-of"):
            yield place, edge.label, f":{edge.label} is inverted twice"
        elif written and edge.label in _OTHER_NAME:
            right = _OTHER_NAME[edge.label]
            yield place, f"{edge.label}-of", f":{edge.label}-of is written :{right}"
        elif written and edge.source in seen.constants:
            value = seen.constants[edge.source]
            yield place, f"{edge.label}-of", f"a constant, {value}, has no roles to be inverted"


_OTHER_NAME = {"domain": "mod", "mod": "domain"}


def _reification(seen: View) -> Iterator[Fault]:
    """Find nodes below their source that say no more than a role would."""
    for variable, concept in seen.concepts.items():
        known = REIFICATIONS.get(concept) if concept.endswith("-91") else None
        if known is None or variable in seen.graph.tops or seen.into[variable]:
            continue
        role, source, target = known
        edges = {edge.label.lower(): edge for edge in seen.out[variable]}
        below = source in edges and attribute(edges[source].attributes, "inverted")
        if below and len(seen.out[variable]) == 2 and edges.keys() == {source, target}:
            yield variable, None, f"{concept} with two arguments and nothing more is :{role}"


def _date(seen: View) -> Iterator[Fault]:
    for variable, concept in seen.concepts.items():
        for edge in seen.out[variable]:
            if edge.label in DATE_ROLES and concept and concept != "date-entity":
                message = f":{edge.label} belongs to date-entity, not to {concept}"
                yield variable, edge.label, message


def _list(words: frozenset[str]) -> str:
    return ", ".join(sorted(words))


RULES: dict[str, Callable[[View], Iterator[Fault]]] = {
    "no-concept": _no_concept,
    "concept-form": _concept_form,
    "unknown-frame": _unknown_frame,
    "frame-role": _frame_role,
    "unknown-role": _unknown_role,
    "repeated-role": _repeated_role,
    "repeated-edge": _repeated_edge,
    "gap": _gap,
    "name": _name,
    "wiki": _wiki,
    "entity-type": _entity_type,
    "constant": _constant,
    "fixed-value": _fixed_value,
    "inverse": _inverse,
    "reification": _reification,
    "date": _date,
}
"""The rules by their code."""
