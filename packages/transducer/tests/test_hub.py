"""Models as the hub has them: a folder, and a server that speaks its API as far as is needed."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from unsigned import unsigned

import transducer
from transducer import Transducer
from transducer.errors import ModelError, TransducerError
from transducer.parsing.pipeline import Pipeline
from transducer.storage import hub
from transducer.storage.shipped import FOLDER, shipped_tasks

Memorized = Callable[[str], tuple[Path, Path]]
COMMIT = "c0ffee" + "0" * 34


class _Hub(BaseHTTPRequestHandler):
    """Serves the files of one model, and takes others."""

    model: ClassVar[Path]
    asked: ClassVar[list[str]]
    sent: ClassVar[dict[str, bytes]]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        path = self.path.partition("?")[0]
        if "/tree/" in path:
            files = [*sorted(self.model.iterdir()), Path("evil.py")]
            sizes = [(f.name, f.stat().st_size if f.exists() else 7) for f in files]
            self._answer([{"type": "file", "path": n, "size": size, "oid": n} for n, size in sizes])
            return
        if path.startswith("/api/models/"):
            names = [{"rfilename": file.name} for file in sorted(self.model.iterdir())]
            names.append({"rfilename": "evil.py"})
            self._answer({"id": "us/dm", "modelId": "us/dm", "sha": COMMIT, "siblings": names})
            return
        self._file()

    def do_HEAD(self) -> None:
        self.asked.append(self.path)
        self._file()

    def do_POST(self) -> None:
        self.asked.append(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        address = f"http://{self.headers['Host']}"
        if self.path == "/api/repos/create":
            self._answer({"url": f"{address}/us/new", "name": "us/new"})
        elif "/preupload/" in self.path:
            files = json.loads(body)["files"]
            told = [
                {"path": f["path"], "uploadMode": "regular", "shouldIgnore": False} for f in files
            ]
            self._answer({"files": told})
        elif "/commit/" in self.path:
            self.sent["commit"] = body
            url = f"{address}/us/new/commit/{COMMIT}"
            self._answer({"commitOid": COMMIT, "commitUrl": url, "hookOutput": "", "success": True})
        else:
            self._answer({})

    def _file(self) -> None:
        name = self.path.partition("?")[0].rpartition("/")[2]
        file = self.model / name
        if "/resolve/" not in self.path or not file.is_file():
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.end_headers()
            return
        data = file.read_bytes()
        self.send_response(200)
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def _answer(self, record: Any) -> None:
        data = json.dumps(record).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(
    memorized: Memorized, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[type[_Hub]]:
    constants = pytest.importorskip("huggingface_hub.constants")

    class Handler(_Hub):
        asked: ClassVar[list[str]] = []
        sent: ClassVar[dict[str, bytes]] = {}

    handler = Handler
    handler.model = tmp_path / "served"
    Transducer.load(memorized("dm")[1], "cpu").save_pretrained(handler.model)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{http.server_port}"
        monkeypatch.setattr(constants, "ENDPOINT", address)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        template = address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr("huggingface_hub.hf_api.ENDPOINT", address, raising=False)
        yield handler
        http.shutdown()


def test_a_folder_is_saved_with_a_card_and_loaded(memorized: Memorized, tmp_path: Path) -> None:
    model = Transducer.from_pretrained(memorized("dm")[1], device="cpu")
    model.save_pretrained(tmp_path / "copy")
    again = Transducer.from_pretrained(tmp_path / "copy", device="cpu")
    assert unsigned(again.parse(["Dogs bark."])) == unsigned(model.parse(["Dogs bark."]))
    assert not (tmp_path / "copy" / "last").exists()
    assert (tmp_path / "copy" / "README.md").read_text().startswith('---\nlibrary_name: "arbora"\n')
    with pytest.raises(ModelError, match="name another folder"):
        again.save_pretrained(tmp_path / "copy")


@pytest.mark.parametrize("task", shipped_tasks())
def test_the_card_of_a_shipped_model_is_one_of_the_hubs(task: str) -> None:
    cards = pytest.importorskip("huggingface_hub")
    card = cards.ModelCard(hub.readme(FOLDER / task, task))
    assert card.data.library_name == "arbora"
    assert card.data.license.startswith("cc-by")
    assert card.data.eval_results
    assert card.data.eval_results[0].metric_value > 50
    assert "## Scores" in card.text


def test_a_model_is_fetched_from_the_hub_once(server: type[_Hub], tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    model = Transducer.from_pretrained("us/dm", cache_dir=cache, device="cpu")
    assert model.parse(["Dogs bark."])
    assert not any("evil" in path for path in server.asked)
    server.asked.clear()
    again = Transducer.from_pretrained(
        "us/dm", cache_dir=cache, local_files_only=True, device="cpu", revision=COMMIT
    )
    assert server.asked == []
    assert again.about == model.about | {"name": COMMIT}


def test_a_model_is_pushed_to_the_hub(server: type[_Hub], memorized: Memorized) -> None:
    model = Transducer.load(memorized("dm")[1], "cpu")
    address = model.push_to_hub("us/new", token="hf_x")
    assert COMMIT in address
    lines = [json.loads(line) for line in server.sent["commit"].splitlines()]
    paths = {line["value"]["path"] for line in lines if line["key"] == "file"}
    assert paths >= {"config.json", "model.safetensors", "README.md"}


def test_what_is_not_there_is_one_sentence(server: type[_Hub], tmp_path: Path) -> None:
    server.model = tmp_path / "empty"
    server.model.mkdir()
    options: dict[str, Any] = {"cache_dir": tmp_path / "cache", "device": "cpu"}
    cases: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("us/dm", {}, "it has no config.json"),
        (
            "us/dm",
            {"local_files_only": True, "revision": "x"},
            "us/dm cannot be fetched from the hub",
        ),
        ("a b", {}, "a b is no folder, no task, and no name on the hub"),
    )
    for name, more, says in cases:
        with pytest.raises(ModelError, match=says) as caught:
            Transducer.from_pretrained(name, **options, **more)
        assert "\n" not in str(caught.value)


def test_a_model_that_has_no_folder_cannot_be_saved(
    make_small: Callable[..., Any], tmp_path: Path
) -> None:
    small = make_small("dm")
    model = Transducer(small.task, small.vocabularies, small.model, {})
    with pytest.raises(TransducerError, match="was not loaded from a folder"):
        model.save_pretrained(tmp_path / "x")
    assert isinstance(Pipeline({"dm": model}), transducer.Pipeline)
