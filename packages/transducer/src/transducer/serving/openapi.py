"""The OpenAPI document: every endpoint, every answer that it can give."""

from __future__ import annotations

from typing import Any

from transducer.serving.requests import (
    ConvertRequest,
    DrawRequest,
    ParseRequest,
    ScoreRequest,
    json_schema,
)

_ERRORS = {
    400: "the request is not as described here",
    401: "a bearer token is needed",
    408: "the body did not arrive in time",
    413: "the text or the body is too large",
    422: "the text cannot be read, converted, scored or parsed",
    429: "too many requests wait; Retry-After says when to come again",
    504: "not done in time",
}
_POSTS: dict[str, tuple[type, str, tuple[int, ...]]] = {
    "/v1/parse": (ParseRequest, "Parse a text to a document", (400, 401, 408, 413, 422, 429, 504)),
    "/v1/stream": (
        ParseRequest,
        "The same as server-sent events: tokens, then each relation, then graph",
        (400, 401, 408, 413, 422, 429, 504),
    ),
    "/v1/convert": (ConvertRequest, "Convert graphs to another format", (400, 401, 408, 413, 422)),
    "/v1/score": (ScoreRequest, "Score graphs against gold graphs", (400, 401, 408, 413, 422)),
    "/v1/draw": (DrawRequest, "Draw the first graph as SVG", (400, 401, 408, 413, 422)),
}
_GETS = {
    "/v1/models": ("The models that are loaded", "application/json"),
    "/healthz": ("Whether the process answers", "application/json"),
    "/readyz": ("Whether the models are loaded", "application/json"),
    "/metrics": ("Numbers for Prometheus", "text/plain"),
    "/openapi.json": ("This document", "application/json"),
}


def document(version: str) -> dict[str, Any]:
    """Return the document."""
    paths: dict[str, Any] = {}
    for path, (kind, summary, errors) in _POSTS.items():
        media = "text/event-stream" if path == "/v1/stream" else "application/json"
        paths[path] = {
            "post": {
                "summary": summary,
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": json_schema(kind)}},
                },
                "responses": {"200": _answer("the answer", media)} | _errors(errors),
            }
        }
    for path, (summary, media) in _GETS.items():
        errors = (401,) if path not in ("/healthz", "/readyz") else ()
        paths[path] = {
            "get": {
                "summary": summary,
                "responses": {"200": _answer(summary, media)} | _errors(errors),
            }
        }
    paths["/readyz"]["get"]["responses"]["503"] = _answer("not ready", "application/json")
    return {
        "openapi": "3.1.0",
        "info": {"title": "Arbora", "version": version},
        "paths": paths,
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"token": []}],
    }


_SCHEMAS: dict[str, dict[str, Any]] = {
    "application/json": {"type": "object"},
    "text/plain": {"type": "string"},
    # Of each event; `data` is JSON.
    "text/event-stream": {"description": "the events tokens, relation, graph, error"},
}


def _answer(description: str, media: str) -> dict[str, Any]:
    return {"description": description, "content": {media: {"schema": _SCHEMAS[media]}}}


def _errors(statuses: tuple[int, ...]) -> dict[str, Any]:
    return {str(status): _answer(_ERRORS[status], "application/json") for status in statuses}
