"""The endpoints, on Starlette. Nothing in a request names a file, a model folder or an address."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import resources
from importlib.metadata import version
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from graphconv.arborescence import Row
from graphconv.draw.canvas import stylesheet
from graphconv.errors import GraphconvError
from graphconv.io import FORMATS
from transducer.decoding.results import Decision
from transducer.errors import TransducerError
from transducer.parsing.document import Doc
from transducer.parsing.pipeline import OnRow
from transducer.serving import answers, events, openapi
from transducer.serving.metrics import Metrics
from transducer.serving.requests import (
    ConvertRequest,
    DrawRequest,
    ParseRequest,
    RequestError,
    ScoreRequest,
    read_request,
)
from transducer.serving.settings import Settings
from transducer.serving.work import FullError, GivenUpError, Job, Worker

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
PAGE = {
    "index.html": "text/html",
    "style.css": "text/css",
    "drawing.css": "text/css",
    **dict.fromkeys(("app.js", "compare.js", "frameworks.js", "links.js"), "text/javascript"),
    **dict.fromkeys(("panels.js", "pictures.js", "rows.js", "server.js"), "text/javascript"),
    "icon.svg": "image/svg+xml",
}
"""The files of the page; no other name is looked for."""

DRAWING = f".picture {{{stylesheet()}}}"
"""The colors of pictures, as a file of its own: the page may hold no style."""

OPEN = frozenset({"/healthz", "/readyz", "/", *(f"/page/{name}" for name in PAGE)})
"""What needs no token: it says nothing about anybody's text."""


class Server:
    """What the endpoints share."""

    def __init__(self, worker: Worker, settings: Settings) -> None:
        self.worker = worker
        self.settings = settings
        self.metrics = Metrics()

    def job(self, request: ParseRequest, on_row: OnRow | None = None) -> Job:
        """Return the job that a request asks for."""
        known = self.worker.nlp.tasks
        tasks = tuple(request.tasks or known)
        for task in tasks:
            if task not in known:
                raise RequestError(f"there is no model for {task}; there are {', '.join(known)}")
        if len(request.text) > self.settings.max_characters:
            raise RequestError(
                f"the text has {len(request.text):,} characters, "
                f"and {self.settings.max_characters:,} is the most",
                413,
            )
        options = self._options(request, tasks)
        loop = asyncio.get_running_loop()
        return Job(request.text, tasks, options, loop.create_future(), loop, on_row)

    def _options(self, request: ParseRequest, tasks: Sequence[str]) -> tuple[tuple[str, int], ...]:
        """Return what a request sets of the search; no beam is narrower than n."""
        beam = request.beam or self.settings.beam
        decoding = [self.worker.nlp.parsers[task].task.config.decode for task in tasks]
        beams = [beam] if beam else [one.beam for one in decoding]
        if min(beams) < request.nbest:
            beam = max(request.nbest, *beams)
        options = {"beam": beam or 0, "nbest": request.nbest if request.nbest > 1 else 0}
        return tuple((name, value) for name, value in options.items() if value)

    def submit(self, job: Job) -> None:
        """Put a job into the queue, unless that is full."""
        try:
            self.worker.submit(job)
        except FullError as error:
            raise RequestError("too many requests wait: come again", 429) from error

    async def finished(self, http: Request, job: Job) -> Doc:
        """Wait for a job; give it up when its time is over or its client has gone."""
        gone: asyncio.Future[Any] = asyncio.ensure_future(_gone(http))
        waited: set[asyncio.Future[Any]] = {job.done, gone}
        try:
            await asyncio.wait(
                waited,
                timeout=self.settings.timeout,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if job.done.done():
                return job.done.result()
            raise RequestError(f"not done within {self.settings.timeout:g} seconds", 504)
        except GivenUpError as error:
            raise RequestError("given up", 504) from error
        except TransducerError as error:
            raise RequestError(str(error), 422) from error
        finally:
            gone.cancel()
            job.given_up.set()


async def _gone(http: Request) -> None:
    """Wait until the client has closed its connection."""
    while (await http.receive())["type"] != "http.disconnect":
        pass


async def parse(server: Server, http: Request) -> Response:
    """``POST /v1/parse``."""
    request = read_request(ParseRequest, await _body(http, server.settings))
    job = server.job(request)
    server.submit(job)
    doc = await server.finished(http, job)
    return JSONResponse(await run_in_threadpool(answers.parsed, request, doc))


async def stream(server: Server, http: Request) -> Response:
    """``POST /v1/stream``: server-sent events; a row as soon as it is decided."""
    request = read_request(ParseRequest, await _body(http, server.settings))
    queue: asyncio.Queue[tuple[str, Any] | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    relations = events.Relations()

    def on_row(task: str, sentence: int, row: Row, decision: Decision) -> None:
        told = relations.event(task, sentence, row, decision)
        loop.call_soon_threadsafe(queue.put_nowait, ("relation", told))

    job = server.job(request, on_row)
    words = events.tokens(*server.worker.nlp.parts(request.text, job.tasks))
    server.submit(job)

    async def finish() -> None:
        try:
            doc = await server.finished(http, job)
            await queue.put(("graph", await run_in_threadpool(answers.parsed, request, doc)))
        except RequestError as error:
            await queue.put(("error", {"status": error.status, "error": str(error)}))
        finally:
            await queue.put(None)

    task = asyncio.create_task(finish())

    async def lines() -> AsyncIterator[str]:
        yield events.event("tokens", words)
        try:
            while (told := await queue.get()) is not None:
                yield events.event(*told)
        finally:
            job.given_up.set()
            task.cancel()

    return StreamingResponse(lines(), media_type="text/event-stream")


async def convert(server: Server, http: Request) -> Response:
    """``POST /v1/convert``: graphconv as a service."""
    request = read_request(ConvertRequest, await _body(http, server.settings))
    return JSONResponse(await run_in_threadpool(answers.converted, request))


async def score(server: Server, http: Request) -> Response:
    """``POST /v1/score``: evaltools as a service."""
    request = read_request(ScoreRequest, await _body(http, server.settings))
    seconds = server.settings.timeout / 2  # a pair is aligned twice: for its score, for its picture
    return JSONResponse(await run_in_threadpool(answers.scored, request, seconds))


async def picture(server: Server, http: Request) -> Response:
    """``POST /v1/draw``: the graphs of a text as SVG."""
    request = read_request(DrawRequest, await _body(http, server.settings))
    return JSONResponse(await run_in_threadpool(answers.drawn, request))


async def models(server: Server, _: Request) -> Response:
    """``GET /v1/models``."""
    parsers = server.worker.nlp.parsers
    about = {
        name: {
            **parser.about,
            "passages": parser.task.passages,
            "words_are_nodes": parser.task.trees.words_are_nodes,
        }
        for name, parser in parsers.items()
    }
    return JSONResponse({"models": about, "formats": list(FORMATS)})


async def health(_: Server, __: Request) -> Response:
    """``GET /healthz``: the process answers."""
    return JSONResponse({"status": "ok"})


async def ready(server: Server, _: Request) -> Response:
    """``GET /readyz``: the models are loaded, and their thread works."""
    alive = server.worker.alive
    return JSONResponse({"status": "ready" if alive else "stopped"}, 200 if alive else 503)


async def metrics(server: Server, _: Request) -> Response:
    """``GET /metrics``."""
    worker = server.worker
    gauges = {
        "arbora_queue": worker.waiting,
        "arbora_sentences": worker.sentences,
        "arbora_words": worker.words,
    }
    return PlainTextResponse(server.metrics.text(gauges), media_type="text/plain; version=0.0.4")


async def description(_: Server, __: Request) -> Response:
    """``GET /openapi.json``."""
    return JSONResponse(openapi.document(version("arbora-transducer")))


async def page(_: Server, http: Request) -> Response:
    """``GET /``, and the files that it loads."""
    name = http.path_params.get("name", "index.html")
    if name not in PAGE:
        raise RequestError("there is no such page", 404)
    if name == "drawing.css":
        data = DRAWING.encode()
    else:
        data = (resources.files("transducer.serving") / "page" / name).read_bytes()
    return Response(data, media_type=PAGE[name], headers={"Cache-Control": "no-cache"})


async def _body(http: Request, settings: Settings) -> bytes:
    """Read a body, and no more of it than the limit."""
    data = bytearray()
    try:
        async with asyncio.timeout(settings.timeout):
            async for piece in http.stream():
                data += piece
                if len(data) > settings.max_body:
                    raise RequestError(f"a body has at most {settings.max_body:,} bytes", 413)
    except TimeoutError as error:
        raise RequestError("the body did not arrive in time", 408) from error
    except ClientDisconnect as error:
        raise RequestError("the client has gone", 499) from error
    return bytes(data)


Endpoint = Callable[[Server, Request], Awaitable[Response]]

ENDPOINTS: tuple[tuple[str, str, Endpoint], ...] = (
    ("POST", "/v1/parse", parse),
    ("POST", "/v1/stream", stream),
    ("POST", "/v1/convert", convert),
    ("POST", "/v1/score", score),
    ("POST", "/v1/draw", picture),
    ("GET", "/v1/models", models),
    ("GET", "/healthz", health),
    ("GET", "/readyz", ready),
    ("GET", "/metrics", metrics),
    ("GET", "/openapi.json", description),
    ("GET", "/", page),
    ("GET", "/page/{name}", page),
)


async def answer(server: Server, endpoint: Endpoint, http: Request) -> Response:
    """Answer a request, whatever happens; count it, and log nothing of its body."""
    started = time.monotonic()
    try:
        _check_token(server, http)
        response = await endpoint(server, http)
    except RequestError as error:
        response = refusal(str(error), error.status)
    except (GraphconvError, TransducerError) as error:
        response = refusal(str(error), 422)
    response.headers.update({name: response.headers.get(name, HEADERS[name]) for name in HEADERS})
    path = http.scope["path"] if http.scope["path"] in {p for _, p, _ in ENDPOINTS} else "/page"
    server.metrics.count("arbora_requests_total", path=path, status=response.status_code)
    server.metrics.took(time.monotonic() - started)
    return response


def _check_token(server: Server, http: Request) -> None:
    given = http.headers.get("authorization", "")
    if http.url.path not in OPEN and not server.settings.admits(given):
        raise RequestError("a bearer token is needed", 401)


_REFUSED: dict[int, dict[str, str]] = {
    401: {"WWW-Authenticate": "Bearer"},
    408: {"Connection": "close"},  # what is still to come of the body is not read
    413: {"Connection": "close"},
    429: {"Retry-After": "1"},
}


_UNKNOWN = {
    404: "there is no such endpoint: /openapi.json describes them all",
    405: "this endpoint takes another method: the header Allow names it",
}


def refusal(message: str, status: int) -> Response:
    """Return an error as JSON."""
    return JSONResponse({"error": message}, status, _REFUSED.get(status))


def make_app(worker: Worker, settings: Settings) -> Starlette:
    """Return the application; its thread starts and ends with it."""
    server = Server(worker, settings)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        worker.start()
        yield
        await run_in_threadpool(worker.stop)

    async def unknown(_: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 500)
        response = refusal(_UNKNOWN.get(status, "an error of the server"), status)
        response.headers.update(HEADERS | dict(getattr(error, "headers", None) or {}))
        return response

    allowed = Middleware(CORSMiddleware, allow_origins=list(settings.origins), allow_methods=["*"])
    return Starlette(
        routes=[
            Route(path, partial(answer, server, endpoint), methods=[method])
            for method, path, endpoint in ENDPOINTS
        ],
        middleware=[allowed] if settings.origins else [],
        exception_handlers={404: unknown, 405: unknown, 500: unknown},
        lifespan=lifespan,
    )
