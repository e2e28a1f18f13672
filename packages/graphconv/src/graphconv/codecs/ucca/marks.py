"""The names with which a graph keeps what its XML said, and the ways to say the same in XML."""

from __future__ import annotations

FORMAT = "ucca-xml"
"""The extra ``format`` of a graph that was read from XML: nothing has to be guessed."""

TERMINAL = "Terminal"
EMPTY_SLOTS = "empty_slots"
"""The extra that says that categories have an empty slot."""
NO_CATEGORY, NO_SLOT, EMPTY_SLOT = "-", "c", "s"
TERMINAL_EDGES = {
    NO_CATEGORY: "",
    NO_SLOT: f'        <category tag="{TERMINAL}" />\n',
    EMPTY_SLOT: f'        <category slot="" tag="{TERMINAL}" />\n',
}
"""The ways to write the edge to an anchor: all of them say the same."""
CODES = {"attributes": "a", "extra": "x", "category": "c", "node": "n", "edge": "e"}

# Names that mean something else in attributes and features than in the file.
GRAPH_MARKS = frozenset(
    {
        "format",
        "categories",
        "terminal_categories",
        "empty_slots",
        "children",
        "ascii",
        "declaration",
        "prolog",
        "epilog",
    }
)
TOKEN_MARKS = frozenset({"type", "paragraph", "paragraph_position", "pos_name", "children"})
NODE_MARKS = frozenset({"type", "order", "terminals", "terminal", "children"})
EDGE_MARKS = frozenset({"type", "categories", "children"})
