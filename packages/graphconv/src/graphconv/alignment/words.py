"""How well a word fits a label of AMR: rules of English, and words that AMR writes otherwise.

>>> fit("want-01", "wanted"), fit("boy", "boys") > fit("boy", "ball")
(9, True)
>>> fit("possible-01", "can"), fit("-", "never"), fit("go-02", "went")
(8, 8, 8)
"""

from __future__ import annotations

import re
from functools import lru_cache

EXACT, STEM, TABLE, NUMBER, LIKE = 10, 9, 8, 8, 4
"""How sure each kind of fit is; 0 is none."""

_SENSE = re.compile(r"-\d\d+$")

# label: the words that stand for it.
_SAID = {
    "i": "i me my mine myself",
    "you": "you your yours yourself yourselves ya u",
    "he": "he him his himself",
    "she": "she her hers herself",
    "it": "it its itself",
    "we": "we us our ours ourselves let's",
    "they": "they them their theirs themselves",
    "one": "one oneself one's",
    "that": "that those",
    "this": "this these",
    "someone": "someone somebody",
    "-": "not n't n’t no never none nobody nothing nowhere neither nor cannot without no-one",
    "amr-unknown": "what who whom whose which how when where why",
    "possible-01": "can could may might possible possibly able perhaps maybe ca cannot",
    "obligate-01": "must obliged shall need have has had got",
    "recommend-01": "should ought better",
    "permit-01": "may can allow allowed",
    "capable-01": "can able could",
    "likely-01": "likely probably",
    "contrast-01": "but however yet while whereas although",
    "have-concession-91": "although though but yet",
    "cause-01": "because since so why as therefore thus for",
    "infer-01": "so then thus therefore",
    "have-condition-91": "if unless",
    "and": "and , ; & as well plus",
    "or": "or either",
    "slash": "/",
    "multiple": "multiple several",
    "more": "more",
    "most": "most",
    "less": "less fewer",
    "exemplify-01": "example e.g. like as such",
    "include-91": "of include includes including among",
    "have-degree-91": "than as too so enough",
    "have-rel-role-91": "",
    "resemble-01": "like resemble",
    "instead-of-91": "instead",
    "more-than": "more over than",
    "less-than": "less under than",
    "about": "about around approximately",
    "before": "before ago",
    "now": "now",
    "ever": "ever never",
    "time": "time when once never",
    "possess-01": "have",
    "have-03": "have has had 've 's having",
    "have-part-91": "have has of",
    "good-02": "good well",
    "bad-07": "bad badly worse worst",
    "good": "good better best well",
    "bad": "bad worse worst",
    "many": "many more most",
    "much": "much more most",
    "person": "people person persons folks",
    "man": "men man",
    "woman": "women woman",
    "child": "children child kids",
    "go-01": "going gonna",
    "go-02": "go goes going went gone",
    "be-located-at-91": "is are was were be been there",
    "all": "all everything every everyone everybody",
    "any": "any anything anyone anybody",
    "some": "some something",
    "something": "something anything",
    "thing": "thing things something what",
    "other": "other another others else",
    "cent": "cents cent",
    "imperative": "let please !",
    "interrogative": "? whether if do does did",
    "expressive": "! oh ah",
    "mean-01": "mean i.e.",
    "only": "only just",
    "very": "very so really",
    "too": "too",
    "also": "also too",
    "percentage-entity": "% percent percentage",
    "cost-01": "cost worth",
    "hello": "hi hello",
    "thank-01": "thanks thank",
}

_IRREGULAR = {
    "see": "saw seen",
    "say": "said says",
    "think": "thought",
    "know": "knew known",
    "take": "took taken",
    "give": "gave given",
    "get": "got gotten",
    "make": "made",
    "come": "came",
    "find": "found",
    "tell": "told",
    "feel": "felt",
    "leave": "left",
    "bring": "brought",
    "begin": "began begun",
    "keep": "kept",
    "hold": "held",
    "write": "wrote written",
    "stand": "stood",
    "hear": "heard",
    "mean": "meant",
    "meet": "met",
    "run": "ran",
    "pay": "paid",
    "sit": "sat",
    "speak": "spoke spoken",
    "lie": "lay lain lying",
    "lead": "led",
    "grow": "grew grown",
    "lose": "lost",
    "fall": "fell fallen",
    "send": "sent",
    "build": "built",
    "understand": "understood",
    "draw": "drew drawn drawing",
    "break": "broke broken",
    "spend": "spent",
    "rise": "rose risen",
    "drive": "drove driven",
    "buy": "bought",
    "wear": "wore worn",
    "choose": "chose chosen choice",
    "sleep": "slept asleep",
    "die": "dead death died dying",
    "live": "life lives alive",
    "do": "did done does",
    "eat": "ate eaten",
    "forget": "forgot forgotten",
    "fly": "flew flown flight",
    "sell": "sold sale",
    "teach": "taught",
    "catch": "caught",
    "fight": "fought",
    "throw": "threw thrown",
    "seek": "sought",
    "shake": "shook shaken",
    "show": "shown",
    "sing": "sang sung song",
    "drink": "drank drunk",
    "swim": "swam",
    "win": "won",
    "answer": "answered",
    "foot": "feet",
    "tooth": "teeth",
    "mouse": "mice",
    "be": "is are was were been am 's 're 'm",
    "far": "farther further",
    "easy": "easily",
    "long": "length",
    "strong": "strength",
    "high": "height",
    "hot": "heat",
    "believe": "belief",
    "behave": "behavior behaviour",
    "decide": "decision",
    "explain": "explanation",
    "describe": "description",
    "analyze": "analysis analyses analysed",
    "hypothesize": "hypothesis",
    "succeed": "success successful",
    "describe-01": "description",
    "have": "has had having 've",
    "shrink": "shrank",
    "swallow": "swallowed",
    "hide": "hid hidden",
    "bite": "bit bitten",
    "ring": "rang rung",
}

_NUMBERS = {
    word: str(number)
    for number, words in enumerate(
        "zero one,once,a,an,first two,twice,second three,third four,fourth five,fifth six,sixth "
        "seven,seventh eight,eighth nine,ninth ten,tenth eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen twenty".split()
    )
    for word in words.split(",")
}
_NUMBERS.update(
    {"thirty": "30", "forty": "40", "fifty": "50", "hundred": "100", "thousand": "1000"}
)
_NUMBERS.update({"million": "1000000", "billion": "1000000000"})
_MONTHS = {
    name: str(number)
    for number, name in enumerate(
        "january february march april may june july august september october november "
        "december".split(),
        1,
    )
}
_SUFFIXES = (
    "ization isation ational ements ations ingly ation ition ement ments tions ities ness less "
    "able ible ance ence ment tion sion ally ings ity ers ors ist ism ive ion ing ies est ful ous "
    "ed er or es al ly ic ty s e y t n d"
).split()
_TABLE = {label: frozenset(words.split()) for label, words in _SAID.items()}
_FORMS = {lemma: frozenset(words.split()) for lemma, words in _IRREGULAR.items()}
_NEGATIVE = re.compile(r"(?:un|in|im|ir|dis|non)-?\w{3,}|\w+less")
_SHORTEST = 3


@lru_cache(maxsize=65536)
def fit(label: str, form: str) -> int:
    """Return how well a word fits a label, from 0 (not at all) to 10."""
    word = form.lower()
    if label.startswith('"'):
        text = label[1:-1].lower()
        return EXACT if text == word else STEM * _alike(text, word)
    if label == "-":
        return TABLE if word in _TABLE["-"] else int(bool(_NEGATIVE.fullmatch(word)))
    if re.fullmatch(r"[\d.,:/]+", label):
        return _number_fit(label, word)
    lemma = _SENSE.sub("", label)
    if lemma == word:
        return EXACT
    if word in _TABLE.get(label, ()) or word in _FORMS.get(lemma, ()):
        return TABLE
    is_pronoun = lemma == label and label in _TABLE and len(label) <= 4
    return 0 if is_pronoun else _likeness(lemma, word)


def letters(text: str) -> str:
    """Return the letters and digits of a text, in lower case.

    >>> letters('"B-Raf"')
    'braf'
    """
    return "".join(filter(str.isalnum, text)).lower()


def _likeness(lemma: str, word: str) -> int:
    if word.replace("-", "") == lemma.replace("-", "") or _alike(lemma, word):
        return STEM
    parts = lemma.split("-")
    if len(parts) > 1 and any(len(part) >= _SHORTEST and _alike(part, word) for part in parts):
        return LIKE + 2 + _alike(parts[0], word)  # put-out: put rather than out
    return LIKE if _common(lemma, word) else 0


def _number_fit(label: str, word: str) -> int:
    plain = word.replace(",", "")
    if plain == label or _NUMBERS.get(word) == label:
        return NUMBER
    if _MONTHS.get(word) == label or re.fullmatch(rf"0*{re.escape(label)}(?:st|nd|rd|th)?", plain):
        return NUMBER
    return 0


def _alike(first: str, second: str) -> bool:
    """Say whether two words have a stem in common."""
    return not stems(first).isdisjoint(stems(second))


@lru_cache(maxsize=65536)
def stems(word: str) -> frozenset[str]:
    """Return what is left of a word without its endings.

    >>> "describ" in stems("describing") & stems("describe")
    True
    """
    found = {word}
    for suffix in _SUFFIXES:
        stem = word.removesuffix(suffix)
        if stem != word and len(stem) >= _SHORTEST:
            found.add(stem)
            if len(stem) > _SHORTEST and stem[-1] == stem[-2]:
                found.add(stem[:-1])  # stopped: stop
            if stem.endswith("i"):
                found.add(stem[:-1] + "y")
    return frozenset(found)


def _common(first: str, second: str) -> bool:
    """Say whether two words begin alike: four letters, and most of the shorter."""
    shorter = min(len(first), len(second))
    length = next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), shorter
    )
    return length >= 4 and length >= 0.6 * max(len(first), len(second))
