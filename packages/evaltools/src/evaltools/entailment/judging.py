"""Which statements of a claim a source supports, which it contradicts, and which it lacks.

:class:`Judge` looks at one pair of graphs under one alignment. The docs (*Entailment*) say the
rules in words; each method here is one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from evaltools.entailment.contexts import contexts
from evaltools.entailment.scope import below, in_scope, universal
from evaltools.entailment.statements import Fact, Statements, lemma
from evaltools.entailment.tables import (
    OPPOSITES,
    PRIVATIVE,
    PRIVATIVE_FRAMES,
)
from evaltools.entailment.values import (
    CONTRADICTED,
    LACKING,
    SUPPORTED,
    relate_dates,
    relate_names,
    relation,
    shown,
)


class Verdict(NamedTuple):
    """What became of one statement of the claim."""

    status: str
    """``supported``, ``contradicted`` or ``lacking``."""
    kind: str
    """``concept``, ``relation``, ``polarity``, ``role``, ``name``, ``quantity``, ``date``, ..."""
    text: str
    nodes: tuple[str, ...]
    """Nodes of the claim."""
    source_nodes: tuple[str, ...] = ()
    """Nodes of the source that say so, or say otherwise."""
    reason: str = ""


class Judge:
    """The statements of one claim before one source."""

    def __init__(self, claim: Statements, source: Statements, pairs: dict[str, str]) -> None:
        self.claim, self.source, self.pairs = claim, source, pairs
        self.claim_context, self.source_context = contexts(claim), contexts(source)
        self.source_facts = {fact[:4] for fact in source.facts}
        self.images = {self._image(fact) for fact in claim.facts}
        self.narrowed_nodes: set[str] = set()
        self.narrowed_facts: set[Fact] = set()
        for node in claim.concepts:
            if self._is_narrowing(node):
                self._narrow(node)

    def verdicts(self) -> Iterator[Verdict]:
        """Yield what becomes of every statement of the claim."""
        for node in self.claim.concepts:
            yield from self._about_node(node)
            yield from self._about_values(node)
        for fact in self.claim.facts:
            yield self._about_fact(fact)

    # Nodes: concept, context, polarity.

    def _about_node(self, node: str) -> Iterator[Verdict]:
        concept, other = self.claim.concepts[node], self.pairs.get(node)
        if not concept:
            return
        if other is None or self.source.concepts[other] != concept:
            yield self._about_other_concept(node, other)
            return
        yield self._verdict(SUPPORTED, "concept", concept, node, other=other)
        privative = self._privative(other)
        if privative:
            reason = f"the source says {self.source.concepts[privative]}"
            yield self._verdict(LACKING, "concept", concept, node, other=privative, reason=reason)
        narrower = self._dropped_below(node, other, all_of_it=True)
        if narrower and universal(self.claim, node):
            reason = "the source says it of fewer: " + ", ".join(narrower)
            yield self._verdict(LACKING, "universal", concept, node, other=other, reason=reason)
        if node in self.claim.predicates or node in self.claim.negated:
            yield self._about_polarity(node, other)

    def _about_other_concept(self, node: str, other: str | None) -> Verdict:
        concept = self.claim.concepts[node]
        if node in self.narrowed_nodes:
            return self._verdict(SUPPORTED, "narrower", concept, node)
        if other is None:
            return self._verdict(LACKING, "concept", concept, node)
        found = self.source.concepts[other]
        opposed = frozenset({concept, found}) in OPPOSITES
        if opposed and self._both_hold(node, other) and self._is_anchored(node):
            return self._verdict(
                CONTRADICTED,
                "opposite",
                concept,
                node,
                other=other,
                reason=f"the source says {found}",
            )
        return self._verdict(LACKING, "concept", concept, node)

    def _about_polarity(self, node: str, other: str) -> Verdict:
        """Compare what both say about whether something is the case."""
        concept = self.claim.concepts[node]
        missing = [
            element
            for element in self.source_context.around[other]
            if element not in {self.pairs.get(e, e) for e in self.claim_context.around[node]}
        ]
        if missing:
            words = ", ".join(sorted(self.source.concepts.get(e, e) for e in missing))
            nodes = tuple(e for e in missing if e in self.source.concepts)
            return Verdict(
                LACKING,
                "context",
                concept,
                (node,),
                nodes,
                f"the source only says it under {words}",
            )
        denied, denied_there = self._are_denied(node, other)
        text = f"not {concept}" if denied else f"{concept} holds"
        if denied == denied_there:
            extra = self._dropped_below(node, other) if denied else []
            if extra:
                reason = "the source denies less: " + ", ".join(extra)
                return self._verdict(LACKING, "polarity", text, node, other=other, reason=reason)
            return self._verdict(SUPPORTED, "polarity", text, node, other=other)
        reason = "the source says that it holds" if denied else "the source denies it"
        opposed = not self.claim_context.around[node] and self._denies(node, other, denied)
        status = CONTRADICTED if opposed else LACKING
        reason = reason if opposed else f"{reason}, but of something narrower"
        return self._verdict(status, "polarity", text, node, other=other, reason=reason)

    def _are_denied(self, node: str, other: str) -> tuple[bool, bool]:
        """Say whether each side denies it; below one predicate, only by a negation of its own."""
        above = {self.pairs.get(p) for p in self.claim_context.embedders.get(node, ())}
        if above & {*self.source_context.embedders.get(other, ())}:
            return node in self.claim.negated, other in self.source.negated
        return node in self.claim_context.negative, other in self.source_context.negative

    def _denies(self, node: str, other: str, claim_is_negative: bool) -> bool:
        """Say whether the negative side denies all of what the positive side says.

        It must not say more: *he did not come on Monday* leaves open whether he came.
        """
        if claim_is_negative:
            facts = below(self.claim, node, self.claim.names)
            return all(self._is_supported(fact) for fact in facts) and all(
                self._values_agree(n) for n in {node, *(f.below for f in facts if f.below)}
            )
        return not self._dropped_below(node, other, all_of_it=True)

    def _dropped_below(self, node: str, other: str, *, all_of_it: bool = False) -> list[str]:
        """Return what the source denies in addition, in the scope of its negation."""
        facts = below(self.source, other, self.source.names)
        if not all_of_it:
            facts = in_scope(self.source, other, facts)
        dropped = [
            self._fact_text(self.source, fact) for fact in facts if fact[:4] not in self.images
        ]
        back = {there: here for here, there in self.pairs.items()}
        for fact in facts:
            here = back.get(fact.below)
            if here is not None and not self._values_agree(here):
                dropped.append(self.source.concepts[fact.below])
            elif (
                here is not None
                and fact.below in self.source.names
                and here not in self.claim.names
            ):
                dropped.append(" ".join(self.source.names[fact.below]))
        values = {role for (n, role) in self.source.quantities if n == other}
        dropped += sorted(role for role in values if (node, role) not in self.claim.quantities)
        return dropped

    # Values: names, quantities, dates.

    def _about_values(self, node: str) -> Iterator[Verdict]:
        other = self.pairs.get(node)
        for kind, text, status, found in self._compared(node, other):
            if status != SUPPORTED and node in self.narrowed_nodes:
                yield self._verdict(SUPPORTED, "narrower", text, node)
                continue
            reason = f"the source says {found}" if found and status != SUPPORTED else ""
            is_conflict = (
                other and self._is_anchored(node) and not self._is_under_negation(node, other)
            )
            final = LACKING if status == CONTRADICTED and not is_conflict else status
            yield self._verdict(final, kind, text, node, other=other, reason=reason)

    def _compared(self, node: str, other: str | None) -> Iterator[tuple[str, str, str, str]]:
        """Yield kind, text, status and what the source says of each value of a node."""
        claim, source = self.claim, self.source
        there = other or ""
        if node in claim.names:
            name, found = claim.names[node], source.names.get(there)
            status = LACKING if found is None else relate_names(name, found)
            if claim.wiki.get(node, "?") == source.wiki.get(there, "!"):
                status = SUPPORTED  # one thing by two names
            yield "name", f"name {' '.join(name)}", status, " ".join(found or ())
        for (owner, role), value in claim.quantities.items():
            if owner == node:
                amount = source.quantities.get((there, role))
                status = LACKING if amount is None else relation(value, amount)
                yield "quantity", f"{claim.concepts[node]} :{role} {value}", status, shown(amount)
        if node in claim.dates:
            given = source.dates.get(there, {})
            for part, status in relate_dates(claim.dates[node], given).items():
                text = f"{part} {claim.dates[node][part]}"
                yield "date", text, status, f"{part} {shown(given.get(part))}"

    def _values_agree(self, node: str) -> bool:
        return all(row[2] == SUPPORTED for row in self._compared(node, self.pairs.get(node)))

    # Relations.

    def _about_fact(self, fact: Fact) -> Verdict:
        text = self._fact_text(self.claim, fact)
        nodes = (fact.source,) if fact.is_value else (fact.source, fact.target)
        others = tuple(self.pairs[node] for node in nodes if node in self.pairs)
        if self._is_supported(fact):
            return Verdict(SUPPORTED, "relation", text, (*nodes, *fact.nodes), others)
        if fact in self.narrowed_facts:
            return Verdict(SUPPORTED, "narrower", text, nodes)
        if not fact.is_value and len(others) == 2 and self._is_role_swap(fact, *others):
            roles = [f.role for f in self.source.out(others[0]) if f.target == others[1]]
            reason = f"the source says :{roles[0]}"
            return Verdict(CONTRADICTED, "role", text, nodes, others, reason)
        return Verdict(LACKING, "relation", text, nodes, others)

    def _is_role_swap(self, fact: Fact, event: str, filler: str) -> bool:
        """Say whether the source gives the filler another role, and this role another filler."""
        if (
            not fact.role.startswith("ARG")
            or self.source.concepts[event] != self.claim.concepts[fact.source]
        ):
            return False
        if not self._both_hold(fact.source, event, anywhere=True):
            return False
        out = [f for f in self.source.out(event) if f.role.startswith("ARG") and not f.is_value]
        return any(f.target == filler for f in out) and any(
            f.role == fact.role and f.target != filler for f in out
        )

    def _is_supported(self, fact: Fact) -> bool:
        return self._image(fact) in self.source_facts

    def _image(self, fact: Fact) -> tuple[object, ...]:
        source = self.pairs.get(fact.source)
        target = fact.target if fact.is_value else self.pairs.get(fact.target)
        return (source, fact.role, target, fact.is_value)

    # Scope.

    def _is_narrowing(self, node: str) -> bool:
        """Say whether what is added below a node of the claim follows: *all*, and negation."""
        other = self.pairs.get(node)
        if other is None:
            return False
        if all(self._are_denied(node, other)):
            return True
        quantifier = universal(self.claim, node)
        there = universal(self.source, other)
        return bool(quantifier and there)

    def _narrow(self, node: str) -> None:
        facts = below(self.claim, node, {})
        if all(self._are_denied(node, self.pairs[node])):
            facts = in_scope(self.claim, node, facts)
        self.narrowed_facts |= set(facts)
        # What has a counterpart is compared with it; only what is new is narrower.
        self.narrowed_nodes |= {fact.below for fact in facts if fact.below} - self.pairs.keys()

    # What else a conflict needs.

    def _both_hold(self, node: str, other: str, *, anywhere: bool = False) -> bool:
        """Say whether both sides say that something is the case."""
        plain = (
            node not in self.claim_context.negative and other not in self.source_context.negative
        )
        around = self.claim_context.around[node], self.source_context.around[other]
        if anywhere:
            return plain and around[1] <= {self.pairs.get(e, e) for e in around[0]}
        return plain and not around[0] and not around[1]

    def _is_anchored(self, node: str) -> bool:
        """Say whether the rest of the claim shows that both speak of the same thing.

        The node takes part in a supported relation with a node that has another one.
        """
        mine = [f for f in self.claim.about(node) if self._is_supported(f)]
        if len(mine) > 1:
            return True
        for fact in mine:
            neighbor = fact.target if fact.source == node else fact.source
            concept = self.claim.concepts.get(neighbor)
            if concept is None:
                continue
            if concept != self.source.concepts.get(self.pairs.get(neighbor, "")):
                opposites = frozenset({concept, self.source.concepts[self.pairs[neighbor]]})
                if opposites not in OPPOSITES:
                    continue
            others = [f for f in self.claim.about(neighbor) if f != fact and self._is_supported(f)]
            if others or self.claim.quantities.keys() & {(node, "quant"), (node, "value")}:
                return True
            if neighbor in self.claim.names and self._values_agree(neighbor):
                return True
        return False

    def _is_under_negation(self, node: str, other: str) -> bool:
        """Say whether a negation stands above the node on either side."""
        for side, start in ((self.claim, node), (self.source, other)):
            queue = [start]
            for current in queue:
                if current in side.negated:
                    return True
                for fact in side.about(current):
                    if fact.below == current and fact.above not in queue:
                        queue.append(fact.above)
        return False

    def _privative(self, other: str) -> str | None:
        """Return what makes a thing of the source what it is not, if the claim lacks it."""
        kept = set(self.pairs.values())
        for fact in self.source.about(other):
            if fact.is_value:
                continue
            if fact.source == other and self.source.concepts[fact.target] in PRIVATIVE:
                marker = fact.target
            elif (
                fact.target == other
                and lemma(self.source.concepts[fact.source]) in PRIVATIVE_FRAMES
            ):
                marker = fact.source
            else:
                continue
            if marker not in kept:
                return marker
        return None

    # Texts.

    def _verdict(
        self,
        status: str,
        kind: str,
        text: str,
        node: str,
        *,
        other: str | None = None,
        reason: str = "",
    ) -> Verdict:
        return Verdict(status, kind, text, (node,), (other,) if other else (), reason)

    def _fact_text(self, side: Statements, fact: Fact) -> str:
        target = fact.target if fact.is_value else side.concepts[fact.target]
        return f"{side.concepts[fact.source]} :{fact.role} {target}"
