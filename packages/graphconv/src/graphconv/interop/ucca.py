"""UCCA graphs to and from ``ucca.core.Passage``, for those who have the `ucca` toolkit.

The toolkit (GPL-3) is no dependency. Both directions go through its standard XML, so they keep
what that keeps::

    passage = to_passage(graph)
    graph = from_passage(passage)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any
from xml.etree import ElementTree

from graphconv.codecs import Block, ucca
from graphconv.errors import ConversionError
from graphconv.graph import Graph


def to_passage(graph: Graph) -> Any:
    """Return the ``ucca.core.Passage`` of a UCCA graph."""
    if graph.framework != "ucca":
        message = f"a UCCA graph expected, not one of {graph.framework}"
        raise ConversionError(message, graph_id=graph.id)
    return _toolkit().from_standard(ElementTree.fromstring(ucca.format(graph)))


def from_passage(passage: Any) -> Graph:
    """Return the graph of a ``ucca.core.Passage``."""
    text = ElementTree.tostring(_toolkit().to_standard(passage), encoding="unicode")
    return ucca.parse(Block(text, f"passage {passage.ID}", 1))


def _toolkit() -> Any:
    """Import the part of the toolkit that reads and writes XML."""
    try:
        return import_module("ucca.convert")
    except ImportError as exc:
        raise ImportError(
            "the ucca toolkit is needed: `pip install 'arbora-graphconv[ucca]'`, "
            "then `pip install --no-deps ucca`"
        ) from exc
