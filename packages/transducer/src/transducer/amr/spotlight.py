"""A client of DBpedia Spotlight's JSON service, for Wikipedia links; off unless configured.

Answers are kept on disk. A service that does not answer is asked no more: there is one warning and
every further name is left unlinked.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_log = logging.getLogger(__name__)


class Spotlight:
    """A linker: call it with (sentence, name) for the title of a Wikipedia page or None."""

    def __init__(
        self,
        endpoint: str,
        *,
        cache: Path | None = None,
        timeout: float = 10.0,
        retries: int = 2,
        confidence: float = 0.5,
        pause: float = 0.5,
    ) -> None:
        self._endpoint = endpoint
        self._cache = cache
        self._timeout = timeout
        self._retries = retries
        self._confidence = confidence
        self._pause = pause
        self._dead = False
        self._last: tuple[str, Mapping[str, str]] = ("", {})

    def __call__(self, sentence: str, name: str) -> str | None:
        """Return the title of the page that *name* links to in the sentence."""
        if self._last[0] != sentence:
            self._last = (sentence, self._annotate(sentence))
        return self._last[1].get(name)

    def _annotate(self, sentence: str) -> Mapping[str, str]:
        query = {"text": sentence, "confidence": str(self._confidence)}
        body = urllib.parse.urlencode(query).encode()
        path = None
        if self._cache is not None:
            key = hashlib.sha256(self._endpoint.encode() + b"\n" + body).hexdigest()
            path = self._cache / f"{key}.json"
            stored = _read_json(path)
            if stored is not None:
                return _titles(stored)
        answer = self._ask(body)
        if answer is not None and path is not None:
            _write_json(path, answer)
        return _titles(answer)

    def _ask(self, body: bytes) -> Any:
        if self._dead:
            return None
        request = urllib.request.Request(
            self._endpoint, data=body, headers={"Accept": "application/json"}
        )
        for attempt in range(self._retries + 1):
            if attempt:
                time.sleep(self._pause)
            try:
                with urllib.request.urlopen(request, timeout=self._timeout) as response:
                    return json.load(response)
            except (OSError, ValueError) as error:  # no connection, HTTP error, time-out, no JSON
                reason = str(error)
                if isinstance(error, urllib.error.HTTPError):
                    error.close()
        self._dead = True
        _log.warning(
            "Spotlight at %s does not answer (%s): names stay unlinked", self._endpoint, reason
        )
        return None


def _titles(answer: Any) -> Mapping[str, str]:
    """Return surface form -> page title from the service's answer."""
    titles: dict[str, str] = {}
    resources = answer.get("Resources", ()) if isinstance(answer, dict) else ()
    for resource in resources if isinstance(resources, list) else ():
        if isinstance(resource, dict) and "@URI" in resource and "@surfaceForm" in resource:
            page = str(resource["@URI"]).rpartition("/resource/")[2]
            titles.setdefault(str(resource["@surfaceForm"]), urllib.parse.unquote(page))
    return titles


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # absent, or half-written by a process that died
        return None


def _write_json(path: Path, value: Any) -> None:
    with suppress(OSError):  # a full or read-only disk costs another question, no sentence
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_text(json.dumps(value), encoding="utf-8")
        partial.replace(path)
