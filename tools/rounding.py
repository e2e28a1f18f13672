"""What rounding the weights costs and saves: ``python tools/rounding.py MODEL GOLD``.

The model is exported with several numbers of bits and parses the same sentences each time. Words/s
are of CPU time; the last row also computes with 8 bits (``transducer parse --int8``).
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import graphconv
from graphconv.cliutil import table
from graphconv.graph import Graph
from transducer.parsing.evaluation import headline
from transducer.parsing.inputs import gold_documents
from transducer.parsing.parser import Transducer
from transducer.storage.cards import model_size
from transducer.storage.checkpoint import WEIGHTS
from transducer.storage.export import export
from transducer.text.annotation import load_annotator

Parsed = tuple[float, float, list[Graph | None]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("gold")
    parser.add_argument("--limit", type=int, default=150, help="sentences; 0 is all")
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument(
        "--bits",
        nargs="+",
        default=["16/16", "8/8", "8/4", "4/4"],
        metavar="N/N",
        help="bits of the weights / of what tuning changed in the contextual encoder",
    )
    arguments = parser.parse_args()
    loaded = Transducer.load(arguments.model, "cpu")
    graphs = graphconv.read(arguments.gold, framework=loaded.task.name)
    gold = list(itertools.islice(graphs, arguments.limit or None))
    f1, speed, before = parse(loaded, gold, arguments.beam)
    rows: list[tuple[object, ...]] = [("weights", "MB", "F1", "words/s", "same graphs")]
    trained = (arguments.model / WEIGHTS).stat().st_size
    rows.append(("as trained", trained / 1e6, f1, round(speed), len(gold)))
    with tempfile.TemporaryDirectory() as name:
        for bits in arguments.bits:
            own, tuned = map(int, bits.split("/"))
            folder = Path(name) / bits.replace("/", "-")
            export(arguments.model, folder, bits=own, tuned_bits=tuned)
            for int8 in (False, True) if bits == "8/8" else (False,):
                label = f"{bits} bits" + (", --int8" if int8 else "")
                found = parse(Transducer.load(folder, "cpu"), gold, arguments.beam, int8=int8)
                rows.append((label, model_size(folder) / 1e6, *compared(found, before)))
    print(table(rows))


def parse(loaded: Transducer, gold: Sequence[Graph], beam: int, *, int8: bool = False) -> Parsed:
    """Return F1, words per second of CPU time, and the graphs."""
    config = loaded.task.config
    documents = list(gold_documents(loaded.task, gold, load_annotator(config.train.annotator)))
    settings = replace(config.decode, beam=beam, nbest=1, int8=int8)
    words = sum(len(s.tokens) for document in documents for s in document.sentences)
    list(loaded.stream(documents[:1], settings))  # loads the contextual encoder, rounds for int8
    started = time.process_time()
    graphs = [found.graph for found in loaded.stream(documents, settings)]
    seconds = time.process_time() - started
    return headline(gold, graphs).f1, words / seconds, graphs


def compared(found: Parsed, before: Sequence[Graph | None]) -> tuple[object, ...]:
    """Return F1, words per second, and how many graphs are as before."""
    f1, speed, graphs = found
    return f1, round(speed), sum(a == b for a, b in zip(graphs, before, strict=True))


if __name__ == "__main__":
    main()
