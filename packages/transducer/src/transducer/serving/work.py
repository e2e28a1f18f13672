"""One thread owns the models; requests that arrive together are decoded together.

A request waits in a bounded queue, and a moment (``Settings.patience``) for others. It ends with a
document, or is given up: when its time is over or its client has gone, its decoding stops before
the next row.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from transducer.decoding.interruption import interrupted_by
from transducer.errors import TransducerError
from transducer.parsing.document import Doc
from transducer.parsing.pipeline import OnRow, Pipeline
from transducer.serving.events import RUNNERS_UP
from transducer.serving.settings import Settings

TOGETHER = 64
"""Requests that are decoded together, at most."""


class FullError(Exception):
    """The queue is full."""


class GivenUpError(Exception):
    """Nobody waits for the rest."""


@dataclass(eq=False)
class Job:
    """A text to parse, and who waits for it."""

    text: str
    tasks: tuple[str, ...]
    options: tuple[tuple[str, Any], ...]
    done: asyncio.Future[Doc]
    loop: asyncio.AbstractEventLoop
    on_row: OnRow | None = None
    given_up: threading.Event = field(default_factory=threading.Event)

    def answer(self, doc: Doc | None, error: Exception | None = None) -> None:
        """Hand the result over to the event loop."""
        self.loop.call_soon_threadsafe(self._set, doc, error)

    def _set(self, doc: Doc | None, error: Exception | None) -> None:
        if self.done.done() or self.given_up.is_set():  # nobody waits for it
            return
        if error is not None or doc is None:
            self.done.set_exception(error or GivenUpError())
        else:
            self.done.set_result(doc)


class Worker:
    """The thread that parses."""

    def __init__(self, nlp: Pipeline, settings: Settings) -> None:
        self.nlp = nlp
        self.settings = settings
        self.sentences = 0
        self.words = 0
        self._queue: queue.Queue[Job | None] = queue.Queue(settings.queue)
        self._thread = threading.Thread(target=self._run, name="arbora-parser", daemon=True)

    @property
    def waiting(self) -> int:
        """How many requests are in the queue."""
        return self._queue.qsize()

    @property
    def alive(self) -> bool:
        """Whether the thread works."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def stop(self) -> None:
        """Finish what is in the queue, and end."""
        self._queue.put(None)
        self._thread.join()

    def submit(self, job: Job) -> None:
        """Put a request into the queue.

        Raises:
            FullError: There are too many already.
        """
        try:
            self._queue.put_nowait(job)
        except queue.Full:
            raise FullError from None

    def _run(self) -> None:
        ended = False
        while not ended:
            jobs = [self._queue.get()]
            deadline = time.monotonic() + self.settings.patience
            while jobs[-1] is not None and len(jobs) < TOGETHER:
                try:
                    jobs.append(self._queue.get(timeout=max(deadline - time.monotonic(), 0)))
                except queue.Empty:
                    break
            ended = jobs[-1] is None
            for group in grouped([job for job in jobs if job is not None]):
                self._parse(group)

    def _parse(self, jobs: Sequence[Job]) -> None:
        """Parse jobs with the same settings; what goes wrong is their answer, never our end."""

        def stop_if_given_up() -> None:
            if all(job.given_up.is_set() for job in jobs):
                raise GivenUpError

        try:
            nlp = Pipeline({task: self.nlp.parsers[task] for task in jobs[0].tasks})
            with interrupted_by(stop_if_given_up):
                if jobs[0].on_row is not None:
                    docs = [
                        nlp.watch(
                            jobs[0].text, jobs[0].on_row, runners_up=RUNNERS_UP, errors="keep"
                        )
                    ]
                else:
                    options = dict(jobs[0].options)
                    docs = list(nlp.pipe([job.text for job in jobs], errors="keep", **options))
        except GivenUpError as error:
            self._answer(jobs, error)
        except Exception as error:  # noqa: BLE001 - a server outlives what it cannot parse
            if len(jobs) > 1:  # one of them is to blame: the others get their answers
                for job in jobs:
                    self._parse([job])
            else:
                self._answer(jobs, error)
        else:
            for job, doc in zip(jobs, docs, strict=True):
                self.sentences += len(doc.sentences)
                self.words += len(doc.tokens)
                job.answer(doc)

    @staticmethod
    def _answer(jobs: Sequence[Job], error: Exception) -> None:
        known = isinstance(error, (TransducerError, GivenUpError))
        shown = error if known else TransducerError("the text could not be parsed")
        for job in jobs:
            job.answer(None, shown)


def grouped(jobs: Sequence[Job]) -> list[list[Job]]:
    """Group jobs that can be decoded together; what somebody watches is decoded alone."""
    groups: dict[object, list[Job]] = {}
    for job in jobs:
        if not job.given_up.is_set():
            key = (job.tasks, job.options) if job.on_row is None else id(job)
            groups.setdefault(key, []).append(job)
    return list(groups.values())
