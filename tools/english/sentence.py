"""Sentences: statements with adjuncts, questions, commands, and clauses joined to one another.

>>> import random
>>> example = sentence(Choice(random.Random(7), heldout=False))
>>> example.words[-1].form in ".?"
True
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from english.choice import Choice
from english.clausal import CONSTRUCTIONS, MAIN, location, mark, transitive
from english.lexicon import ADVERBS, NUMBERS, SUBORDINATORS, VERBS
from english.nominal import adverbial, date, determined, named, person
from english.phrase import Clause, Concept, Phrase, Unit, Word, group, leaf
from english.verbal import Mood, start


@dataclass(eq=False, slots=True)
class Sentence:
    """A finished sentence with its three graphs."""

    words: list[Word]
    amr: Concept
    top: Word
    root: Unit


# Clauses that end in another clause: an adjunct at their end could belong to either.
_OPEN_ENDED = ("control", "raising", "likely", "object control", "expecting", "clausal", "relative")
_FORMS = {"past": 7, "perfect": 1.2, "progressive": 1.2, "future": 1.2, "modal": 2.2}
_FINITE = {
    "transitive": 5, "intransitive": 2.5, "motion": 1.5, "ditransitive": 1.2, "particle": 1,
    "selecting": 0.8, "adjective": 1.5, "passive": 1, "control": 0.7, "light": 0.6,
}  # fmt: skip


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


# Adjuncts


def _adjunct(
    clause: Clause, words: list[Word], unit: Unit, category: str, front: bool = False
) -> None:
    """Put an adjunct behind the clause or, with a comma, in front of it."""
    clause.scene.add(category, unit)
    if front:
        comma = Word(",", ",", ",")
        clause.scene.add("U", leaf(comma))
        clause.front = [*words, comma, *clause.front]
    else:
        clause.rest += words


def _when(choice: Choice, clause: Clause, front: bool) -> None:
    """Add a date: *on Monday*, *in 1987*, *on May 3 , 1987*."""
    preposition, noun = date(choice, past=clause.main.pos == "VBD")
    words, unit, _ = adverbial(preposition, "IN", "p_temp", noun, clause.main)
    clause.core.add("time", noun.amr)
    _adjunct(clause, words, unit, "D", front)


def _ago(choice: Choice, clause: Clause, front: bool) -> None:
    """Add *two years ago*."""
    words, unit, amount = _duration(choice)
    ago = Word("ago", "ago", "RB", "p")
    ago.link("ARG1", clause.main)
    ago.link("ARG2", words[1])
    moment = Concept("before").add("op1", Concept("now")).add("quant", amount)
    clause.core.add("time", moment)
    _adjunct(clause, [*words, ago], unit.add("R", leaf(ago)), "D", front)


def _lasting(choice: Choice, clause: Clause, front: bool) -> None:
    """Add *for two hours*."""
    words, unit, amount = _duration(choice)
    preposition = Word("for", "for", "IN", "p")
    preposition.link("ARG1", clause.main)
    preposition.link("ARG2", words[1])
    clause.core.add("duration", amount)
    _adjunct(clause, [preposition, *words], unit.add("R", leaf(preposition)), "D", front)


def _duration(choice: Choice) -> tuple[list[Word], Unit, Concept]:
    form, noun = choice.one(tuple(NUMBERS)), choice.noun("unit")
    number, unit = Word(form, form, "CD", "card"), Word(noun.plural, noun.lemma, "NNS", "n")
    number.link("ARG1", unit)
    amount = Concept("temporal-quantity").add("quant", str(NUMBERS[form]))
    amount.add("unit", Concept(noun.lemma))
    return [number, unit], group(("E", leaf(number)), ("C", leaf(unit))), amount


def _day(choice: Choice, clause: Clause, front: bool) -> None:
    """Add *yesterday* or *last week*."""
    del front
    if choice.chance(0.5):
        word = Word("yesterday", "yesterday", "NN", "a")
        word.link("loc", clause.main)
        clause.core.add("time", Concept("yesterday"))
        _adjunct(clause, [word], leaf(word), "D")
        return
    last = Word("last", "last", "JJ", "a")
    noun = choice.one(("week", "month", "year"))
    word = Word(noun, noun, "NN", "n")
    last.link("ARG1", word)
    word.link("loc", clause.main)
    clause.core.add("time", Concept(noun).add("mod", Concept("last")))
    _adjunct(clause, [last, word], group(("E", leaf(last)), ("C", leaf(word))), "D")


def _where(choice: Choice, clause: Clause, front: bool) -> None:
    """Add *in the park* or *near the church*."""
    if choice.chance(0.7):
        noun = location(choice)
        words, unit, _ = adverbial("in", "IN", "p_state", noun, clause.main)
        clause.core.add("location", noun.amr)
    else:
        noun = determined(choice, "building")
        words, unit, _ = adverbial("near", "IN", "p", noun, clause.main)
        clause.core.add("location", Concept("near").add("op1", noun.amr))
    _adjunct(clause, words, unit, "A", front)


def _company(choice: Choice, clause: Clause, front: bool) -> None:
    """Add *with Anna*."""
    del front
    noun = named(choice, choice.one(("m", "f")))
    words, unit, _ = adverbial("with", "IN", "p", noun, clause.main)
    clause.core.add("accompanier", noun.amr)
    _adjunct(clause, words, unit, "A")


def _again(choice: Choice, clause: Clause, front: bool) -> None:
    """Add *once more*, two words with one meaning."""
    del front
    choice.used.add("mwe")
    words = [Word("once", "once+more", "RB", "a"), Word("more", "once+more", "JJR", "a")]
    words[1].link("mwe", words[0])
    words[1].link("ARG1", clause.main)
    clause.core.add("mod", Concept("again").add("frequency", "1"))
    _adjunct(clause, words, leaf(*words), "D")


def _adverb(choice: Choice, clause: Clause) -> None:
    """Put an adverb in front of the main verb."""
    simple = clause.dm is clause.main
    form = choice.one([form for form in ADVERBS if simple or form != "never"])
    role, concept = ADVERBS[form]
    word = Word(form, form, "RB", "a")
    word.link("ARG1", clause.main)
    clause.core.add(role, Concept(concept))
    if form == "never":
        clause.core.add("polarity", "-")
        clause.dm = word
    clause.scene.add("D", leaf(word))
    clause.verbs.insert(-1, word)


_TIMES: dict[str, Callable[[Choice, Clause, bool], None]] = {
    "date": _when, "ago": _ago, "duration": _lasting, "day": _day,
}  # fmt: skip
_ADJUNCTS = {**_TIMES, "place": _where, "company": _company, "again": _again}


def _adorn(choice: Choice, clause: Clause, used: set[str]) -> None:
    """Add adverbs and adjuncts that fit the clause; *used* are the constructions in it."""
    verbal = clause.verbs[-1] is clause.main and clause.main.lemma != "be"
    open_ended = bool(used & set(_OPEN_ENDED))
    if verbal and choice.chance(0.2):
        _adverb(choice, clause)
    if not verbal or len(clause.statement()) > 14 or not choice.chance(0.5):
        return
    past = clause.main.pos == "VBD"
    perfect = clause.verbs[0].form in ("has", "have")
    weights = {"date": 0 if perfect else 3.0, "place": 0 if "motion" in used else 2.0}
    if past:
        weights |= {"ago": 1.2, "duration": 0.8}
    if not open_ended:
        weights |= {"day": 1.5 if past else 0, "company": 0.8, "again": 0.6}
    if not any(weights.values()):
        return
    kind = choice.weighted(weights)
    _ADJUNCTS[kind](choice, clause, open_ended or choice.chance(0.25))


def _main(choice: Choice, weights: dict[str, float] = MAIN) -> Clause:
    """Return a main clause with its adjuncts."""
    before = set(choice.used)
    choice.used.clear()
    clause = _clause(choice, weights)
    _adorn(choice, clause, set(choice.used))
    choice.used |= before
    return clause


# Kinds of sentence


def _end(choice: Choice, clause: Clause, words: list[Word], mark_: str = ".") -> Sentence:
    """Finish a sentence of one scene."""
    del choice
    return _finish(words, clause.amr, clause.dm, Unit().add("H", clause.scene), mark_)


def _finish(words: list[Word], amr: Concept, top: Word, root: Unit, mark_: str = ".") -> Sentence:
    stop = Word(mark_, mark_, ".")
    root.add("U", leaf(stop))
    first = words[0]
    first.form = first.form[0].upper() + first.form[1:]
    return Sentence([*words, stop], amr, top, root)


def _statement(choice: Choice) -> Sentence:
    clause = _main(choice)
    return _end(choice, clause, clause.statement())


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
    """*Anna laughed , but Tom cried*, *Anna came and saw Tom.*"""
    form = choice.one(("and", "and", "but"))
    first = _main(choice, _FINITE)
    shared = first.subject.words and first.main.pos == "VBD" and choice.chance(0.5)
    if shared:
        choice.used.add("vp coordination")
        kind = choice.weighted({k: w for k, w in _FINITE.items() if k != "adjective"})
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
    """*Anna left because Tom laughed*, *When Tom laughed , Anna left.*"""
    form = choice.one(tuple(SUBORDINATORS))
    main_mood = Mood(choice.one(("future", "modal"))) if form == "if" else None
    main = _closed(choice, _FINITE, main_mood)
    other = _clause(choice, _FINITE, Mood("perfect" if form == "if" else "past",
                                          choice.chance(0.1)))  # fmt: skip
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
    """*Anna laughed after reading the book.*"""
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
    """*Anna went to Arden (in order) to see Tom.*"""
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
    """*Anna left , which surprised Tom*: in DM the reaction is a component of its own."""
    main = _closed(choice, {k: w for k, w in _FINITE.items() if k != "adjective"}, Mood("past"))
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
    """*Open the box*: the subject is an implicit unit."""
    unit = Unit()
    you = Phrase([], Concept("you"), None, unit, unit, person=2)
    kinds = {"transitive": 4, "ditransitive": 2, "particle": 2, "selecting": 1, "motion": 1}
    mood = Mood("imperative", choice.chance(0.25))
    clause = CONSTRUCTIONS[choice.weighted(kinds)](choice, mood, you)
    clause.core.add("mode", "imperative")
    return _end(choice, clause, clause.statement())


# Questions


def _polar(choice: Choice) -> Sentence:
    """*Did Anna see Tom ?*"""
    choice.used.add("question")
    clause = _clause(choice, {k: w for k, w in MAIN.items() if k != "existential"},
                     _mood(choice, question=True))  # fmt: skip
    clause.amr.add("polarity", Concept("amr-unknown"))
    return _end(choice, clause, clause.question(), "?")


def _unknown(form: str, tag: str, sense: str) -> tuple[Word, Phrase]:
    """Return a question word and the phrase it makes, whose words stand elsewhere."""
    word = Word(form, form, tag, sense)
    unit = leaf(word)
    return word, Phrase([], Concept("amr-unknown"), word, unit, unit)


def _who(choice: Choice) -> Sentence:
    """*Who saw Anna ?*"""
    choice.used.add("question")
    word, subject = _unknown("who", "WP", "person")
    subject.words = [word]
    mood = Mood(choice.weighted(_FORMS))
    clause = CONSTRUCTIONS[choice.weighted(_AGENTIVE)](choice, mood, subject)
    return _end(choice, clause, clause.statement(), "?")


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
    """*What did Anna buy ?*, *Which book did Anna buy ?*, *How many books did Anna buy ?*"""
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
    return _end(choice, clause, [*words, *clause.question()], "?")


def _stranded(choice: Choice) -> Sentence:
    """*What did Anna wait for ?*: a discontiguous Participant."""
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
    return _end(choice, clause, [word, *clause.question()], "?")


def _circumstance(choice: Choice) -> Sentence:
    """*Where did Anna see Tom ?*, also *when* and *why*."""
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
    return _end(choice, clause, [word, *clause.question()], "?")


_KINDS: dict[str, Callable[[Choice], Sentence]] = {
    "statement": _statement, "coordination": _coordination, "subordination": _subordination,
    "gerund": _gerund, "purpose": _purpose, "reaction": _reaction, "command": _command,
    "polar": _polar, "who": _who, "what": _what, "stranded": _stranded,
    "circumstance": _circumstance,
}  # fmt: skip
_WEIGHTS = {
    "statement": 52, "coordination": 11, "subordination": 9, "gerund": 3, "purpose": 4,
    "reaction": 4, "command": 5, "polar": 4, "who": 2, "what": 4, "stranded": 2, "circumstance": 3,
}  # fmt: skip


def sentence(choice: Choice) -> Sentence:
    """Derive one sentence."""
    return _KINDS[choice.weighted(_WEIGHTS)](choice)
