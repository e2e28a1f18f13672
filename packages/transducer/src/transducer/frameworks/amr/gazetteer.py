"""Well-known names: which types of entity a name has, and which page of Wikipedia.

A file of them has one reading of a name a line, three fields with tabs between them: the name as
text writes it, its type, its page (``-``: it has none). Of several readings of a name the most
frequent one comes first.
"""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from graphconv.graph import Graph
from transducer.errors import ConfigError
from transducer.frameworks.amr.entities import as_text
from transducer.frameworks.amr.structure import names, page_constants

NO_PAGE = "-"
QUOTE = '"'
PERSON = "person"
_FIELDS = 3
_ACRONYM = 3
"""Letters of the longest word that is an abbreviation if it is in capitals."""
_BEFORE = frozenset(
    """Mr Mr. Mrs Mrs. Ms Ms. Dr Dr. Prof. Professor Sir Dame Lord Lady President Senator Sen. Rep.
    Gov. Governor General Gen. Judge Justice Pope Saint St. King Queen Prince Princess
    Emperor U.S. US""".split()
)
"""Words before a name that need not be part of it."""


class Reading(NamedTuple):
    """What a name can be."""

    type: str
    page: str


class Gazetteer:
    """Well-known names and their readings, the most frequent first: type, page, type, page ...

    >>> known = Gazetteer({"James Comey": "person James_Comey"})
    >>> known.readings(["Mr.", "James", "COMEY"])
    [Reading(type='person', page='James_Comey')]
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def __bool__(self) -> bool:
        return bool(self._names)

    def readings(self, words: Sequence[str]) -> list[Reading]:
        """Return what a name can be: also in capitals, or after a title."""
        if len(words) > 1 and words[0] in _BEFORE:
            words = words[1:]
        usual = (w.title() if w.isupper() and len(w) > _ACRONYM else w for w in words)
        found = self._names.get(" ".join(words)) or self._names.get(" ".join(usual), "")
        return _readings(found)

    def page(self, label: str, words: Sequence[str]) -> str | None:
        """Return the page of a name of this type, as a constant; None if it is not known so."""
        pages = {reading.type: reading.page for reading in reversed(self.readings(words))}
        page = pages.get(label)
        return page if page is None or page == NO_PAGE else QUOTE + page + QUOTE

    @cached_property
    def longest(self) -> int:
        """How many words the longest name has."""
        return max((name.count(" ") + 1 for name in self._names), default=0)

    @cached_property
    def types(self) -> frozenset[str]:
        """All types of entities that names have."""
        return frozenset(kind for found in self._names.values() for kind in found.split()[::2])

    @cached_property
    def persons(self) -> frozenset[str]:
        """The words of persons' names: *Jordan*, though a country, can be one."""
        return frozenset(
            word
            for name, found in self._names.items()
            if " " in name and found.startswith(f"{PERSON} ")
            for word in name.split()
        )


def _readings(found: str) -> list[Reading]:
    words = found.split()
    return [Reading(*pair) for pair in zip(words[::2], words[1::2], strict=False)]


def with_names_of(graphs: Iterable[Graph], known: Mapping[str, str]) -> dict[str, str]:
    """Return well-known names with the readings that training data have of names before theirs."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for graph in graphs:
        pages = page_constants(graph)
        for entity, _, words in names(graph):
            name = " ".join(word.strip(QUOTE) for word in words)
            reading = f"{entity.label} {pages.get(entity.id, NO_PAGE).strip(QUOTE)}"
            if len(name) > 1 and len(reading.split()) == len(Reading._fields):
                counts[name][reading] += 1
    learned = {
        name: sorted(readings, key=lambda reading: (-readings[reading], reading))
        for name, readings in counts.items()
    }
    every = defaultdict(list, learned)
    for name, found in known.items():
        every[name] = every[name] + [" ".join(reading) for reading in _readings(found)]
    return _table(every)


def _table(readings: Mapping[str, Iterable[str]]) -> dict[str, str]:
    return {name: " ".join(dict.fromkeys(found)) for name, found in sorted(readings.items())}


def read_gazetteer(path: str) -> dict[str, str]:
    """Read a file of well-known names."""
    try:
        data = Path(path).read_bytes()
        text = (gzip.decompress(data) if path.endswith(".gz") else data).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ConfigError(f"amr.gazetteer: {path}: {error}") from error
    known: dict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        fields = line.split("\t")
        name, *reading = (field.strip() for field in fields)
        if len(fields) != _FIELDS or not name or any(" " in f or not f for f in reading):
            problem = "not a name, a type and a page, with tabs between them"
            raise ConfigError(f"amr.gazetteer: {path}, line {number}: {problem}: {line[:80]!r}")
        known[name].append(" ".join(map(as_text, reading)))
    return _table(known)
