"""A server in a thread, and calls of it."""

from __future__ import annotations

import json
import threading
import time
from http.client import HTTPConnection
from typing import Any, NamedTuple

import uvicorn

from transducer.parsing.pipeline import Pipeline
from transducer.serving.app import make_app
from transducer.serving.run import configured
from transducer.serving.settings import Settings
from transducer.serving.work import Worker


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """A server in a thread, and calls of it."""

    def __init__(self, nlp: Pipeline, settings: Settings) -> None:
        self.worker = Worker(nlp, settings)
        app = make_app(self.worker, settings)
        config = configured(app, settings, host="127.0.0.1", port=0)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.port: int = self.server.servers[0].sockets[0].getsockname()[1]

    def call(self, path: str, body: Any = None, raw: bytes | None = None, **headers: str) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        connection.request("GET" if data is None else "POST", path, data, headers)
        response = connection.getresponse()
        answer = Answer(
            response.status,
            {name.lower(): value for name, value in response.getheaders()},
            response.read(),
        )
        connection.close()
        return answer

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(timeout=20)
        assert not self.thread.is_alive()
