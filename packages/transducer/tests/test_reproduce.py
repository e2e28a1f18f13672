"""From a release to a score, as docs/guides/reproduce.md says, with stand-ins for what is licensed.

The folders are laid out as LDC2017T10 is, with sentences written here; BERT is small and random;
the word vectors have the oddities of GloVe 840B; Spotlight is a server of this process.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs

import pytest
from click.testing import CliRunner

from transducer.cli import main
from transducer.storage import checkpoint

PEOPLE = ("Ann", "Bob", "Cleo", "Dan")
VERBS = {"sees": "see-01", "wants": "want-01", "knows": "know-01"}
CITY, UNKNOWN = "New York", "Los Gatos"
SIZES = {
    "word_size": 12, "pos_size": 4, "char_size": 8, "char_embedding": 8, "index_size": 12,
    "anonymous_size": 4, "relation_size": 8, "encoder_size": 32, "decoder_size": 64,
    "attention_size": 32, "biaffine_size": 32, "bilinear_size": 32, "dropout": 0.0,
}  # fmt: skip


def amr(number: int, person: str, verb: str, city: str = CITY) -> str:
    """Return a graph as a release writes it."""
    first, second = city.split()
    return f"""# ::id made-up_0001.{number} ::date 2013-07-04T00:00:00 ::annotator AA ::preferred
# ::snt {person} {verb} {city} .
# ::save-date Thu Jul 4, 2013 ::file made-up_0001_{number}.txt
(v / {VERBS[verb]}
      :ARG0 (p / person :wiki - :name (n / name :op1 "{person}"))
      :ARG1 (c / city :wiki "{first}_{second}_City"
            :name (n2 / name :op1 "{first}" :op2 "{second}")))
"""


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder laid out as LDC2017T10's: three sections of several files, each with a header."""
    monkeypatch.setenv("ARBORA_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "LDC2017T10" / "data" / "amrs" / "split"
    graphs = [
        amr(i, person, verb)
        for i, (person, verb) in enumerate((p, v) for p in PEOPLE for v in VERBS)
    ]
    unknown = [amr(20 + i, person, "sees", UNKNOWN) for i, person in enumerate(PEOPLE)]
    sections = {"training": (graphs[:7], graphs[7:]), "dev": (graphs[:3],), "test": (unknown,)}
    for section, files in sections.items():
        (root / section).mkdir(parents=True)
        for corpus, content in zip(("bolt", "proxy"), files, strict=False):
            path = root / section / f"amr-release-2.0-amrs-{section}-{corpus}.txt"
            header = (
                f"# AMR release; corpus: {corpus}; section: {section}; number of AMRs: "
                f"{len(content)} (generated on Wed May 4, 2016 at 14:01:37)\n\n"
            )
            path.write_text(header + "\n".join(content) + "\n", encoding="utf-8")
    return root


@pytest.fixture
def glove(tmp_path: Path) -> Path:
    """A file with the oddities of GloVe 840B."""
    path = tmp_path / "glove.840B.300d.txt"
    words = [b",", b". . .", b"at name@domain.com", b"new", b"york", b"next\xc2\x85line", b"sees"]
    words += [b"bad\xff", b"new", b"\xc2\xa0", b"ann"]
    lines = (b" ".join([word, *[b"%.5f" % (i / 10)] * 12]) for i, word in enumerate(words))
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


class Spotlight(BaseHTTPRequestHandler):
    """Answers as DBpedia Spotlight does."""

    asked: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        text = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())["text"][0]
        self.asked.append(text)
        found = {"@URI": "http://dbpedia.org/resource/Los_Gatos_City", "@surfaceForm": UNKNOWN}
        data = json.dumps({"@text": text, "Resources": [found]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def spotlight() -> Iterator[str]:
    Spotlight.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Spotlight)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/rest/annotate"
    server.shutdown()
    thread.join()
    server.server_close()


def run(*arguments: object) -> Any:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result


def test_from_a_release_to_the_table(
    release: Path,
    glove: Path,
    spotlight: str,
    random_encoder: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    settings: dict[str, object] = {f"model.{name}": size for name, size in SIZES.items()}
    settings |= {"model.contextual": random_encoder("bert"), "model.word_vectors": glove}
    settings |= {"train.batch_size": 4, "train.epochs": 40, "train.learning_rate": 0.01}
    settings |= {"train.evaluate_every": 20, "train.patience": 100, "train.annotator": "none"}
    given = [x for name, value in settings.items() for x in ("--set", f"{name}={value}")]
    model = tmp_path / "amr2"
    files = ("--train", release / "training", "--dev", release / "dev", "-o", model)
    told = run("train", "--recipe", "paper-amr2", *files, "--device", "cpu", *given).stderr
    assert "12 sentences" in told
    assert "3 dev graphs" in told
    assert "contextual encoder: " in told
    assert f"word vectors: {glove} has 4 of the " in told  # new, york, sees, ann
    assert "part of speech: missing in the files" in told
    assert "Spotlight: none" in told
    assert checkpoint.read_score(model)["dev_f1"] > 60
    asked = ("--spotlight", spotlight, "--fine-grained", "--format", "json", "--device", "cpu")
    scores = json.loads(run("evaluate", "--model", model, release / "test", *asked).stdout)
    text = json.dumps(scores)
    assert Spotlight.asked
    assert all(UNKNOWN in sentence for sentence in Spotlight.asked)
    for name in ("smatch", "named", "wiki", "srl"):
        assert name in text.lower(), text
