"""Read sentence graphs of UMR and their alignments as AMRs with marks, as far as they are alike.

What only UMR has is left out: number, person, aspect and mode of a node, and document graphs.
Pronouns and concepts with other names get AMR's; roles stay but for those with AMR's names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import penman

from graphconv import Graph
from graphconv.codecs import Block, amr

_ONLY_UMR = re.compile(":(?:refer-.+|aspect|mod(?:al-)?str.*|modal-predicate|quot)")
_ROLES = {
    ":place": ":location",
    ":temporal": ":time",
    ":possessor": ":poss",
    ":affectee": ":beneficiary",
    ":companion": ":accompanier",
    ":actor": ":ARG0",
    ":undergoer": ":ARG1",
    ":theme": ":ARG1",
}
_CONCEPTS = {
    "umr-unknown": "amr-unknown",
    "umr-choice": "amr-choice",
    "have-place-91": "be-located-at-91",
    "have-temporal-91": "be-temporally-at-91",
    "contrast-91": "contrast-01",
    "infer-91": "infer-01",
    "mean-91": "mean-01",
    "resemble-91": "resemble-01",
}
_PRONOUNS = {"1st": "i", "2nd": "you", "3rd": "he", "1st plural": "we", "3rd plural": "they"}
_SENTENCE = re.compile(
    r"sent_id = (\S+).*?\nWords: *([^\n]*)\n.*?# sentence level graph:\n(\(.*?)\n\n"
    r"# alignment:\n(.*?)(?:\n\n|\Z)",
    re.DOTALL,
)


def graphs(path: Path) -> Iterator[Graph]:
    """Yield the sentences of a file that have a graph."""
    for number, found in enumerate(_SENTENCE.finditer(path.read_text(encoding="utf-8")), 1):
        name, words, graph, alignments = found.groups()
        spans = dict(re.findall(r"^(\w+): (\d+-\d+)", alignments, re.MULTILINE))
        text = penman.encode(_as_amr(penman.decode(graph), spans))
        yield amr.parse(Block(f"# ::id {name}\n# ::tok {words}\n{text}", str(path), number))


def _as_amr(graph: penman.Graph, spans: dict[str, str]) -> penman.Graph:
    person: dict[str, dict[str, str]] = {}
    for source, role, target in graph.triples:
        if role in (":refer-person", ":refer-number"):
            person.setdefault(source, {})[role] = str(target)
    triples = []
    for source, role, target in graph.triples:
        if role == ":instance":
            label = _concept(str(target), person.get(source, {}))
            first, last = map(int, spans.get(source, "0-0").split("-"))
            marks = ",".join(str(word - 1) for word in range(first, last + 1) if word)
            triples.append((source, role, f"{label}~e.{marks}" if marks else label))
        elif not _ONLY_UMR.fullmatch(role):
            of = "-of" * role.endswith("-of")
            triples.append(
                (source, _ROLES.get(role.removesuffix(of), role[: -len(of) or None]) + of, target)
            )
    return penman.Graph(triples, top=graph.top)


def _concept(label: str, person: dict[str, str]) -> str:
    if label == "person" and ":refer-person" in person:
        which = person[":refer-person"]
        return _PRONOUNS.get(f"{which} {person.get(':refer-number')}", _PRONOUNS.get(which, label))
    return _CONCEPTS.get(label, label)
