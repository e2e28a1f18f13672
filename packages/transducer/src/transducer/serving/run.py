"""Start a server: load the models, listen, and end in order on SIGTERM."""

from __future__ import annotations

import signal
import socket
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from transducer.errors import TransducerError
from transducer.parsing.pipeline import load
from transducer.serving.app import make_app
from transducer.serving.connection import ImpatientProtocol, allow_connections
from transducer.serving.settings import Settings
from transducer.serving.work import Worker

if TYPE_CHECKING:
    from starlette.applications import Starlette


def configured(app: Starlette, settings: Settings, *, host: str, port: int) -> uvicorn.Config:
    """Return how the application is served."""
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=ImpatientProtocol,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=settings.max_connections,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=int(settings.timeout) + 1,
        h11_max_incomplete_event_size=65_536,
    )


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that has the address, and does not listen yet."""
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        with closing(socket.socket(family, kind, protocol)) as found:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(address)
            return found.dup()
    except OSError as error:
        raise TransducerError(
            f"cannot listen on {host}:{port} ({error.strerror}): choose another --host or --port"
        ) from error


def serve(
    models: Sequence[str | Path], settings: Settings, *, host: str, port: int, device: str = "auto"
) -> None:
    """Load models, and answer requests until SIGINT or SIGTERM."""
    with bound(host, port) as address:  # before the models, which take seconds to load
        worker = Worker(load(*models, device=device), settings)
        allow_connections(settings.max_connections)
        app = make_app(worker, settings)
        server = uvicorn.Server(configured(app, settings, host=host, port=port))
        # uvicorn ends in order on SIGTERM, and then raises it once more: it would be our exit code.
        before = signal.signal(signal.SIGTERM, lambda *_: None)
        try:
            server.run(sockets=[address])
        finally:
            signal.signal(signal.SIGTERM, before)
