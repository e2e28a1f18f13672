"""What a word is called in AMR: a lexicon learned from graphs, and English word endings.

>>> lexicon = learn_lexicon([(("the", "cities", "slept"), ("city", "sleep"))] * 3)
>>> lexicon["slept"]
'sleep'
>>> lemmatize("cities", frozenset({"city"})), lemmatize("activation", frozenset({"activate"}))
('city', 'activate')
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

_ROUNDS = 5
_NULL = ""
# A pair of look-alikes ("destruction", "destroy") starts with this weight instead of 1.
_ALIKE = 10.0
# The empty word, which is in every sentence, counts less: it is for what no word explains.
_EMPTY = 0.1
_MIN_SHARE = 0.3
_MIN_COUNT = 3
_MIN_SHARE_UNLIKE = 0.5

# (ending, replacements): inflection first, then derivation, which is trusted for known stems only.
_INFLECTION = (
    ("ies", ("y", "ie")),
    ("sses", ("ss",)),
    ("shes", ("sh",)),
    ("ches", ("ch",)),
    ("xes", ("x",)),
    ("ves", ("f", "fe", "ve")),
    ("oes", ("o", "oe")),
    ("s", ("", "e")),
    ("ied", ("y", "ie")),
    ("eed", ("eed", "ee")),
    ("ed", ("", "e")),
    ("ying", ("y", "ie")),
    ("ing", ("", "e")),
)
_DERIVATION = (
    ("ization", ("ize",)),
    ("ication", ("y", "icate")),
    ("ation", ("ate", "e", "")),
    ("ution", ("ute", "ve")),
    ("ition", ("e", "", "ite")),
    ("ption", ("be", "pt")),
    ("sion", ("de", "d", "t", "se", "s")),
    ("ion", ("e", "")),
    ("ically", ("ic",)),
    ("ably", ("able",)),
    ("ily", ("y",)),
    ("ly", ("", "le")),
    ("iness", ("y",)),
    ("ness", ("",)),
    ("ment", ("",)),
    ("ability", ("able", "")),
    ("ivity", ("ive", "e", "")),
    ("ity", ("", "e")),
    ("ance", ("", "e", "ant")),
    ("ence", ("", "e", "ent")),
    ("ancy", ("ant",)),
    ("ency", ("ent",)),
    ("ive", ("", "e", "ion")),
    ("able", ("", "e")),
    ("ible", ("", "e")),
    ("ator", ("ate",)),
    ("or", ("", "e")),
    ("er", ("", "e")),
    ("ier", ("y",)),
    ("iest", ("y",)),
    ("est", ("", "e")),
    ("al", ("", "e")),
    ("ful", ("",)),
    ("th", ("",)),
    ("y", ("", "e")),
)
# base: forms. The commonest irregular words, for texts that training data did not cover.
_IRREGULAR_TABLE = """
be: am is are was were been; have: has had; do: does did done; go: went gone goes; say: said;
make: made; take: took taken; come: came; see: saw seen; know: knew known; get: got gotten; give:
gave given; find: found; think: thought; tell: told; become: became; leave: left; feel: felt;
bring: brought; begin: began begun; keep: kept; hold: held; write: wrote written; stand: stood;
hear: heard; mean: meant; meet: met; run: ran; pay: paid; sit: sat; speak: spoke spoken; lead:
led; grow: grew grown; lose: lost; fall: fell fallen; send: sent; build: built; understand:
understood; draw: drew drawn; break: broke broken; spend: spent; rise: rose risen; drive: drove
driven; buy: bought; wear: wore worn; choose: chose chosen; eat: ate eaten; fly: flew flown; sell:
sold; show: shown; sing: sang sung; sleep: slept; steal: stole stolen; swim: swam swum; teach:
taught; throw: threw thrown; win: won; catch: caught; fight: fought; forget: forgot forgotten;
shoot: shot; bind: bound; arise: arose arisen; hide: hid hidden; lie: lay lain; seek: sought;
shake: shook shaken; man: men; woman: women; child: children; foot: feet; tooth: teeth; mouse:
mice; person: people; good: better best; bad: worse worst; far: further furthest; not: n't n’t; i:
me my mine myself; he: him his himself; she: her hers herself; it: its itself; we: us our ours;
they: them their theirs
"""
_IRREGULAR = {
    form: base.strip()
    for entry in _IRREGULAR_TABLE.split(";")
    for base, _, forms in [entry.partition(":")]
    for form in forms.split()
}
_UNINFLECTED = ("ss", "us", "is")
_VOWELS = frozenset("aeiouy")
_SHORTEST = 2


def learn_lexicon(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> dict[str, str]:
    """Map each lower-cased form to the concept it most often stands for, beyond chance.

    *pairs* are the forms of a sentence and the concepts of its graph. Which form a concept belongs
    to is estimated by expectation maximization (IBM Model 1 with an empty word).
    """
    # Sorted, so that the result does not depend on hash seeds; the empty word comes first.
    corpus = [(sorted({_NULL, *forms}), sorted(set(concepts))) for forms, concepts in pairs]
    weights: dict[str, dict[str, float]] = defaultdict(dict)
    for forms, concepts in corpus:
        for form in forms:
            for concept in concepts:
                if concept not in weights[form]:
                    weights[form][concept] = _ALIKE if alike(form, concept) else 1.0
    for _ in range(_ROUNDS):
        weights = _expect(corpus, weights)
        for row in weights.values():
            total = sum(row.values())
            for concept in row:
                row[concept] /= total
    counts = _expect(corpus, weights)
    occurrences = Counter(form for forms, _ in corpus for form in forms)
    lexicon = {}
    for form, row in sorted(counts.items()):
        concept = max(sorted(row), key=row.__getitem__, default=_NULL)
        if form and concept and _trusted(form, concept, row[concept], occurrences[form]):
            lexicon[form] = concept
    return lexicon


def _expect(
    corpus: Sequence[tuple[list[str], list[str]]], weights: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    counts: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for forms, concepts in corpus:
        rows = [(counts[form], weights[form]) for form in forms]
        for concept in concepts:
            shares = [row[concept] for _, row in rows]
            shares[0] *= _EMPTY
            total = sum(shares)
            for (count, _), share in zip(rows, shares, strict=True):
                count[concept] += share / total
    return counts


def _trusted(form: str, concept: str, count: float, occurrences: int) -> bool:
    share = count / occurrences
    if alike(form, concept):
        return share >= _MIN_SHARE
    return count >= _MIN_COUNT and share >= _MIN_SHARE_UNLIKE


def alike(form: str, concept: str) -> bool:
    """Say whether a form looks like a concept: equal, or an equal beginning of some length."""
    if form == concept:
        return True
    shorter = min(len(form), len(concept))
    common = 0
    while common < shorter and form[common] == concept[common]:
        common += 1
    return common >= 3 and common * 2 > shorter


def lemmatize(
    form: str, stems: Collection[str], aliases: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return the first of :func:`concepts`."""
    return next(concepts(form, stems, aliases))


def concepts(
    form: str, stems: Collection[str], aliases: Mapping[str, str] = MappingProxyType({})
) -> Iterator[str]:
    """Yield what an English form can be called, the likeliest first, perhaps twice.

    Known stems come first: of inflected words ("cities"), of words that call a roleset by an alias
    ("dominance"), of derived ones ("activation"). Then an inflected word is guessed to be regular;
    where *aliases* say which verbs there are, only a plural is, so that no non-word comes out.

    >>> list(dict.fromkeys(concepts("smoking", {"smoke"}, {"decision": "decide"})))
    ['smoke', 'smoking']
    >>> list(dict.fromkeys(concepts("decisions", {"decide"}, {"decision": "decide"})))
    ['decide', 'decision', 'decisions']
    """
    word = form.lower()
    if word in _IRREGULAR:
        yield _IRREGULAR[word]
    if word in _IRREGULAR or not word.isalpha():
        yield word
        return
    if word in stems:
        yield word
    inflected = [] if word.endswith(_UNINFLECTED) else list(_candidates(word, _INFLECTION))
    bases = (word, *inflected)
    yield from (base for base in inflected if base in stems)
    yield from (aliases[base] for base in bases if base in aliases)
    derived = (c for base in bases for c in _candidates(base, _DERIVATION))
    yield from (candidate for candidate in derived if candidate in stems)
    if inflected and (word.endswith("s") or not aliases):
        yield inflected[0]
    yield word


def denied(
    form: str, stems: Collection[str], aliases: Mapping[str, str] = MappingProxyType({})
) -> str | None:
    """Return the concept that a word with a negative prefix denies; None if it seems to have none.

    ``un-`` and ``non-`` stand before any word, the others before adjectives: *input* is no *put*.

    >>> stems = {"official", "formal", "clutter", "form", "put"}
    >>> [denied(f, stems) for f in ("uncluttered", "informal", "information", "input")]
    ['clutter', 'formal', None, None]
    """
    match = _NEGATIVE.fullmatch(form.lower())
    if match is None:
        return None
    word = match["any"] or match["adjective"]
    concept = word if match["adjective"] else lemmatize(word, stems, aliases)
    return concept if concept in stems and alike(word, concept) else None


_NEGATIVE = re.compile(
    r"(?:un|non)-?(?P<any>[a-z]{4,})"
    r"|(?:in|im|il|ir|dis)(?P<adjective>[a-z]+(?:al|ant|ate|ble|ct|ent|er|ful|ic|id|ive|ous))"
)


def _candidates(word: str, endings: Iterable[tuple[str, Sequence[str]]]) -> Iterable[str]:
    for ending, replacements in endings:
        base = word.removesuffix(ending)
        if base == word or len(base) < _SHORTEST or not _VOWELS & set(base):
            continue
        candidates = [base + replacement for replacement in replacements]
        if "" in replacements and ending[0] in _VOWELS and base[-1:] == base[-2:-1]:
            candidates.insert(0 if base[-1] not in "ls" else 1, base[:-1])  # "stopped"
        elif "e" in replacements and _wants_e(base):
            candidates.insert(0, base + "e")
        yield from candidates
        return


def _wants_e(base: str) -> bool:
    """Guess whether an ending swallowed an e: "lov(e)d", "chang(e)d", but "walked", "opened".

    Of one syllable that ends in one vowel and one consonant it is certain: "fin(e)d", as the other
    is "finned".
    """
    if _SINGLE.fullmatch(base):
        return True
    if base.endswith(("at", "iz", "ak", "v", "c", "rg", "ng", "dg", "u", "bl", "tl", "pl")):
        return not base.endswith(("ing", "ong", "eat", "oat"))
    return False


_SINGLE = re.compile("(?:qu|[^aeiouy])*[aeiouy][^aeiouwxy]")
