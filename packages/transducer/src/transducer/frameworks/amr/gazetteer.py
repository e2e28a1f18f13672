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
from transducer.frameworks.amr.structure import names, page_constants

NO_PAGE = "-"
PERSON = "person"
_FIELDS = 3
_ACRONYM = 3
"""Letters of the longest word that is an abbreviation if it is in capitals."""
_TITLES = frozenset(
    """Mr Mr. Mrs Mrs. Ms Ms. Dr Dr. Prof. Professor Sir Dame Lord Lady President Senator Sen. Rep.
    Gov. Governor General Gen. Judge Justice Pope Saint St. King Queen Prince Princess
    Emperor""".split()
)


class Reading(NamedTuple):
    """What a name can be."""

    type: str
    page: str


class Gazetteer:
    """Well-known names and their readings, each as ``type page``, the most frequent first.

    >>> known = Gazetteer({"James Comey": ("person James_Comey",)})
    >>> known.readings(["Mr.", "James", "COMEY"])
    [Reading(type='person', page='James_Comey')]
    """

    def __init__(self, names: Mapping[str, tuple[str, ...]]) -> None:
        self._names = names

    def __bool__(self) -> bool:
        return bool(self._names)

    def readings(self, words: Sequence[str]) -> list[Reading]:
        """Return what a name can be: also in capitals, or with a title."""
        if len(words) > 1 and words[0] in _TITLES:
            words = words[1:]
        usual = (w.title() if w.isupper() and len(w) > _ACRONYM else w for w in words)
        found = self._names.get(" ".join(words)) or self._names.get(" ".join(usual), ())
        return [Reading(*reading.split(" ", 1)) for reading in found]

    def page(self, label: str, words: Sequence[str]) -> str | None:
        """Return the page of a name of this type, as a constant; None if it is not known so."""
        pages = {reading.type: reading.page for reading in reversed(self.readings(words))}
        page = pages.get(label)
        return page if page is None or page == NO_PAGE else f'"{page}"'

    @cached_property
    def longest(self) -> int:
        """How many words the longest name has."""
        return max((name.count(" ") + 1 for name in self._names), default=0)

    @cached_property
    def types(self) -> frozenset[str]:
        """All types of entities that names have."""
        every = (reading for readings in self._names.values() for reading in readings)
        return frozenset(reading.split(" ", 1)[0] for reading in every)

    @cached_property
    def persons(self) -> frozenset[str]:
        """The words of persons' names: *Jordan*, though a country, can be one."""
        return frozenset(
            word
            for name, readings in self._names.items()
            if " " in name and readings[0].startswith(f"{PERSON} ")
            for word in name.split()
        )


def with_names_of(
    graphs: Iterable[Graph], known: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Return well-known names with the readings that training data have of names before theirs."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for graph in graphs:
        pages = page_constants(graph)
        for entity, _, words in names(graph):
            name = " ".join(word.strip('"') for word in words)
            page = pages.get(entity.id, NO_PAGE).strip('"')
            if (
                len(name) > 1
                and entity.label
                and page
                and not set(" \n") & set(entity.label + page)
            ):
                counts[name][f"{entity.label} {page}"] += 1
    learned = {
        name: sorted(readings, key=lambda reading: (-readings[reading], reading))
        for name, readings in counts.items()
    }
    return {
        name: tuple(dict.fromkeys((*learned.get(name, ()), *known.get(name, ()))))
        for name in sorted(learned.keys() | known.keys())
    }


def read_gazetteer(path: str) -> dict[str, tuple[str, ...]]:
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
        known[name].append(" ".join(reading))
    return {name: tuple(dict.fromkeys(readings)) for name, readings in sorted(known.items())}
