"""The file formats. Each module here is one codec and defines the same names.

``blocks(lines, filename)``
    Cut the lines of a file into :class:`Block`, the text of one graph each. Cheap, and never
    raises for a bad graph, so that a reader can skip one and go on.
``parse(block, framework)``
    Turn one block into a Graph. *framework* is what the user said, or None. Raises FormatError.
``format(graph)``
    Turn one Graph into its text, the separator to the next graph included.
``sniff(head)``
    Say whether the first few thousand characters of a file look like this format.

The codecs ``arborescence`` and ``relations`` parse to and format from Arborescence, not Graph.
A codec whose files are more than their graphs one after the other (SDP: the header) also defines

``file_format()``
    Return a function like ``format`` for the graphs of one file, in order.

and one that has no place for what other formats of its frameworks say

``lost(graph)``
    Return the names of what ``format`` leaves out, so that a user can be told.
"""

from __future__ import annotations

from typing import NamedTuple


class Block(NamedTuple):
    """The text of one graph in a file, and where it starts."""

    text: str
    filename: str
    lineno: int
    first: bool = False
    """Whether it is the first of its file, where header lines may stand."""
    context: str = ""
    """What earlier lines of the file say about it (SDP: the version in the header)."""
