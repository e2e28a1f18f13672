"""Sentences: statements with adjuncts, questions, commands, and clauses joined to one another.

>>> import random
>>> example = sentence(Choice(random.Random(7), heldout=False))
>>> example.words[-1].form in ".?"
True
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from english.adjunct import adorn
from english.choice import Choice
from english.clausal import CONSTRUCTIONS, MAIN, mark, transitive
from english.lexicon import SUBORDINATORS, VERBS
from english.nominal import person
from english.phrase import Clause, Concept, Phrase, Unit, Word, group, leaf
from english.verbal import Mood, start


@dataclass(eq=False, slots=True)
class Sentence:
    """A finished sentence with its three graphs."""

    words: list[Word]
    amr: Concept
    top: Word
    root: Unit


_FORMS = {"past": 7, "perfect": 1.2, "progressive": 1.2, "future": 1.2, "modal": 2.2}
_FINITE = {
    "transitive": 5, "intransitive": 2.5, "motion": 1.5, "ditransitive": 1.2, "particle": 1,
    "selecting": 0.8, "adjective": 1.5, "passive": 1, "control": 0.7, "light": 0.6,
}  # fmt: skip
_EVENTS = {kind: weight for kind, weight in _FINITE.items() if kind != "adjective"}


def _mood(choice: Choice, question: bool = False) -> Mood:
    form = choice.weighted(_FORMS)
    return Mood(form, not question and choice.chance(0.13), question)


def _closed(choice: Choice, weights: dict[str, float], mood: Mood | None = None) -> Clause:
    """Return a clause without relative clauses: what follows it belongs to the clause."""
    choice.depth += 1
    clause = _clause(choice, weights, mood)
    choice.depth -= 1
    return clause


def _clause(choice: Choice, weights: dict[str, float], mood: Mood | None = None) -> Clause:
    """Return a clause of any construction in *weights*."""
    kind = choice.weighted(weights)
    mood = mood or _mood(choice)
    stative = kind in ("likely", "adjective", "identity", "located", "existential", "passive")
    if mood.form == "progressive" and (stative or kind in ("control", "raising", "clausal")):
        mood = mood._replace(form="past")
    return CONSTRUCTIONS[kind](choice, mood, None)


def _main(choice: Choice, weights: dict[str, float] = MAIN) -> Clause:
    """Return a main clause with its adjuncts."""
    before = set(choice.used)
    choice.used.clear()
    clause = _clause(choice, weights)
    adorn(choice, clause, set(choice.used))
    choice.used |= before
    return clause


# Kinds of sentence


def _end(clause: Clause, words: list[Word], mark_: str = ".") -> Sentence:
    """Finish a sentence of one scene."""
    return _finish(words, clause.amr, clause.dm, Unit().add("H", clause.scene), mark_)


def _finish(words: list[Word], amr: Concept, top: Word, root: Unit, mark_: str = ".") -> Sentence:
    stop = Word(mark_, mark_, ".")
    root.add("U", leaf(stop))
    first = words[0]
    first.form = first.form[0].upper() + first.form[1:]
    return Sentence([*words, stop], amr, top, root)


def _statement(choice: Choice) -> Sentence:
    clause = _main(choice)
    return _end(clause, clause.statement())


def _join(
    first: Clause, linker: list[Word], second: Clause, comma: bool
) -> tuple[list[Word], Unit]:
    """Put two scenes side by side with a Linker between them."""
    root = Unit().add("H", first.scene)
    words = first.statement()
    if comma:
        words.append(Word(",", ",", ","))
        root.add("U", leaf(words[-1]))
    root.add("L", leaf(*linker)).add("H", second.scene)
    return [*words, *linker, *second.statement()], root


def _coordination(choice: Choice) -> Sentence:
    """Build *Anna laughed , but Tom cried*, *Anna came and saw Tom*."""
    form = choice.one(("and", "and", "but"))
    first = _main(choice, _FINITE)
    shared = first.subject.words and first.main.pos == "VBD" and choice.chance(0.5)
    if shared:
        choice.used.add("vp coordination")
        kind = choice.weighted(_EVENTS)
        mood = Mood("past", form == "but" and choice.chance(0.5))
        second = CONSTRUCTIONS[kind](choice, mood, first.subject.trace())
    else:
        second = _main(choice, _FINITE)
    word = Word(form, form, "CC", "c")
    first.dm.link(f"_{form}_c", second.dm)
    labels = ("and", "op1", "op2") if form == "and" else ("contrast-01", "ARG1", "ARG2")
    concept = Concept(labels[0]).add(labels[1], first.amr).add(labels[2], second.amr)
    words, root = _join(first, [word], second, comma=not shared)
    return _finish(words, concept, first.dm, root)


def _subordination(choice: Choice) -> Sentence:
    """Build *Anna left because Tom laughed*, *When Tom laughed , Anna left*."""
    form = choice.one(tuple(SUBORDINATORS))
    temporal = form in ("when", "before", "after")
    weights = _EVENTS if temporal else _FINITE
    negated = not temporal and choice.chance(0.2)
    if form == "if":
        main_form, other_form = choice.one(("future", "modal")), "perfect"
    else:
        main_form = other_form = "past"
    main = _closed(choice, weights, Mood(main_form))
    other = _clause(choice, weights, Mood(other_form, negated))
    word = Word(form, form, *SUBORDINATORS[form])
    word.link("ARG1", main.dm)
    word.link("ARG2", other.dm)
    _SUBORDINATE[form](main.amr, other.amr)
    if choice.chance(0.6):
        words, root = _join(main, [word], other, comma=False)
        return _finish(words, main.amr, word, root)
    comma = Word(",", ",", ",")
    root = Unit().add("L", leaf(word)).add("H", other.scene).add("U", leaf(comma))
    root.add("H", main.scene)
    return _finish([word, *other.statement(), comma, *main.statement()], main.amr, word, root)


def _because(main: Concept, other: Concept) -> None:
    main.add("ARG1-of", Concept("cause-01").add("ARG0", other))


def _relation(role: str, *wrapper: str) -> Callable[[Concept, Concept], None]:
    """Return a function that adds the other clause under *role*, inside of the *wrapper*."""

    def relate(main: Concept, other: Concept) -> None:
        main.add(role, Concept(wrapper[0]).add("op1", other) if wrapper else other)

    return relate


_SUBORDINATE: dict[str, Callable[[Concept, Concept], None]] = {
    "because": _because,
    "when": _relation("time"),
    "before": _relation("time", "before"),
    "after": _relation("time", "after"),
    "although": _relation("concession"),
    "if": _relation("condition"),
}


_AGENTIVE = {
    "transitive": 5, "motion": 1.5, "ditransitive": 1.2, "particle": 1.2, "selecting": 1,
    "intransitive": 1.5,
}  # fmt: skip


def _nonfinite(choice: Choice, form: str, main: Clause) -> Clause:
    """Return a clause whose subject is that of *main*: understood, and in DM no argument."""
    subject = replace(main.subject.trace(), dm=None)
    return CONSTRUCTIONS[choice.weighted(_AGENTIVE)](choice, Mood(form), subject)


def _gerund(choice: Choice) -> Sentence:
    """Build *Anna laughed after reading the book*."""
    main = _closed(choice, _AGENTIVE, Mood("past"))
    other = _nonfinite(choice, "gerund", main)
    form = choice.one(("before", "after"))
    word = Word(form, form, "IN", "p")
    word.link("ARG1", main.main)
    word.link("ARG2", other.dm)
    main.amr.add("time", Concept(form).add("op1", other.amr))
    if choice.chance(0.6):
        words, root = _join(main, [word], other, comma=False)
        return _finish(words, main.amr, main.dm, root)
    comma = Word(",", ",", ",")
    root = Unit().add("L", leaf(word)).add("H", other.scene).add("U", leaf(comma))
    root.add("H", main.scene)
    return _finish([word, *other.statement(), comma, *main.statement()], main.amr, main.dm, root)


def _purpose(choice: Choice) -> Sentence:
    """Build *Anna went to Arden (in order) to see Tom*."""
    main = _closed(choice, _AGENTIVE, Mood("past"))
    other = _nonfinite(choice, "bare", main)
    to = Word("to", "to", "TO")
    if choice.chance(0.5):
        choice.used.add("mwe")
        linker = [Word("in", "in+order+to", "IN", "x"), Word("order", "in+order+to", "NN", "x"), to]
        linker[1].link("mwe", linker[0])
        predicate = linker[1]
    else:
        to.lemma, to.sense = "in+order+to", "x"
        linker, predicate = [to], to
    predicate.link("ARG1", main.dm)
    predicate.link("ARG2", other.dm)
    main.amr.add("purpose", other.amr)
    words, root = _join(main, linker, other, comma=False)
    return _finish(words, main.amr, predicate, root)


def _reaction(choice: Choice) -> Sentence:
    """Build *Anna left , which surprised Tom*: in DM the reaction is a component of its own."""
    main = _closed(choice, _EVENTS, Mood("past"))
    verb = choice.verb("reaction")
    subject = Phrase([], main.amr, None, main.scene, main.scene, remote=True)
    core = Concept(verb.frame).add(verb.roles[0], main.amr)
    other = start(choice, verb, Mood("past"), subject, core)
    other.scene.add("P", leaf(other.main))
    noun = person(choice, subject=False)
    other.main.link("ARG2", noun.dm)
    core.add(verb.roles[1], noun.amr)
    noun.fill(other.scene)
    which, comma = Word("which", "which", "WDT"), Word(",", ",", ",")
    other.scene.add("F", leaf(which))
    core.invert(main.amr)
    root = Unit().add("H", main.scene).add("U", leaf(comma)).add("H", other.scene)
    words = [*main.statement(), comma, which, other.main, *noun.words]
    return _finish(words, main.amr, main.dm, root)


def _command(choice: Choice) -> Sentence:
    """Build *Open the box*: the subject is an implicit unit."""
    unit = Unit()
    you = Phrase([], Concept("you"), None, unit, unit, person=2)
    kinds = {"transitive": 4, "ditransitive": 2, "particle": 2, "selecting": 1, "motion": 1}
    mood = Mood("imperative", choice.chance(0.25))
    clause = CONSTRUCTIONS[choice.weighted(kinds)](choice, mood, you)
    clause.core.add("mode", "imperative")
    return _end(clause, clause.statement())


# Questions


def _polar(choice: Choice) -> Sentence:
    """Build *Did Anna see Tom ?*."""
    choice.used.add("question")
    clause = _clause(choice, {k: w for k, w in MAIN.items() if k != "existential"},
                     _mood(choice, question=True))  # fmt: skip
    clause.amr.add("polarity", Concept("amr-unknown"))
    return _end(clause, clause.question(), "?")


def _unknown(form: str, tag: str, sense: str) -> tuple[Word, Phrase]:
    """Return a question word and the phrase it makes, whose words stand elsewhere."""
    word = Word(form, form, tag, sense)
    unit = leaf(word)
    return word, Phrase([], Concept("amr-unknown"), word, unit, unit)


def _who(choice: Choice) -> Sentence:
    """Build *Who saw Anna ?*."""
    choice.used.add("question")
    word, subject = _unknown("who", "WP", "person")
    subject.words = [word]
    mood = Mood(choice.weighted(_FORMS))
    clause = CONSTRUCTIONS[choice.weighted(_AGENTIVE)](choice, mood, subject)
    return _end(clause, clause.statement(), "?")


def _which(choice: Choice, kind: str) -> tuple[list[Word], Phrase]:
    """Return *which book* or *how many books*."""
    noun = choice.noun(kind)
    if choice.chance(0.5):
        which, head = Word("which", "which", "WDT", "q"), Word(noun.lemma, noun.lemma, "NN", "n")
        which.link("BV", head)
        concept = Concept(noun.concept).add("mod", Concept("amr-unknown"))
        words, quantifier = [which, head], leaf(which)
    else:
        how, many = Word("how", "how", "WRB", "abstr_deg"), Word("many", "many", "JJ", "a")
        head = Word(noun.plural, noun.lemma, "NNS", "n")
        how.link("measure", many)
        many.link("ARG1", head)
        concept = Concept(noun.concept).add("quant", Concept("amr-unknown"))
        words, quantifier = [how, many, head], group(("E", leaf(how)), ("C", leaf(many)))
    center = leaf(head)
    return words, Phrase([], concept, head, group(("E", quantifier), ("C", center)), center)


def _what(choice: Choice) -> Sentence:
    """Build *What did Anna buy ?*, *Which book did Anna buy ?*, *How many books did Anna buy ?*."""
    choice.used.add("question")
    verb = choice.verb("transitive")
    kind = choice.one(verb.select)
    if kind != "person" and choice.chance(0.6):
        words, filler = _which(choice, kind)
    else:
        form, sense = ("who", "person") if kind == "person" else ("what", "thing")
        word, filler = _unknown(form, "WP", sense)
        words = [word]
    clause = transitive(choice, _mood(choice, question=True), None, verb, filler)
    return _end(clause, [*words, *clause.question()], "?")


def _stranded(choice: Choice) -> Sentence:
    """Build *What did Anna wait for ?*: a discontiguous Participant."""
    choice.used.add("question")
    verb = choice.one([*VERBS["prepositional"], *VERBS["topical"]])
    preposition, *kinds = verb.select
    form, sense = ("who", "person") if choice.one(kinds) == "person" else ("what", "thing")
    word, filler = _unknown(form, "WP", sense)
    subject = person(choice)
    core = Concept(verb.frame).add(verb.roles[0], subject.amr).add(verb.roles[1], filler.amr)
    clause = start(choice, verb, _mood(choice, question=True), subject, core)
    clause.main.link("ARG1", subject.dm)
    clause.scene.add("P", leaf(clause.main))
    end = Word(preposition, preposition, "TO" if preposition == "to" else "IN")
    if preposition == "about":
        end.sense = "p"
        end.link("ARG1", clause.main)
        end.link("ARG2", word)
    else:
        clause.main.sense = f"v_{preposition}"
        clause.main.link("ARG2", word)
    mark(clause, end, filler)
    return _end(clause, [word, *clause.question()], "?")


def _circumstance(choice: Choice) -> Sentence:
    """Build *Where did Anna see Tom ?*, also *when* and *why*."""
    choice.used.add("question")
    form = choice.one(("where", "when", "why"))
    clause = _clause(choice, _AGENTIVE, _mood(choice, question=True))
    unknown = Concept("amr-unknown")
    senses = {"where": "place_n", "when": "time_n", "why": "p"}
    word = Word(form, form, "WRB", senses[form])
    word.link("ARG1" if form == "why" else "loc", clause.main)
    if form == "why":
        clause.core.add("ARG1-of", Concept("cause-01").add("ARG0", unknown))
    else:
        clause.core.add("location" if form == "where" else "time", unknown)
    clause.scene.add("A" if form == "where" else "D", leaf(word))
    return _end(clause, [word, *clause.question()], "?")


_KINDS: dict[str, Callable[[Choice], Sentence]] = {
    "statement": _statement, "coordination": _coordination, "subordination": _subordination,
    "gerund": _gerund, "purpose": _purpose, "reaction": _reaction, "command": _command,
    "polar": _polar, "who": _who, "what": _what, "stranded": _stranded,
    "circumstance": _circumstance,
}  # fmt: skip
_WEIGHTS = {
    "statement": 56, "coordination": 16, "subordination": 12, "gerund": 3, "purpose": 4,
    "reaction": 4, "command": 4, "polar": 4, "who": 1.5, "what": 3, "stranded": 2,
    "circumstance": 2,
}  # fmt: skip


def sentence(choice: Choice) -> Sentence:
    """Derive one sentence."""
    return _KINDS[choice.weighted(_WEIGHTS)](choice)
