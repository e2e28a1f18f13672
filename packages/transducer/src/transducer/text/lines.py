r"""What the lines of a text are: sentences, one a line, or running text that was wrapped.

Where every line ends with a period, it does not matter. Where one does not, its sentence ends with
it or goes on in the next line, and what speaks for going on is that

- the first word of the next line would not have fit: that is how lines are wrapped;
- or the next line begins with a small letter, in a text whose sentences begin with capitals, or
  the line ends with a comma or another mark that ends no sentence.

>>> guess_lines("The boy wants to go\nThe girl sleeps\nThe dog barks\n")
<Lines.SENTENCES: 'sentences'>
>>> guess_lines("The boy wants to go, but the girl\nsleeps. The dog barks\nat the cat.\n")
<Lines.WRAPPED: 'wrapped'>
>>> guess_lines("The boy wants to go.\nThe girl sleeps. The dog barks.\n")
<Lines.EITHER: 'either'>
"""

from __future__ import annotations

import re
from enum import Enum
from itertools import pairwise

_END = re.compile(r"[.!?…‽؟۔।॥。！？｡:]['\"”’»)\]}›」』】）]*$")
_GOES_ON = re.compile(r"[,;–—-]$")
_OPENING = "\"'“‘«([{¿¡„‹`-–— "
_NARROWEST, _FEWEST = 40, 3
"""Lines are not wrapped to fewer characters, and the lengths of fewer lines say nothing."""
_LONGEST_WORD = 20
_FULL = 0.8
"""At least this share of the lines is full in wrapped text."""
_GO_ON = 0.3
"""At least this share of the open lines goes on in the next one by its letters, in wrapped text."""
_END_OFTEN = 0.6
"""So many lines do not end a sentence by chance."""
_CASED = 0.9
"""At least this share of the sentences begins with a capital, where capitals mean something."""


class Lines(Enum):
    r"""What the lines of a text are."""

    SENTENCES = "sentences"
    WRAPPED = "wrapped"
    EITHER = "either"
    """All lines end sentences, so that it makes no difference."""


def guess_lines(text: str) -> Lines:
    """Return what the lines of a text, or of its beginning, are."""
    lines = [line.strip() for line in text.splitlines()]
    breaks = [(line, after) for line, after in pairwise(lines) if line and after]
    open_ = [(line, after) for line, after in breaks if not _ends(line)]
    if not open_:
        return Lines.EITHER
    wrapped = _are_full(breaks) or (
        len(breaks) - len(open_) < _END_OFTEN * len(breaks)
        and _go_on(open_, are_cased=_are_cased(lines))
    )
    return Lines.WRAPPED if wrapped else Lines.SENTENCES


def _are_full(breaks: list[tuple[str, str]]) -> bool:
    """Say whether lines were broken where the next word did not fit."""
    width = max(len(line) for pair in breaks for line in pair)
    full = sum(len(line) + 1 + len(_first_word(after)) > width for line, after in breaks)
    return width >= _NARROWEST and len(breaks) >= _FEWEST and full >= _FULL * len(breaks)


def _go_on(open_: list[tuple[str, str]], *, are_cased: bool) -> bool:
    """Say whether marks and small letters show that sentences go on in the next line."""
    count = sum(
        bool(_GOES_ON.search(line)) or (are_cased and _first(after).islower())
        for line, after in open_
    )
    return count >= _GO_ON * len(open_)


def _are_cased(lines: list[str]) -> bool:
    """Say whether sentences begin with capitals: after a blank line, and after the end of one."""
    starts = [after for line, after in pairwise(["", *lines]) if after and _ends(line)]
    letters = [first for first in map(_first, starts) if first.isalpha()]
    return sum(not first.islower() for first in letters) >= _CASED * len(letters)


def _ends(line: str) -> bool:
    return not line or bool(_END.search(line))


def _first(line: str) -> str:
    """Return the first character of a line's first word."""
    return line.lstrip(_OPENING)[:1]


def _first_word(line: str) -> str:
    return line.split(maxsplit=1)[0][:_LONGEST_WORD]
