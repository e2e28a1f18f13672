"""The baseline that a parser has to beat: the graph of the most similar training sentence.

Two sentences are similar if they share words, parts of speech (where the tokens have them) and
pairs of neighbors. The graph found is anchored to the new sentence by aligning the two token by
token.

>>> from graphconv import Edge, Graph, Node, Token
>>> def sentence(name, text, *nodes):
...     tokens = tuple(Token(form) for form in text.split())
...     return Graph(name, "dm", tokens, nodes, tops=tuple(node.id for node in nodes))
>>> train = [sentence("1", "It rains", Node("2", anchors=(1,))), sentence("2", "Dogs bark")]
>>> graph, = nearest(train, [sentence("3", "It really rains")])
>>> graph.id, graph.nodes
('3', (Node(id='2', label=None, anchors=(2,), constant=False, implicit=False, attributes=()),))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise

from graphconv import Graph, Node
from transducer.frameworks import task_of

Feature = tuple[str, ...]


def nearest(train: Sequence[Graph], sentences: Iterable[Graph]) -> Iterator[Graph]:
    """Yield, for each of *sentences*, the graph of the most similar training sentence.

    Of *sentences* only the ids and the tokens are used; among equally similar training sentences
    the first wins.
    """
    if not train:
        raise ValueError("the baseline needs at least one training sentence")
    index: dict[Feature, list[tuple[int, int]]] = {}
    sizes = []
    for i, graph in enumerate(train):
        features = _features(graph)
        sizes.append(features.total())
        for feature, count in features.items():
            index.setdefault(feature, []).append((i, count))
    for sentence in sentences:
        features = _features(sentence)
        shared = [0] * len(train)
        for feature, count in features.items():
            for i, other in index.get(feature, []):
                shared[i] += min(count, other)
        total = features.total()
        dice = [count / (total + size) for count, size in zip(shared, sizes, strict=True)]
        yield _transfer(train[dice.index(max(dice))], sentence)


def _features(graph: Graph) -> Counter[Feature]:
    bag: Counter[Feature] = Counter()
    for kind, items in (("form", _forms(graph)), ("pos", _classes(graph))):
        bag.update((kind, item) for item in items)
        bag.update((kind, *pair) for pair in pairwise(["<s>", *items, "</s>"]))
    return bag


def _forms(graph: Graph) -> list[str]:
    return [token.form.lower() for token in graph.tokens]


def _classes(graph: Graph) -> list[str]:
    """Return the parts of speech or, for tokens without, their forms."""
    return [token.pos or token.form.lower() for token in graph.tokens]


def _transfer(graph: Graph, sentence: Graph) -> Graph:
    """Return *graph* as a graph of *sentence*."""
    nodes: Sequence[Node] = graph.nodes
    if any(node.anchors for node in nodes):
        places = _align(graph, sentence)
        nodes = [
            node._replace(anchors=tuple(places[a] for a in node.anchors if a in places))
            for node in nodes
        ]
        nodes = _cover(nodes, len(sentence.tokens)) if _has_units(graph) else nodes
    kept = _alive(graph, nodes)
    return replace(
        graph,
        id=sentence.id,
        tokens=sentence.tokens,
        nodes=tuple(node for node in nodes if node.id in kept),
        edges=tuple(e for e in graph.edges if e.source in kept and e.target in kept),
        tops=tuple(top for top in graph.tops if top in kept),
        metadata=sentence.metadata,
    )


def _align(graph: Graph, sentence: Graph) -> dict[int, int]:
    """Map token positions of *graph* to those of *sentence*."""
    matcher = SequenceMatcher(None, _forms(graph), _forms(sentence), autojunk=False)
    return {
        start + i: start_other + i
        for _, start, end, start_other, end_other in matcher.get_opcodes()
        for i in range(min(end - start, end_other - start_other))
    }


def _cover(nodes: Sequence[Node], length: int) -> list[Node]:
    """Give tokens that no unit has to the unit of the token before: UCCA covers every token."""
    owners = {anchor: i for i, node in enumerate(nodes) for anchor in node.anchors}
    owner = min(owners.items())[1] if owners else 0
    extra: dict[int, list[int]] = {}
    for position in range(length):
        owner = owners.get(position, owner)
        if position not in owners:
            extra.setdefault(owner, []).append(position)
    return [
        node._replace(anchors=tuple(sorted([*node.anchors, *extra.get(i, [])])))
        for i, node in enumerate(nodes)
    ]


def _has_units(graph: Graph) -> bool:
    return task_of(graph.framework).trees.units


def _alive(graph: Graph, nodes: Sequence[Node]) -> set[str]:
    """Return the ids of the nodes that the alignment did not leave without words."""
    emptied = {
        old.id
        for old, new in zip(graph.nodes, nodes, strict=True)
        if old.anchors and not new.anchors
    }
    kept = {node.id for node in nodes} - emptied
    if not _has_units(graph):
        return kept
    # A unit all of whose children are gone goes too, and so on upwards.
    parents: dict[str, list[str]] = {}
    children: Counter[str] = Counter()
    for edge in graph.edges:
        if not edge.remote:
            parents.setdefault(edge.target, []).append(edge.source)
            children[edge.source] += 1
    queue = sorted(emptied)
    while queue:
        for parent in parents.get(queue.pop(), []):
            children[parent] -= 1
            if not children[parent] and parent in kept:
                kept.discard(parent)
                queue.append(parent)
    return kept
