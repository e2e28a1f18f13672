"""Start a server: load the models, listen, and end in order on SIGTERM."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

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


def serve(
    models: Sequence[str | Path], settings: Settings, *, host: str, port: int, device: str = "auto"
) -> None:
    """Load models, and answer requests until SIGINT or SIGTERM."""
    worker = Worker(load(*models, device=device), settings)
    allow_connections(settings.max_connections)
    server = uvicorn.Server(configured(make_app(worker, settings), settings, host=host, port=port))
    # uvicorn ends in order on SIGTERM, and then raises it once more, which would be our exit code.
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        server.run()
    finally:
        signal.signal(signal.SIGTERM, before)
