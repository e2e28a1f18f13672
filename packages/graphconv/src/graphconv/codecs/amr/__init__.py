"""AMR in PENMAN notation: :mod:`.reader` cuts and parses, :mod:`.writer` lays out."""

from graphconv.codecs.amr.reader import blocks, format, parse, sniff  # noqa: A004 - a codec's names
from graphconv.codecs.amr.writer import as_symbol

__all__ = ["as_symbol", "blocks", "format", "parse", "sniff"]
