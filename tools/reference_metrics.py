"""The metrics once more, straight from their definitions: slow, short, and apart from evaltools.

MRP F1, S2match, WLK, WWLK and SemBleu are compared with these beside the programs of their authors
(tests/oracle, tools/compare_metrics.py), of which some cannot be installed. They read PENMAN's
trees and MRP's JSON themselves, and solve the alignment as one integer program.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import penman
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import lil_array

Gains = Mapping[tuple[int, int], float]
Edges = list[tuple[int, str, int]]


class Written(NamedTuple):
    """An AMR as its text has it."""

    labels: list[str]
    """Variables first, then constants."""
    edges: Edges
    n_variables: int


def written(text: str) -> Written:
    """Read one AMR."""
    variables: dict[str, str] = {}
    links: list[tuple[str, str, Any]] = []

    def walk(node: Any) -> None:
        name, branches = node
        variables.setdefault(name, "")
        for role, target in branches:
            if role == "/":
                variables[name] = target or ""
            elif isinstance(target, tuple):
                links.append((name, role[1:], target[0]))
                walk(target)
            else:
                links.append((name, role[1:], target))

    walk(penman.parse(text).node)
    number = {name: place for place, name in enumerate(variables)}
    labels = list(variables.values())
    edges = []
    for source, role, target in links:
        if target in number:
            edges.append((number[source], role, number[target]))
        else:
            edges.append((number[source], role, len(labels)))
            labels.append(target or "")
    return Written(labels, edges, len(number))


def sembleu(gold: str, pred: str) -> float:
    """Return SemBleu of one pair, from 0 to 1."""
    sides = [_paths(written(text)) for text in (gold, pred)]
    sizes = [len(graph.labels) + len(graph.edges) for graph in map(written, (gold, pred))]
    matches = [(a & b).total() for a, b in zip(*sides, strict=True)]
    totals = [found.total() for found in sides[1]]
    if not matches[0]:
        return 0.0
    orders = sum(total > 0 for total in totals)
    weights = [0.34, 0.33, 0.34] if orders == 3 else [1 / orders] * orders
    value, halvings = 1.0, 1
    for weight, match, total in zip(weights, matches, totals, strict=False):
        if not match:
            halvings *= 2
        value *= (match / total if match else 1 / (halvings * max(total, 1))) ** weight
    return value * min(1.0, float(np.exp(1 - sizes[0] / sizes[1])))


def _paths(graph: Written) -> list[Counter[tuple[str, ...]]]:
    labels = [label.strip('"').lower() for label in graph.labels]
    edges = [
        (t, r.replace("-of", ""), s) if r.endswith("-of") else (s, r, t) for s, r, t in graph.edges
    ]
    starts = {*range(len(labels))} - {t for _, _, t in edges} or {0}
    while True:
        more = {t for s, _, t in edges if s in starts} - starts
        if not more:
            break
        starts |= more
    found: list[Counter[tuple[str, ...]]] = [Counter(), Counter(), Counter()]

    def follow(path: tuple[str, ...], end: int, used: tuple[int, ...]) -> None:
        found[len(used)][path] += 1
        if len(used) < 2:
            for number, (source, role, target) in enumerate(edges):
                if source == end and number not in used:
                    follow((*path, f":{role}", labels[target]), target, (*used, number))

    for start in starts:
        follow((labels[start],), start, ())
    return found


def wlk(gold: str, pred: str) -> float:
    """Return WLK of one pair: the cosine of two vectors."""
    bags = [_bag(written(text)) for text in (gold, pred)]
    keys = sorted({key for bag in bags for key in bag}, key=repr)
    one, two = (np.array([bag.get(key, 0.0) for key in keys]) for bag in bags)
    return float(one @ two / np.sqrt(one @ one * (two @ two)))


def _bag(graph: Written) -> dict[Any, float]:
    labels: list[Any] = []
    for place, label in enumerate(graph.labels):
        labels.append((label, graph.labels[place:].count(label)))
    edges = [(t, r[:-3], s) if r.endswith("-of") else (s, r, t) for s, r, t in graph.edges]
    bag: dict[Any, float] = {}
    bag.update({("node", 0, label): 1.0 for label in labels})
    bag.update({("edge", labels[s], r, labels[t]): 1.0 for s, r, t in edges})
    for turn in (1, 2):
        labels = [
            (
                label,
                tuple(
                    sorted(
                        [(r, labels[t]) for s, r, t in edges if s == place]
                        + [(r, labels[s]) for s, r, t in edges if t == place],
                        key=repr,
                    )
                ),
            )
            for place, label in enumerate(labels)
        ]
        bag.update({("node", turn, label): 1 / (turn + 1) for label in labels})
    return bag


def wwlk(gold: str, pred: str, vector: Any, weight: Any) -> float:
    """Return WWLK of one pair, 1 - distance / 2, with the vectors and weights that are given."""
    one, two = (_vectors(written(text), vector, weight) for text in (gold, pred))
    costs = np.array([[np.linalg.norm(a - b) for b in two] for a in one])
    rows, columns = costs.shape
    shares = np.zeros((rows + columns, rows * columns))
    for i in range(rows):
        for j in range(columns):
            shares[i, i * columns + j] = shares[rows + j, i * columns + j] = 1
    sums = np.array([1 / rows] * rows + [1 / columns] * columns)
    return 1 - float(linprog(costs.ravel(), A_eq=shares[:-1], b_eq=sums[:-1]).fun) / 2


def _vectors(graph: Written, vector: Any, weight: Any) -> list[Any]:
    around: dict[int, dict[Any, float]] = defaultdict(dict)
    for source, role, target in graph.edges:
        name, inverse = (role[:-3], True) if role.endswith("-of") else (role, False)
        for key, node in (((target, inverse), source), ((source, not inverse), target)):
            around[node][key] = around[node].get(key, 1.0) * weight(name)
    rounds = [[np.array(vector(label)) for label in graph.labels]]
    for _ in range(2):
        before = rounds[-1]
        now = []
        for place, own in enumerate(before):
            near = [before[n] * w for (n, _), w in around[place].items()]
            now.append(own + sum(near) / len(near) if near else own)
        rounds.append(now)
    whole = [np.concatenate(parts) for parts in zip(*rounds, strict=True)]
    return [row / np.linalg.norm(row) for row in whole]


def s2match(gold: str, pred: str) -> tuple[int, int, float]:
    """Return the triples of both sides and the best match, without word vectors."""
    sides = [_triples(written(text)) for text in (gold, pred)]
    gains: dict[tuple[int, int], float] = defaultdict(float)
    for one in sides[0]:
        for two in sides[1]:
            if one[1] == two[1] == "/":
                gains[one[0], two[0]] += _similarity(one[2], two[2])
            elif one[1] == two[1] and isinstance(one[2], str) and one[2] == two[2]:
                gains[one[0], two[0]] += 1.0
    edges = [[t for t in side if isinstance(t[2], int)] for side in sides]
    return len(sides[0]), len(sides[1]), best(gains, edges[0], edges[1])


def _similarity(one: str, two: str) -> float:
    if one == two:
        return 1.0
    words = [re.sub(r"-[0-9]+$", "", label) for label in (one, two)]
    return 0.5 if words[0] == words[1] else 0.0


def _triples(graph: Written) -> set[tuple[int, str, Any]]:
    def plain(label: str) -> str:
        text = label[1:-1] if len(label) > 1 and label[0] == label[-1] == '"' else label
        return text.lower().rstrip("_")

    found: set[tuple[int, str, Any]] = {(0, "TOP", "top")}
    for place in range(graph.n_variables):
        if graph.labels[place]:
            found.add((place, "/", plain(graph.labels[place])))
    for ends in graph.edges:
        source, role, target = ends
        kept = ("consist-of", "prep-on-behalf-of", "prep-out-of")
        if role.endswith("-of") and role not in kept:
            source, role, target = target, role[:-3], source
        elif role == "mod":
            source, role, target = target, "domain", source
        role = role.lower().rstrip("_")
        if source >= graph.n_variables:  # a constant as source
            found.add((target, f"{role} of", plain(graph.labels[source])))
        elif target >= graph.n_variables:
            found.add((source, role, plain(graph.labels[target])))
        else:
            found.add((source, role, target))
    return found


def mrp(gold: dict[str, Any], pred: dict[str, Any]) -> tuple[int, int, float]:
    """Return how many items two MRP records have, and the best match."""
    sides = [set(_items(record)) for record in (gold, pred)]
    gains: dict[tuple[int, int], float] = defaultdict(float)
    places: list[dict[Any, list[int]]] = []
    for side in sides:
        where: dict[Any, list[int]] = defaultdict(list)
        for item in side:
            if len(item) == 2:
                where[item[1]].append(item[0])
        places.append(where)
    for key, rows in places[0].items():
        for row in rows:
            for column in places[1].get(key, ()):
                gains[row, column] += 1.0
    links = [[item for item in side if len(item) == 3] for side in sides]
    edges = [[(s, repr(key), t) for s, key, t in side] for side in links]
    return len(sides[0]), len(sides[1]), best(gains, edges[0], edges[1])


def _items(record: dict[str, Any]) -> Iterator[Any]:
    number = {node["id"]: place for place, node in enumerate(record.get("nodes", ()))}
    for top in record.get("tops", ()):
        yield number[top], "top"
    for node in record.get("nodes", ()):
        place = number[node["id"]]
        if node.get("label") is not None:
            yield place, ("label", str(node["label"]).lower())
        for name, value in zip(node.get("properties", ()), node.get("values", ()), strict=True):
            yield place, ("property", name.lower(), str(value).lower())
        if node.get("anchors") and record["framework"] != "amr":
            yield place, ("anchors", _characters(node["anchors"], record["input"]))
    for edge in record.get("edges", ()):
        source, target = number[edge["source"]], number[edge["target"]]
        label, turned = _normal(edge)
        source, target = (target, source) if turned else (source, target)
        yield source, ("edge", label), target
        for name, value in zip(edge.get("attributes", ()), edge.get("values", ()), strict=True):
            if (name, value) != ("remote", False):
                yield source, ("attribute", label, name.lower(), str(value).lower()), target


def _characters(anchors: list[dict[str, int]], text: str) -> frozenset[int]:
    characters: set[int] = set()
    for anchor in anchors:
        inside = [*range(anchor["from"], anchor["to"])]
        for end in (0, -1):
            while inside and text[inside[end]] in " \t\n\f.?!;,:“\"”‘'’()[]{}":
                inside.pop(end)
        characters |= {i for i in inside if not text[i].isspace()}
    return frozenset(characters)


def _normal(edge: dict[str, Any]) -> tuple[str, bool]:
    label = (edge.get("label") or "").lower()
    if edge.get("normal"):
        return edge["normal"].lower(), True
    if label == "mod":
        return "domain", True
    if label.endswith("-of") and not label.startswith("prep-"):
        return label[:-3], True
    return label, False


def best(gains: Gains, gold: Edges, pred: Edges) -> float:
    """Return what the best one-to-one mapping gains, as an integer program."""
    single = defaultdict(float, gains)
    products = []
    for s, role, t in gold:
        for s2, role2, t2 in pred:
            if role == role2 and (s == t) == (s2 == t2):
                if s == t:
                    single[s, s2] += 1.0
                else:
                    products.append(((s, s2), (t, t2)))
    for one, two in products:
        single[one] += 0.0
        single[two] += 0.0
    pairs = {pair: place for place, pair in enumerate(single)}
    if not pairs:
        return 0.0
    size = len(pairs) + len(products)
    rows: list[dict[int, float]] = []
    for side in (0, 1):
        used: dict[int, dict[int, float]] = defaultdict(dict)
        for pair, place in pairs.items():
            used[pair[side]][place] = 1.0
        rows += used.values()
    bounds = [1.0] * len(rows)
    for place, (one, two) in enumerate(products, start=len(pairs)):
        rows += [{place: 1.0, pairs[one]: -1.0}, {place: 1.0, pairs[two]: -1.0}]
        bounds += [0.0, 0.0]
    matrix = lil_array((len(rows), size))
    for place, row in enumerate(rows):
        for column, value in row.items():
            matrix[place, column] = value
    found = milp(
        [*(-gain for gain in single.values()), *[-1.0] * len(products)],
        constraints=LinearConstraint(matrix.tocsr(), -np.inf, bounds),
        integrality=[1] * len(pairs) + [0] * len(products),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0},
    )
    return -float(found.fun)
