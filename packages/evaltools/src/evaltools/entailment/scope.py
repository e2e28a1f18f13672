"""What stands below a node as written, and so in the scope of its negation or its *all*."""

from __future__ import annotations

from evaltools.entailment.statements import Fact, Statements
from evaltools.entailment.tables import INDEFINITE, PRONOUNS, UNIVERSAL


def universal(side: Statements, node: str) -> str | None:
    """Return the word that makes a node be about all of a kind, if there is one."""
    for fact in side.out(node):
        if fact.role in ("mod", "quant") and side.concepts.get(fact.target) in UNIVERSAL:
            return fact.target
    return None


def below(side: Statements, node: str, stops: dict[str, tuple[str, ...]]) -> list[Fact]:
    """Return the facts written below a node; not those that describe a name or a pronoun."""
    facts: dict[Fact, None] = {}
    queue = [node]
    seen = {node}
    for current in queue:
        if current != node and (current in stops or side.concepts[current] in PRONOUNS):
            continue
        for fact in side.about(current):
            if fact.above == current:
                facts[fact] = None
                if fact.below and fact.below not in seen:
                    seen.add(fact.below)
                    queue.append(fact.below)
    return list(facts)


def in_scope(side: Statements, node: str, facts: list[Fact]) -> list[Fact]:
    """Leave out the agent of a negated predicate, unless it is *nobody*."""
    agents = [
        fact
        for fact in facts
        if fact.source == node
        and fact.role == "ARG0"
        and not fact.is_value
        and side.concepts[fact.target] not in INDEFINITE
    ]
    outside = {f for agent in agents for f in below(side, agent.target, {})}
    return [fact for fact in facts if fact not in outside and fact not in agents]
