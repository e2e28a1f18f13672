r"""Read and write treebank files: any format, gzip or not, folders, standard input and output.

Everything is a lazy stream; a file is read one graph at a time, and a written file appears under
its name only when it is complete.

>>> import tempfile
>>> from pathlib import Path
>>> folder = Path(tempfile.mkdtemp())
>>> _ = (folder / "a.sdp").write_text("#SDP 2015\n#1\n1\tGo\tgo\tVB\t+\t-\t_\n\n")
>>> write(read(folder / "a.sdp"), folder / "b.sdp.gz")
1
>>> [graph.id for graph in read(folder / "b.sdp.gz")]
['1']
"""

from graphconv.io.reading import (
    FORMATS,
    MIXED_FORMATS,
    TREE_FORMATS,
    Codec,
    OnError,
    codec,
    detect,
    held_frameworks,
    looks_like_graphs,
    parse_block,
    parse_tree,
    read,
    read_arborescences,
    read_blocks,
    report,
)
from graphconv.io.strings import dumps, loads, string_blocks
from graphconv.io.writing import named_format, native_format, passage_name, write

__all__ = [
    "FORMATS",
    "MIXED_FORMATS",
    "TREE_FORMATS",
    "Codec",
    "OnError",
    "codec",
    "detect",
    "dumps",
    "held_frameworks",
    "loads",
    "looks_like_graphs",
    "named_format",
    "native_format",
    "parse_block",
    "parse_tree",
    "passage_name",
    "read",
    "read_arborescences",
    "read_blocks",
    "report",
    "string_blocks",
    "write",
]
