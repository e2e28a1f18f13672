"""The sample corpus: 1,000 / 100 / 100 sentences with their AMR, DM and UCCA graphs.

A small grammar of English wrote it (``tools/sample_grammar.py``); docs/reference/sample-corpus.md
describes it.

>>> path("dm", "test").name
'test.dm.sdp.gz'
"""

from pathlib import Path

_SUFFIXES = {"amr": "amr", "dm": "dm.sdp", "ucca": "ucca.jsonl"}
FRAMEWORKS = tuple(_SUFFIXES)
PARTS = ("train", "dev", "test")


def path(framework: str, part: str) -> Path:
    """Return the file of one part of the corpus, for :func:`graphconv.read`."""
    if framework not in FRAMEWORKS or part not in PARTS:
        raise ValueError(f"the sample corpus has no {part!r} part for {framework!r}")
    return Path(__file__).parent / f"{part}.{_SUFFIXES[framework]}.gz"
