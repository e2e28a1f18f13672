"""Clients that mean harm or are broken: the server stays up and answers the next request."""

from __future__ import annotations

import json
import random
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

import transducer
from transducer.serving.settings import Settings

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from server_for_tests import Client

from transducer.serving.connection import ImpatientProtocol, allow_connections

TEXT = "The boy wants to go."
BODY = json.dumps({"text": TEXT}).encode()
HEAD = b"POST /v1/parse HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@pytest.fixture
def client(
    memorized: Callable[[str], tuple[Path, Path]], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Client]:
    monkeypatch.setattr(ImpatientProtocol, "head_seconds", 1.0)
    client = Client(transducer.load(memorized("dm")[1]), Settings(max_characters=500, timeout=2))
    yield client
    assert client.call("/v1/parse", {"text": TEXT}).status == 200  # whatever went before
    assert client.call("/healthz").status == 200
    client.stop()


def connect(client: Client) -> socket.socket:
    return socket.create_connection(("127.0.0.1", client.port), timeout=20)


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(client: Client) -> None:
    with ExitStack() as stack:
        slow = [stack.enter_context(connect(client)) for _ in range(50)]
        started = time.monotonic()
        for byte in HEAD[:5]:
            for one in slow:
                one.sendall(bytes([byte]))
        assert client.call("/v1/parse", {"text": TEXT}).status == 200  # while they all wait
        assert [one.recv(100) for one in slow] == [b""] * 50
        assert 0.5 < time.monotonic() - started < 15


def test_a_body_that_stops_is_not_waited_for(client: Client) -> None:
    with connect(client) as slow:
        slow.sendall(HEAD + b"Content-Length: 1000\r\n\r\n{")
        assert slow.recv(4096).startswith(b"HTTP/1.1 408")


def test_the_second_head_of_a_connection_is_not_waited_for_either(client: Client) -> None:
    with connect(client) as slow:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        answered = b""
        while b'{"status":"ok"}' not in answered:
            answered += slow.recv(4096)
        slow.sendall(b"GET /heal")
        assert slow.recv(4096) == b""


def test_half_closed_connections(client: Client) -> None:
    with connect(client) as half:  # it has asked, and says no more
        half.sendall(HEAD + f"Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY)
        half.shutdown(socket.SHUT_WR)
        half.recv(4096)
    with connect(client) as half:  # it has not even asked
        half.sendall(HEAD)
        half.shutdown(socket.SHUT_WR)
        assert half.recv(4096) == b""
    with connect(client) as half:  # in the middle of a body
        half.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
        half.shutdown(socket.SHUT_WR)
    with connect(client) as gone:  # it does not want to hear the answer
        gone.sendall(HEAD + f"Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY)
        gone.shutdown(socket.SHUT_RD)


@pytest.mark.parametrize("seed", range(5))
def test_garbage_bytes(client: Client, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(20):
        with connect(client) as odd, suppress(ConnectionError):
            start = chance.choice([b"", b"GET ", b"GET / HTTP/1.1\r\n", HEAD, b"\x16\x03\x01"])
            odd.sendall(start + chance.randbytes(chance.randrange(1, 2000)) + b"\r\n\r\n")
            assert odd.recv(100)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 404", b"HTTP/1.1 405", b"")


@pytest.mark.parametrize(
    "head",
    [
        b"POST /v1/parse HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"POST /v1/parse HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
        b"POST /v1/parse HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
def test_heads_that_are_wrong(client: Client, head: bytes) -> None:
    with connect(client) as odd, suppress(ConnectionError):
        odd.sendall(head)
        assert odd.recv(100)[:12] in (b"HTTP/1.1 400", b"")


def test_a_hundred_megabytes_are_refused_early(client: Client) -> None:
    size, sent = 100_000_000, 0
    with connect(client) as large:
        large.sendall(HEAD + f"Content-Length: {size}\r\n\r\n".encode())
        answered = b""
        with suppress(ConnectionError):
            while sent < size:
                sent += large.send(b"x" * 1_000_000)
        with suppress(ConnectionError):
            answered = large.recv(100)
    assert answered[:12] in (b"HTTP/1.1 413", b"")
    assert sent < size  # it was not listened to till the end


def test_a_body_of_many_small_chunks_is_refused_early(client: Client) -> None:
    with connect(client) as large:
        large.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        with suppress(ConnectionError):
            for _ in range(10_000):
                large.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n")
            pytest.fail("ten megabytes were read")


def test_a_thousand_connections(client: Client) -> None:
    allow_connections(2500)
    with ExitStack() as stack:
        idle = [stack.enter_context(connect(client)) for _ in range(1000)]
        assert client.call("/v1/parse", {"text": TEXT}).status == 200
        assert len(idle) == 1000
