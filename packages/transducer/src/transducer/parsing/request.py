"""What the user asks of ``parse``: which format, which options; contradictions are errors."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from graphconv import io
from graphconv.frameworks import FRAMEWORKS
from graphconv.io.files import STDIO
from transducer.config import DecodeConfig
from transducer.errors import TransducerError
from transducer.text.annotation import Annotator

ALIGNED = frozenset({"amr"})
"""Formats that can say which words the nodes stand for."""

PASSAGES = frozenset({"ucca"})
"""Formats with a file for each graph, which streams join to one."""

_ALONE = ("scores", "nbest", "attention", "resume")
"""What cannot be asked together with ``--incremental``."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the user wants of a file that is parsed."""

    kind: str
    to: str
    settings: DecodeConfig
    annotator: Annotator | None = None
    encoding: str = ""
    """Of raw text; empty: UTF-8."""
    spotlight: str = ""
    scores: bool = False
    attention: str | None = None
    """Where the attention of each row goes, too."""
    alignments: str = "none"
    """AMR: how PENMAN says which words a node stands for."""
    incremental: bool = False
    resume: bool = False
    overwrite: bool = False

    @property
    def as_json(self) -> bool:
        """Whether JSON lines with scores are written in place of graphs."""
        return self.scores or self.settings.nbest > 1

    def options(self) -> dict[str, Any]:
        """Return all that decides which graphs come out of a model and a file, and how."""
        return {
            "kind": self.kind,
            "to": self.to,
            "alignments": self.alignments,
            "settings": asdict(self.settings),
            "annotator": self.annotator.name if self.annotator is not None else "",
            "encoding": self.encoding,
            "spotlight": self.spotlight,
            "version": version("arbora-transducer"),
        }


def choose_format(task: str, output: str, to: str | None) -> str:
    """Return the format: as said, else by the name of the file, else the framework's own.

    >>> choose_format("dm", "x.mrp.gz", None), choose_format("dm", "-", None)
    ('mrp', 'sdp')
    >>> choose_format("dm", "x.mrp", "sdp")
    Traceback (most recent call last):
    transducer.errors.TransducerError: x.mrp is the name of a mrp file, and --to says sdp
    """
    named = io.named_format(output) if output != STDIO else None
    if to and named and to != named:
        raise TransducerError(f"{output} is the name of a {named} file, and --to says {to}")
    chosen = to or named or FRAMEWORKS[task].codec
    if task not in io.held_frameworks(chosen):
        raise TransducerError(f"the format {chosen} cannot hold {task} graphs")
    return chosen


def is_folder(output: str, to: str) -> bool:
    """Say whether an output is a folder of passages."""
    return to in PASSAGES and output != STDIO and io.named_format(output) is None


def check(request: Request, path: str, output: str) -> None:
    """Refuse what cannot be written, or contradicts itself, before anything is parsed."""
    asked = [name for name in _ALONE if _is_asked(request, name)]
    if request.incremental and asked:
        raise TransducerError(f"--incremental and --{asked[0]} exclude each other")
    if request.resume:
        _check_resume(request, path, output)
    if request.alignments != "none" and request.to not in ALIGNED:
        raise TransducerError("--alignments is for AMR in PENMAN: leave it out, or say --to amr")
    if request.attention is not None and _same(request.attention, output):
        raise TransducerError(f"--attention and -o are both {output}: name two files")
    if (request.as_json or request.incremental) and output != STDIO:
        named = io.named_format(output)
        if named is not None and not (request.incremental and named == "relations"):
            what = "--incremental writes lines" if request.incremental else "JSON lines are written"
            raise TransducerError(f"{output} is the name of a {named} file, and {what}")
    _check_place(request, output)


def _is_asked(request: Request, name: str) -> bool:
    return request.settings.nbest > 1 if name == "nbest" else bool(getattr(request, name))


def _check_resume(request: Request, path: str, output: str) -> None:
    if output == STDIO:
        raise TransducerError("--resume needs -o: standard output cannot be resumed")
    if request.as_json or request.attention is not None:
        raise TransducerError("--resume is for graphs, without --scores, --nbest and --attention")
    if not is_kept(path):
        raise TransducerError(f"--resume needs a file to read again, and {path} is none")


def is_kept(path: str) -> bool:
    """Say whether an input can be read twice: no pipe, no terminal."""
    return path != STDIO and (Path(path).is_file() or Path(path).is_dir())


def _check_place(request: Request, output: str) -> None:
    if output == STDIO:
        return
    place = Path(output)
    graphs = not (request.as_json or request.incremental)
    if not (graphs and is_folder(output, request.to)):
        if place.is_dir():
            raise TransducerError(f"{output} is a folder, where a file is to be written")
        return
    if place.exists() and not place.is_dir():
        raise TransducerError(f"{output} is a file, where a folder is to be written")
    if place.is_dir() and not request.overwrite:
        found = next((file.name for file in place.iterdir() if file.suffix == ".xml"), None)
        if found is not None:
            raise TransducerError(
                f"{output} holds passages of an earlier run, such as {found}: "
                "--overwrite replaces them"
            )


def _same(first: str, second: str) -> bool:
    return os.path.realpath(first) == os.path.realpath(second)
