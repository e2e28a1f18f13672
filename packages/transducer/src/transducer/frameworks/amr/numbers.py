"""Number words and digits, for constants.

>>> parse_number(["2,000,000"]), parse_number(["twenty", "-", "five"]), parse_number(["1.4bn"])
('2000000', '25', '1400000000')
>>> parse_ordinal("fifth"), parse_ordinal("21st"), parse_number(["boy"])
('5', '21', None)
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_UNITS = {word: value for value, word in enumerate(_SMALL)}
_UNITS.update({word: 10 * value for value, word in enumerate(_TENS, start=2)})
_SCALES = {
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth""".split()
_ORDINAL = {word: str(value) for value, word in enumerate(_ORDINALS, start=1)}
_ORDINAL.update({word[:-1] + "ieth": str(_UNITS[word]) for word in _TENS})
_DIGITS = re.compile(r"[0-9]+(?:\.[0-9]+)?|[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_DIGIT_ORDINAL = re.compile(r"([0-9]+)(?:st|nd|rd|th)")
_SHORT_SCALE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(mn|bn|tn)")
_SHORT = {"mn": 10**6, "bn": 10**9, "tn": 10**12}
_DECADE = re.compile(r"([0-9]{2,4}0)['’]?s")
_MONTHS = "january february march april may june july august september october november december"
MONTH = {name: str(number) for number, name in enumerate(_MONTHS.split(), start=1)}
MONTH.update({name[:3]: number for name, number in list(MONTH.items())})
"""Months and their abbreviations, lower case, and their numbers."""

_LONGEST = 6
NUMBER_WORDS = frozenset(_UNITS) | frozenset(_SCALES)
"""The words that :func:`parse_number` knows."""


def parse_number(forms: Sequence[str]) -> str | None:
    """Return the constant for tokens that are one number, else None."""
    words = [form.lower() for form in forms if form != "-"]
    if not words or forms[0] == "-" or forms[-1] == "-":
        return None
    if len(words) == 1 and (value := _in_digits(words[0])) is not None:
        return value
    total: float = 0
    group: float | None = None
    for position, word in enumerate(words):
        if _DIGITS.fullmatch(word):
            if position:
                return None
            group = float(word.replace(",", ""))
        elif word in _UNITS:
            if group is not None and not _continues(group, _UNITS[word]):
                return None
            group = (group or 0) + _UNITS[word]
        elif word in _SCALES:
            group = (1 if group is None else group) * _SCALES[word]
            if _SCALES[word] > 100:
                total, group = total + group, None
        else:
            return None
    return _written(total + (group or 0))


def _in_digits(word: str) -> str | None:
    """Return the number of a word such as 2,000 or 1.4bn."""
    if _DIGITS.fullmatch(word):
        return word.replace(",", "")
    short = _SHORT_SCALE.fullmatch(word)
    return _written(float(short[1]) * _SHORT[short[2]]) if short else None


def _written(value: float) -> str:
    return str(round(value)) if abs(value - round(value)) < 1e-6 else str(value)


def _continues(group: float, unit: int) -> bool:
    """Say whether a unit may follow what is there: "twenty five", "two hundred twelve"."""
    return group > 0 and (group % 100 == 0 or (group % 10 == 0 and unit < 10))


def parse_ordinal(form: str) -> str | None:
    """Return the number of an ordinal, else None."""
    word = form.lower()
    match = _DIGIT_ORDINAL.fullmatch(word)
    return match.group(1) if match else _ORDINAL.get(word)


def find_values(forms: Sequence[str]) -> dict[int, str]:
    """Return the numbers that words are, also together with their neighbours, by position.

    Months, ordinals and decades are the numbers by which AMR calls them.

    >>> find_values("on 5 May 242 million , the second in the 1990s".split())
    {1: '5', 2: '5', 3: '242000000', 4: '242000000', 7: '2', 10: '1990'}
    """
    values: dict[int, str] = {}
    for start, form in enumerate(forms):
        word = form.lower()
        if start in values:
            continue
        if word[:1].isdecimal() or word in NUMBER_WORDS:
            for end in range(min(len(forms), start + _LONGEST), start, -1):
                number = parse_number(forms[start:end])
                if number is not None:
                    values |= dict.fromkeys(range(start, end), number)
                    break
        if start not in values:
            decade = _DECADE.fullmatch(word)
            month = MONTH.get(word.rstrip(".")) if form[:1].isupper() else None
            value = decade.group(1) if decade else parse_ordinal(form) or month
            if value is not None:
                values[start] = value
    return values
