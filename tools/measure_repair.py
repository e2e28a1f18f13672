"""What of a broken graph survives its repair: Smatch of mended graphs against the originals.

    python tools/measure_repair.py FOLDER-OF-AMR-FILES [--graphs 10000] [--seed 0]

Each graph is broken in one way that parsers and language models break graphs; then `graphconv
repair` mends it, and Smatch compares it with the graph before. Beside it: the share of broken
graphs that can be read as they are, and what two simple ways keep: brackets that are
balanced at the end (a dummy graph if that is still unreadable), and a dummy graph at once.
"""

from __future__ import annotations

import argparse
import gzip
import logging
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from evaltools import smatch
from graphconv import Graph, GraphconvError, repair
from graphconv.codecs import Block, amr

_DUMMY = "(d / dummy)"


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text) // 3, len(text))]


def _remove(characters: str) -> Callable[[str, random.Random], str]:
    def mutation(text: str, chance: random.Random) -> str:
        places = [i for i, character in enumerate(text) if character in characters]
        place = chance.choice(places) if places else len(text) - 1
        return text[:place] + text[place + 1 :]

    return mutation


def _add(characters: str) -> Callable[[str, random.Random], str]:
    def mutation(text: str, chance: random.Random) -> str:
        place = chance.choice([i for i, character in enumerate(text) if character in " \n)"])
        return text[:place] + chance.choice(characters) + text[place:]

    return mutation


def _same_variable(text: str, chance: random.Random) -> str:
    names = [part.split()[0] for part in text.split("(")[1:]]
    if len(names) < 2:
        return _cut(text, chance)
    old, new = chance.sample(names, 2)
    return text.replace(f"({old} ", f"({new} ", 1)


def _one_line(mutation: Callable[[str, random.Random], str]) -> Callable[[str, random.Random], str]:
    return lambda text, chance: mutation(" ".join(text.split()), chance)


MUTATIONS: dict[str, Callable[[str, random.Random], str]] = {
    "cut off": _cut,
    "a ) too few": _remove(")"),
    "a ) too few, in one line": _one_line(_remove(")")),
    "a ( too few": _remove("("),
    "a quote too few": _remove('"'),
    "a colon too few": _remove(":"),
    "a slash too few": _remove("/"),
    "a ) too many": _add(")"),
    "a ( too many": _add("("),
    "a quote too many": _add('"'),
    "a variable twice": _same_variable,
    "prose and fences": lambda text, _: f"Here is the graph:\n```\n{text}\n```\nIt is done.",
}


def bodies(folder: Path) -> list[str]:
    """Return the graphs of a folder, without comments."""
    found = []
    for path in sorted(folder.glob("*.amr*")):
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        for block in amr.blocks(text.split("\n"), path.name):
            lines = [line for line in block.text.split("\n") if not line.startswith("#")]
            found.append("\n".join(lines).strip())
    return found


def read(text: str) -> Graph | None:
    """Return the one graph of a text, or None if it is broken."""
    try:
        blocks = list(amr.blocks(text.split("\n"), "text"))
        return amr.parse(blocks[0]) if len(blocks) == 1 else None
    except GraphconvError:
        return None


def balanced(text: str) -> str:
    """Return *text* with as many brackets closed as opened."""
    missing = text.count("(") - text.count(")")
    return text + ")" * missing if missing >= 0 else text[:missing]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure graphconv repair.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--graphs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    texts = bodies(options.folder)
    chance = random.Random(options.seed)
    dummy = amr.parse(Block(_DUMMY, "dummy", 1))
    rows: dict[str, list[tuple[bool, float, float, float, int]]] = defaultdict(list)
    spent = 0.0
    while sum(map(len, rows.values())) < options.graphs:
        text = chance.choice(texts)
        gold = read(text)
        if gold is None:
            continue
        name = chance.choice(list(MUTATIONS))
        broken = MUTATIONS[name](text, chance)
        if broken == text:
            continue
        start = time.process_time()
        result = repair(broken)
        spent += time.process_time() - start
        mended = amr.parse(next(iter(amr.blocks(result.text.split("\n"), "text"))))
        simple = read(balanced(broken))
        first, second, third = (
            smatch.score([gold], [pred]).main.f1
            for pred in (mended, simple or dummy, read(broken) or dummy)
        )
        is_readable = read(broken) is not None
        rows[name].append((is_readable, first, second, third, len(result.edits)))
    report(rows)
    count = sum(map(len, rows.values()))
    print(f"{count:,} graphs, {1000 * spent / count:.1f} ms each", file=sys.stderr)


def report(rows: dict[str, list[tuple[bool, float, float, float, int]]]) -> None:
    print("| broken by | graphs | readable | repair | balanced | dummy | edits |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    everything = [row for found in rows.values() for row in found]
    for name, found in [
        *((name, rows[name]) for name in MUTATIONS if name in rows),
        ("all", everything),
    ]:
        mean = [sum(column) / len(found) for column in zip(*found, strict=True)]
        print(
            f"| {name} | {len(found):,} | {100 * mean[0]:.1f} % | {mean[1]:.2f} | {mean[2]:.2f} "
            f"| {mean[3]:.2f} | {mean[4]:.2f} |"
        )


if __name__ == "__main__":
    main()
