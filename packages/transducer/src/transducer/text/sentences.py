"""From raw text to paragraphs and sentences: rules only, no model, character offsets kept.

>>> list(split_sentences('He left at 5 p.m. on Monday. "Why?" he asked. Dr. Li smiled.'))
[(0, 'He left at 5 p.m. on Monday.'), (29, '"Why?" he asked.'), (46, 'Dr. Li smiled.')]

Laws: sentences leave out nothing but white space; the cost is linear, whatever the text holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from graphconv.graph import Token
from transducer.text.abbreviations import ABBREVIATIONS, AMBIGUOUS, TITLES, are_initials
from transducer.text.tokens import SEPARATOR

_NATIONS = frozenset({"u.s", "u.k", "u.n"})
# Before a capital it is the end: the last of a list.
_LAST = frozenset({"etc"})
_NUMBERED = re.compile(r"[A-Z]?\d")  # "No. 5", "Fig. S2"
_CLOSERS = "\"'”’»)]}›」』】）"
_TERMINATOR = re.compile(
    rf"([.!?…‽؟۔।॥]+)(['\"”’»)\]}}›]*)(?=[{SEPARATOR}]|$)|[。！？｡]+[”’」』）]*"
)
_OPENING = re.compile(r"[\"'“‘«(\[{¿¡„‹`\s-]*")
_PARAGRAPH = re.compile(r"[^\S\n]*(?:\r?\n|\r)(?:[^\S\n]*(?:\r?\n|\r))+|[\f\u2029]")
# Words that start a sentence far more often than they follow an abbreviation in capitals.
_STARTERS = frozenset(
    """A After All Also An And Another As At Because Before But By Did Do Does During For From He
    Her Here His How However I If In It Its Later No On One Or Our She Since So Some Such That
    The Their Then There These They This Those Though To Under Until We What When Where Which
    While Who Why With You Your""".split()
)


def split_sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield (start offset, sentence) for the sentences of a text; blank lines end one too."""
    for offset, paragraph in split_paragraphs(text):
        for start, end in _sentence_spans(paragraph):
            yield offset + start, paragraph[start:end]


def split_paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield (start offset, paragraph) for the parts of a text between blank lines."""
    start = 0
    for match in _PARAGRAPH.finditer(text):
        if text[start : match.start()].strip():
            yield start, text[start : match.start()]
        start = match.end()
    if text[start:].strip():
        yield start, text[start:]


class Paragraph(NamedTuple):
    """A paragraph of a file: the number of its first line, from 1, and its text."""

    lineno: int
    text: str


def read_paragraphs(lines: Iterable[str], *, limit: int = 50_000) -> Iterator[Paragraph]:
    """Group the lines of a file into paragraphs, holding about *limit* characters at a time.

    A longer paragraph is cut after a line that ends a sentence, or after any line at twice that.
    """
    held: list[str] = []
    size = 0
    first = 1
    for lineno, line in enumerate(lines, start=1):
        if line.strip():
            if not held:
                first = lineno
            held.append(line)
            size += len(line)
            ended = line.rstrip().rstrip(_CLOSERS)[-1:] in set(".!?…。！？؟")
            if size < limit or not (ended or size >= 2 * limit):
                continue
        if held:
            yield Paragraph(first, "".join(held))
            held, size = [], 0
    if held:
        yield Paragraph(first, "".join(held))


def _sentence_spans(paragraph: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _TERMINATOR.finditer(paragraph):
        if match.start() >= start and _ends_sentence(paragraph, match):
            yield from _trimmed(paragraph, start, match.end())
            start = match.end()
    yield from _trimmed(paragraph, start, len(paragraph))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    """Decide whether a terminator is the end of its sentence, from the words around it."""
    if match.group(1) is None:  # 。 and its like always end one
        return True
    opened = _OPENING.match(text, match.end())
    assert opened is not None, "the pattern may match nothing"
    after = text[opened.end() : opened.end() + 12]
    if not after:
        return True
    if after[0].islower() or after[0] in ",;:.!?%)]}":
        return False
    if match.group(1) != ".":
        return True
    left = match.start()
    while left > 0 and left > match.start() - 30 and not text[left - 1].isspace():
        left -= 1
    word = text[left : match.start()].lstrip("\"'“‘«([{")
    numbered = word.isdigit() and left == 0  # "1. First item"
    return not numbered and ends_sentence(word, after)


def ends_sentence(word: str, following: str) -> bool:
    """Say whether a period ends a sentence, between a word and a word with a capital or a number.

    >>> ends_sentence("Mr", "Li"), ends_sentence("etc", "The"), ends_sentence("No", "2")
    (False, True, False)
    """
    folded = word.lower()
    first = re.match(r"[^\W\d_]+", following)
    starts = first is not None and first.group() in _STARTERS
    if len(word) == 1 and word.isupper() and word != "I":
        return False
    if folded in AMBIGUOUS or word.isdigit():
        return not _NUMBERED.match(following)
    if folded in _NATIONS or (are_initials(word) and folded not in TITLES):
        return starts
    return folded not in TITLES and (folded not in ABBREVIATIONS or folded in _LAST or starts)


def chunk(tokens: Sequence[Token], limit: int) -> Iterator[tuple[Token, ...]]:
    """Cut too long a sentence into parts of at most *limit* tokens, where possible at punctuation.

    >>> from transducer.text.tokens import tokenize
    >>> [len(part) for part in chunk(tokenize("a b, c d e f, g"), 4)]
    [3, 4, 2]
    """
    start = 0
    while len(tokens) - start > limit:
        end = start + limit
        for cut in range(end, start + max(1, limit // 2), -1):
            if tokens[cut - 1].form in _CUTS:
                end = cut
                break
        yield tuple(tokens[start:end])
        start = end
    yield tuple(tokens[start:])


_CUTS = frozenset(". ! ? … ... ; : , — – --".split())
