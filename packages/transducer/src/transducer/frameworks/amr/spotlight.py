"""A client of DBpedia Spotlight's JSON service, for pages of Wikipedia; off unless configured.

Answers are kept on disk. A service that does not answer is asked no more: there is one warning and
every further name gets no page.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import logging
import queue
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from graphconv.io.files import replacing
from transducer.cache import cache_folder
from transducer.errors import ConfigError
from transducer.schema import Printable, parse_json, read_json

_log = logging.getLogger(__name__)


class Spotlight:
    """A wikifier: call it with (sentence, name) for the title of a Wikipedia page or None."""

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
        parts = urllib.parse.urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"the address of Spotlight is {endpoint!r}, not http:// or https://")
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
        for attempt in range(self._retries + 1):
            if attempt:
                time.sleep(self._pause)
            try:
                return self._answer(body)
            except _FAILURES as error:
                reason = str(error) or type(error).__name__
                if isinstance(error, urllib.error.HTTPError):
                    error.close()
        self._dead = True
        _log.warning(
            "Spotlight at %s does not answer (%s): names get no page", self._endpoint, reason
        )
        return None

    def _answer(self, body: bytes) -> Any:
        """Return one answer, or fail in time: a thread of its own waits for whatever drips in."""
        results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        thread = threading.Thread(target=self._receive, args=(body, results), daemon=True)
        thread.start()
        try:
            result = results.get(timeout=self._timeout)
        except queue.Empty:
            raise TimeoutError(f"no answer within {self._timeout:g} seconds") from None
        if isinstance(result, Exception):
            raise result
        return parse_json(result.decode())

    def _receive(self, body: bytes, results: queue.SimpleQueue[Any]) -> None:
        """Put the body of one answer into the queue, or why there is none."""
        headers = {"Accept": "application/json"}
        request = urllib.request.Request(self._endpoint, data=body, headers=headers)
        try:
            with _OPENER.open(request, timeout=self._timeout) as response:
                results.put(_body(response, time.monotonic() + self._timeout))
        except Exception as error:  # noqa: BLE001 - told in the thread that waits
            results.put(error)


def _body(response: http.client.HTTPResponse, end: float) -> bytes:
    """Read an answer, up to a size and a time."""
    received = bytearray()
    while chunk := response.read1(_CHUNK):
        received += chunk
        if len(received) > _LARGEST or time.monotonic() > end:
            raise OSError(f"the answer has more than {_LARGEST:,} bytes, or never ends")
    if response.length:
        raise OSError(f"the answer lacks {response.length:,} bytes")
    return bytes(received)


_LARGEST = 1_000_000
"""Bytes of an answer."""
_CHUNK = 65_536
_FAILURES = (OSError, ValueError, http.client.HTTPException)
"""No connection, HTTP error, redirect, time-out, bad header, bad chunk, no JSON."""


def _opener() -> urllib.request.OpenerDirector:
    """Return what opens web addresses and nothing else: no files, and no redirects to elsewhere."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    return opener


_OPENER = _opener()


def _titles(answer: Any) -> Mapping[str, str]:
    """Return surface form -> page title from the service's answer."""
    titles: dict[str, str] = {}
    resources = answer.get("Resources", ()) if isinstance(answer, dict) else ()
    for resource in resources if isinstance(resources, list) else ():
        if isinstance(resource, dict) and "@URI" in resource and "@surfaceForm" in resource:
            page = urllib.parse.unquote(str(resource["@URI"]).rpartition("/resource/")[2])
            if page in Printable() and '"' not in page:
                titles.setdefault(str(resource["@surfaceForm"]), page)
    return titles


def _read_json(path: Path) -> Any:
    try:
        return read_json(path, 2 * _LARGEST)
    except (OSError, ValueError):  # absent, or half-written by a process that died
        return None


def _write_json(path: Path, value: Any) -> None:
    with suppress(OSError):  # a full or read-only disk costs another question, no sentence
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as hidden:
            hidden.write_text(json.dumps(value), encoding="utf-8")


def make_wikifier(address: str) -> Spotlight | None:
    """Return a client of the wikifier at an address that the user gave, if there is one."""
    return Spotlight(address, cache=cache_folder("spotlight")) if address else None
