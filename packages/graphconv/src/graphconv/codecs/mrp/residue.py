"""What a record of MRP has beyond what its graph says: one attribute keeps it.

>>> found = residue({"id": 0, "odd": 3}, {"id": 0, "label": "a"})
>>> with_residue({"id": 0, "label": "a"}, found)
{'id': 0, 'odd': 3}
"""

from __future__ import annotations

import json
from typing import Any

from graphconv.codecs._json import Malformed, expect, expect_list
from graphconv.codecs.mrp.text import PRIVATE
from graphconv.errors import ConversionError
from graphconv.graph import Attributes, Graph, attribute

RESIDUE = "mrp"
"""The name of the attribute with what a JSON object says differently from what is written here."""


def residue(item: dict[str, Any], written: dict[str, Any]) -> Attributes:
    """Return the attribute that makes *item* of what would be *written* without it."""
    changed = {
        key: value for key, value in item.items() if key not in written or written[key] != value
    }
    absent = [key for key in written if key not in item and key != PRIVATE]
    if not changed and not absent:
        return ()
    return ((RESIDUE, json.dumps([changed, absent], ensure_ascii=False, sort_keys=True)),)


def has_residue(graph: Graph) -> bool:
    """Say whether a graph says of its record what MRP's writer would not do by itself."""
    nodes = (node.attributes for node in graph.nodes)
    edges = (edge.attributes for edge in graph.edges)
    return any(name == RESIDUE for said in (graph.extras, *nodes, *edges) for name, _ in said)


def residue_of(attributes: Attributes) -> tuple[dict[str, Any], list[str]]:
    """Return what is other than written, and the keys that are not there."""
    text = attribute(attributes, RESIDUE)
    if not isinstance(text, str):
        return {}, []
    try:
        changed, absent = json.loads(text)
        expect(changed, dict, "it")
        return changed, expect_list(absent, str, "it")
    except (ValueError, TypeError, RecursionError, Malformed) as error:
        raise ConversionError(f"what {RESIDUE!r} says of its record is not readable") from error


def with_residue(item: dict[str, Any], attributes: Attributes) -> dict[str, Any]:
    """Make of what is written the item that was read."""
    changed, absent = residue_of(attributes)
    for key in absent:
        item.pop(key, None)
    item.update(changed)
    return item
