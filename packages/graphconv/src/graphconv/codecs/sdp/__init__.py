r"""SDP files, 2015 (seven fixed columns) and 2014 (six), byte for byte.

A sentence is a line ``#id``, a line per token and an empty line. The columns are id, form, lemma,
pos, top, pred, frame (2015 only), and one argument column for each token with PRED ``+``, in order.

>>> from graphconv.codecs import Block
>>> text = "#1\n1\tIt\tit\tPRP\t-\t-\t_\tARG1\n2\trains\train\tVBZ\t+\t+\tv:e\t_\n\n"
>>> graph = parse(Block(text, "a.sdp", 1), "dm")
>>> [tuple(edge[:3]) for edge in graph.edges], graph.tops
([('2', '1', 'ARG1')], ('2',))
>>> format(graph) == text
True

``_`` as lemma, pos or frame is None here. ``extras`` holds only how a file is unusual:
``format`` (``sdp2014``), ``header`` (the lines above the first sentence), ``head`` (the lines above
the tokens), ``newline`` (of the token lines; all of them where they differ), ``unterminated`` (the
file ends in the last token line) and ``tail`` (what follows the tokens).
"""

from graphconv.codecs.sdp.reader import blocks, parse, sniff
from graphconv.codecs.sdp.writer import file_format, format, lost  # noqa: A004 - a codec's names

__all__ = ["KEEPS_BOM", "blocks", "file_format", "format", "lost", "parse", "sniff"]

KEEPS_BOM = True
"""Even a byte order mark at the start of a file comes back."""
