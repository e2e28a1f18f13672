"""What parsing to several frameworks together costs, against one after the other.

    python tools/measure_together.py TEXT [--sentences 100]

Prints processor seconds: they ignore what else the machine does.
"""

from __future__ import annotations

import argparse
import time
from itertools import islice
from pathlib import Path

import transducer

TASKS = ("amr", "dm", "ucca")


def seconds(tasks: tuple[str, ...], texts: list[str]) -> tuple[float, float]:
    """Return what loading and what parsing cost."""
    start = time.process_time()
    nlp = transducer.load(*tasks, device="cpu")
    nlp(texts[0])  # the encoder is loaded when it is needed
    loaded = time.process_time()
    for _ in nlp.pipe(texts):
        pass
    return loaded - start, time.process_time() - loaded


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("text")
    parser.add_argument("--sentences", type=int, default=100)
    arguments = parser.parse_args()
    with Path(arguments.text).open(encoding="utf-8") as file:
        texts = [line.strip() for line in islice(filter(str.strip, file), arguments.sentences)]
    seconds(TASKS, texts[:2])  # imports, and what PyTorch prepares once
    alone = [seconds((task,), texts) for task in TASKS]
    together = seconds(TASKS, texts)
    print(f"{len(texts)} sentences, processor seconds: loading and parsing")
    for task, (load, parse) in zip(TASKS, alone, strict=True):
        print(f"{task:9} {load:6.1f} {parse:7.1f}")
    print(f"{'sum':9} {sum(a for a, _ in alone):6.1f} {sum(b for _, b in alone):7.1f}")
    print(f"{'together':9} {together[0]:6.1f} {together[1]:7.1f}")


if __name__ == "__main__":
    main()
