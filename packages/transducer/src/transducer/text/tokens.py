"""From a sentence to its tokens: rules only, no model, character offsets kept.

Tokens follow the Penn Treebank as its newer releases and the AMR, UCCA and DM treebanks do it:
contractions and possessives are cut (``do n't``, ``prince 's``), hyphenated words too.

>>> [token.form for token in tokenize("Mr. Li didn't sell the best-selling $100 U.S. book.")]
['Mr.', 'Li', 'did', "n't", 'sell', 'the', 'best', '-', 'selling', '$', '100', 'U.S.', 'book', '.']

Laws: ``sentence[start:end] == form`` for each span; spans are in order and disjoint; what they
leave out is white space and control characters; the cost is linear, whatever the text holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from graphconv.graph import Token
from transducer.text.abbreviations import ABBREVIATIONS, AMBIGUOUS, are_initials

# Never part of a token: they mean nothing, and XML and column formats cannot hold most of them.
# White space, control characters, surrogates, byte order marks, zero-width space, bidi marks.
SEPARATOR = (
    r"\s\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff"
    r"\ud800-\udfff"
)
_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_EMOJI = r"\u2190-\u2bff\U0001f000-\U0001faff"
_JOINERS = r"\u200d\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
# What is no separator, Han, emoji or punctuation is a word character: this includes the combining
# marks of every script, which ``\w`` does not.
_PUNCTUATION = (
    r"!-/:-@\[-\^`{-~\u00a1-\u00a9\u00ab\u00ac\u00ae-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7"
    r"\u055d\u0589\u05be\u05c0\u05c3\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965"
    r"\u2010-\u2027\u2030-\u205e\u20a0-\u20cf\u3000-\u3004\u3008-\u3020\u3030\u30fb\uff01-\uff0f\uff1a-\uff20"
    r"\uff3b-\uff40\uff5b-\uff65\uffe0-\uffee"
)
_WORD = rf"[^{SEPARATOR}{_HAN}{_EMOJI}{_JOINERS}{_PUNCTUATION}]"
_END = rf"(?!{_WORD})"
_QUOTE = "['’]"

_CHUNK = re.compile(rf"[^{SEPARATOR}]+")
_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://|www\.)[^<>\"“”]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.IGNORECASE
)
_PIECE = re.compile(
    rf"""
    (?P<markup></?[A-Za-z]\w{{0,20}}[ ]?/?>)
    | (?P<ellipsis>\.\.+|…)
    | (?P<dash>--+)
    | (?P<quotes>``|'')
    | (?P<acronym>(?:[^\W\d_]\.){{2,}}(?![^\W\d_]{{2}}))
    | (?P<year>'\d\ds?{_END})
    | (?P<clitic>{_QUOTE}(?:s|m|d|re|ve|ll){_END}|n{_QUOTE}t{_END})
    | (?P<negated>{_WORD}+?(?=n{_QUOTE}t{_END}))
    | (?P<currency>[A-Z]{{1,3}}\$)
    | (?P<number>\d+(?:[.,:]\d+)+|\d{{4}}-\d\d?-\d\d?(?!\d))
    | (?P<handle>@{_WORD}+)
    | (?P<word>{_WORD}+)(?P<plus>\+\+)?
    | (?P<emoji>[{_EMOJI}](?:[{_JOINERS}]|(?<=\u200d)[{_EMOJI}])*)
    | (?P<other>[^{SEPARATOR}])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WORDLIKE = frozenset({"word", "plus", "negated", "number", "acronym"})
_CLITIC = re.compile(rf"{_QUOTE}(?:s|m|d|re|ve|ll){_END}", re.IGNORECASE)
_WORDS = re.compile(rf"{_WORD}+")
_LETTER = re.compile(r"[^\W\d_]")

_AFTER_ADDRESS = "\"'”’»)]},;:!?.…"
_AFTER_ABBREVIATION = "\"'”’»)]}›」』】）,;:?!-–—"


class _Chunk(NamedTuple):
    """A part of a text without white space, and what is needed to cut it."""

    text: str
    start: int
    end: int
    following: str
    """The first character of the next chunk."""
    split_hyphens: bool


def tokenize(sentence: str, *, split_hyphens: bool = True) -> tuple[Token, ...]:
    """Cut one sentence into tokens with their character spans."""
    spans = [match.span() for match in _CHUNK.finditer(sentence)]
    tokens: list[Token] = []
    for number, (start, end) in enumerate(spans, start=1):
        following = sentence[spans[number][0]] if number < len(spans) else ""
        for span in _pieces(_Chunk(sentence, start, end, following, split_hyphens)):
            tokens.append(Token(sentence[span[0] : span[1]], span=span))
    return tuple(tokens)


def clean(text: str) -> str:
    r"""Return the text with single blanks for white space and for what no token can hold.

    >>> clean(" a\tb\x00c \ufeff\n")
    'a b c'
    """
    return " ".join(_CHUNK.findall(text))


def _pieces(chunk: _Chunk) -> Iterator[tuple[int, int]]:
    """Yield the spans of the tokens in a chunk."""
    start = _address_end(chunk)
    if start > chunk.start:
        yield chunk.start, start
    held: tuple[int, int] | None = None  # the word so far, which the next piece may continue
    for match in _PIECE.finditer(chunk.text, start, chunk.end):
        left, right = match.span()
        is_word = match.lastgroup in _WORDLIKE
        if held is not None and (
            (is_word and match.lastgroup != "acronym")
            or (right - left == 1 and _belongs(chunk, held[0], left))
        ):
            held = (held[0], right)
            continue
        if held is not None:
            yield held
        held = (left, right) if is_word else None
        if not is_word:
            yield left, right
    if held is not None:
        yield from _last_period_apart(chunk, held)


def _last_period_apart(chunk: _Chunk, word: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield a word; the period after initials that end the sentence on its own (``p.m .``)."""
    start, end = word
    if chunk.following or not (end - start > 1 and chunk.text[end - 1] == "."):
        yield word
        return
    yield start, end - 1
    yield end - 1, end


def _address_end(chunk: _Chunk) -> int:
    """Return where a URL or mail address that starts the chunk ends, or the start of the chunk."""
    stop = chunk.end
    while stop > chunk.start and chunk.text[stop - 1] in _AFTER_ADDRESS:
        stop -= 1
    return stop if _ADDRESS.fullmatch(chunk.text, chunk.start, stop) else chunk.start


def _belongs(chunk: _Chunk, start: int, left: int) -> bool:
    """Say whether the mark at *left* belongs to the word before it, which begins at *start*."""
    text, right = chunk.text, left + 1
    if right < chunk.end and _WORDS.match(text, right, chunk.end):
        return _joins(chunk, start, left)
    if text[left] != "." or (right < chunk.end and text[right] not in _AFTER_ABBREVIATION):
        return False
    after = text[right] if right < chunk.end else chunk.following
    return _is_abbreviation(text[start:left], after)


def _joins(chunk: _Chunk, start: int, left: int) -> bool:
    """Say whether the mark at *left* stands inside one word, as in ``O'Neill``, ``a.out``."""
    text = chunk.text
    before, mark, after = text[left - 1], text[left], text[left + 1]
    if mark == ".":
        # "end.Next" is a missing space, "OpenOffice.org" and "v1.x" are not.
        return not (before.islower() and after.isupper() and text[left + 2 : left + 3].islower())
    if mark in _QUOTE[1:-1]:
        return _LETTER.match(before) is not None and not _CLITIC.match(text, left, chunk.end)
    if mark == "&":
        return before.isupper() and after.isupper() and left - start <= 2
    return mark in "-\u2010\u2011" and not chunk.split_hyphens


def _is_abbreviation(word: str, following: str) -> bool:
    """Say whether a period after the word belongs to it, given the first character that follows."""
    folded = word.lower()
    if not following:
        return False  # as in the treebanks: the last period of a sentence stands alone ("etc .")
    if are_initials(word) or (len(word) == 1 and word.isalpha() and word.isupper()):
        return True
    if folded in AMBIGUOUS or (len(word) == 1 and word.isalpha()):  # "no. 5", "p. 12"
        return following.islower() or following.isdigit()
    if folded in ABBREVIATIONS:
        return True
    return following.islower() and word[-1:].isalpha() and len(word) <= 6


def given_tokens(
    sentence: str | Sequence[str | Token], *, tokenized: bool
) -> tuple[tuple[Token, ...], str]:
    """Return the tokens of a sentence, and its text where that is known."""
    if isinstance(sentence, str):
        if tokenized:
            return tuple(Token(form) for form in clean(sentence).split()), sentence
        return tokenize(sentence), sentence
    if not isinstance(sentence, Iterable):
        raise TypeError(
            f"a sentence is a string or a list of tokens, not {type(sentence).__name__}"
        )
    tokens = []
    for token in sentence:
        if not isinstance(token, str | Token):
            raise TypeError(f"a token is a string, not {type(token).__name__}")
        tokens.append(Token(token) if isinstance(token, str) else token)
    return tuple(tokens), " ".join(token.form for token in tokens)
