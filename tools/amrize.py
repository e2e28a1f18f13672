"""Turn DM graphs into graphs that look like AMR, to learn from before learning from AMR.

    python tools/amrize.py --like lpp-train.amr --like bio-train.amr wescience-train.sdp -o out.amr

There is little AMR and much DM, and both say who does what to whom. Function words, which are nodes
in DM, become roles (prepositions), concepts of their own (modals, conjunctions) or nothing
(articles, the copula); ARG1, ARG2 of verbs become ARG0, ARG1; proper nouns become names. Which
words are frames, and by which role a modifier is attached, is looked up in real AMR (``--like``).
What comes out is not correct AMR. A model learns from it first, and then from real AMR alone
(``train.start_from``).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import click

import graphconv
from graphconv.cliutil import data_errors, existing
from graphconv.graph import Edge, Graph, Node, Token
from transducer.frameworks.amr import Tables, copy_lemma, tokenize_graph
from transducer.frameworks.amr.senses import stem

# DM's relations without a word of their own lead from the modifier to what it modifies.
_MODIFIERS = {
    "compound": "mod", "poss": "poss", "appos": "mod", "subord": "manner", "loc": "location",
    "temp": "time", "part": "quant", "than": "compared-to", "times": "quant",
    "measure": "quant", "with": "accompanier",
}  # fmt: skip
# What a preposition or conjunction says about its second argument, seen from its first one.
_PREPOSITIONS = {
    "in": "location", "on": "location", "at": "location", "near": "location", "under": "location",
    "over": "location", "between": "location", "among": "location", "around": "location",
    "across": "location", "through": "path", "along": "path", "by": "manner", "with": "accompanier",
    "without": "accompanier", "from": "source", "to": "destination", "into": "destination",
    "onto": "destination", "towards": "direction", "toward": "direction", "for": "purpose",
    "about": "topic", "like": "example",
    "such+as": "example", "during": "time", "after": "time", "before": "time", "until": "time",
    "since": "time", "when": "time", "while": "time", "once": "time", "if": "condition",
    "unless": "condition", "because": "cause", "because+of": "cause", "due+to": "cause",
    "although": "concession", "though": "concession", "despite": "concession",
    "than": "compared-to", "in+order+to": "purpose", "so+that": "purpose",
}  # fmt: skip
_MODALS = {
    "can": "possible-01", "could": "possible-01", "may": "possible-01", "might": "possible-01",
    "must": "obligate-01", "should": "recommend-01", "ought": "recommend-01",
}  # fmt: skip
_MODAL_ROLE = {"obligate-01": "ARG2"}
_PRONOUNS = {
    "me": "i", "my": "i", "mine": "i", "myself": "i", "him": "he", "his": "he", "himself": "he",
    "her": "she", "hers": "she", "its": "it", "itself": "it", "us": "we", "our": "we",
    "them": "they", "their": "they", "themselves": "they", "your": "you", "yours": "you",
}  # fmt: skip
_ARTICLES = frozenset({"a", "an", "the"})
_LINKS = frozenset({"IN", "TO", "RP", ",", ":"})
_OPPOSITE = {"mod": "domain", "domain": "mod"}
_SILENT = frozenset({"will", "would", "shall"})
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), start=1
    )
}
_YEAR = re.compile(r"1\d{3}|20\d\d")
_ODD = re.compile(r"[^\w'.-]")


class Guide(NamedTuple):
    """What real AMR says about words."""

    tables: Tables
    frames: dict[str, str]
    """Stem -> its commonest frame, of stems that are frames more often than not."""
    roles: dict[str, str]
    """Stem of a modifier -> the role by which it is most often attached."""


def learn(graphs: Iterable[Graph]) -> Guide:
    """Look at real AMR."""
    graphs = [tokenize_graph(graph) for graph in graphs]
    concepts: dict[str, Counter[str]] = defaultdict(Counter)
    roles: dict[str, Counter[str]] = defaultdict(Counter)
    for graph in graphs:
        labels = {node.id: node.label or "" for node in graph.nodes if not node.constant}
        for label in labels.values():
            concepts[stem(label)][label] += 1
        for edge in graph.edges:
            if edge.target in labels and not edge.label.startswith(("ARG", "op", "name")):
                roles[stem(labels[edge.target])][edge.label] += 1
    common = {word: row.most_common(1)[0][0] for word, row in concepts.items()}
    return Guide(
        tables=Tables.learn(graphs),
        frames={word: label for word, label in common.items() if label != word},
        roles={word: row.most_common(1)[0][0] for word, row in roles.items()},
    )


class _Draft:
    """An AMR in the making. Nodes are positions, or higher numbers for what is no word."""

    def __init__(self, graph: Graph, guide: Guide) -> None:
        self.tokens, self.guide = graph.tokens, guide
        self.place = {node.id: node.anchors[0] for node in graph.nodes}
        self.arcs = [(self.place[e.source], self.place[e.target], e.label) for e in graph.edges]
        self.arguments: dict[int, dict[str, int]] = defaultdict(dict)
        for source, target, label in self.arcs:
            self.arguments[source].setdefault(label, target)
        self.concepts: dict[int, str] = {}
        self.constants: dict[int, str] = {}
        self.edges: list[tuple[int, int, str]] = []
        self.instead: dict[int, int] = {}
        self.last = max(1000, len(graph.tokens))  # more than any position
        self.top = next((self.place[top] for top in graph.tops), None)

    def new(self, label: str, *, constant: bool = False) -> int:
        """Add a node that is no word."""
        self.last += 1
        (self.constants if constant else self.concepts)[self.last] = label
        return self.last

    def concept(self, place: int) -> str:
        """Return what a word is called."""
        token = self.tokens[place]
        lemma = None if token.lemma in (None, "_") or "+" in token.lemma else token.lemma
        word = _PRONOUNS.get(token.form.lower()) or copy_lemma(
            token._replace(lemma=lemma, pos=None), self.guide.tables
        )
        word = _ODD.sub("", word) or "thing"
        return self.guide.frames.get(word, word)

    def is_frame(self, place: int) -> bool:
        return self.is_verb(place) or self.concept(place)[-3:-2] == "-"

    def is_verb(self, place: int) -> bool:
        """Say whether DM takes a word for a verb, whatever its tag: 'processing', 'related'."""
        return str(dict(self.tokens[place].features).get("frame", "")).startswith("v")

    # Rules ---------------------------------------------------------------------------------------

    def translate(self) -> None:
        for source, target, label in self.arcs:
            if label.startswith("ARG") and label[3:].isdigit():
                self.argument(source, target, int(label[3:]))
            elif label == "BV":
                word = self.tokens[source].form.lower()
                if word == "no":
                    self.negate(target, source)
                elif word not in _ARTICLES:
                    self.edges.append((target, source, "mod"))
            elif label == "neg":
                self.negate(target, source)
            elif label == "mwe":
                self.instead[source] = target
            elif label != "conj" and not label.endswith("_c"):
                self.edges.append((target, source, _MODIFIERS.get(label, "mod")))
        self.coordinate()

    def argument(self, source: int, target: int, number: int) -> None:
        """Translate an argument; what it becomes depends on the word that it belongs to."""
        token = self.tokens[source]
        pos, lemma = token.pos or "", (token.lemma or "").lower()
        rules: tuple[tuple[bool, Callable[[int, int, int], None]], ...] = (
            (pos in _LINKS, self.link),
            (lemma == "be", self.equate),
            (lemma in _MODALS, self.allow),
            (lemma in _SILENT or pos.startswith("W"), self.skip),
            (pos == "CD", self.count),
            (self.is_frame(source), self.predicate),
            (number == 1 and pos.startswith(("JJ", "RB")), self.describe),
        )
        next((act for applies, act in rules if applies), self.relate)(source, target, number)

    def link(self, source: int, target: int, number: int) -> None:
        """Make a role of a preposition or mark that stands between two things."""
        others = self.arguments[source]
        self.instead.setdefault(source, others.get("ARG1", target))
        if number != 1 or "ARG2" not in others:
            return
        second = others["ARG2"]
        role = _PREPOSITIONS.get((self.tokens[source].lemma or "").lower(), "mod")
        year = self.tokens[second].form
        if _YEAR.fullmatch(year):
            role = "time"
            self.concepts[second] = "date-entity"
            self.edges.append((second, self.new(year, constant=True), "year"))
        self.edges.append((target, second, role))

    def equate(self, source: int, target: int, number: int) -> None:
        others = self.arguments[source]
        if number == 1 and "ARG2" in others:
            self.edges.append((others["ARG2"], target, "domain"))
        self.instead[source] = others.get("ARG2", target)

    def allow(self, source: int, target: int, number: int) -> None:
        del number
        modal = _MODALS[(self.tokens[source].lemma or "").lower()]
        self.concepts[source] = modal
        self.edges.append((source, target, _MODAL_ROLE.get(modal, "ARG1")))

    def skip(self, source: int, target: int, number: int) -> None:
        del number
        self.instead[source] = target

    def count(self, source: int, target: int, number: int) -> None:
        form = self.tokens[source].form
        value = _NUMBERS.get(form.lower(), form)
        if number == 1 and value.replace(".", "", 1).isdigit():
            self.edges.append((target, self.new(value, constant=True), "quant"))
            self.instead[source] = target
        else:
            self.edges.append((target, source, "quant"))

    def predicate(self, source: int, target: int, number: int) -> None:
        # A verb's ARG1 acts; that of an adjective or noun is what it is about.
        self.edges.append((source, target, f"ARG{number - self.is_verb(source)}"))

    def describe(self, source: int, target: int, number: int) -> None:
        del number
        is_adverb = (self.tokens[source].pos or "").startswith("RB")
        if is_adverb and self.top == source:
            self.top = target
        usual = "manner" if is_adverb else "mod"
        self.edges.append((target, source, self.guide.roles.get(self.concept(source), usual)))

    def relate(self, source: int, target: int, number: int) -> None:
        del number
        self.edges.append((source, target, "mod"))

    def negate(self, place: int, word: int) -> None:
        self.edges.append((place, self.new("-", constant=True), "polarity"))
        self.instead[word] = place

    def coordinate(self) -> None:
        """Give each chain of conjuncts a node; what asks for the first one gets that."""
        following = {
            s: (t, label) for s, t, label in self.arcs if label == "conj" or label.endswith("_c")
        }
        for first in sorted(following.keys() - {t for t, _ in following.values()}):
            chain, names, place = [first], [], first
            while place in following and len(chain) < len(self.tokens):
                place, name = following[place]
                chain.append(place)
                names.append(name)
            word = names[-1].strip("_").removesuffix("_c").split("+")[0]
            both = self.new({"conj": "and", "but": "contrast-01"}.get(word, word))
            self.edges = [
                (s, both if t == first and s not in chain and role != "mod" else t, role)
                for s, t, role in self.edges
            ]
            role = "ARG" if word == "but" else "op"
            for number, member in enumerate(chain, start=1):
                self.edges.append((both, member, f"{role}{number}"))
            if self.top == first:
                self.top = both

    def name(self) -> None:
        """Make names of proper nouns: those that modify the next word become its parts."""
        proper = {place for place, t in enumerate(self.tokens) if (t.pos or "").startswith("NNP")}
        parts: dict[int, list[int]] = {place: [place] for place in proper}
        for place in sorted(proper):
            head = self.arguments[place].get("compound")
            if head is not None and head in proper and head > place:
                parts[head] = [*parts.pop(place, [place]), *parts.get(head, [head])]
        used = {end for edge in self.edges for end in edge[:2]} | {self.top}
        inner = {p for head, group in parts.items() for p in group if p != head}
        self.edges = [e for e in self.edges if not ({e[0], e[1]} & inner)]
        for head, group in parts.items():
            if head in used:
                self.concepts[head] = "thing"
                name = self.new("name")
                self.edges.append((head, name, "name"))
                for number, part in enumerate(sorted(group), start=1):
                    form = self.tokens[part].form.replace('"', "")
                    text = self.new(f'"{form}"', constant=True)
                    self.edges.append((name, text, f"op{number}"))

    # The result ----------------------------------------------------------------------------------

    def resolve(self, place: int) -> int:
        seen = set()
        while place in self.instead and place not in seen:
            seen.add(place)
            place = self.instead[place]
        return place

    def finish(self) -> tuple[int, list[tuple[int, int, str]]] | None:
        """Return the top and the edges that hang together with it, as they are reached from it."""
        if self.top is None:
            return None
        top = self.resolve(self.top)
        edges = []
        for s, t, role in self.edges:
            source, target = self.resolve(s), self.resolve(t)
            if source != target and (source, target, role) not in edges:
                edges.append((source, target, role))
        near: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
        for edge in edges:
            near[edge[0]].append(edge)
            near[edge[1]].append(edge)
        found: dict[tuple[int, int, str], None] = {}  # ordered
        joined: set[tuple[int, int]] = set()
        seen, stack = {top}, [top]
        while stack:
            place = stack.pop()
            for source, target, role in sorted(near[place], key=_order):
                other, edge = target, (source, target, role)
                if target == place:
                    other = source
                    if role in _OPPOSITE:
                        edge = (target, source, _OPPOSITE[role])
                if (edge[1], edge[0]) not in joined:
                    found[edge] = None
                    joined.add(edge[:2])
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
        return top, [*found]


def _order(edge: tuple[int, int, str]) -> tuple[bool, str, int, int]:
    source, target, role = edge
    core = role.startswith(("ARG", "op"))
    return not core, role if core else "", target, source


def amrize(graph: Graph, guide: Guide) -> Graph | None:
    """Return the graph as AMR would have it, or None if nothing is left of it."""
    draft = _Draft(graph, guide)
    draft.translate()
    draft.name()
    found = draft.finish()
    if found is None:
        return None
    top, edges = found
    places = dict.fromkeys([top, *(end for edge in edges for end in edge[:2])])
    if len(places) < 2:
        return None
    nodes = tuple(
        Node(f"c{p}", draft.constants[p], constant=True)
        if p in draft.constants
        else Node(f"n{p}", draft.concepts.get(p) or draft.concept(p))
        for p in places
    )
    ids = dict(zip(places, (node.id for node in nodes), strict=True))
    return Graph(
        graph.id,
        "amr",
        tokens=tuple(Token(token.form) for token in graph.tokens),
        nodes=nodes,
        edges=tuple(Edge(ids[s], ids[t], role) for s, t, role in edges),
        tops=(ids[top],),
        metadata=(("id", graph.id), ("tok", " ".join(token.form for token in graph.tokens))),
    )


@click.command(help=__doc__)
@click.argument("files", nargs=-1, required=True, type=existing())
@click.option("--like", multiple=True, required=True, type=existing(), help="A file of real AMR.")
@click.option("-o", "--output", required=True)
@click.option("--longest", default=40, show_default=True, help="Leave out longer sentences.")
@data_errors()
def main(files: tuple[str, ...], like: tuple[str, ...], output: str, longest: int) -> None:
    """Convert DM files."""

    def converted() -> Iterator[Graph]:
        guide = learn(graph for file in like for graph in graphconv.read(file))
        for file in files:
            for graph in graphconv.read(file, framework="dm"):
                if len(graph.tokens) <= longest:
                    new = amrize(graph, guide)
                    if new is not None:
                        yield new

    graphconv.write(converted(), output, format="amr")


if __name__ == "__main__":
    main()
