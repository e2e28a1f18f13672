"""schemathesis asks what /openapi.json allows and what it forbids: no 5xx, nothing undocumented."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import transducer
from transducer.serving.settings import Settings

if not os.environ.get("ARBORA_BROWSER"):
    pytest.importorskip("starlette")
    pytest.importorskip("schemathesis", reason="`nox -s browser` has schemathesis")

import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from server_for_tests import Client

from transducer.serving.app import ENDPOINTS

PAGES = re.compile("/$|/page")
CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]


@pytest.fixture(scope="module")
def described(memorized: Callable[[str], tuple[Path, Path]]) -> Iterator[Any]:
    nlp = transducer.load(memorized("amr")[1], memorized("dm")[1])
    client = Client(nlp, Settings(max_characters=200))
    yield schemathesis.openapi.from_url(f"http://127.0.0.1:{client.port}/openapi.json")
    counted = client.call("/metrics").body.decode()
    client.stop()
    for path in ("/v1/parse", "/v1/models"):
        assert f'{{path="{path}",status="200"}}' in counted  # it was not only refused


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("path", [path for _, path, _ in ENDPOINTS if not PAGES.match(path)])
def test_every_answer_is_as_described(described: Any, path: str, mode: Any) -> None:
    [operation] = described[path].values()

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=10,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    def check(case: Any) -> None:
        case.call_and_validate(checks=CHECKS)

    if mode is schemathesis.GenerationMode.POSITIVE or operation.method == "post":
        check()
