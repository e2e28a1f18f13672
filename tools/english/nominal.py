"""Noun phrases: names, pronouns, common nouns with their modifiers, coordination, dates.

>>> import random
>>> phrase = person(Choice(random.Random(4), heldout=False))
>>> phrase.amr.label
'person'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from english.choice import Choice
from english.lexicon import (
    ABSOLUTE,
    ADJECTIVES,
    HUMAN,
    MONTHS,
    NUMBERS,
    PRONOUNS,
    WEEKDAYS,
    Adjective,
    Noun,
)
from english.phrase import Concept, Phrase, Unit, Word, group, leaf

Role = Callable[[Concept], None]
"""What owning something means in AMR: adds the owner's concept."""


def name_concept(kind: str, *words: Word) -> Concept:
    """Return a named entity that has no Wikipedia page."""
    name = Concept("name")
    for i, word in enumerate(words, start=1):
        name.add(f"op{i}", f'"{word.form}"')
    return Concept(kind).add("wiki", "-").add("name", name)


def named(choice: Choice, kind: str) -> Phrase:
    """Return the name of a person (``m``, ``f``) or of a ``city``."""
    words = [Word(choice.name(kind).form, "", "NNP", "named")]
    if kind != "city" and choice.chance(0.25):
        words.append(Word(choice.name("family").form, "", "NNP", "named"))
        words[0].link("compound", words[1])
    for word in words:
        word.lemma = word.form
    concept = name_concept("city" if kind == "city" else "person", *words)
    unit = leaf(*words)
    gender = "" if kind == "city" else kind
    return Phrase(words, concept, words[-1], unit, unit, gender=gender)


def pronoun(choice: Choice, subject: bool, other_than: Phrase | None) -> Phrase:
    """Return a personal pronoun; *other_than* is the subject, where it could be reflexive."""
    taken = other_than.person if other_than else 3
    form = choice.one([f for f, entry in PRONOUNS.items() if taken == 3 or entry[2] != taken])
    other, _, number, plural, gender = PRONOUNS[form]
    word = Word(form if subject else other, form, "PRP", "pron")
    unit = leaf(word)
    concept = Concept(form.lower())
    return Phrase([word], concept, word, unit, unit, plural, number, gender)


def noun_concept(noun: Noun, kind: str) -> Concept:
    """Return the concept of a noun; agent nouns are persons who do something."""
    if kind == "agent":
        return Concept("person").add("ARG0-of", Concept(noun.concept))
    return Concept(noun.concept)


def modify(
    choice: Choice, adjective: Adjective, concept: Concept, noun: Word
) -> tuple[list[Word], Unit]:
    """Add an attributive adjective, perhaps with *very*, to a noun."""
    word = Word(adjective.lemma, adjective.lemma, "JJ", "a")
    word.link("ARG1", noun)
    quality = Concept(adjective.frame)
    role = "mod" if adjective.role == "mod" else f"{adjective.role}-of"
    concept.add(role, quality)
    if adjective.lemma not in ABSOLUTE and choice.chance(0.12):
        very = Word("very", "very", "RB", "x_deg")
        very.link("ARG1", word)
        quality.add("degree", Concept("very"))
        return [very, word], group(("E", leaf(very)), ("C", leaf(word)))
    return [word], leaf(word)


def adjective_for(choice: Choice, kind: str, phrase: Phrase | None = None) -> Adjective | None:
    """Choose an adjective that fits nouns of *kind* and is not in *phrase* already."""
    kind = "person" if kind in HUMAN else kind
    said = {word.lemma for word in phrase.words} if phrase else set()
    fitting = [a for a in ADJECTIVES if kind in a.kinds and a.lemma not in said]
    return choice.one(fitting) if fitting else None


class _Builder:
    """Collects a noun phrase from left to right around its head."""

    def __init__(self, noun: Noun, kind: str, plural: bool) -> None:
        form = noun.plural if plural else noun.lemma
        self.head = Word(form, noun.lemma, "NNS" if plural else "NN", "n")
        self.concept = noun_concept(noun, kind)
        self.center = leaf(self.head)
        self.words: list[Word] = []
        self.parts: list[tuple[str, Unit]] = []
        self.plural = plural
        self.gender = noun.gender
        self.kind = kind

    def add(self, words: list[Word], unit: Unit) -> None:
        """Put an Elaborator in front of the head."""
        self.words += words
        self.parts.append(("E", unit))

    def finish(self) -> Phrase:
        """Return the phrase, with the head as its Center."""
        unit = group(*self.parts, ("C", self.center)) if self.parts else self.center
        words = [*self.words, self.head]
        return Phrase(
            words, self.concept, self.head, unit, self.center, self.plural, 3, self.gender,
            noun=self.kind,
        )  # fmt: skip


def determiner(builder: _Builder, form: str, lemma: str = "") -> None:
    """Put an article or another determiner in front."""
    word = Word(form, lemma or form, "DT", "q")
    word.link("BV", builder.head)
    builder.add([word], leaf(word))


def quantity(choice: Choice, builder: _Builder) -> None:
    """Put a number, perhaps a bounded one, in front."""
    form = choice.one(tuple(NUMBERS))
    number = Word(form, form, "CD", "card")
    number.link("ARG1", builder.head)
    bound = choice.weighted({"exact": 4, "more than": 1, "at least": 1})
    if bound == "exact":
        builder.concept.add("quant", str(NUMBERS[form]))
        builder.add([number], leaf(number))
        return
    first, second = bound.split()
    tags = {"more": "JJR", "than": "IN", "at": "IN", "least": "JJS"}
    lemma = bound.replace(" ", "+")
    words = [Word(form, lemma, tags[form], "x_deg") for form in (first, second)]
    words[1].link("mwe", words[0])
    words[1].link("ARG1", number)
    bounded = Concept(bound.replace(" ", "-")).add("op1", str(NUMBERS[form]))
    builder.concept.add("quant", bounded)
    builder.add([*words, number], group(("E", leaf(*words)), ("C", leaf(number))))


def possessor(builder: _Builder, owner: Phrase, role: Role) -> None:
    """Put *owner* and the possessive mark in front; *role* says what owning means in AMR."""
    mark = Word("'s", "'s", "POS")
    if owner.dm:
        owner.dm.link("poss", builder.head)
    role(owner.amr)
    if owner.unit is owner.center:
        unit = group(("C", owner.unit), ("R", leaf(mark)))
    else:
        unit = owner.unit.add("R", leaf(mark))
    builder.add([*owner.words, mark], unit)


def possessive(builder: _Builder, owner: Phrase, role: Role) -> None:
    """Put a possessive pronoun in front that refers to *owner*, a phrase said before."""
    forms = {(p, n, g): (subject, own) for subject, (_, own, p, n, g) in PRONOUNS.items()}
    gender = "" if owner.plural else owner.gender
    subject, form = forms[owner.person, owner.plural, gender]
    word = Word(form, subject, "PRP$", "pron")
    word.link("poss", builder.head)
    role(owner.amr)
    builder.add([word], leaf(word))


def can_own(owner: Phrase | None) -> bool:
    """Say whether a possessive pronoun can refer to *owner*."""
    if owner is None or owner.dm is None:
        return False
    return owner.person != 3 or owner.plural or bool(owner.gender)


def owning(concept: Concept) -> Role:
    """Return the plain possession of *concept* as a role."""

    def own(owner: Concept) -> None:
        concept.add("poss", owner)

    return own


def determined(choice: Choice, kind: str, indefinite: bool = False) -> Phrase:
    """Return a short phrase: an article, perhaps an adjective, a noun."""
    noun = choice.noun(kind)
    builder = _Builder(noun, kind, plural=False)
    if not indefinite:
        determiner(builder, "the")
    _attributes(choice, builder, kind, noun)
    phrase = builder.finish()
    if indefinite:
        _indefinite(phrase, builder.head)
    return phrase


DEFINITE = {"the": 6, "this": 0.7, "possessor": 0.9, "possessive": 1.5}
INDEFINITE = {"a": 4, "number": 1.6}
_ANY = {**DEFINITE, **INDEFINITE, "every": 0.5}


def common(
    choice: Choice, kind: str, owner: Phrase | None = None, styles: dict[str, float] = _ANY
) -> Phrase:
    """Return a phrase around a common noun: determiner, number, adjectives, material."""
    noun = choice.noun(kind)
    impossible = {"possessor", "possessive"} if kind in HUMAN else set()
    impossible |= set() if can_own(owner) else {"possessive"}
    style = choice.weighted({s: w for s, w in styles.items() if s not in impossible})
    plural = style == "number" or (style in ("the", "possessive") and choice.chance(0.25))
    builder = _Builder(noun, kind, plural)
    if style == "number":
        quantity(choice, builder)
    elif style == "possessor":
        possessor(builder, named(choice, choice.one(("m", "f"))), owning(builder.concept))
    elif style == "possessive" and owner is not None:
        possessive(builder, owner, owning(builder.concept))
    elif style != "a":
        determiner(builder, style)
        if style in ("this", "every"):
            builder.concept.add("mod", Concept(style))
    _attributes(choice, builder, kind, noun)
    phrase = builder.finish()
    if style == "a":
        _indefinite(phrase, builder.head)
    return phrase


def _attributes(choice: Choice, builder: _Builder, kind: str, noun: Noun) -> None:
    """Add an adjective and, for some buildings, the material."""
    if choice.chance(0.4):
        adjective = adjective_for(choice, kind)
        if adjective:
            builder.add(*modify(choice, adjective, builder.concept, builder.head))
    if noun.lemma in ("house", "bridge", "tower") and choice.chance(0.4):
        material = choice.noun("material")
        word = Word(material.lemma, material.lemma, "NN", "n")
        word.link("compound", builder.head)
        builder.concept.add("consist-of", Concept(material.lemma))
        builder.add([word], leaf(word))
        choice.used.add("compound")


def _indefinite(phrase: Phrase, head: Word) -> None:
    """Put *a* or *an* in front of a finished phrase: its form depends on the next word."""
    form = "an" if phrase.words[0].form[0] in "aeiou" else "a"
    word = Word(form, "a", "DT", "q")
    word.link("BV", head)
    phrase.words.insert(0, word)
    if phrase.unit is phrase.center:
        phrase.unit = group(("E", leaf(word)), ("C", phrase.center))
    else:
        phrase.unit.add("E", leaf(word))


def relative(choice: Choice, owner: Phrase | None) -> Phrase:
    """Return a member of a family: *his sister*, *Anna 's brother*."""
    noun = choice.noun("relative")
    builder = _Builder(noun, "relative", plural=False)
    kinship = Concept("have-rel-role-91")
    builder.concept = Concept("person").add("ARG0-of", kinship)

    def role(concept: Concept) -> None:
        kinship.add("ARG1", concept)

    if owner is not None and can_own(owner) and choice.chance(0.6):
        possessive(builder, owner, role)
    else:
        possessor(builder, named(choice, choice.one(("m", "f"))), role)
    kinship.add("ARG2", Concept(noun.lemma))
    return replace(builder.finish(), noun="")


def officer(choice: Choice) -> Phrase:
    """Return somebody who holds an office: *the director of the museum*."""
    office = choice.noun("office")
    builder = _Builder(office, "office", plural=False)
    determiner(builder, "the")
    post = Concept("have-org-role-91")
    builder.concept = Concept("person").add("ARG0-of", post)
    phrase = replace(builder.finish(), noun="")
    organization = _Builder(choice.noun("company"), "company", plural=False)
    determiner(organization, "the")
    inner = organization.finish()
    of = Word("of", "of", "IN")
    builder.head.link("ARG1", inner.dm)
    post.add("ARG1", inner.amr).add("ARG2", Concept(office.lemma))
    phrase.words += [of, *inner.words]
    inner.unit.add("R", leaf(of))
    phrase.unit.add("E", inner.unit)
    return phrase


def measured(choice: Choice) -> Phrase:
    """Return a measured drink: *three liters of milk*."""
    drink = choice.noun("drink")
    form = choice.one(tuple(NUMBERS))
    number, measure = Word(form, form, "CD", "card"), Word("liters", "liter", "NNS", "n_of")
    of, head = Word("of", "of", "IN"), Word(drink.lemma, drink.lemma, "NN", "n")
    number.link("ARG1", measure)
    measure.link("ARG1", head)
    volume = Concept("volume-quantity").add("quant", str(NUMBERS[form]))
    volume.add("unit", Concept("liter"))
    amount = group(("E", leaf(number)), ("C", leaf(measure)), ("R", leaf(of)))
    center = leaf(head)
    unit = group(("E", amount), ("C", center))
    concept = Concept(drink.lemma).add("quant", volume)
    return Phrase([number, measure, of, head], concept, measure, unit, center)


def ice_cream(choice: Choice) -> Phrase:
    """Return a noun of two words that mean one thing."""
    choice.used.add("mwe")
    ice, cream = Word("ice", "ice+cream", "NN", "n"), Word("cream", "ice+cream", "NN", "n")
    cream.link("mwe", ice)
    the = Word("the", "the", "DT", "q")
    the.link("BV", cream)
    center = leaf(ice, cream)
    unit = group(("E", leaf(the)), ("C", center))
    return Phrase([the, ice, cream], Concept("ice-cream"), cream, unit, center)


def person(choice: Choice, subject: bool = True, owner: Phrase | None = None) -> Phrase:
    """Return a phrase that means a person."""
    style = choice.weighted(
        {"name": 4, "pronoun": 2, "common": 4, "agent": 1.5, "relative": 1, "office": 0.8}
    )
    if style == "name":
        return named(choice, choice.one(("m", "f")))
    if style == "pronoun":
        return pronoun(choice, subject, owner)
    if style == "office":
        return officer(choice)
    if style == "relative":
        return relative(choice, owner)
    kind = "agent" if style == "agent" else choice.one(("person", "profession"))
    return common(choice, kind, owner)


def coordinate(choice: Choice, first: Phrase, second: Phrase) -> Phrase:
    """Join two phrases with *and*."""
    choice.used.add("np coordination")
    conjunction = Word("and", "and", "CC", "c")
    if first.dm and second.dm:
        first.dm.link("_and_c", second.dm)
    concept = Concept("and").add("op1", first.amr).add("op2", second.amr)
    unit = group(("C", first.unit), ("N", leaf(conjunction)), ("C", second.unit))
    words = [*first.words, conjunction, *second.words]
    return Phrase(words, concept, first.dm, unit, unit, plural=True)


def entity(choice: Choice, kind: str, subject: bool = False, owner: Phrase | None = None) -> Phrase:
    """Return a phrase of *kind*, simple or coordinated."""
    if kind == "person":
        phrase = person(choice, subject, owner)
        if phrase.person == 3 and len(phrase.words) < 4 and choice.chance(0.1):
            other = named(choice, choice.one(("m", "f")))
            if phrase.words[0].pos != "PRP" and phrase.words[0].form != other.words[0].form:
                return coordinate(choice, phrase, other)
        return phrase
    if kind == "food" and choice.chance(0.2):
        return ice_cream(choice)
    phrase = common(choice, kind, owner)
    if len(phrase.words) < 4 and choice.chance(0.08):
        other = determined(choice, kind)
        if other.dm and phrase.dm and other.dm.lemma != phrase.dm.lemma:
            return coordinate(choice, phrase, other)
    return phrase


def adverbial(
    preposition: str, tag: str, sense: str, noun: Phrase, of: Word
) -> tuple[list[Word], Unit, Word]:
    """Return a prepositional phrase that says something of the word *of*."""
    word = Word(preposition, preposition, tag, sense)
    word.link("ARG1", of)
    word.link("ARG2", noun.dm)
    if noun.unit is noun.center:
        unit = group(("R", leaf(word)), ("C", noun.unit))
    else:
        unit = noun.unit.add("R", leaf(word))
    return [word, *noun.words], unit, word


def date(choice: Choice, past: bool) -> tuple[str, Phrase]:
    """Return a preposition and a date, a weekday or a year (years are long ago)."""
    style = choice.weighted(
        {"weekday": 3, "day": 2, "year": 3 if past else 0, "full date": 2 if past else 0}
    )
    concept = Concept("date-entity")
    if style == "weekday":
        day = choice.one(WEEKDAYS)
        word = Word(day, day.lower(), "NNP", "dofw")
        unit = leaf(word)
        return "on", Phrase([word], concept.add("weekday", Concept(day.lower())), word, unit, unit)
    year = str(choice.number(1991, 2000))
    if style == "year":
        word = Word(year, year, "CD", "yofc")
        unit = leaf(word)
        return "in", Phrase([word], concept.add("year", year), word, unit, unit)
    number, month = choice.number(1, 14), choice.number(0, 11)
    month_word = Word(MONTHS[month], MONTHS[month].lower(), "NNP", "mofy")
    day_word = Word(str(number), str(number), "CD", "dofm")
    month_word.link("of", day_word)
    concept.add("month", str(month + 1)).add("day", str(number))
    words, center = [month_word, day_word], [month_word, day_word]
    if style == "full date":
        comma, year_word = Word(",", ",", ","), Word(year, year, "CD", "yofc")
        day_word.link("ARG1", year_word)
        concept.add("year", year)
        words += [comma, year_word]
        unit = group(("C", leaf(*center, year_word)), ("U", leaf(comma)))
        return "on", Phrase(words, concept, day_word, unit, unit.children[0].unit)
    unit = leaf(*center)
    return "on", Phrase(words, concept, day_word, unit, unit)
