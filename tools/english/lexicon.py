"""The words of the sample grammar.

One line per word; a word marked ``*`` is kept for the test part. Frames and their roles are those
of PropBank, adjectives without a frame are plain AMR concepts.

>>> NOUNS["person"][0].lemma
'boy'
>>> VERBS["transitive"][0].past, VERBS["transitive"][0].ing
('read', 'reading')
"""

from __future__ import annotations

from typing import NamedTuple


class Noun(NamedTuple):
    """A common noun; ``concept`` is its AMR label or, for agent nouns, a verb's frame."""

    lemma: str
    plural: str
    concept: str
    gender: str
    heldout: bool


class Verb(NamedTuple):
    """A verb with its forms, its frame and what it combines with."""

    lemma: str
    past: str
    participle: str
    frame: str
    roles: tuple[str, ...]
    """AMR roles of the subject and the complements, in the order of the sentence."""
    select: tuple[str, ...]
    """The kinds of noun that may be its object, or what else its construction needs."""

    @property
    def ing(self) -> str:
        """The present participle."""
        lemma = self.lemma
        if lemma.endswith("e") and not lemma.endswith("ee"):
            return lemma[:-1] + "ing"
        return lemma + self._doubled + "ing"

    @property
    def _doubled(self) -> str:
        return self.lemma[-1] if self.lemma in DOUBLING else ""


class Adjective(NamedTuple):
    """An adjective; ``frame`` is a plain concept or a frame, ``role`` what it says of its noun."""

    lemma: str
    frame: str
    role: str
    kinds: tuple[str, ...]
    heldout: bool


class Name(NamedTuple):
    """A first name or a family name, or the name of a town."""

    form: str
    gender: str
    heldout: bool


DOUBLING = {"begin", "forget", "plan", "admit", "swim", "run", "set", "get"}


def _rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


def _plural(lemma: str) -> str:
    if lemma.endswith(("s", "x", "ch", "sh")):
        return lemma + "es"
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ies"
    return lemma + "s"


def _past(lemma: str) -> str:
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ied"
    return lemma + (lemma[-1] if lemma in DOUBLING else "") + "ed"


_IRREGULAR_PLURALS = {"man": "men", "woman": "women", "child": "children", "knife": "knives"}
_GENDERS = {"boy": "m", "girl": "f", "man": "m", "woman": "f", "king": "m", "queen": "f",
            "actress": "f", "brother": "m", "sister": "f", "father": "m", "mother": "f",
            "son": "m", "daughter": "f"}  # fmt: skip


def _nouns(text: str) -> dict[str, list[Noun]]:
    result: dict[str, list[Noun]] = {}
    for kind, *entries in _rows(text):
        for entry in entries:
            word, _, frame = entry.partition("/")
            lemma = word.rstrip("*")
            plural = _IRREGULAR_PLURALS.get(lemma, _plural(lemma))
            noun = Noun(lemma, plural, frame or lemma, _GENDERS.get(lemma, ""), word != lemma)
            result.setdefault(kind, []).append(noun)
    return result


NOUNS = _nouns("""
person   boy girl man woman child king queen guest tourist neighbor passenger*
profession doctor nurse lawyer soldier pilot poet engineer priest chef judge* sailor* actress*
agent    teacher/teach-01 driver/drive-01 singer/sing-01 farmer/farm-01 student/study-01
agent    visitor/visit-01 dancer/dance-01 hunter/hunt-01
office   director manager president
relative brother sister father mother son daughter
company  company museum school hospital bank theater
animal   dog cat horse bird cow goat rabbit* donkey*
text     book letter story poem article novel newspaper essay* diary*
food     apple cake soup sandwich pie orange pizza pancake*
drink    milk water tea
building house bridge tower barn church hotel castle shop cottage* chapel*
vehicle  car bus truck bicycle boat tractor*
thing    key box lamp chair bag coat hat knife camera ladder basket umbrella ring clock blanket
thing    mirror guitar violin* candle* pillow*
place    park garden kitchen village forest market station library yard harbor valley cellar*
material stone glass paper silver
unit     hour day week month year
""")

HUMAN = ("person", "profession", "agent")

ADJECTIVES = [
    Adjective(word.rstrip("*"), frame, role, tuple(kinds), word.endswith("*"))
    for word, frame, role, *kinds in _rows("""
old         old           mod   person animal text building vehicle thing
young       young         mod   person animal
small       small         mod   animal text building vehicle thing food
large       large         mod   animal building vehicle thing food
huge        huge          mod   animal building vehicle food
tiny*       tiny          mod   animal building thing food
heavy       heavy         mod   thing text
strange     strange       mod   person animal text building vehicle thing
modern      modern        mod   building vehicle
ancient*    ancient       mod   building text
important   important     mod   text person
elegant     elegant       mod   person building thing
foreign     foreign       mod   person text vehicle
new         new-01        ARG1  text building vehicle thing
red         red-02        ARG1  vehicle thing building
beautiful   beautiful-02  ARG1  animal text building vehicle thing
long        long-03       ARG1  text
cold        cold-01       ARG1  food
happy       happy-01      ARG1  person
busy        busy-01       ARG1  person
sick        sick-05       ARG1  person animal
quiet       quiet-04      ARG1  person animal
angry       anger-01      ARG1  person
hungry      hunger-01     ARG0  person animal
""")
]

ABSOLUTE = {"huge", "tiny", "foreign", "ancient"}
"""Adjectives that *very* does not go with."""


def _verbs(text: str) -> dict[str, list[Verb]]:
    result: dict[str, list[Verb]] = {}
    for kind, lemma, past, participle, frame, roles, *select in _rows(text):
        preterite = _past(lemma) if past == "=" else past
        perfect = preterite if participle == "=" else participle
        arguments = tuple(f"ARG{n}" for n in roles)
        verb = Verb(lemma, preterite, perfect, frame, arguments, tuple(select))
        result.setdefault(kind, []).append(verb)
    return result


# A verb's roles are the digits of its ARGs in the order of the sentence: subject, then complements.
VERBS = _verbs("""
transitive     read     read     read     read-01      01  text
transitive     write    wrote    written  write-01     01  text
transitive     buy      bought   bought   buy-01       01  text food vehicle thing animal
transitive     find     found    found    find-01      01  text thing animal person
transitive     see      saw      seen     see-01       01  building vehicle animal person
transitive     build    built    built    build-01     01  building vehicle
transitive     paint    =        =        paint-02     01  building vehicle
transitive     visit    =        =        visit-01     01  building person
transitive     follow   =        =        follow-02    01  person animal vehicle
transitive     carry    =        =        carry-01     01  thing animal text
transitive     open     =        =        open-01      01  text building
transitive     admire   =        =        admire-01    01  building person text
transitive     describe =        =        describe-01  01  building person animal
transitive     repair   =        =        repair-01    01  vehicle thing building
transitive     examine  =        =        examine-01   01  thing animal text
transitive     destroy  =        =        destroy-01   01  building vehicle text
transitive     eat      ate      eaten    eat-01       01  food
transitive     hide     hid      hidden   hide-01      01  thing text food
transitive     discover =        =        discover-01  01  building thing text
transitive     steal    stole    stolen   steal-01     01  vehicle thing animal
transitive     protect  =        =        protect-01   01  person animal building
transitive     draw     drew     drawn    draw-01      01  animal building person
stative        remember =        =        remember-01  01  person text building
stative        love     =        =        love-01      01  person animal food text
stative        know     knew     known    know-02      01  person building text
intransitive   sleep    slept    =        sleep-01     0
intransitive   laugh    =        =        laugh-01     0
intransitive   arrive   =        =        arrive-01    1
intransitive   sing     sang     sung     sing-01      0
intransitive   dance    =        =        dance-01     0
intransitive   work     =        =        work-01      0
intransitive   swim     swam     swum     swim-01      0
intransitive   smile    =        =        smile-01     0
intransitive   return   =        =        return-01    1
intransitive   disappear =       =        disappear-01 1
motion         go       went     gone     go-02        04
motion         travel   =        =        travel-01    04
motion         walk     =        =        walk-01      04
ditransitive   give     gave     given    give-01      021
ditransitive   send     sent     =        send-01      021
ditransitive   show     =        shown    show-01      021
ditransitive   lend     lent     =        lend-01      021
ditransitive   sell     sold     =        sell-01      021
particle       pick     =        =        pick-up-04   01  up thing text
particle       throw    threw    thrown   throw-away-07 01 away thing text food
particle       clean    =        =        clean-up-02  01  up building vehicle
particle       wake     woke     woken    wake-up-02   01  up person animal
prepositional  listen   =        =        listen-01    01  to person animal
prepositional  wait     =        =        wait-01      12  for person vehicle
topical        talk     =        =        talk-01      01  about person text vehicle
topical        complain =        =        complain-01  01  about food person building
drinking       drink    drank    drunk    drink-01     01
light          take     took     taken    walk-01      0   walk
light          take     took     taken    bathe-01     0   bath
light          take     took     taken    nap-01       0   nap
light          make     made     made     decide-01    0   decision
control        want     =        =        want-01      01  D
control        try      =        =        try-01       01  D
control        refuse   =        =        refuse-01    01  D
control        need     =        =        need-01      01  D
control        decide   =        =        decide-01    01  P
control        hope     =        =        hope-01      01  P
control        plan     =        =        plan-01      01  P
control        agree    =        =        agree-01     01  P
raising        seem     =        =        seem-01      -1  G
raising        appear   =        =        appear-02    -1  G
raising        begin    began    begun    begin-01     01  D
raising        start    =        =        start-01     01  D
raising        continue =        =        continue-01  01  D
raising        have     had      had      obligate-01  -2  D
objectcontrol  persuade =        =        persuade-01  012
objectcontrol  force    =        =        force-01     012
objectcontrol  encourage =       =        encourage-01 012
objectcontrol  ask      =        =        ask-02       021
subjectcontrol promise  =        =        promise-01   021
expecting      expect   =        =        expect-01    01
clausal        say      said     =        say-01       01
clausal        think    thought  =        think-01     01
clausal        know     knew     known    know-01      01
clausal        believe  =        =        believe-01   01
clausal        report   =        =        report-01    01
telling        tell     told     =        tell-01      021
reaction       surprise =        =        surprise-01  01
reaction       please   =        =        please-01    01
reaction       disappoint =      =        disappoint-01 01
""")

BE = Verb("be", "was", "been", "", (), ())
HAVE = Verb("have", "had", "had", "", (), ())
DO = Verb("do", "did", "done", "", (), ())

MODALS = {"can": "possible-01", "may": "possible-01", "must": "obligate-01",
          "should": "recommend-01"}  # fmt: skip

NAMES = {
    kind: [Name(word.rstrip("*"), gender, word.endswith("*")) for word in words]
    for kind, gender, *words in _rows("""
m      m  Tom Peter David Omar Ivan Paul Hugo Felix Arthur* Boris* Leon*
f      f  Anna Maria Julia Clara Nora Lucy Emma Rosa Vera* Ingrid* Stella*
family -  Keller Novak Rossi Jensen Garcia Fischer Lindholm Moreau Tanaka* Webster* Petrov*
city   -  Arden Belmora Calder Dorwick Elsmere Farrow Grenholm* Halvik* Ostrava*
""")
}

ADVERBS = {  # adverb: AMR role and concept
    "carefully": ("manner", "careful"),
    "quickly": ("manner", "quick-02"),
    "slowly": ("manner", "slow-05"),
    "secretly": ("manner", "secret"),
    "happily": ("manner", "happy-01"),
    "often": ("frequency", "often"),
    "always": ("time", "always"),
    "never": ("time", "ever"),
}

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December")  # fmt: skip
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}

PRONOUNS = {  # subject form: object form, possessive form, person, plural, gender
    "he": ("him", "his", 3, False, "m"),
    "she": ("her", "her", 3, False, "f"),
    "they": ("them", "their", 3, True, ""),
    "I": ("me", "my", 1, False, ""),
    "we": ("us", "our", 1, True, ""),
    "you": ("you", "your", 2, True, ""),
}

SUBORDINATORS = {  # conjunction: PTB tag and DM sense
    "because": ("IN", "x"),
    "when": ("WRB", "x_subord"),
    "before": ("IN", "x_h"),
    "after": ("IN", "x_h"),
    "although": ("IN", "p"),
    "if": ("IN", "x_then"),
}
