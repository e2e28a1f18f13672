"""Attack the commands for ten minutes: ``python tools/attack.py --seconds 600 --seed 7``.

Most attacks are damaged files, run in worker processes that are forked once; some are sudden ends
of real processes, some are model folders from a stranger. Each depends on the seed and its number
alone, so that ``--first 123 --inputs 1`` repeats one.

>>> campaign(inputs=3, seed=1, jobs=1)["unexplained"]
[]
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from campaign import ends, files, models

_ENDS, _MODELS = 0.01, 0.02
"""The shares of sudden ends and of model folders."""


def campaign(
    inputs: int = 10**9,
    seconds: float = math.inf,
    seed: int = 0,
    *,
    first: int = 0,
    jobs: int = 2,
    parts: tuple[str, ...] = ("files",),
) -> dict[str, Any]:
    """Attack until one of the limits; return the counts, and what could not be explained."""
    started = time.monotonic()
    work = partial(_attacks, end=started + seconds, seed=seed, parts=parts)
    numbers = range(first, first + inputs)
    shares = [numbers[worker::jobs] for worker in range(jobs)]
    if jobs == 1:
        done = [work(numbers)]
    else:
        with multiprocessing.get_context("fork").Pool(jobs) as pool:
            done = pool.map(work, shares, chunksize=1)
            pool.close()
            pool.join()  # so that their CPU seconds are known
    counts = sum((more for more, _ in done), Counter[str]())
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        **dict(sorted(counts.items())),
        "seconds": round(time.monotonic() - started, 1),
        "CPU seconds": round(sum(each.ru_utime + each.ru_stime for each in used), 1),
        "unexplained": [each for _, found in done for each in found],
    }


def _attacks(
    numbers: range, *, end: float, seed: int, parts: tuple[str, ...]
) -> tuple[Counter[str], list[dict[str, Any]]]:
    """Do the attacks of one worker."""
    counts: Counter[str] = Counter()
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            if time.monotonic() > end:
                break
            drawn = random.Random(f"{seed}:{number}:part").random()
            attack = files.attack
            if drawn < _ENDS and "ends" in parts:
                attack = ends.attack
            elif _ENDS <= drawn < _ENDS + _MODELS and "models" in parts:
                attack = models.attack
            counts["inputs"] += 1
            place = Path(folder) / attack.__module__.rpartition(".")[2]
            place.mkdir(exist_ok=True)
            found += attack(place, number, seed, counts)
    return counts, found


def main() -> None:
    """Run a campaign and print what it found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number to begin with")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--parts", default="files,ends,models")
    given = parser.parse_args()
    parts = (*given.parts.split(","),)
    found = campaign(
        given.inputs, given.seconds, given.seed, first=given.first, jobs=given.jobs, parts=parts
    )
    json.dump(found, sys.stdout, indent=2)
    print()
    sys.exit(bool(found["unexplained"]))


if __name__ == "__main__":
    main()
