"""The verb group: tense, voice, negation and modality of a clause.

>>> import random
>>> from english.nominal import named
>>> choice = Choice(random.Random(1), heldout=False)
>>> anna, mood = named(choice, "f"), Mood("future", negated=True)
>>> clause = start(choice, HAVE, mood, anna, Concept("have-03"))
>>> [word.form for word in clause.verbs], clause.dm.form
(['will', 'not', 'have'], 'not')
"""

from __future__ import annotations

from typing import NamedTuple

from english.choice import Choice
from english.lexicon import BE, DO, HAVE, MODALS, Verb
from english.phrase import Clause, Concept, Phrase, Unit, Word, leaf


class Mood(NamedTuple):
    """How the verb group looks."""

    form: str
    """A key of ``_FIRST``: past, future, infinitive and so on."""
    negated: bool = False
    question: bool = False
    into: Unit | None = None
    """The scene that the clause becomes a part of; None makes one."""


INFINITIVE = Mood("infinitive")

_TAGS = {"base": "VB", "past": "VBD", "participle": "VBN", "ing": "VBG", "present": "VBZ"}
# What each element of the verb group demands of the next one.
_FIRST: dict[str, tuple[str, ...]] = {
    "past": (), "perfect": ("have",), "pluperfect": ("had",), "progressive": ("be",),
    "future": ("will",), "modal": ("modal",), "infinitive": ("to",), "gerund": (),
    "imperative": (), "bare": (),
}  # fmt: skip
_DEMANDS = {"have": "participle", "had": "participle", "be": "ing"}
_AUXILIARIES = {"have": (HAVE, "present"), "had": (HAVE, "past"), "be": (BE, "past")}
_START = {"past": "past", "gerund": "ing", "imperative": "base"}


def conjugate(verb: Verb, form: str, subject: Phrase) -> Word:
    """Return *verb* in *form*, agreeing with *subject*."""
    plural = subject.plural or subject.person == 2
    if verb is BE and form == "past":
        return Word("were" if plural else "was", "be", "VBD", "v")
    if verb is HAVE and form == "present":
        third = not plural and subject.person == 3
        return Word("has" if third else "have", "have", "VBZ" if third else "VBP", "v")
    text = {"past": verb.past, "participle": verb.participle, "ing": verb.ing}.get(form, verb.lemma)
    return Word(text, verb.lemma, _TAGS[form], "v")


def verb_group(
    choice: Choice, verb: Verb, mood: Mood, subject: Phrase, passive: bool
) -> tuple[list[Word], Word | None, Word]:
    """Return the auxiliaries, the modal among them, and the main verb."""
    auxiliaries: list[Word] = []
    modal = None
    demand = _START.get(mood.form, "base")
    simple = mood.form in ("past", "imperative") and verb is not BE and not passive
    if simple and (mood.negated or mood.question):
        auxiliaries.append(conjugate(DO, demand, subject))
        demand = "base"
    for element in _FIRST[mood.form]:
        if element == "modal":
            options = ("can", "must") if mood.negated else tuple(MODALS)
            form = choice.one(options)
            modal = Word(form, form, "MD", "v_modal")
            auxiliaries.append(modal)
        elif element in ("to", "will"):
            auxiliaries.append(Word(element, element, "TO" if element == "to" else "MD"))
        else:
            auxiliaries.append(conjugate(*_AUXILIARIES[element], subject))
        demand = _DEMANDS.get(element, "base")
    if passive:
        auxiliaries.append(conjugate(BE, demand, subject))
        demand = "participle"
    return auxiliaries, modal, conjugate(verb, demand, subject)


def start(
    choice: Choice, verb: Verb, mood: Mood, subject: Phrase, core: Concept, *,
    passive: bool = False, predicate: Word | None = None, be: str = "F",
) -> Clause:  # fmt: skip
    """Begin a clause: subject, auxiliaries, negation, modality.

    *predicate* stands after a form of *be*, whose UCCA category is *be*.
    """
    auxiliaries, modal, word = verb_group(choice, verb, mood, subject, passive)
    if predicate:
        auxiliaries.append(word)
    main = predicate or word
    scene = mood.into or Unit()
    if mood.into is None:
        subject.fill(scene)
    words: list[Word] = []
    clause = Clause(subject, words, [], core, core, main, main, scene)
    for i, auxiliary in enumerate(auxiliaries):
        words.append(auxiliary)
        category = be if auxiliary is word else "D" if auxiliary is modal else "F"
        scene.add(category, leaf(auxiliary))
        if i == 0 and mood.negated:
            _negate(choice, clause, modal)
    if modal:
        _modalize(clause, modal)
    if not predicate:
        words.append(word)
    return clause


def _negate(choice: Choice, clause: Clause, modal: Word | None) -> None:
    """Add *not*: outside of *can*, inside of *must*."""
    choice.used.add("negation")
    word = Word("not", "not", "RB", "neg")
    clause.verbs.append(word)
    clause.scene.add("D", leaf(word))
    if modal is None or modal.form == "must":
        clause.core.add("polarity", "-")
        word.link("neg", clause.main)
    else:
        word.link("neg", modal)
    clause.dm = word


def _modalize(clause: Clause, modal: Word) -> None:
    """Put the modality around the clause in AMR and DM."""
    outer = clause.dm is not clause.main and modal.form != "must"
    modal.link("ARG1", clause.main if outer else clause.dm)
    role = "ARG2" if modal.form == "must" else "ARG1"
    clause.amr = Concept(MODALS[modal.form])
    if outer:
        clause.amr.add("polarity", "-")
    else:
        clause.dm = modal
    clause.amr.add(role, clause.core)
