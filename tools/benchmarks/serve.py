"""Latency, words per second and memory of `transducer serve`, beside `transducer parse`.

The server is a process of its own; so is `transducer parse`, whose loading is timed with one
sentence and taken off. Clients keep their connections, and send one sentence a request.
"""

from __future__ import annotations

import argparse
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import cycle, islice
from pathlib import Path
from threading import Lock

from benchmarks.measure import Row
from graphconv import io
from graphconv.views import text_of

TWENTY_WORDS = (
    "The committee that met on Monday decided to give the prize to a young writer from the north ."
)
SHORT = "Dogs bark ."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--task", default="dm", help="of the model that ships")
    parser.add_argument("--sentences", type=int, default=512)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32, 128], metavar="N")
    parser.add_argument("--calls", type=int, default=30, help="of a sentence of 20 words")
    parser.add_argument("--memory", type=int, default=10_000, metavar="N", help="short requests")


def run(arguments: argparse.Namespace) -> list[Row]:
    texts = _texts(arguments.task, arguments.sentences)
    words = sum(len(text.split()) for text in texts)
    parse = _parse_seconds(arguments.task, texts)
    rows = [Row(arguments.task, "transducer parse", parse, words, words / parse, "", 0, 0)]
    with _server(arguments.task) as (port, process):
        _load(port, texts[:64], 8)  # everything is warm
        for clients in arguments.clients:
            mine = texts if clients > 1 else texts[: max(len(texts) // 8, 1)]
            rows.append(_clients(arguments.task, port, mine, clients, words / parse))
        rows += _one_sentence(arguments.task, port, arguments.calls)
        rows += _memory(arguments.task, port, process.pid, arguments.memory)
    return rows


def _texts(task: str, number: int) -> list[str]:
    """Return sentences of the sample corpus, again and again if there are too few."""
    from transducer import sample  # noqa: PLC0415 - other benchmarks must not wait for torch

    texts = [" ".join(text_of(graph).split()) for graph in io.read(sample.path(task, "train"))]
    return list(islice(cycle(text for text in texts if text), number))


def _parse_seconds(task: str, texts: Sequence[str]) -> float:
    """Return how long `transducer parse` takes, without the loading of the model."""

    def seconds(some: Sequence[str]) -> float:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "text.txt"
            file.write_text("".join(f"{text}\n" for text in some), encoding="utf-8")
            command = ("parse", "--task", task, "--input", "sentences", str(file))
            output = ("-o", str(Path(folder) / "out.mrp"))
            start = time.perf_counter()
            subprocess.run([sys.executable, "-m", "transducer", *command, *output], check=True)
            return time.perf_counter() - start

    alone = min(seconds(texts[:1]) for _ in range(2))
    return max(seconds(texts) - alone, 1e-9)


@contextmanager
def _server(task: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "transducer", "serve", "--task", task, "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            while True:
                time.sleep(0.2)
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                if process.poll() is not None:
                    raise SystemExit("the server has ended")
            yield port, process
        finally:
            process.terminate()


def _load(port: int, texts: Sequence[str], clients: int) -> tuple[float, list[float], int]:
    """Send all texts from so many clients; return the seconds, the latencies, and the errors."""
    waiting, lock = iter(texts), Lock()

    def client(_: int) -> tuple[list[float], int]:
        connection = HTTPConnection("127.0.0.1", port, timeout=300)
        latencies: list[float] = []
        errors = 0
        while True:
            with lock:
                text = next(waiting, None)
            if text is None:
                connection.close()
                return latencies, errors
            start = time.perf_counter()
            connection.request("POST", "/v1/parse", json.dumps({"text": text}))
            response = connection.getresponse()
            response.read()
            latencies.append(time.perf_counter() - start)
            errors += response.status != 200

    start = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        found = list(pool.map(client, range(clients)))
    seconds = time.perf_counter() - start
    return seconds, [one for some, _ in found for one in some], sum(errors for _, errors in found)


def _clients(task: str, port: int, texts: Sequence[str], clients: int, floor: float) -> Row:
    words = sum(len(text.split()) for text in texts)
    seconds, latencies, errors = _load(port, texts, clients)
    p50, p95, p99 = (_percentile(latencies, p) for p in (50, 95, 99))
    name = f"{clients} clients, p50/p95/p99 {p50:.2f}/{p95:.2f}/{p99:.2f} s, {errors} errors"
    speed = words / seconds
    return Row(task, name, seconds, words, speed, "transducer parse", floor / speed, 0)


def _percentile(values: Sequence[float], percent: int) -> float:
    ranked = sorted(values)
    return ranked[min(len(ranked) * percent // 100, len(ranked) - 1)]


def _one_sentence(task: str, port: int, calls: int) -> list[Row]:
    """Compare one request with one call from Python; both in turn, so that they meet one load."""
    import transducer  # noqa: PLC0415 - other benchmarks must not wait for torch

    nlp = transducer.load(task)
    words = len(TWENTY_WORDS.split())
    python: list[float] = []
    server: list[float] = []
    nlp(TWENTY_WORDS)
    for _ in range(calls):
        start = time.perf_counter()
        nlp(TWENTY_WORDS)
        python.append(time.perf_counter() - start)
        server += _load(port, [TWENTY_WORDS], 1)[1]
    a, b = statistics.median(python), statistics.median(server)
    return [
        Row(task, "20 words, nlp(text)", a, words, words / a, "", 0, 0),
        Row(task, "20 words, a request", b, words, words / b, "20 words, nlp(text)", b / a, 0),
    ]


def _memory(task: str, port: int, pid: int, requests: int) -> list[Row]:
    """Tell the memory of the server after a tenth of many short requests, and after all."""
    rows = []
    first, rest = requests // 10, requests - requests // 10
    for number, told in ((first, first), (rest, requests)):
        seconds, _, errors = _load(port, [SHORT] * number, 64)
        name = f"after {told:,} short requests, {errors} errors"
        words = number * len(SHORT.split())
        rows.append(Row(task, name, seconds, words, words / seconds, "", 0, _resident_mb(pid)))
    return rows


def _resident_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024
