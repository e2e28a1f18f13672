"""The normalization of UCCA passages before scoring, as the ``ucca`` toolkit 1.3.11 does it.

Every oddity is kept on purpose, because published scores contain it: of a chain of four H units
only every second one dissolves, the search for the word left of an initial mark wraps round to the
last word, a root whose only child is a C is deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evaltools.ucca.passage import (
    MARK,
    PUNCTUATION,
    TERMINAL_CATEGORIES,
    UNIT,
    WORD,
    Edge,
    Node,
    Passage,
    ancestors,
    has_only_terminals,
    primary_edge,
)

_TOP = frozenset({"H", "L", "F", "G", "U", "R", "LR", "LA", "N"})
"""What may stand directly below the root."""
_CONCERNED = frozenset({"A", "C", "F", "H", "P", "S"})
"""Only units with an edge of these categories can change."""
_BESIDE_SCENES = frozenset({"H", "U", "L", "G"})
_NOT_SHARED = frozenset({"F", "H", "L", "LR", "N", "U", "Terminal"})
"""What only the first of two coordinated scenes keeps; the others get the rest as remotes."""


def normalize_passage(passage: Passage) -> None:
    """Bring a passage to the normal form."""
    reattach_punctuation(passage)
    _traverse(passage)
    reattach_punctuation(passage)


def reattach_punctuation(passage: Passage) -> None:
    """Hang every mark that is in a punctuation unit as low as its neighboring words allow."""
    for unit in passage.ordered():
        if unit.tag is PUNCTUATION:
            passage.delete_and_prune(unit)
    loose = [i for i, node in enumerate(passage.terminals) if node.tag is MARK and not node.into]
    if not loose:
        return
    left, right = _neighbors(passage.terminals)
    for position in loose:
        place = _place(left[position], right[position])
        if place is None:
            place = passage.root
        mark = passage.add_unit(PUNCTUATION)
        passage.connect(place, mark, ("U",))
        passage.connect(mark, passage.terminals[position], TERMINAL_CATEGORIES)


def move_common_functions(first: Passage, second: Passage) -> None:
    """Hang functions that both passages have (by yield) below the root; yields must be computed."""
    maps = [_functions(first), _functions(second)]
    for passage, functions, others in zip((first, second), maps, reversed(maps), strict=True):
        for span, unit in functions.items():
            if span in others:
                passage.move_to_head(unit, "F")


def _neighbors(terminals: list[Node]) -> tuple[list[Node | None], list[Node | None]]:
    """Find for each position the nearest word before (else the last word) and after (else none)."""
    words = [node for node in terminals if node.tag is WORD]
    word = words[-1] if words else None
    left: list[Node | None] = []
    for node in terminals:
        left.append(word)
        if node.tag is WORD:
            word = node
    right: list[Node | None] = []
    word = None
    for node in reversed(terminals):
        right.append(word)
        if node.tag is WORD:
            word = node
    return left, right[::-1]


def _place(left: Node | None, right: Node | None) -> Node | None:
    """Return the lowest unit above *left* that reaches *right*, or that has no terminal itself."""
    if left is None:
        return None
    above = _climb(left)
    if right is None:
        return next((unit for unit in above if not _children(unit, "Terminal")), None)
    holders = ancestors(right)
    return next((unit for unit in above if unit in holders), None)


def _climb(node: Node) -> Iterator[Node]:
    """Yield the units above a node, level by level."""
    seen = {node}
    level = [node]
    while level:
        above: list[Node] = []
        for lower in level:
            for edge in lower.into:
                parent = edge.parent
                if parent not in seen:
                    seen.add(parent)
                    above.append(parent)
                    if parent.tag is UNIT:
                        yield parent
        level = above


def _functions(passage: Passage) -> dict[int, Node]:
    functions: dict[int, Node] = {}
    for unit in passage.ordered():
        if unit.tag is UNIT:
            edge = primary_edge(unit)
            if edge and edge.categories[0] == "F":
                functions[unit.span] = unit
    return functions


def _traverse(passage: Passage) -> None:
    """Normalize every unit depth first, before its children, and cut edges back to an ancestor."""
    for head in passage.heads():
        if head.visited:
            continue
        _enter(passage, head)
        path = [head]
        # Where the scan of each unit on the path stopped, and the state of its edges before it:
        # a scan goes on where it stopped, but starts again if any edge of the unit has changed.
        marks = [(0, head.changes)]
        while path:
            node = path[-1]
            index, changes = marks[-1]
            start = index if changes == node.changes else 0
            changes = node.changes
            index = _next_child(passage, node, start)
            if index < 0:
                path.pop().on_path = False
                marks.pop()
            else:
                marks[-1] = index, changes
                child = node.out[index].child
                _enter(passage, child)
                if has_only_terminals(child):
                    child.on_path = False
                else:
                    path.append(child)
                    marks.append((0, child.changes))


def _enter(passage: Passage, node: Node) -> None:
    node.visited = node.on_path = True
    if node.tag is UNIT:
        _normalize_unit(passage, node)


def _next_child(passage: Passage, node: Node, index: int) -> int:
    """Return where the first unvisited child is, or -1; cut edges to ancestors on the way."""
    # The index moves on after a cut too: the edge after the one that was cut is skipped.
    while index < len(node.out):
        edge = node.out[index]
        if edge.child.on_path:
            passage.remove_and_prune(edge)
        elif not edge.child.visited and edge.child.key > 0:
            return index
        index += 1
    return -1


def _children(unit: Node, category: str) -> list[Node]:
    return [edge.child for edge in unit.out if category in edge.categories]


def _is_scene(unit: Node) -> bool:
    return any("P" in edge.categories or "S" in edge.categories for edge in unit.out)


def _normalize_unit(passage: Passage, unit: Node) -> None:
    """Apply the steps in order; where one deletes the unit, the next work on its parent."""
    if all(_CONCERNED.isdisjoint(edge.categories) for edge in unit.out):
        return
    here: Node | None = unit
    for step in _STEPS:
        if here is None:
            return
        here = step(passage, here)


def _separate_scenes(passage: Passage, unit: Node) -> Node | None:
    """Give a scene that is a head, or stands beside scenes, a unit of its own."""
    if unit.into and not _children(unit, "H"):
        return unit
    if not _is_scene(unit) and not _children(unit, "A"):
        return unit
    edges = unit.out.copy()
    if unit.into and not any(edge.categories[0] in _BESIDE_SCENES for edge in edges):
        # All edges would move (an H is second, as in A|H), and so on in the new unit, for ever.
        return unit
    scene = passage.add_unit(UNIT)
    passage.connect(unit, scene, ("H",))
    for edge in edges:
        if edge.categories[0] not in _BESIDE_SCENES and passage.copy(edge, parent=scene):
            passage.remove_and_prune(edge)
    return unit


def _split_coordinated_relations(passage: Passage, unit: Node) -> Node | None:
    """Turn a scene with a coordinated main relation into one scene per conjunct."""
    index = 0
    while index < len(unit.out):
        edge = unit.out[index]
        if edge.coordinated and {"P", "S"} & set(edge.categories) and _children(edge.child, "C"):
            _split(passage, unit, edge)
        index += 1
    return unit


def _split(passage: Passage, unit: Node, relation: Edge) -> None:
    main = relation.child
    centers = _children(main, "C")
    others = [edge for edge in main.out if "C" not in edge.categories]
    remotes = [edge for edge in main.into if edge.remote]
    passage.delete(main)
    top = _lift(passage, unit)
    edges = unit.out.copy()
    for edge in edges:
        if "R" in edge.categories:
            passage.copy(edge, parent=top)
    shared = [edge for edge in edges if "R" not in edge.categories]
    scenes: list[Node] = []
    for center in centers:
        scene = passage.add_unit(UNIT)
        passage.connect(top, scene, ("H",))
        passage.copy(
            Edge(scene, center, relation.categories, relation.remote), parent=scene, child=center
        )
        for edge in shared:
            if not scenes:
                passage.copy(edge, parent=scene)
            elif not _NOT_SHARED.intersection(edge.categories):
                copy = Edge(scene, edge.child, edge.categories, remote=True)
                passage.copy(copy)
        scenes.append(scene)
    for edge in others:
        place = top if _TOP.issuperset(edge.categories) else scenes[0]
        categories = ("L",) if "N" in edge.categories else edge.categories
        passage.copy(edge, parent=place, categories=categories)
    for edge in edges:
        passage.remove_and_prune(edge)
    for edge in remotes:
        passage.copy(edge, child=centers[0])
    if not unit.into and passage.is_alive(unit):
        passage.delete(unit)


def _lift(passage: Passage, unit: Node) -> Node:
    """Return where the new scenes go: beside the unit if it is a scene, else into it."""
    primary = primary_edge(unit)
    if primary is None or "H" not in primary.categories:
        return unit
    top = primary.parent
    passage.remove(next(edge for edge in top.out if edge.child is unit))
    return top


def _flatten_centers(passage: Passage, unit: Node) -> Node | None:
    """Dissolve a C inside a C, and a unit whose only child is a C."""
    centers = _children(unit, "C")
    if len(centers) != 1:
        return unit
    center = centers[0]
    primary = primary_edge(unit)
    if primary and primary.categories[0] == "C" and len(_children(primary.parent, "C")) == 1:
        for edge in unit.into.copy():
            if edge.remote:
                passage.copy(edge, child=center)
        for edge in unit.out.copy():
            passage.copy(edge, parent=primary.parent)
        return passage.delete_and_prune(unit)
    if len(unit.out) == 1:
        return _replace(passage, unit, center, remote=unit.out[0].remote)
    return unit


def _replace(passage: Passage, unit: Node, child: Node, *, remote: bool = False) -> Node | None:
    """Let every edge to the unit lead to its child instead."""
    for edge in unit.into.copy():
        passage.copy(edge, child=child, remote=remote)
    return passage.delete_and_prune(unit)


def _flatten_functions(passage: Passage, unit: Node) -> Node | None:
    """Dissolve an F that has units below it, and a unit whose only child is an F."""
    if not unit.into:
        return unit
    for function in _children(unit, "F"):
        if any("Terminal" not in edge.categories for edge in function.out):
            for edge in function.out.copy():
                first = edge.categories[0]
                categories = ("F",) if first == "C" else (first,)
                passage.copy(edge, parent=unit, categories=categories)
            passage.delete_and_prune(function)
    child = _only_child(unit, "F")
    return _replace(passage, unit, child) if child else unit


def _flatten_participants(passage: Passage, unit: Node) -> Node | None:
    """Dissolve a unit whose only child is an A; drop implicit participants of what is no scene."""
    child = _only_child(unit, "A")
    primary = primary_edge(child) if child else None
    if child and primary and len(primary.categories) == 1:
        return _replace(passage, unit, child)
    if not _is_scene(unit):
        for participant in _children(unit, "A"):
            if participant.implicit and passage.is_alive(participant):
                passage.delete_and_prune(participant)
    return unit


def _only_child(unit: Node, category: str) -> Node | None:
    """Return the child unit of a unit with exactly one edge, if that has the category."""
    if len(unit.out) != 1 or category not in unit.out[0].categories:
        return None
    child = unit.out[0].child
    return child if child.key > 0 else None


def _flatten_scenes(passage: Passage, unit: Node) -> Node | None:
    """Dissolve an H that holds nothing but what may stand beside scenes."""
    for scene in _children(unit, "H"):
        if all(not _TOP.isdisjoint(edge.categories) for edge in scene.out):
            for edge in scene.out.copy():
                passage.copy(edge, parent=unit)
                passage.remove_and_prune(edge)
    return unit


_STEPS: tuple[Callable[[Passage, Node], Node | None], ...] = (
    _separate_scenes,
    _split_coordinated_relations,
    _flatten_centers,
    _flatten_functions,
    _flatten_participants,
    _flatten_scenes,
)
