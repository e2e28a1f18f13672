"""Number words and digits, for constants.

>>> parse_number(["2,000,000"]), parse_number(["twenty", "-", "five"]), parse_number(["2.50"])
('2000000', '25', '2.50')
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
NUMBER_WORDS = frozenset(_UNITS) | frozenset(_SCALES)
"""The words that :func:`parse_number` knows."""


def parse_number(forms: Sequence[str]) -> str | None:
    """Return the constant for tokens that are one number, else None."""
    words = [form.lower() for form in forms if form != "-"]
    if not words or forms[0] == "-" or forms[-1] == "-":
        return None
    total: float = 0
    group: float | None = None
    for position, word in enumerate(words):
        if _DIGITS.fullmatch(word):
            if position:
                return None
            if len(words) == 1:
                return word.replace(",", "")
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
    value = total + (group or 0)
    return str(int(value)) if value == int(value) else str(value)


def _continues(group: float, unit: int) -> bool:
    """Say whether a unit may follow what is there: "twenty five", "two hundred twelve"."""
    return group > 0 and (group % 100 == 0 or (group % 10 == 0 and unit < 10))


def parse_ordinal(form: str) -> str | None:
    """Return the number of an ordinal, else None."""
    word = form.lower()
    match = _DIGIT_ORDINAL.fullmatch(word)
    return match.group(1) if match else _ORDINAL.get(word)
