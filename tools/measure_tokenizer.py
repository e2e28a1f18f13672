"""Measure the built-in tokeniser against a treebank's own tokens.

    python tools/measure_tokenizer.py FILE_OR_FOLDER...

The treebank's tokens are written as ordinary text (no space before a comma, ...), cut again, and
the spans compared over the characters that are not white space. Prints per file: tokens,
precision, recall and F1 of token spans and the share of sentences cut exactly; precision, recall
and F1 of sentence ends, in texts made of ten sentences each that end with a final mark (a heading
ends with its line, which no rule need know); and, with ``--errors``, what differs most.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from xml.etree import ElementTree

from transducer.text.sentences import split_sentences
from transducer.text.tokens import tokenize

_NO_SPACE_BEFORE = re.compile(r"[,.;:!?)\]}%”’…]+|['’](s|m|d|re|ve|ll)?|n['’]t", re.IGNORECASE)
_NO_SPACE_AFTER = frozenset("( [ { $ £ # “ ‘ US$ ``".split())
_GLUE = frozenset("- – /".split())  # no space on either side
_FINAL = re.compile(r"[.!?…][\"'”’)\]]*$")
_TOGETHER = 10


def read_tokens(path: Path) -> Iterator[list[str]]:
    """Yield the tokens of each sentence of an SDP, UCCA or tokenised AMR file."""
    if path.is_dir():
        for name in sorted(path.glob("*.xml")):
            layer = ElementTree.parse(name).find("layer[@layerID='0']")
            if layer is not None:
                yield [str(node.get("text")) for node in layer.iterfind("node/attributes")]
        return
    with path.open(encoding="utf-8") as lines:
        if path.suffix == ".amr":
            for line in lines:
                if line.startswith(("# ::snt ", "# ::tok ")):
                    yield line.split()[2:]
            return
        held: list[str] = []
        for line in lines:
            columns = line.rstrip("\n").split("\t")
            if len(columns) > 1:
                # WeScience marks italics inside its tokens, which no raw text has.
                form = columns[1].replace("⌊/", "").replace("/⌋", "")
                held += [form] if form else []
            elif held:
                yield held
                held = []
        if held:
            yield held


def detokenize(tokens: Sequence[str]) -> str:
    """Write tokens as text is written; straight quotes open and close in turn."""
    text = ""
    quotes: Counter[str] = Counter()
    glued = True
    for position, token in enumerate(tokens):
        opens = token in ('"', "'") and quotes[token] % 2 == 0
        if (
            token == "'"
            and opens
            and tokens[position - 1 : position][-1:]
            and (tokens[position - 1].endswith("s"))
        ):
            opens = False  # the possessive of a plural
            quotes[token] -= 1
        if token in ('"', "'"):
            quotes[token] += 1
        closes = (token == '"' and not opens) or (
            _NO_SPACE_BEFORE.fullmatch(token) is not None and not (token == "'" and opens)
        )
        if not (glued or closes or (token in _GLUE and position + 1 < len(tokens))):
            text += " "
        text += token
        glued = token in _NO_SPACE_AFTER or token in _GLUE or opens
    return text


def spans(forms: Sequence[str]) -> set[tuple[int, int]]:
    """Return the token spans, counting characters that are not white space."""
    result, start = set(), 0
    for form in forms:
        end = start + len("".join(form.split()))
        result.add((start, end))
        start = end
    return result


def measure(path: Path, errors: Counter[tuple[str, str]]) -> str:
    """Return the line of figures of one file."""
    gold = pred = match = exact = 0
    texts: list[str] = []
    for tokens in read_tokens(path):
        texts.append(detokenize(tokens))
        forms = [token.form for token in tokenize(texts[-1])]
        left, right = spans(tokens), spans(forms)
        gold, pred, match = gold + len(left), pred + len(right), match + len(left & right)
        exact += left == right
        joined = "".join("".join(tokens).split())
        for start, end in left - right:
            around = [joined[a:b] for a, b in sorted(right) if a < end and b > start]
            errors[joined[start:end], " ".join(around)] += 1
    return (
        f"{path.name}: {gold} tokens, {rates(gold, pred, match)}, "
        f"{exact / max(len(texts), 1):.1%} of {len(texts)} sentences exact; "
        f"sentence ends: {measure_ends([t for t in texts if _FINAL.search(t)], errors)}"
    )


def rates(gold: int, pred: int, match: int) -> str:
    """Return precision, recall and F1."""
    precision, recall = match / max(pred, 1), match / max(gold, 1)
    return f"P {precision:.2%} R {recall:.2%} F1 {2 * match / max(gold + pred, 1):.2%}"


def measure_ends(sentences: Sequence[str], errors: Counter[tuple[str, str]]) -> str:
    """Return how well the sentence splitter finds the ends between sentences of one text."""
    gold = pred = match = 0
    for place in range(0, len(sentences), _TOGETHER):
        some = sentences[place : place + _TOGETHER]
        text = " ".join(some)
        ends = [len(sentence) + 1 for sentence in some[:-1]]
        left = set(accumulate(ends))
        right = {start for start, _ in split_sentences(text)} - {0}
        gold, pred, match = gold + len(left), pred + len(right), match + len(left & right)
        errors.update((text[x - 15 : x], "|" + text[x : x + 15]) for x in left - right)
        errors.update((text[x - 15 : x + 15], "cut in the middle") for x in right - left)
    return f"{gold}, {rates(gold, pred, match)}"


def main() -> None:
    """Measure the files named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--errors", type=int, default=0, help="show this many differences")
    options = parser.parse_args()
    for path in options.paths:
        errors: Counter[tuple[str, str]] = Counter()
        print(measure(path, errors))
        for (expected, found), count in errors.most_common(options.errors):
            print(f"    {count:5} {expected!r} cut as {found!r}")


if __name__ == "__main__":
    main()
