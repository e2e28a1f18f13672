"""Sentences as Graph objects, one per framework, over the same tokens."""

from __future__ import annotations

from collections.abc import Iterator

from english.phrase import Child, Concept, Unit, Word
from english.sentence import Sentence
from graphconv import Edge, Graph, Node, Token


def graphs(sentence: Sentence, name: str) -> dict[str, Graph]:
    """Return the AMR, DM and UCCA graphs of *sentence*, all with the id *name*."""
    position = {id(word): i for i, word in enumerate(sentence.words)}
    tokens = _tokens(sentence.words)
    return {
        "amr": _amr(sentence, name, tokens),
        "dm": _dm(sentence, name, tokens, position),
        "ucca": _ucca(sentence, name, tokens, position),
    }


def _tokens(words: list[Word]) -> tuple[Token, ...]:
    return tuple(Token(word.form, word.lemma, word.pos) for word in words)


def _amr(sentence: Sentence, name: str, tokens: tuple[Token, ...]) -> Graph:
    nodes: list[Node] = []
    edges: list[Edge] = []
    variables: dict[int, str] = {}
    constants = 0
    for concept, role, target in _walk(sentence.amr):
        if concept is not None and id(concept) in variables:
            source = variables[id(concept)]
        if isinstance(target, str):
            node = Node(f":{constants}", target, constant=True)
            constants += 1
            nodes.append(node)
            end = node.id
        elif id(target) in variables:
            end = variables[id(target)]
        else:
            end = _variable(target.label, variables)
            variables[id(target)] = end
            nodes.append(Node(end, target.label))
        if concept is None:
            continue
        if role.endswith("-of") and role != "consist-of":
            edges.append(Edge(end, source, role[:-3], attributes=(("inverted", True),)))
        else:
            edges.append(Edge(source, end, role))
    text = " ".join(token.form for token in tokens)
    metadata = (
        ("id", name),
        ("snt", text),
        ("tok", text),
        ("lemmas", " ".join(token.lemma or "_" for token in tokens)),
        ("pos", " ".join(token.pos or "_" for token in tokens)),
    )
    plain = tuple(Token(token.form) for token in tokens)
    top = (nodes[0].id,)
    return Graph(name, "amr", plain, tuple(nodes), tuple(edges), top, metadata)


def _walk(top: Concept) -> Iterator[tuple[Concept | None, str, Concept | str]]:
    """Yield the roles top down, each concept's own roles where it is met first."""
    seen = {id(top)}
    yield None, "", top
    stack = [(top, iter(top.roles))]
    while stack:
        concept, roles = stack[-1]
        for role, target in roles:
            yield concept, role, target
            if not isinstance(target, str) and id(target) not in seen:
                seen.add(id(target))
                stack.append((target, iter(target.roles)))
                break
        else:
            stack.pop()


def _variable(label: str, taken: dict[int, str]) -> str:
    used = set(taken.values())
    letter = label[0]
    number = 1
    while (name := letter if number == 1 else f"{letter}{number}") in used:
        number += 1
    return name


def _dm(
    sentence: Sentence, name: str, tokens: tuple[Token, ...], position: dict[int, int]
) -> Graph:
    edges = [
        (position[id(word)], position[id(target)], label)
        for word in sentence.words
        for label, target in word.arguments
    ]
    top = position[id(sentence.top)]
    used = {top, *(e[0] for e in edges), *(e[1] for e in edges)}
    tokens = tuple(
        token._replace(features=(("frame", word.sense if i in used else "_"),))
        for i, (token, word) in enumerate(zip(tokens, sentence.words, strict=True))
    )
    nodes = tuple(Node(str(i + 1), anchors=(i,)) for i in sorted(used))
    graph_edges = tuple(Edge(str(s + 1), str(t + 1), label) for s, t, label in sorted(edges))
    return Graph(name, "dm", tokens, nodes, graph_edges, (str(top + 1),))


def _first(unit: Unit, position: dict[int, int]) -> int:
    """Return the position of the first word below *unit*; implicit units come last."""
    stack, best = [unit], len(position)
    while stack:
        item = stack.pop()
        best = min([best, *(position[id(word)] for word in item.words)])
        stack += [child.unit for child in item.children if not child.remote]
    return best


def _ucca(
    sentence: Sentence, name: str, tokens: tuple[Token, ...], position: dict[int, int]
) -> Graph:
    """Number the units in pre-order, siblings in text order, as a reader would write them."""
    nodes: list[Node] = []
    names: dict[int, str] = {}
    edges: list[tuple[Unit, Child]] = []
    top = Child("", sentence.root, remote=False)
    stack = [(sentence.root, top)]
    while stack:
        parent, child = stack.pop()
        edges.append((parent, child))
        if child.remote:
            continue
        unit = child.unit
        names[id(unit)] = f"1.{len(names) + 1}"
        anchors = tuple(sorted(position[id(word)] for word in unit.words))
        implicit = not unit.words and not unit.children
        attributes = (("type", "PNCT"),) if child.category == "U" else ()
        nodes.append(Node(names[id(unit)], None, anchors, False, implicit, attributes))
        ordered = sorted(unit.children, key=lambda child: _first(child.unit, position))
        stack += [(unit, child) for child in reversed(ordered)]
    graph_edges = tuple(
        Edge(names[id(parent)], names[id(child.unit)], child.category, child.remote)
        for parent, child in edges[1:]
    )
    return Graph(name, "ucca", tokens, tuple(nodes), graph_edges, ("1.1",))
