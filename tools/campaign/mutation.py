"""Files of every format, and ways to damage them: bytes, lines, tokens and structure.

>>> in_bytes(b"(a / b)", random.Random(1)) == in_bytes(b"(a / b)", random.Random(1))
True
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from graphconv import check, io
from graphconv.codecs import Block, arborescence, mrp, relations
from graphconv.conversion import to_arborescence
from graphconv.errors import FormatError

Mutation = Callable[[bytes, random.Random], bytes]

_ODD = [
    *(b"\x00", b"\xff", b"\x1b[31m", b"\xed\xa0\x80", "\u202e".encode(), b"\r", b"\t", b"\\"),
    *(b'"', b"(", b")", b"<", b"&", b"#", b"::id", b"null", b"[]", b"{}"),
    *(b"-1", b"0", b"9" * 4400, b"1e999", b"NaN"),
]
_TOKEN = re.compile(rb"[\w.]+|[^\w\s]")


# What our own writers never write, and what side records therefore have to keep.
_UNUSUAL = """{"id": "1", "flavor": 0, "framework": "dm", "version": 1.0, "time": "2019-08-06",
"source": ["a"], "input": "I go.", "tops": [1], "nodes": [{"id": 0, "label": "I", "odd": 3,
"anchors": [{"from": 0, "to": 1}, {"from": 0, "to": 0}]}, {"id": 1, "label": "go",
"anchors": [{"from": 2, "to": 4}]}],
"edges": [{"source": 1, "target": 0, "label": "ARG1", "odd": [1]}]}"""
# Of a framework that has only MRP; the sample has none of it.
_OTHER = """{"id": "1", "flavor": 1, "framework": "%s", "version": 1.1, "time": "2020-04-01",
"input": "Dogs bark.", "tops": [1], "nodes": [{"id": 0, "label": "_dog_n_1",
"properties": ["num"], "values": ["pl"], "anchors": [{"from": 0, "to": 4}]},
{"id": 1, "label": "_bark_v_1", "anchors": [{"from": 5, "to": 10}]}],
"edges": [{"source": 1, "target": 0, "label": "ARG1"}]}"""


@cache
def seeds() -> dict[str, bytes]:
    """Return files of each format and framework, most of them made from the bundled sample."""
    found: dict[str, bytes] = {}
    for path in map(Path, check.sample_paths()):
        for file in sorted(path.iterdir())[:1] if path.is_dir() else [path]:
            graphs = list(io.read(file))[:3]
            trees = [to_arborescence(graph) for graph in graphs]
            kind = graphs[0].framework
            found[f"{kind}{file.suffix}"] = b"".join(
                [io.dumps([graph]).encode() for graph in graphs[: 1 if kind == "ucca" else 3]]
            )
            found[f"{kind}.mrp"] = "".join(map(mrp.format, graphs)).encode()
            found[f"{kind}.jsonl"] = "".join(map(arborescence.format, trees)).encode()
            found[f"{kind}.tsv"] = "".join(map(relations.format_tsv, trees)).encode()
            for more in ("graphml", "conllu"):
                with suppress(FormatError):  # CoNLL-U has no place for AMR and UCCA
                    found[f"{kind}.{more}"] = io.dumps(graphs, more).encode()
    records = {"unusual": _UNUSUAL, **{name: _OTHER % name for name in ("eds", "ptg", "drg")}}
    for name, record in records.items():
        graph = mrp.parse(Block(record.replace("\n", " "), name, 1))
        found[f"{name}.mrp"] = mrp.format(graph).encode()
        found[f"{name}.jsonl"] = arborescence.format(to_arborescence(graph)).encode()
    return found


def in_bytes(data: bytes, rng: random.Random) -> bytes:
    """Replace, drop or insert a few bytes."""
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(data) + 1)
        data = (
            data[:place]
            + rng.choice([b"", bytes([rng.randrange(256)]), rng.choice(_ODD)])
            + (data[place + rng.randint(0, 3) :])
        )
    return data


def in_lines(data: bytes, rng: random.Random) -> bytes:
    """Drop, repeat, exchange or cut lines."""
    lines = data.splitlines(keepends=True)
    one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
    change = rng.randrange(4)
    if change == 0:
        del lines[one]
    elif change == 1:
        lines.insert(two, lines[one])
    elif change == 2:
        lines[one], lines[two] = lines[two], lines[one]
    else:
        lines[one] = lines[one][: rng.randrange(len(lines[one]) + 1)]
    return b"".join(lines)


def in_tokens(data: bytes, rng: random.Random) -> bytes:
    """Replace a token by another one of the file, or by something odd."""
    tokens = list(_TOKEN.finditer(data))
    for _ in range(rng.randint(1, 2)):
        place = rng.choice(tokens)
        new = rng.choice([rng.choice(tokens)[0], rng.choice(_ODD)])
        data = data[: place.start()] + new + data[place.end() :]
        tokens = list(_TOKEN.finditer(data)) or tokens
    return data


def in_structure(data: bytes, rng: random.Random) -> bytes:
    """Change a value somewhere inside a JSON record; other formats: move a part of the text."""
    if data.startswith(b"{"):
        lines = data.splitlines()
        number = rng.randrange(len(lines))
        record = json.loads(lines[number])
        found = list(places(record))
        holder, key = rng.choice(found)
        other, from_ = rng.choice(found)
        holder[key] = rng.choice([odd_value(rng), other[from_]])
        try:
            lines[number] = json.dumps(record).encode()
        except (ValueError, RecursionError):  # it holds itself
            return data
        return b"\n".join(lines) + b"\n"
    start, end = sorted(rng.sample(range(len(data)), 2))
    part = data[start : min(end, start + 200)]
    place = rng.randrange(len(data))
    return data[:place] + part + data[place:]


def odd_value(rng: random.Random) -> Any:
    """Return something that a field of JSON is seldom made for."""
    odd: list[Any] = [None, -1, 0, 10**9, 10**18, 1e300, "", "x", "../x", "\ud800", "a\nb", [], {}]
    return rng.choice([*odd, True, [["a", 1]], {"a": {"b": 1}}, "9" * 5000, [0] * 3000])


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place inside a JSON value: what holds it, and the key or position there."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


MUTATIONS: tuple[Mutation, ...] = (in_bytes, in_lines, in_tokens, in_structure)
