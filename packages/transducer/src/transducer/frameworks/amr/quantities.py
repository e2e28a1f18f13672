"""Quantities: the unit says of what kind one is; comparisons with one have names of their own.

A decoder that has read a hundred times more about hours than about kilometers makes a
``temporal-quantity`` of both, and writes ``(m / more :op1 10)`` for ``more-than``. The unit is what
it copies from the text, and right more often.
"""

from __future__ import annotations

from dataclasses import replace

from graphconv.graph import Edge, Graph, Node

_UNITS = {
    "temporal-quantity": "second minute hour day night weekend week fortnight month quarter season "
    "year decade century millennium",
    "distance-quantity": "millimeter centimeter meter kilometer micron inch foot yard mile "
    "light-year nautical-mile",
    "mass-quantity": "microgram milligram gram kilogram ton tonne ounce pound kilodalton",
    "volume-quantity": "milliliter centiliter liter gallon pint barrel bushel cup teaspoon "
    "tablespoon cubic-meter",
    "area-quantity": "hectare acre square-meter square-kilometer square-mile square-foot",
    "speed-quantity": "mile-per-hour kilometer-per-hour meter-per-second knot mach",
    "monetary-quantity": "dollar euro pound cent penny yen yuan franc rupee ruble peso krona krone "
    "rand forint zloty buck",
    "temperature-quantity": "degree degree-celsius degree-fahrenheit",
    "angle-quantity": "degree",
    "information-quantity": "bit byte kilobyte megabyte gigabyte terabyte",
    "power-quantity": "watt kilowatt megawatt gigawatt horsepower",
    "energy-quantity": "joule kilojoule calorie kilocalorie kilowatt-hour",
    "concentration-quantity": "micromolar nanomolar millimolar nanogram-per-milliliter "
    "milligram-per-kilogram",
    "potential-quantity": "volt",
}
_KINDS: dict[str, list[str]] = {}
"""Unit -> the kinds of quantity that it measures, the likeliest first."""
for _kind, _units in _UNITS.items():
    for _unit_name in _units.split():
        _KINDS.setdefault(_unit_name, []).append(_kind)

_SPELLINGS = {
    "metre": "meter",
    "litre": "liter",
    "gramme": "gram",
}
_SIGNS = {
    "$": "dollar",
    "€": "euro",
    "£": "pound",
    "¥": "yen",
    "km": "kilometer",
    "cm": "centimeter",
    "mm": "millimeter",
    "kg": "kilogram",
    "mg": "milligram",
    "km/h": "kilometer-per-hour",
    "mph": "mile-per-hour",
    "ft": "foot",
    "min": "minute",
    "hr": "hour",
    "hrs": "hour",
    "kb": "kilobyte",
    "mb": "megabyte",
    "gb": "gigabyte",
}
_PERCENT = frozenset({"%", "percent", "per-cent", "percentage"})
_PERCENTAGE = "percentage-entity"
_MEASURES = ("-quantity", _PERCENTAGE)
_COMPARED = {"more": "more-than", "less": "less-than", "fewer": "less-than", "up": "up-to"}
_COMPARED_QUANTITIES = _COMPARED | {"over": "more-than", "under": "less-than"}
"""Of anything else these are places."""


def repair_quantities(graph: Graph) -> Graph:
    """Return the graph with quantities of the kind that their units measure.

    >>> nodes = Node("q", "temporal-quantity"), Node("u", "kilometre")
    >>> graph = Graph("1", "amr", nodes=nodes, edges=(Edge("q", "u", "unit"),), tops=("q",))
    >>> [node.label for node in repair_quantities(graph).nodes]
    ['distance-quantity', 'kilometer']
    """
    labels = {node.id: node.label or "" for node in graph.nodes}
    numbers = {node.id for node in graph.nodes if node.constant and labels[node.id][:1].isdigit()}
    changed: dict[str, str] = {}
    percent: set[str] = set()
    for edge in graph.edges:
        source, target = labels[edge.source], labels[edge.target]
        if edge.label == "unit" and edge.target not in numbers and source.endswith("-quantity"):
            if target in _PERCENT:
                percent.add(edge.source)
                continue
            changed[edge.target] = unit = _unit(target)
            kinds = _KINDS.get(unit, [source])
            changed[edge.source] = source if source in kinds else kinds[0]
        if edge.label == "op1":
            measured = edge.target in numbers or target.endswith(_MEASURES)
            names = _COMPARED_QUANTITIES if measured else _COMPARED
            changed[edge.source] = names.get(source, source)
    nodes = (n._replace(label=changed[n.id]) if n.id in changed else n for n in graph.nodes)
    return _with_percentages(replace(graph, nodes=tuple(nodes)), percent)


def _unit(name: str) -> str:
    """Return a unit as AMR writes it."""
    for british, american in _SPELLINGS.items():
        if name.endswith(british):
            return name.removesuffix(british) + american
    return _SIGNS.get(name, name)


def _with_percentages(graph: Graph, quantities: set[str]) -> Graph:
    """Make percentages of quantities whose unit is the percent, if nothing else has that unit."""
    shared = {edge.target for edge in graph.edges if edge.source not in quantities}
    units = {
        edge.target for edge in graph.edges if edge.label == "unit" and edge.source in quantities
    } - shared.union(edge.source for edge in graph.edges)

    def changed(edge: Edge) -> Edge:
        owned = edge.source in quantities and edge.label == "quant"
        return edge._replace(label="value") if owned else edge

    def named(node: Node) -> Node:
        return node._replace(label=_PERCENTAGE) if node.id in quantities else node

    return replace(
        graph,
        nodes=tuple(named(node) for node in graph.nodes if node.id not in units),
        edges=tuple(changed(edge) for edge in graph.edges if edge.target not in units),
    )
