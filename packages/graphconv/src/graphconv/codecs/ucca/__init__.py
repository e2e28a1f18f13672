"""UCCA XML, as the ``ucca`` toolkit writes it.

:mod:`.reader` makes graphs, from :mod:`.regular` (files as programs write them, fast) or
:mod:`.elements` (any other file); :mod:`.writer` makes XML.
"""

from graphconv.codecs.ucca.reader import (
    blocks,
    format,  # noqa: A004 - a codec's names
    is_one_block,
    join,
    parse,
    parse_whole,
    sniff,
)

__all__ = ["blocks", "format", "is_one_block", "join", "parse", "parse_whole", "sniff"]
