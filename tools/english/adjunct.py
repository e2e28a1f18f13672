"""Adjuncts: adverbs, times, places, company.

What stands at the end of a clause that ends in another clause could belong to either; adjuncts of
such clauses stand in front, with a comma.
"""

from __future__ import annotations

from collections.abc import Callable

from english.choice import Choice
from english.clausal import location
from english.lexicon import ADVERBS, NUMBERS
from english.nominal import adverbial, date, determined, named
from english.phrase import Clause, Concept, Unit, Word, group, leaf

_OPEN_ENDED = ("control", "raising", "likely", "object control", "expecting", "clausal", "relative")


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


def adorn(choice: Choice, clause: Clause, used: set[str]) -> None:
    """Add adverbs and adjuncts that fit the clause; *used* are the constructions in it."""
    verbal = clause.verbs[-1] is clause.main and clause.main.lemma != "be"
    open_ended = bool(used & set(_OPEN_ENDED))
    if verbal and choice.chance(0.2):
        _adverb(choice, clause)
    if not verbal or len(clause.statement()) > 14 or not choice.chance(0.6):
        return
    past = clause.main.pos == "VBD"
    perfect = clause.verbs[0].form in ("has", "have")
    weights = {"date": 0 if perfect else 3.0, "place": 0 if "motion" in used else 2.0}
    if past:
        weights |= {"ago": 1.2, "duration": 0.8}
    if not open_ended:
        weights |= {"day": 3 if past else 0, "company": 0.8, "again": 0.6}
    if not any(weights.values()):
        return
    kind = choice.weighted(weights)
    _ADJUNCTS[kind](choice, clause, open_ended or choice.chance(0.25))
