"""PropBank's facts: which rolesets there are, and which words call them.

A file of rolesets has one a line, or it is a table (tab-separated, ``.gz`` or not) whose header
names its columns: ``id`` (``decide-01``) and, if it likes, ``aliases`` (``decide/v;decision/n``)
and ``amr``, which is ``-`` for rolesets that no AMR annotation uses.
"""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from transducer.errors import ConfigError
from transducer.frameworks.amr.senses import stem

_UNUSED = "-"


class Roleset(NamedTuple):
    """A roleset, and the words that call it, lower case, with hyphens for blanks."""

    id: str
    aliases: tuple[str, ...] = ()


def read_rolesets(path: str) -> list[Roleset]:
    """Read a file of rolesets; of those of a stem only the ones that AMR uses, if it uses any."""
    try:
        data = Path(path).read_bytes()
        text = (gzip.decompress(data) if path.endswith(".gz") else data).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ConfigError(f"amr.rolesets: {path}: {error}") from error
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or "\t" not in lines[0]:
        return [Roleset(line.strip()) for line in lines]
    rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    if "id" not in rows[0]:
        raise ConfigError(f"amr.rolesets: {path}, line 1: no column of the table is called id")
    used = {stem(row["id"]) for row in rows if row.get("amr", "") != _UNUSED}
    return [
        Roleset(row["id"], tuple(_words(row.get("aliases") or "")))
        for row in rows
        if row.get("amr", "") != _UNUSED or stem(row["id"]) not in used
    ]


def _words(aliases: str) -> Iterable[str]:
    for alias in aliases.split(";"):
        word = alias.rpartition("/")[0].strip().lower().replace("_", "-")
        if word:
            yield word


def alias_table(rolesets: Iterable[Roleset]) -> dict[str, str]:
    """Map words to the stem of the rolesets that they call; of several the one most alike.

    A word that is itself the stem of a roleset is not in the table.
    """
    rolesets = list(rolesets)
    stems = {stem(roleset.id) for roleset in rolesets}
    called: dict[str, set[str]] = defaultdict(set)
    for roleset in rolesets:
        for word in roleset.aliases:
            if word not in stems:
                called[word].add(stem(roleset.id))
    return {
        word: min(sorted(rolesets), key=lambda roleset: -_common(word, roleset))
        for word, rolesets in sorted(called.items())
    }


def _common(left: str, right: str) -> int:
    return next(
        (n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )
