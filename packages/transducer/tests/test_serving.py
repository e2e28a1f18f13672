"""The server: documents over HTTP, rows as they are decided, limits that hold, and clean ends."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from typing import Any

import pytest

import graphconv
import transducer
from transducer.decoding.interruption import check_interruption
from transducer.errors import ConfigError, TransducerError
from transducer.parsing.document import Doc
from transducer.parsing.pipeline import Pipeline
from transducer.serving.settings import Settings, read_token

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from server_for_tests import Answer, Client

from transducer.serving.app import ENDPOINTS, PAGE
from transducer.serving.run import serve
from transducer.serving.work import GivenUpError

Memorized = Callable[[str], tuple[Path, Path]]
TEXT = "The boy wants to go."


@pytest.fixture(scope="module")
def nlp(memorized: Memorized) -> Pipeline:
    return transducer.load(memorized("amr")[1], memorized("dm")[1])


@pytest.fixture
def client(nlp: Pipeline) -> Iterator[Client]:
    client = Client(nlp, Settings(max_characters=500))
    yield client
    client.stop()


def events(answer: Answer) -> list[tuple[str, Any]]:
    blocks = answer.body.decode().strip().split("\n\n")
    pairs = [block.split("\n") for block in blocks]
    return [(n.removeprefix("event: "), json.loads(d.removeprefix("data: "))) for n, d in pairs]


def test_a_document_is_what_python_gives(client: Client, nlp: Pipeline) -> None:
    answer = client.call("/v1/parse", {"text": TEXT, "formats": ["mrp"]})
    assert answer.status == 200
    record = answer.json
    formats = record.pop("formats")
    assert Doc.from_json(record) == nlp(TEXT)
    assert set(formats) == {"amr", "dm"}
    [graph] = graphconv.loads(formats["dm"]["mrp"])
    assert graph.framework == "dm"


def test_rows_come_as_they_are_decided_and_then_the_graph(client: Client, nlp: Pipeline) -> None:
    got = events(client.call("/v1/stream", {"text": TEXT, "tasks": ["dm"]}))
    names = [name for name, _ in got]
    assert names[0] == "tokens"
    assert names[-1] == "graph"
    assert set(names[1:-1]) == {"relation"}
    assert [word["form"] for word in got[0][1]["tokens"]] == [t.form for t in nlp.words(TEXT)]
    rows = [data for _, data in got[1:-1]]
    assert [row["row"] for row in rows] == list(range(1, len(rows) + 1))
    assert rows[0]["source"] == "<root>"
    for row in rows:
        parts = row["parts"]
        assert row["probability"] == pytest.approx(
            parts["node"] * parts["source"] * parts["relation"], abs=1e-4
        )
        others = [one for one in row["runners_up"] if one["part"] == "node"]
        assert others
        assert parts["node"] + sum(one["probability"] for one in others) <= 1.0001
    graph = nlp(TEXT, beam=1).dm[0]
    [streamed] = got[-1][1]["graphs"]["dm"]
    assert graphconv.Graph.from_dict(streamed) == graph
    assert {row["position"] for row in rows} >= {node.anchors[0] for node in graph.nodes}


def test_the_best_graphs_have_scores_and_strings(client: Client, nlp: Pipeline) -> None:
    text = f"{TEXT} {TEXT}"
    record = client.call("/v1/parse", {"text": text, "nbest": 3, "formats": ["mrp"]}).json
    for task in ("amr", "dm"):
        for graph, best in zip(record["graphs"][task], record["nbest"][task], strict=True):
            assert 1 < len(best) <= 3
            assert best[0]["graph"] == graph
            scores = [one["score"] for one in best]
            assert scores == sorted(scores, reverse=True)
            shown = [graphconv.loads(one["formats"]["mrp"])[0] for one in best]
            assert len({str(graph) for graph in shown}) == len(best)
    doc = Doc.from_json(record)
    assert doc == nlp(text, beam=3, nbest=3)
    assert Doc.from_json(doc.to_json()) == doc


def test_scores_are_told_when_they_are_asked_for(client: Client, nlp: Pipeline) -> None:
    asked = {"text": TEXT, "tasks": ["dm"], "formats": ["mrp"]}
    plain = client.call("/v1/parse", asked).json
    scored = client.call("/v1/parse", {**asked, "scores": True}).json
    assert graphconv.Graph.from_dict(plain["graphs"]["dm"][0]).scores is None
    expected = nlp(TEXT).dm[0].scores
    assert expected is not None
    assert graphconv.Graph.from_dict(scored["graphs"]["dm"][0]).scores == expected
    [written] = graphconv.loads(scored["formats"]["dm"]["mrp"])
    assert written.scores is not None


@pytest.mark.parametrize(("style", "mark"), [("isi", "~e."), ("jamr", "::alignments")])
def test_alignments_are_those_of_the_command(client: Client, style: str, mark: str) -> None:
    asked = {"text": TEXT, "formats": ["amr"], "tasks": ["amr"]}
    plain = client.call("/v1/parse", asked).json["formats"]["amr"]["amr"]
    aligned = client.call("/v1/parse", {**asked, "alignments": style}).json["formats"]["amr"]["amr"]
    assert mark in aligned
    assert mark not in plain


def test_a_pair_is_scored_and_what_matched_is_shown(client: Client) -> None:
    gold = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))"
    answer = client.call("/v1/score", {"gold": gold, "pred": gold.replace("boy", "girl")}).json
    assert answer["certified"] is True
    assert answer["alignment"]["missing"] == ["boy"]
    assert answer["alignment"]["extra"] == ["girl"]
    assert 'class="box missing"' in answer["pictures"]["gold"]
    several = client.call("/v1/score", {"gold": f"{gold}\n\n{gold}", "pred": f"{gold}\n\n{gold}"})
    assert "alignment" not in several.json


def test_scoring_ends_in_time(nlp: Pipeline) -> None:
    # Equal nodes and edges at random: nobody proves the best of their alignments soon.
    random = Random(0)

    def hard() -> str:
        lines = [f":ARG0 (b{i} / x :mod b{random.randrange(60)})" for i in range(60)]
        return f"(a / x {' '.join(lines)})"

    client = Client(nlp, Settings(timeout=2))
    started = time.monotonic()
    answer = client.call("/v1/score", {"gold": hard(), "pred": hard()})
    client.stop()
    assert answer.status == 200
    assert answer.json["certified"] is False
    assert time.monotonic() - started < 25


@pytest.mark.parametrize("path", ["/v1/convert", "/v1/score", "/v1/draw"])
def test_a_name_is_no_graph_and_no_function_of_python_is_named(client: Client, path: str) -> None:
    bodies = {
        "/v1/convert": {"text": "/etc/passwd", "to": "mrp"},
        "/v1/score": {"gold": "/etc/passwd", "pred": "(a / b)"},
        "/v1/draw": {"text": "/etc/passwd"},
    }
    answer = client.call(path, bodies[path])
    assert answer.status == 422
    assert answer.json["error"] == "this is not a graph in any format: '/etc/passwd'"


def test_a_graph_that_nobody_could_read_is_not_drawn(client: Client) -> None:
    many = " ".join(f":op{i} (b{i} / x)" for i in range(2100))
    answer = client.call("/v1/draw", {"text": f"(a / and {many})"})
    assert answer.status == 422
    assert "too many for a picture" in answer.json["error"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "the field text is missing"),
        ({"text": 5}, "text: 5 is not a string"),
        ({"text": TEXT, "path": "/etc/passwd"}, "there is no field 'path'"),
        ({"text": TEXT, "tasks": ["ucca"]}, "there is no model for ucca"),
        ({"text": TEXT, "tasks": ["../x"]}, "is not a list of different ones of amr, dm, pas,"),
        ({"text": TEXT, "tasks": "amr"}, 'tasks: "amr" is not a list of different ones of amr'),
        ({"text": TEXT, "alignments": "x"}, 'alignments: "x" is not one of none, isi, jamr'),
        ({"text": TEXT, "scores": 1}, "scores: 1 is not true or false"),
        ({"text": TEXT, "beam": 10**9}, "beam: 1000000000 is not a whole number from 1 to 64"),
        ({"text": TEXT, "beam": True}, "beam:"),
        ({"text": TEXT, "beam": 1.5}, "beam:"),
        ({"text": TEXT, "beam": float("inf")}, "beam:"),
        ([], "the body is not a JSON object"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(client: Client, body: Any, message: str) -> None:
    for path in ("/v1/parse", "/v1/stream"):
        answer = client.call(path, body)
        assert answer.status == 400
        assert message in answer.json["error"]


@pytest.mark.parametrize("raw", [b"", b"\xff", b"{" * 100_000, b'{"text": "\\ud800"}', b"\x00" * 9])
def test_garbage_is_refused(client: Client, raw: bytes) -> None:
    for method, path, _ in ENDPOINTS:
        if method == "POST":
            assert client.call(path, raw=raw).status in (400, 413)


def test_too_large_is_413(client: Client) -> None:
    assert client.call("/v1/parse", {"text": "a " * 300}).status == 413
    assert client.call("/v1/parse", raw=b"x" * 1_000_000).status == 413


def test_a_text_without_words_is_a_document_without_graphs(client: Client) -> None:
    for text in ("", " \n\n "):
        answer = client.call("/v1/parse", {"text": text})
        assert answer.status == 200
        assert answer.json["graphs"] == {"amr": [], "dm": []}


def test_convert_score_and_draw(client: Client) -> None:
    boy = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))"
    converted = client.call("/v1/convert", {"text": boy, "to": "mrp"}).json["text"]
    assert json.loads(converted)["framework"] == "amr"
    scored = client.call("/v1/score", {"gold": boy, "pred": boy.replace("boy", "girl")})
    assert "smatch" in scored.json["table"]
    assert client.call("/v1/draw", {"text": boy}).json["svg"].startswith("<svg")
    broken = client.call("/v1/convert", {"text": "(w / want-01", "to": "mrp"})
    assert broken.status == 422
    assert "bracket" in broken.json["error"]


def test_requests_that_arrive_together_are_decoded_together(
    nlp: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    pipe = Pipeline.pipe

    def counting(self: Pipeline, texts: Any, *rest: Any, **options: Any) -> Iterator[Doc]:
        given = list(texts)
        sizes.append(len(given))
        return pipe(self, given, *rest, **options)

    monkeypatch.setattr(Pipeline, "pipe", counting)
    client = Client(nlp, Settings(patience=0.3))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: client.call("/v1/parse", {"text": TEXT}), range(8)))
    client.stop()
    assert {answer.status for answer in answers} == {200}
    assert max(sizes) > 1
    assert sum(sizes) == 8


def test_a_full_queue_is_429_and_a_slow_request_504_and_its_decoding_stops(
    nlp: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []

    def endless(*_: object, **__: object) -> Iterator[Doc]:
        try:
            while True:
                time.sleep(0.01)
                check_interruption()
        except GivenUpError:
            ended.append("given up")
            raise

    monkeypatch.setattr(Pipeline, "pipe", endless)
    client = Client(nlp, Settings(queue=1, timeout=0.6, patience=0.0))
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: client.call("/v1/parse", {"text": TEXT}), range(6)))
    assert {answer.status for answer in found} == {429, 504}
    refused = next(answer for answer in found if answer.status == 429)
    assert refused.headers["retry-after"] == "1"
    client.stop()
    assert ended


def test_a_client_that_went_away_is_dropped(nlp: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = threading.Event()

    def waiting(*_: object, **__: object) -> Iterator[Doc]:
        try:
            while True:
                time.sleep(0.01)
                check_interruption()
        except GivenUpError:
            gone.set()
            raise

    monkeypatch.setattr(Pipeline, "pipe", waiting)
    client = Client(nlp, Settings(timeout=30))
    with socket.create_connection(("127.0.0.1", client.port)) as connection:
        body = json.dumps({"text": TEXT}).encode()
        head = f"POST /v1/parse HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        time.sleep(0.3)
    assert gone.wait(10)
    client.stop()


def test_an_error_of_ours_is_an_answer_and_the_next_request_works(
    monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    def broken(*_: object, **__: object) -> Iterator[Doc]:
        raise RuntimeError("secret")

    with monkeypatch.context() as patch:
        patch.setattr(Pipeline, "pipe", broken)
        answer = client.call("/v1/parse", {"text": TEXT})
    assert answer.status == 422
    assert "secret" not in answer.body.decode()
    assert client.call("/v1/parse", {"text": TEXT}).status == 200


def test_tokens_headers_and_pages(nlp: Pipeline, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("0123456789abcdef\n")
    client = Client(nlp, Settings(token=read_token(str(file))))
    assert client.call("/healthz").status == client.call("/readyz").status == 200
    for name, media in PAGE.items():
        answer = client.call(f"/page/{name}")
        assert answer.status == 200
        assert answer.headers["content-type"].startswith(media)
    for path in ("/v1/models", "/metrics", "/openapi.json"):
        assert client.call(path).status == 401
        assert client.call(path, Authorization="Bearer wrong").status == 401
        answer = client.call(path, Authorization="Bearer 0123456789abcdef")
        assert answer.status == 200
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert "access-control-allow-origin" not in answer.headers
    for path in ("/page/..%2f..%2fapp.py", "/page/app.py", "/etc/passwd", "/v1/nothing"):
        assert client.call(path).status in (404, 401)
    refused = client.call("/v1/parse")
    assert (refused.status, refused.headers["allow"]) == (405, "POST")
    assert "/openapi.json" in client.call("/v2/parse").json["error"]
    client.stop()


def test_an_address_that_is_taken_is_told_before_models_are_loaded() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(TransducerError, match=rf"cannot listen on 127.0.0.1:{port} \(Address "):
            serve(["no/model"], Settings(), host="127.0.0.1", port=port)


def test_models_say_what_sets_their_frameworks_apart(client: Client, nlp: Pipeline) -> None:
    told = json.loads(client.call("/v1/models").body)["models"]
    kept = {n: (about["passages"], about["words_are_nodes"]) for n, about in told.items()}
    assert kept == {"amr": (False, False), "dm": (False, True)}
    for name, parser in nlp.parsers.items():
        assert told[name].items() >= parser.about.items()


def test_metrics_count_what_was_answered(client: Client) -> None:
    client.call("/v1/parse", {"text": TEXT})
    client.call("/v1/parse", {})
    text = client.call("/metrics").body.decode()
    assert 'arbora_requests_total{path="/v1/parse",status="200"} 1' in text
    assert 'arbora_requests_total{path="/v1/parse",status="400"} 1' in text
    assert "arbora_words 6" in text
    assert 'arbora_request_seconds_bucket{le="+Inf"} 2' in text


def test_every_endpoint_is_described(client: Client) -> None:
    described = client.call("/openapi.json").json["paths"]
    assert set(described) == {path for _, path, _ in ENDPOINTS if not path.startswith("/page")} - {
        "/"
    }


def test_what_is_in_flight_is_finished(nlp: Pipeline) -> None:
    client = Client(nlp, Settings(patience=0.4))
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.call, "/v1/parse", {"text": TEXT})
        time.sleep(0.1)
        client.stop()
        assert answer.result().status == 200


def test_sigterm_finishes_what_is_in_flight_and_exits_0(memorized: Memorized) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ("-m", "transducer", "serve", "--model", str(memorized("dm")[1]), "--port", str(port))
    with subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE) as process:
        connection = HTTPConnection("127.0.0.1", port, timeout=120)
        while True:
            try:
                connection.connect()
                break
            except ConnectionRefusedError:
                assert process.poll() is None
                time.sleep(0.1)
        text = " ".join([TEXT] * 100)
        connection.request("POST", "/v1/parse", json.dumps({"text": text}))
        time.sleep(0.2)
        process.terminate()
        response = connection.getresponse()
        assert response.status == 200
        assert len(json.loads(response.read())["sentences"]) == 100
        connection.close()
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read().decode()


@pytest.mark.parametrize("text", ["short", "with blanks in the token", ""])
def test_a_bad_token_file(tmp_path: Path, text: str) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    with pytest.raises(ConfigError, match="a token has at least 16 characters"):
        read_token(str(file))
    with pytest.raises(ConfigError):
        read_token(str(tmp_path / "none"))
