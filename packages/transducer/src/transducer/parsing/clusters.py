"""The job of ``transducer parse`` on a cluster: every worker has one model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphconv.cluster.conversion import SUFFIXES, ends_of
from graphconv.cluster.work import Headed, Made, Notes, Piece, Work, pieces
from transducer.errors import TransducerError
from transducer.parsing.files import texts_of, unparsed, writer
from transducer.parsing.inputs import annotator_of, guess_kind, read_documents
from transducer.parsing.parser import Parse, Transducer
from transducer.parsing.request import Request
from transducer.storage import checkpoint
from transducer.text.annotation import AnnotationError


@dataclass(frozen=True, slots=True)
class ParseJob:
    """Parse files. The sentences of an input are numbered, and batched, as one machine does it."""

    folder: Path
    """Of the model."""
    model: str
    request: Request
    """Its kind of input may be empty: then each input is looked at."""
    annotator: str
    """Empty: that of the training."""
    device: str
    size: int
    """Sentences in a shard."""
    packed: bool = False
    command: str = "transducer parse"
    errors: tuple[type[Exception], ...] = (TransducerError, AnnotationError)

    @property
    def suffix(self) -> str:
        """See Job."""
        return SUFFIXES[self.request.to] + (".gz" if self.packed else "")

    @property
    def options(self) -> Mapping[str, Any]:
        """See Job."""
        own = {"annotator": self.annotator, "device": self.device, "size": self.size}
        return {**self.request.options(), **own}

    def cut(self, paths: tuple[str, ...]) -> Iterator[Piece]:
        """See Job. Items are documents with the path that they are from."""
        (path,) = paths
        notes = Notes()
        config, _, task = checkpoint.load_setup(self.folder)
        documents = read_documents(
            task,
            path,
            self.request.kind or guess_kind(path, self.request.encoding),
            annotator_of(self.annotator, config.train.annotator, str(self.folder)),
            on_error=notes.lose,
            encoding=self.request.encoding,
        )
        return pieces(((path, document) for document in documents), self.size, notes)

    def worker(self) -> Work:
        """See Job."""
        spotlight = self.request.spotlight
        parser = Transducer.load(self.folder, self.device, spotlight=spotlight)
        return lambda piece: _parsed(parser, self.request, piece)

    def ends(self, head: str, graphs: int) -> tuple[str, str]:
        """See Job."""
        return ends_of(self.request.to, head, graphs)


def _parsed(parser: Transducer, request: Request, piece: Piece) -> Made:
    notes = Notes()
    paths = [path for path, _ in piece.items]
    parses = parser.stream((document for _, document in piece.items), request.settings)
    write = Headed(writer(request, ""))

    def told() -> Iterator[Parse]:
        for path, parsed in zip(paths, parses, strict=True):
            if parsed.graph is None:
                notes.lose(unparsed(path, parsed))
            yield parsed

    texts = [one.text for one in texts_of(told(), write, notes.lose) if one.text is not None]
    return Made(b"".join(texts), len(texts), notes, write.head)
