"""Measure speed and memory: ``python tools/bench.py AREA``; ``--help`` lists the areas.

Every figure is a multiple of a floor measured in the same run, because seconds mean little on
another machine. ``--json FILE`` keeps everything, with the versions and the machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from pathlib import Path

from benchmarks import measure

AREAS = (
    *("graphconv", "evaltools", "transducer", "models", "latency", "serve"),
    *("growth", "throughput", "jobs"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    areas = parser.add_subparsers(dest="area", required=True)
    modules = {}
    for name in AREAS:
        if importlib.util.find_spec(f"benchmarks.{name}"):
            modules[name] = importlib.import_module(f"benchmarks.{name}")
            area = areas.add_parser(name, help=(modules[name].__doc__ or "").partition("\n")[0])
            area.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
            modules[name].add_arguments(area)
    arguments = parser.parse_args()
    rows = modules[arguments.area].run(arguments)
    print(getattr(modules[arguments.area], "table", measure.table)(rows))
    if arguments.json:
        record = {"area": arguments.area, **measure.machine(), "rows": [r._asdict() for r in rows]}
        arguments.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
