"""Write the sample corpus that ships with the transducer.

    python tools/sample_grammar.py [-o FOLDER]

The grammar is in ``tools/english``; docs/reference/sample-corpus.md describes it. The files depend
on nothing but the grammar and the seed: writing them again gives the same bytes.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

from english.choice import Choice
from english.export import graphs
from english.phrase import Concept
from english.sentence import Sentence, sentence

from graphconv import Graph, write

SEED = 2019
SIZES = {"train": 1000, "dev": 100, "test": 100}
SHORTEST, LONGEST = 4, 25
FOLDER = Path(__file__).parent.parent / "packages/transducer/src/transducer/sample"

# Pairs of constructions that are joined in the test part alone.
HELDOUT = (
    {"relative", "question"},
    {"negation", "raising"},
    {"object control", "passive"},
    {"particle", "coordination"},
    {"possessor", "ditransitive"},
)
# Of ten test sentences, so many join such a pair.
HELDOUT_SHARE = 3

# A UCCA file in XML holds one passage; relation sequences say all of it in one small file.
_FORMATS = {"amr": "amr", "dm": "sdp", "ucca": "relations"}
_SUFFIXES = {"amr": "amr", "dm": "dm.sdp", "ucca": "ucca.jsonl"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the sample corpus.")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, metavar="FOLDER")
    folder: Path = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    for name, examples in corpus().items():
        for framework, file_format in _FORMATS.items():
            path = folder / f"{name}.{_SUFFIXES[framework]}.gz"
            write((example[framework] for example in examples), path, format=file_format)


def corpus() -> dict[str, list[dict[str, Graph]]]:
    """Return the graphs of every part, for each framework."""
    rng = random.Random(SEED)
    seen: set[str] = set()
    result = {}
    for part, size in SIZES.items():
        stream = _sentences(rng, seen, part == "test")
        result[part] = [graphs(next(stream), f"{part}-{i:04}") for i in range(1, size + 1)]
    return result


def _sentences(rng: random.Random, seen: set[str], test: bool) -> Iterator[Sentence]:
    """Yield sentences that are new, of a good length, and without accidental coreference."""
    count = 0
    while True:
        choice = Choice(rng, heldout=test)
        example = sentence(choice)
        text = " ".join(word.form for word in example.words)
        length = len(example.words)
        if text in seen or not SHORTEST <= length <= LONGEST or _ambiguous(example):
            continue
        if any(pair <= choice.used for pair in HELDOUT) != (test and count % 10 < HELDOUT_SHARE):
            continue
        seen.add(text)
        count += 1
        yield example


def _ambiguous(example: Sentence) -> bool:
    """Say whether a noun stands twice, or a pronoun could mean somebody mentioned before it."""
    names = [word.lemma for word in example.words if word.pos in ("NN", "NNS", "NNP")]
    if len(set(names)) < len(names):
        return True
    referents = 0
    for word in example.words:
        third = word.pos == "PRP" and word.lemma in ("he", "she", "they")
        if third and referents > (word.form.lower() != word.lemma):
            return True
        referents += word.sense in ("n", "named")
    concepts: dict[int, Concept] = {id(example.amr): example.amr}
    stack = [example.amr]
    while stack:
        for _, target in stack.pop().roles:
            if isinstance(target, Concept) and id(target) not in concepts:
                concepts[id(target)] = target
                stack.append(target)
    labels = [
        c.label for c in concepts.values() if c.label in ("i", "we", "you", "he", "she", "they")
    ]
    return len(set(labels)) < len(labels)


if __name__ == "__main__":
    main()
