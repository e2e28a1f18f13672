"""The parts that a phrase is built from, one per layer: words, concepts, units.

Every rule of the grammar joins three structures at once. A :class:`Word` is a token and, by its
``arguments``, a node of the DM graph; a :class:`Concept` is a node of the AMR graph; a
:class:`Unit` is a unit of the UCCA graph. Words carry no position: the order of the sentence is
known only when it is complete, so everything refers to the word itself.

>>> boy, sleep = Word("boy", "boy", "NN"), Word("slept", "sleep", "VBD")
>>> sleep.link("ARG1", boy)
>>> [(label, word.form) for label, word in sleep.arguments]
[('ARG1', 'boy')]
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple


@dataclass(eq=False, slots=True)
class Word:
    """A token; ``sense`` is the FRAME of the SDP file, ``arguments`` are its DM edges."""

    form: str
    lemma: str
    pos: str
    sense: str = "_"
    arguments: list[tuple[str, Word]] = field(default_factory=list)

    def link(self, label: str, target: Word | None) -> None:
        """Add a DM edge; an argument that is not expressed (None) has none."""
        if target is not None:
            self.arguments.append((label, target))


@dataclass(eq=False, slots=True)
class Concept:
    """An AMR concept; a role that ends in ``-of`` is written inverted; constants are strings."""

    label: str
    roles: list[tuple[str, Concept | str]] = field(default_factory=list)

    def add(self, role: str, target: Concept | str) -> Concept:
        """Add a role and return the concept itself, so that calls can be chained."""
        self.roles.append((role, target))
        return self

    def invert(self, target: Concept) -> None:
        """Hang this concept below *target*, its argument: a relative clause."""
        for i, (role, value) in enumerate(self.roles):
            if value is target:
                del self.roles[i]
                target.add(f"{role}-of", self)
                return
        raise ValueError(f"{target.label} is no argument of {self.label}")


class Child(NamedTuple):
    """A UCCA edge to a unit."""

    category: str
    unit: Unit
    remote: bool


@dataclass(eq=False, slots=True)
class Unit:
    """A UCCA unit: of words, or of other units, or (neither) implicit."""

    words: list[Word] = field(default_factory=list)
    children: list[Child] = field(default_factory=list)

    def add(self, category: str, unit: Unit, remote: bool = False) -> Unit:
        """Add a child and return the unit itself."""
        self.children.append(Child(category, unit, remote))
        return self


@dataclass(eq=False, slots=True)
class Phrase:
    """A phrase that fills a role: what it says, and what others need to refer to it."""

    words: list[Word]
    amr: Concept
    dm: Word | None
    unit: Unit
    center: Unit
    """The unit that remote edges lead to: the Center of a noun phrase."""
    plural: bool = False
    person: int = 3
    gender: str = ""
    """``m`` or ``f`` where a possessive pronoun may refer to the phrase."""
    remote: bool = False
    noun: str = ""
    """The kind of its common noun, where it has one that a relative clause may follow."""

    def trace(self) -> Phrase:
        """Return the same phrase without its words: the subject of an infinitive, a gap."""
        return replace(self, words=[], unit=self.center, remote=True)

    def fill(self, scene: Unit, category: str = "A") -> None:
        """Make the phrase a part of a scene."""
        scene.add(category, self.unit, self.remote)


@dataclass(eq=False, slots=True)
class Clause:
    """A clause whose word order is still open (statement, question, relative clause)."""

    subject: Phrase
    verbs: list[Word]
    """From the first auxiliary to the main verb."""
    rest: list[Word]
    core: Concept
    amr: Concept
    """``core``, or the modality around it."""
    main: Word
    dm: Word
    """``main``, or the modality or negation around it."""
    scene: Unit
    front: list[Word] = field(default_factory=list)

    def statement(self) -> list[Word]:
        """Return the words in the order of a statement."""
        return [*self.front, *self.subject.words, *self.verbs, *self.rest]

    def question(self) -> list[Word]:
        """Return the words with the first auxiliary in front of the subject."""
        return [*self.front, self.verbs[0], *self.subject.words, *self.verbs[1:], *self.rest]


def leaf(*words: Word) -> Unit:
    """Return a unit of words."""
    return Unit(list(words))


def group(*parts: tuple[str, Unit]) -> Unit:
    """Return a unit of units."""
    return Unit([], [Child(category, unit, False) for category, unit in parts])
