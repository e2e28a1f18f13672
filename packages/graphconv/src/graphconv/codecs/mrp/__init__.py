"""MRP, the JSON of the shared tasks on Cross-Framework Meaning Representation Parsing."""

from graphconv.codecs._json import line_blocks as blocks
from graphconv.codecs.mrp.reader import format, parse, sniff  # noqa: A004 - a codec's names

__all__ = ["blocks", "format", "parse", "sniff"]
