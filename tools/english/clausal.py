"""Constructions: one function for every pattern that a verb may stand in.

A construction is a function of a subject (None lets it choose one) and a mood that returns a
Clause. In UCCA some verbs are Adverbials in the scene of the next verb (*try to*, *begin to*):
their infinitive is built into the same scene; that of others (*decide to*) is a scene of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from english.choice import Choice
from english.lexicon import ABSOLUTE, BE, HUMAN, VERBS, Adjective, Verb
from english.nominal import (
    DEFINITE,
    INDEFINITE,
    adjective_for,
    adverbial,
    common,
    determined,
    entity,
    measured,
    named,
    person,
)
from english.phrase import Clause, Concept, Phrase, Word, group, leaf
from english.verbal import INFINITIVE, Mood, start

Construction = Callable[[Choice, Mood, Phrase | None], Clause]

PAST = Mood("past")


def argument(
    choice: Choice, kind: str, subject: bool = False, owner: Phrase | None = None
) -> Phrase:
    """Return a phrase of *kind*, perhaps with a relative clause."""
    phrase = entity(choice, kind, subject, owner)
    if phrase.noun and choice.depth == 0 and len(phrase.words) < 5 and choice.chance(0.2):
        relative_clause(choice, phrase)
    return phrase


def _active(choice: Choice, verb: Verb, mood: Mood, subject: Phrase, category: str = "P") -> Clause:
    """Begin an active clause with its verb as predicate."""
    core = Concept(verb.frame).add(verb.roles[0], subject.amr)
    clause = start(choice, verb, mood, subject, core)
    clause.main.link("ARG1", subject.dm)
    if category:
        clause.scene.add(category, leaf(clause.main))
    return clause


def complement(clause: Clause, phrase: Phrase, label: str, role: str) -> None:
    """Add a noun phrase as an argument behind the verb."""
    clause.main.link(label, phrase.dm)
    clause.core.add(role, phrase.amr)
    phrase.fill(clause.scene)
    clause.rest += phrase.words


def transitive(
    choice: Choice, mood: Mood, subject: Phrase | None, verb: Verb | None = None,
    gap: Phrase | None = None,
) -> Clause:  # fmt: skip
    """Build *Anna read the book.* The object may be a gap."""
    subject = subject or argument(choice, "person", subject=True)
    verb = verb or choice.verb(choice.weighted({"transitive": 8, "stative": 1}))
    category = "S" if verb in VERBS["stative"] else "P"
    if category == "S" and mood.form == "progressive":
        mood = mood._replace(form="past")
    clause = _active(choice, verb, mood, subject, category)
    filler = gap or argument(choice, choice.one(verb.select), owner=subject)
    complement(clause, filler, "ARG2", verb.roles[1])
    return clause


def drinking(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *Tom drank three liters of milk*."""
    subject = subject or argument(choice, "person", subject=True)
    clause = _active(choice, choice.verb("drinking"), mood, subject)
    complement(clause, measured(choice), "ARG2", "ARG1")
    return clause


def intransitive(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *Anna laughed*."""
    subject = subject or argument(choice, "person", subject=True)
    return _active(choice, choice.verb("intransitive"), mood, subject)


def prepositional(clause: Clause, preposition: str, sense: str, noun: Phrase, role: str) -> None:
    """Add a prepositional phrase that is a Participant."""
    tag = "TO" if preposition == "to" else "IN"
    words, unit, _ = adverbial(preposition, tag, sense, noun, clause.main)
    clause.core.add(role, noun.amr)
    clause.scene.add("A", unit)
    clause.rest += words


def motion(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *Anna went to the park*."""
    subject = subject or argument(choice, "person", subject=True)
    verb = choice.verb("motion")
    clause = _active(choice, verb, mood, subject)
    prepositional(clause, "to", "p_dir", location(choice), verb.roles[1])
    return clause


def location(choice: Choice) -> Phrase:
    """Return a place or a town."""
    return named(choice, "city") if choice.chance(0.35) else determined(choice, "place")


def ditransitive(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *Anna gave Tom a book*, *Anna gave a book to Tom*."""
    subject = subject or argument(choice, "person", subject=True)
    verb = choice.verb("ditransitive")
    clause = _active(choice, verb, mood, subject)
    receiver = person(choice, subject=False, owner=subject)
    gift = entity(choice, choice.one(("text", "thing", "vehicle")), owner=subject)
    if choice.chance(0.5):
        complement(clause, receiver, "ARG3", verb.roles[1])
        complement(clause, gift, "ARG2", verb.roles[2])
        return clause
    complement(clause, gift, "ARG2", verb.roles[2])
    to = Word("to", "to", "TO")
    clause.main.link("ARG3", receiver.dm)
    clause.core.add(verb.roles[1], receiver.amr)
    mark(clause, to, receiver)
    return clause


def mark(clause: Clause, preposition: Word, noun: Phrase) -> None:
    """Add a Participant whose preposition means nothing by itself."""
    if noun.unit is noun.center:
        noun.unit = group(("C", noun.center))
    noun.unit.add("R", leaf(preposition))
    noun.fill(clause.scene)
    clause.rest += [preposition, *noun.words]


def particle(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *Anna picked the book up*: a discontiguous Process."""
    subject = subject or argument(choice, "person", subject=True)
    verb = choice.verb("particle")
    clause = _active(choice, verb, mood, subject, category="")
    form, *kinds = verb.select
    word = Word(form, form, "RP")
    clause.main.sense = f"v_{form}"
    clause.scene.add("P", leaf(clause.main, word))
    noun = entity(choice, choice.one(kinds), owner=subject)
    split = noun.dm is not None and (noun.dm.pos == "PRP" or choice.chance(0.6))
    clause.rest += [] if split else [word]
    complement(clause, noun, "ARG2", verb.roles[1])
    clause.rest += [word] if split else []
    return clause


def selecting(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *Anna waited for the bus*, *Anna talked about the book*."""
    subject = subject or argument(choice, "person", subject=True)
    verb = choice.verb(choice.one(("prepositional", "topical")))
    preposition, *kinds = verb.select
    clause = _active(choice, verb, mood, subject)
    noun = argument(choice, choice.one(kinds), owner=subject)
    if preposition == "about":
        prepositional(clause, preposition, "p", noun, verb.roles[1])
        return clause
    clause.main.sense = f"v_{preposition}"
    clause.main.link("ARG2", noun.dm)
    clause.core.add(verb.roles[1], noun.amr)
    mark(clause, Word(preposition, preposition, "TO" if preposition == "to" else "IN"), noun)
    return clause


def light(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *Anna took a walk*: the noun is the Process, and the predicate of AMR."""
    subject = subject or argument(choice, "person", subject=True)
    verb = choice.verb("light")
    clause = _active(choice, verb, mood, subject, category="")
    noun = Word(verb.select[0], verb.select[0], "NN", "n")
    article = Word("a", "a", "DT", "q")
    article.link("BV", noun)
    clause.main.link("ARG2", noun)
    clause.scene.add("P", group(("F", leaf(clause.main)), ("E", leaf(article)), ("C", leaf(noun))))
    clause.rest += [article, noun]
    return clause


def _infinitive(choice: Choice, subject: Phrase, mood: Mood = INFINITIVE) -> Clause:
    """Return an infinitive with *subject*, said or understood."""
    choice.depth += 1
    construction = CONSTRUCTIONS[choice.weighted(EMBEDDED)]
    clause = construction(choice, mood, subject)
    choice.depth -= 1
    return clause


def control(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *Anna wanted to leave*, *Anna decided to leave*."""
    subject = subject or argument(choice, "person", subject=True)
    verb = choice.verb("control")
    (category,) = verb.select
    clause = _active(choice, verb, mood, subject, category)
    into = clause.scene if category == "D" else None
    inner = _infinitive(choice, subject.trace(), Mood("infinitive", into=into))
    _attach(clause, inner, "ARG2", verb.roles[1])
    return clause


def _attach(clause: Clause, inner: Clause, label: str, role: str) -> None:
    """Add a clause as an argument."""
    clause.main.link(label, inner.dm)
    clause.core.add(role, inner.amr)
    if inner.scene is not clause.scene:
        clause.scene.add("A", inner.scene)
    clause.rest += inner.statement()


def raising(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *Anna seemed to sleep*: in DM the subject is no argument of *seemed*."""
    subject = subject or argument(choice, "person", subject=True)
    verb = choice.verb("raising")
    core = Concept(verb.frame)
    if verb.roles[0] != "ARG-":
        core.add(verb.roles[0], subject.amr)
    clause = start(choice, verb, mood, subject, core)
    clause.scene.add(verb.select[0], leaf(clause.main))
    inner = _infinitive(choice, subject.trace(), Mood("infinitive", into=clause.scene))
    _attach(clause, inner, "ARG1", verb.roles[1])
    return clause


def likely(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *Anna was likely to win*: raising with an adjective."""
    subject = subject or argument(choice, "person", subject=True)
    word = Word("likely", "likely", "JJ", "a")
    clause = start(choice, BE, mood, subject, Concept("likely-01"), predicate=word)
    clause.scene.add("D", leaf(word))
    clause.rest.append(word)
    inner = _infinitive(choice, subject.trace(), Mood("infinitive", into=clause.scene))
    _attach(clause, inner, "ARG1", "ARG1")
    return clause


def object_control(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *Anna persuaded Tom to leave*, *Anna promised Tom to leave*."""
    subject = subject or argument(choice, "person", subject=True)
    kind = choice.one(("objectcontrol", "objectcontrol", "objectcontrol", "subjectcontrol"))
    verb = choice.verb(kind)
    clause = _active(choice, verb, mood, subject)
    noun = argument(choice, "person", owner=subject)
    complement(clause, noun, "ARG2", verb.roles[1])
    inner = _infinitive(choice, (noun if kind == "objectcontrol" else subject).trace())
    _attach(clause, inner, "ARG3", verb.roles[2])
    return clause


def expecting(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *Anna expected Tom to leave*: Tom is an argument of the infinitive alone."""
    subject = subject or argument(choice, "person", subject=True)
    verb = choice.verb("expecting")
    clause = _active(choice, verb, mood, subject)
    inner = _infinitive(choice, person(choice, subject=False, owner=subject))
    _attach(clause, inner, "ARG2", verb.roles[1])
    return clause


def _finite(choice: Choice) -> Clause:
    """Return a complement clause in the past, perhaps negated."""
    choice.depth += 1
    construction = CONSTRUCTIONS[choice.weighted(COMPLEMENT)]
    form = choice.one(("past", "past", "pluperfect", "modal"))
    clause = construction(choice, Mood(form, choice.chance(0.15)), None)
    choice.depth -= 1
    return clause


def clausal(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *Anna said that Tom left*, *Anna told Maria that Tom left*."""
    subject = subject or argument(choice, "person", subject=True)
    kind = choice.one(("clausal", "clausal", "clausal", "telling"))
    verb = choice.verb(kind)
    category = "S" if verb.lemma in ("know", "believe") else "P"
    clause = _active(choice, verb, mood, subject, category)
    if kind == "telling":
        complement(clause, person(choice, subject=False, owner=subject), "ARG2", verb.roles[1])
    inner = _finite(choice)
    if kind == "telling" or choice.chance(0.85):
        that = Word("that", "that", "IN")
        inner.front.insert(0, that)
        inner.scene.add("F", leaf(that))
    _attach(clause, inner, "ARG3" if kind == "telling" else "ARG2", verb.roles[-1])
    return clause


def adjective(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *The house was very old*."""
    kind = "person"
    if subject is None:
        kind = choice.one(("person", "text", "building", "vehicle", "thing", "animal"))
        subject = person(choice) if kind == "person" else common(choice, kind, styles=DEFINITE)
    quality = adjective_for(choice, kind, subject) or _fail(kind)
    word = Word(quality.lemma, quality.lemma, "JJ", "a")
    word.link("ARG1", subject.dm)
    core = Concept(quality.frame)
    core.add("domain" if quality.role == "mod" else quality.role, subject.amr)
    clause = start(choice, BE, mood, subject, core, predicate=word)
    if quality.lemma not in ABSOLUTE and choice.chance(0.2):
        very = Word("very", "very", "RB", "x_deg")
        very.link("ARG1", word)
        core.add("degree", Concept("very"))
        clause.scene.add("D", leaf(very))
        clause.rest.append(very)
    clause.scene.add("S", leaf(word))
    clause.rest.append(word)
    return clause


def _fail(kind: str) -> Adjective:
    raise ValueError(f"no adjective fits {kind}")


def identity(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *Anna was a doctor*."""
    subject = subject or named(choice, choice.one(("m", "f")))
    noun = determined(choice, choice.one(("profession", "agent")), indefinite=True)
    noun.amr.add("domain", subject.amr)
    clause = start(choice, BE, mood, subject, noun.amr)
    clause.main.sense = "v_id"
    clause.main.link("ARG1", subject.dm)
    clause.main.link("ARG2", noun.dm)
    clause.scene.add("S", leaf(clause.main))
    noun.fill(clause.scene)
    clause.rest += noun.words
    return clause


def passive(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *The bridge was built by Tom*."""
    verb = choice.verb("transitive", "person" if subject else "")
    subject = subject or argument(choice, choice.one(verb.select), subject=True)
    core = Concept(verb.frame)
    clause = start(choice, verb, mood, subject, core, passive=True)
    clause.main.link("ARG2", subject.dm)
    clause.scene.add("P", leaf(clause.main))
    if choice.chance(0.55):
        agent = person(choice, subject=False, owner=subject)
        clause.main.link("ARG1", agent.dm)
        core.add(verb.roles[0], agent.amr)
        mark(clause, Word("by", "by", "IN"), agent)
    core.add(verb.roles[1], subject.amr)
    return clause


def located(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *The key was in the box*."""
    subject = subject or common(choice, choice.one(("thing", "text", "animal")), styles=DEFINITE)
    place = determined(choice, "place")
    word = Word("in", "in", "IN", "p_loc")
    core = Concept("be-located-at-91").add("ARG1", subject.amr).add("ARG2", place.amr)
    clause = start(choice, BE, mood, subject, core, predicate=word, be="S")
    word.link("ARG1", subject.dm)
    word.link("ARG2", place.dm)
    mark(clause, word, place)
    return clause


def existential(choice: Choice, mood: Mood, subject: Phrase | None) -> Clause:
    """Build *There were three books in the box*."""
    noun = subject or common(choice, choice.one(("thing", "text", "animal")), styles=INDEFINITE)
    there = Word("There", "there", "EX")
    place = determined(choice, "place")
    core = Concept("be-located-at-91").add("ARG1", noun.amr).add("ARG2", place.amr)
    clause = start(choice, BE, mood, replace(noun, words=[]), core)
    clause.scene.add("F", leaf(there))
    clause.scene.add("S", leaf(clause.main))
    clause.front.append(there)
    clause.main.sense = "v_there"
    clause.main.link("ARG1", noun.dm)
    clause.rest += noun.words
    words, unit, _ = adverbial("in", "IN", "p_loc", place, noun.dm or clause.main)
    clause.scene.add("A", unit)
    clause.rest += words
    return clause


def relative_clause(choice: Choice, phrase: Phrase) -> None:
    """Add a relative clause to a noun: *who laughed*, *that Anna bought*."""
    choice.used.add("relative")
    choice.depth += 1
    human = phrase.noun in HUMAN
    gap = phrase.trace()
    form = "who" if human else "that"
    pronoun = Word(form, form, "WP" if human else "WDT")
    clause: Clause
    if human and choice.chance(0.6):
        construction = CONSTRUCTIONS[choice.weighted(RELATIVE)]
        clause = construction(choice, Mood("past", choice.chance(0.1)), gap)
    else:
        verb = choice.verb("transitive", "person" if human else phrase.noun)
        if choice.chance(0.3):
            clause = _gap_passive(choice, verb, gap)
        else:
            clause = transitive(choice, PAST, person(choice), verb, gap)
    choice.depth -= 1
    clause.core.invert(phrase.amr)
    clause.scene.add("F", leaf(pronoun))
    if phrase.unit is phrase.center:
        phrase.unit = group(("C", phrase.center))
    phrase.unit.add("E", clause.scene)
    phrase.words = [*phrase.words, pronoun, *clause.statement()]
    phrase.noun = ""


def _gap_passive(choice: Choice, verb: Verb, gap: Phrase) -> Clause:
    core = Concept(verb.frame).add(verb.roles[1], gap.amr)
    clause = start(choice, verb, PAST, gap, core, passive=True)
    clause.main.link("ARG2", gap.dm)
    clause.scene.add("P", leaf(clause.main))
    choice.used.add("passive")
    return clause


CONSTRUCTIONS: dict[str, Construction] = {
    "transitive": transitive, "drinking": drinking, "intransitive": intransitive,
    "motion": motion, "ditransitive": ditransitive, "particle": particle, "selecting": selecting,
    "light": light, "control": control, "raising": raising, "likely": likely,
    "object control": object_control, "expecting": expecting, "clausal": clausal,
    "adjective": adjective, "identity": identity, "passive": passive, "located": located,
    "existential": existential,
}  # fmt: skip

MAIN = {
    "transitive": 5, "drinking": 1, "intransitive": 1, "motion": 1.2, "ditransitive": 2.2,
    "particle": 1.8, "selecting": 1.5, "light": 1, "control": 8, "raising": 6, "likely": 0.8,
    "object control": 7, "expecting": 1.2, "clausal": 8, "adjective": 1.5, "identity": 0.9,
    "passive": 2.5, "located": 0.5, "existential": 0.6,
}  # fmt: skip
EMBEDDED = {
    "transitive": 5, "intransitive": 2, "motion": 1.5, "ditransitive": 1.2, "particle": 1,
    "selecting": 1, "light": 0.4, "passive": 0.5,
}  # fmt: skip
COMPLEMENT = {
    "transitive": 4, "intransitive": 2, "motion": 1, "ditransitive": 0.8, "particle": 0.7,
    "adjective": 1, "passive": 1, "identity": 0.5, "control": 0.7,
}  # fmt: skip
RELATIVE = {"transitive": 4, "intransitive": 2, "motion": 1, "particle": 0.7, "control": 0.7}
