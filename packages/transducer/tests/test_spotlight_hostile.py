"""A linking service that answers with anything: a warning, no link, and within the time limit."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from transducer.frameworks.amr.spotlight import Spotlight

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
GOOD = b'{"Resources": [{"@URI": "http://x/resource/York", "@surfaceForm": "York"}]}'


def drip(connection: socket.socket) -> None:
    """Send a byte now and then, for ever."""
    connection.sendall(OK + b"\r\n")
    with contextlib.suppress(OSError):
        for _ in range(200):
            connection.sendall(b" ")
            time.sleep(0.05)


def endless(connection: socket.socket) -> None:
    """Send as much as is taken."""
    connection.sendall(OK + b"\r\n")
    with contextlib.suppress(OSError):
        for _ in range(100):
            connection.sendall(b" " * 100_000)


ANSWERS: dict[str, bytes | Callable[[socket.socket], None]] = {
    "cut": OK + b"Content-Length: 500\r\n\r\n" + GOOD,
    "bad status": b"HTTP/9 no OK\r\n\r\n" + GOOD,
    "no status": b"hello\r\n\r\n",
    "silence": b"",
    "bad chunk": OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + GOOD,
    "cut chunk": OK + b"Transfer-Encoding: chunked\r\n\r\nff\r\n" + GOOD,
    "headers": OK + b"".join(b"X-%d: y\r\n" % i for i in range(150)) + b"\r\n" + GOOD,
    "long header": OK + b"X: " + b"y" * 100_000 + b"\r\n\r\n" + GOOD,
    "deep": OK + b"\r\n" + b"[" * 100_000,
    "digits": OK + b"\r\n" + b'{"Resources": ' + b"9" * 5_000 + b"}",
    "not UTF-8": OK + b"\r\n\xff\xfe",
    "redirect": b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n",
    "drip": drip,
    "endless": endless,
}


@pytest.fixture
def serve() -> Iterator[Callable[[bytes | Callable[[socket.socket], None]], str]]:
    """Answer every connection in the same way."""
    listener = socket.create_server(("127.0.0.1", 0))
    answers: list[bytes | Callable[[socket.socket], None]] = []

    def work() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    connection.settimeout(2)
                    connection.recv(65_536)
                    answer = answers[0]
                    if callable(answer):
                        answer(connection)
                    else:
                        connection.sendall(answer)
                        # What is left unread would reset the connection, and the answer with it.
                        connection.shutdown(socket.SHUT_WR)
                        while connection.recv(65_536):
                            pass

    def start(answer: bytes | Callable[[socket.socket], None]) -> str:
        answers.append(answer)
        threading.Thread(target=work, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/rest"

    yield start
    listener.close()


def test_a_good_answer_is_taken(serve: Callable[[bytes], str]) -> None:
    assert Spotlight(serve(OK + b"\r\n" + GOOD), retries=0)("in York", "York") == "York"


@pytest.mark.parametrize("kind", ANSWERS)
def test_bad_answers_are_a_warning(
    kind: str,
    serve: Callable[[bytes | Callable[[socket.socket], None]], str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    wikifier = Spotlight(serve(ANSWERS[kind]), retries=0, timeout=0.7)
    started = time.monotonic()
    with caplog.at_level(logging.WARNING):
        assert [wikifier(text, "York") for text in ("in York", "near York")] == [None, None]
    assert time.monotonic() - started < 3
    assert len(caplog.records) == 1
    assert "does not answer" in caplog.text
