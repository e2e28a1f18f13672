import textwrap
import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transducer.text.lines import Lines, guess_lines
from transducer.text.sentences import (
    chunk,
    read_paragraphs,
    split_paragraphs,
    split_sentences,
)
from transducer.text.tokens import tokenize

TOKENS = {
    "He said: “I don't know.”": "He said : “ I do n't know . ”",
    "The dogs' owner can't pay $1,000.50!": "The dogs ' owner ca n't pay $ 1,000.50 !",
    "Prof. J. R. Li (b. 1950) left at 5:30 p.m. on Monday.": (
        "Prof. J. R. Li ( b. 1950 ) left at 5:30 p.m. on Monday ."
    ),
    "best-selling, PI3K/Akt; 5-10%": "best - selling , PI3K / Akt ; 5 - 10 %",
    "See http://a.org/b,c?d=e. Mail me@x.co.uk!": "See http://a.org/b,c?d=e . Mail me@x.co.uk !",
    "<i>KRAS</i> in OpenOffice.org 2.x and C++": "<i> KRAS </i> in OpenOffice.org 2.x and C++",
    "Wait... what?! end.Next": "Wait ... what ? ! end . Next",
    "O'Neill's l’homme o'clock AT&T": "O'Neill 's l’homme o'clock AT&T",
    "books, etc.": "books , etc .",
    "The U.S. closes at 5 p.m.": "The U.S. closes at 5 p.m .",
    "24/7 since 10/05/01": "24 / 7 since 10 / 05 / 01",
    "apples, pears, etc., and U.S. laws": "apples , pears , etc. , and U.S. laws",
    "On 2012-11-18 '80s music": "On 2012-11-18 '80s music",
}


@pytest.mark.parametrize(("text", "expected"), TOKENS.items())
def test_tokens(text: str, expected: Any) -> None:
    assert [token.form for token in tokenize(text)] == expected.split(" ")


def test_hyphens_can_be_kept() -> None:
    forms = [token.form for token in tokenize("well-known facts - all", split_hyphens=False)]
    assert forms == ["well-known", "facts", "-", "all"]


ODD = {
    "empty": ("", []),
    "blank": (" \t\n ", []),
    "control": ("a\x00b\x1fc\x7f", ["a", "b", "c"]),
    "surrogate": ("a\ud800b", ["a", "b"]),
    "byte order mark": ("\ufeffHello", ["Hello"]),
    "emoji": ("good👍🏽!👩‍👩‍👧", ["good", "👍🏽", "!", "👩‍👩‍👧"]),
    "right to left": ("שלום\u200f, עולם.", ["שלום", ",", "עולם", "."]),
    "Arabic": ("مرحبا، كيف؟", ["مرحبا", "،", "كيف", "؟"]),
    "Devanagari": ("नमस्ते दुनिया।", ["नमस्ते", "दुनिया", "।"]),
    "Chinese": ("我爱你。", ["我", "爱", "你", "。"]),
    "combining": ("cafe\u0301.", ["cafe\u0301", "."]),
    "non-breaking": ("50\u00a0km", ["50", "km"]),
    "only punctuation": ("?!,;", ["?", "!", ",", ";"]),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_text(name: str) -> None:
    text, expected = ODD[name]
    assert [token.form for token in tokenize(text)] == expected


ANY_TEXT = st.text() | st.text(alphabet="aB.'-/:,! \n\"n’t1$@<>&+…\u200d👍我")


@pytest.mark.property
@given(ANY_TEXT)
@example("a.b.c.de ")
@example("n't 's ''")
def test_spans_cover_everything_but_separators(text: str) -> None:
    tokens = tokenize(text)
    end = 0
    for token in tokens:
        assert token.span is not None
        start, stop = token.span
        assert text[start:stop] == token.form
        assert start >= end
        assert token.form
        assert not tokenize(text[end:start])
        end = stop
    assert not tokenize(text[end:])


@pytest.mark.parametrize("text", TOKENS)
def test_cutting_tokens_again_changes_nothing(text: str) -> None:
    once = [token.form for token in tokenize(text)]
    assert [token.form for token in tokenize(" ".join(once))] == once


@pytest.mark.property
@given(ANY_TEXT)
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    end = 0
    for start, sentence in split_sentences(text):
        assert text[start : start + len(sentence)] == sentence
        assert not text[end:start].strip()
        end = start + len(sentence)
    assert not text[end:].strip()


SENTENCES = {
    "A first one. A second one! A third? Yes.": 4,
    "Dr. Smith met Mr. J. R. Li of the U.S. Army.": 1,
    "It was 5 p.m. The end.": 2,
    "He works for Acme Inc. and Co. in D.C. every day.": 1,
    '"Am I not?" the flower responded, sweetly.': 1,
    "A line\nthat goes on\n\nA new paragraph": 2,
    "See No. 5 and Fig. 3. They agree.": 2,
    "It is in Fig. S2 and elsewhere, e.g. The Times, etc. Nobody reads it.": 2,
    "我爱你。你呢？好！": 3,
    "1. First item": 1,
}


@pytest.mark.parametrize(("text", "count"), SENTENCES.items())
def test_sentences(text: str, count: int) -> None:
    assert len(list(split_sentences(text))) == count


def test_paragraphs() -> None:
    text = "one\ntwo\n \n\nthree"
    assert list(split_paragraphs(text)) == [(0, "one\ntwo"), (11, "three")]


def test_paragraphs_of_a_file_have_line_numbers_and_bounded_size() -> None:
    lines = ["\n", "One.\n", "two\n", "\n", "Three.\n", *["Again and again.\n"] * 100]
    found = list(read_paragraphs(lines, limit=200))
    assert found[0] == (2, "One.\ntwo\n")
    assert found[1].lineno == 5
    assert max(len(text) for _, text in found) < 250
    assert "".join(text for _, text in found) == "".join(line for line in lines if line.strip())


def test_chunks_end_at_punctuation() -> None:
    tokens = tokenize("a b c , d e f g h i j k")
    parts = list(chunk(tokens, 6))
    assert tuple(token for part in parts for token in part) == tokens
    assert [len(part) for part in parts] == [4, 6, 2]


def _seconds(text: str) -> float:
    start = time.process_time()
    tokenize(text)
    list(split_sentences(text))
    return time.process_time() - start


@pytest.mark.parametrize(
    "unit",
    ["a", "a.", "don't", "1,", "'", ".", "\ud800 ", "👩‍", "<", "a@", "n'", '"(', "a-", "!? "],
)
def test_cost_is_linear(unit: str) -> None:
    def seconds(count: int) -> float:
        text = unit * count
        return min(_seconds(text) for _ in range(3))  # the least disturbed of three

    seconds(1000)
    # Quadratic cost would make the second 64 times as long as the first.
    assert seconds(40_000) < 30 * max(seconds(5_000), 0.005)


# Lines -------------------------------------------------------------------------------------------

STORY = " ".join(
    """The farmer who lives behind the hill sold two of his three horses on Monday. His daughter had
    asked him to wait until the spring, but the winter was long and the hay was gone. In the end
    he said: money comes and goes, and so do horses. Neither of them spoke on the way home. A week
    later the mare that was left opened the gate by herself, walked nine miles through the snow,
    and stood before the new stable at dawn. They bought the others back for half the price.
    """.split()
)


def sentences_of(text: str) -> list[str]:
    return [sentence for _, sentence in split_sentences(text)]


@pytest.mark.parametrize("width", [40, 60, 72, 100])
@pytest.mark.parametrize("change", [str, str.lower, str.upper], ids=["cased", "lower", "upper"])
def test_wrapped_lines_are_joined(change: Any, width: int) -> None:
    text = textwrap.fill(change(STORY), width)
    assert guess_lines(text) is Lines.WRAPPED
    assert guess_lines(text.replace("\n", "\r\n")) is Lines.WRAPPED
    assert guess_lines(f"{text}\n\n{text}") is Lines.WRAPPED


@pytest.mark.parametrize("change", [str, str.lower, str.upper], ids=["cased", "lower", "upper"])
def test_lines_without_periods_are_sentences(change: Any) -> None:
    lines = [change(sentence).rstrip(".") for sentence in sentences_of(STORY)]
    assert guess_lines("\n".join(lines)) is Lines.SENTENCES
    lines[2] += "."  # some have one
    assert guess_lines("\n".join(lines)) is Lines.SENTENCES
    # Blank lines between all of them: there is nothing to join.
    assert guess_lines("\n\n".join(lines)) is Lines.EITHER


LAYOUTS = {
    "one title among sentences": ("A dog barks.\nThe jungle\nIt is deep.\nHe left.", "sentences"),
    "a line per clause": ("The boy wants to go,\nbut he cannot.\nThe dog\nbarks.", "wrapped"),
    "a paragraph a line": ("A dog barks. It is old.\nThe boy left. He ran.", "either"),
    "two short lines": ("The boy goes\nThe girl sleeps", "sentences"),
    "quotes": ('"Go!"\n"Why?" he asked.\n(He left.)', "either"),
    "one line": ("no end", "either"),
    "nothing": ("", "either"),
    "blank": (" \n\n ", "either"),
    "Chinese": ("我爱你。\n你爱我。", "either"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name: str) -> None:
    text, expected = LAYOUTS[name]
    assert guess_lines(text).value == expected
