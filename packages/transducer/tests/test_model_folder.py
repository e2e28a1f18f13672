"""A model directory is data from a stranger: what it can do is parse, or be refused.

Each case damages a copy of one good model. It is refused with exit 1 and one sentence that names
the file and the field; no code runs, nothing large is allocated, and there is no output.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file, save_file

from transducer.cli import main
from transducer.errors import ModelError, TransducerError
from transducer.parsing.parser import Transducer
from transducer.storage import checkpoint
from transducer.storage.cards import read_card
from transducer.training.runs import load_run

Change = Callable[[Path], None]

MEGABYTES = 300
"""By how much a refusal may raise the peak of the memory."""
SECONDS = 10


def config(field: str, value: Any) -> Change:
    """Set a field of config.json."""

    def change(folder: Path) -> None:
        setup = json.loads((folder / "config.json").read_text())
        *sections, key = ("config." + field).split(".")
        target = setup
        for section in sections:
            target = target[section]
        target[key] = value
        (folder / "config.json").write_text(json.dumps(setup))

    return change


def together(*changes: Change) -> Change:
    """Make several changes."""

    def change(folder: Path) -> None:
        for each in changes:
            each(folder)

    return change


def text(name: str, content: str | bytes) -> Change:
    """Write another file."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    return lambda folder: _write(folder / name, data)


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def edit(name: str, change: Callable[[Any], Any]) -> Change:
    """Change what a JSON file holds."""
    return lambda folder: _write(
        folder / name, json.dumps(change(json.loads((folder / name).read_text()))).encode()
    )


def entry(name: str, key: str, value: Any) -> Change:
    """Set an entry of a JSON file."""
    return edit(name, lambda values: values | {key: value})


def items(name: str, change: Callable[[list[Any]], list[Any]]) -> Change:
    """Change a vocabulary."""
    return edit("vocabularies.json", lambda values: values | {name: change(values[name])})


def weights(change: Callable[[dict[str, torch.Tensor]], Any]) -> Change:
    """Change the weights."""

    def apply(folder: Path) -> None:
        path = folder / "model.safetensors"
        tensors = load_file(path)
        save_file(change(tensors) or tensors, path)

    return apply


def one(name: str, change: Callable[[torch.Tensor], torch.Tensor]) -> Change:
    """Change one tensor."""
    return weights(lambda tensors: tensors | {name: change(tensors[name]).contiguous()})


def header(text_of: bytes) -> Change:
    """Write a weights file of which only the header is there."""
    return lambda folder: _write(
        folder / "model.safetensors", len(text_of).to_bytes(8, "little") + text_of
    )


def packed(name: str, data: bytes) -> Change:
    """Put a gzipped file in place of a plain one."""

    def change(folder: Path) -> None:
        (folder / name).unlink()
        (folder / f"{name}.gz").write_bytes(data)

    return change


def pipe(name: str) -> Change:
    """Put a pipe in place of a file; to read it would take for ever."""

    def change(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return change


DEEP = "[" * 100_000 + "]" * 100_000
CONFIG, VOCABULARIES, TABLES = "config.json", "vocabularies.json", "tables.json"
WEIGHTS, SCORE = "model.safetensors", "score.json"
ANY_WEIGHT = "ffn_vocab.weight"
HUGE = {"a": {"dtype": "F32", "shape": [10**9, 10**9], "data_offsets": [0, 4 * 10**18]}}

# Name -> what is changed, the file and the field or word that the message names.
CASES: dict[str, tuple[Change, str, str]] = {
    # Sizes and switches.
    **{
        f"{field}={value}": (config(field, value), CONFIG, field)
        for field in ("model.encoder_size", "model.decoder_size", "model.word_size")
        for value in (0, -1, 10**9, 10**18)
    },
    "model.encoder_layers=10^6": (config("model.encoder_layers", 10**6), CONFIG, "encoder_layers"),
    "model.decoder_layers=0": (config("model.decoder_layers", 0), CONFIG, "decoder_layers"),
    "model.char_kernel=10^6": (config("model.char_kernel", 10**6), CONFIG, "char_kernel"),
    "model.pointer_reach=10^12": (config("model.pointer_reach", 10**12), CONFIG, "pointer_reach"),
    "model.copy_ways=9": (config("model.copy_ways", 9), CONFIG, "copy_ways"),
    "model.dropout=7": (config("model.dropout", 7), CONFIG, "dropout"),
    "model.link_size=8000": (config("model.link_size", 8000), WEIGHTS, "links"),
    "sizes for too many weights": (
        together(
            *(config(f"model.{side}_size", 8192) for side in ("encoder", "decoder")),
            *(config(f"model.{side}_layers", 16) for side in ("encoder", "decoder")),
        ),
        CONFIG,
        "weights",
    ),
    "model.word_size='8'": (config("model.word_size", "8"), CONFIG, "model.word_size"),
    "model.word_size=true": (config("model.word_size", True), CONFIG, "model.word_size"),
    "model.anchored=1": (config("model.anchored", 1), CONFIG, "model.anchored"),
    "model.hidden=1": (config("model.hidden", 1), CONFIG, "model.hidden"),
    "model=[]": (config("model", []), CONFIG, "model"),
    "decode.beam=10^6": (config("decode.beam", 10**6), CONFIG, "decode.beam"),
    "decode.batch_tokens=10^12": (config("decode.batch_tokens", 10**12), CONFIG, "batch_tokens"),
    "decode.length_penalty=-1": (config("decode.length_penalty", -1), CONFIG, "length_penalty"),
    "task=eds": (config("task", "eds"), CONFIG, "task"),
    "task=../x": (config("task", "../x"), CONFIG, "task"),
    "start_from of 200,000 characters": (
        config("train.start_from", "x" * 200_000),
        CONFIG,
        "start_from",
    ),
    "an escape sequence": (config("train.annotator", "\x1b[2J"), CONFIG, "train.annotator"),
    # Code, folders and names.
    "os:abort": (config("train.annotator", "os:abort"), CONFIG, "train.annotator"),
    "sys:exit": (config("train.annotator", "sys:exit"), CONFIG, "train.annotator"),
    "a module of the folder": (config("train.annotator", "evil:make"), CONFIG, "train.annotator"),
    "a path": (config("train.annotator", "/etc"), CONFIG, "train.annotator"),
    "a folder here": (config("train.annotator", "./evil"), CONFIG, "train.annotator"),
    "an installed module": (config("train.annotator", "antigravity"), CONFIG, "train.annotator"),
    "no pipeline": (config("train.annotator", "en_core_web_trf"), CONFIG, "train.annotator"),
    # JSON.
    "config: nothing": (text(CONFIG, ""), CONFIG, "JSON"),
    "config: half": (text(CONFIG, '{"format": 1, "config"'), CONFIG, "JSON"),
    "config: list": (text(CONFIG, "[]"), CONFIG, "not a section"),
    "config: deep": (text(CONFIG, DEEP), CONFIG, "deep"),
    "config: deep inside": (
        text(CONFIG, f'{{"format": 1, "config": {DEEP}}}'),
        CONFIG,
        "deep",
    ),
    "config: large": (text(CONFIG, " " * 2_000_000), CONFIG, "bytes"),
    "config: twice": (text(CONFIG, '{"format": 1, "format": 1}'), CONFIG, "'format'"),
    "config: NaN": (config("model.dropout", float("nan")), CONFIG, "NaN"),
    "config: Infinity": (config("train.minutes", float("inf")), CONFIG, "Infinity"),
    "config: 1e999": (text(CONFIG, '{"format": 1e999}'), CONFIG, "1e999"),
    "config: 5,000 digits": (text(CONFIG, '{"format": ' + "9" * 5000 + "}"), CONFIG, "digits"),
    "config: not UTF-8": (text(CONFIG, b'{"format": "\xff"}'), CONFIG, "UTF-8"),
    "config: half a character": (config("train.start_from", "\ud800"), CONFIG, "start_from"),
    "config: format": (entry(CONFIG, "format", 99), CONFIG, "format"),
    "config: no config": (text(CONFIG, '{"format": 1}'), CONFIG, "config"),
    "config: more": (entry(CONFIG, "code", "x"), CONFIG, "code"),
    "config: versions": (entry(CONFIG, "versions", {"torch": 2}), CONFIG, "versions.torch"),
    "config: pipe": (pipe(CONFIG), CONFIG, "plain file"),
    # Vocabularies.
    "vocabularies: list": (text(VOCABULARIES, "[]"), VOCABULARIES, "not a section"),
    "vocabularies: numbers": (items("words", lambda v: [*v, 3]), VOCABULARIES, "words["),
    "vocabularies: twice": (items("words", lambda v: [*v, v[3]]), VOCABULARIES, "words"),
    "vocabularies: no padding": (items("pos", lambda v: v[1:]), VOCABULARIES, "pos"),
    "vocabularies: empty": (items("labels", lambda _: []), VOCABULARIES, "labels"),
    "vocabularies: no end": (items("labels", lambda v: [*v[:2], *v[3:]]), VOCABULARIES, "labels"),
    "vocabularies: new line": (
        items("labels", lambda v: [*v[:-1], "a\n(b / c)"]),
        VOCABULARIES,
        "labels",
    ),
    "vocabularies: missing": (
        edit(VOCABULARIES, lambda v: {k: x for k, x in v.items() if k != "chars"}),
        VOCABULARIES,
        "chars",
    ),
    "vocabularies: more": (entry(VOCABULARIES, "bytes", []), VOCABULARIES, "bytes"),
    "vocabularies: longer": (items("words", lambda v: [*v, "new-word"]), WEIGHTS, "words"),
    "vocabularies: bomb": (
        packed(VOCABULARIES, gzip.compress(b" " * 200_000_000, 1)),
        VOCABULARIES,
        "bytes",
    ),
    "vocabularies: no gzip": (packed(VOCABULARIES, b"\x1f\x8bnothing"), VOCABULARIES, "gzip"),
    "vocabularies: lists": (text(VOCABULARIES, f"[{'[],' * 999_999}[]]"), VOCABULARIES, "section"),
    "vocabularies: pipe": (pipe(VOCABULARIES), VOCABULARIES, "plain file"),
    # Tables.
    "tables: list": (text(TABLES, "[]"), TABLES, "not a section"),
    "tables: deep": (text(TABLES, DEEP), TABLES, "deep"),
    "tables: other": (entry(TABLES, "code", {}), TABLES, "code"),
    "tables: lexicon": (entry(TABLES, "lexicon", {"a": 1}), TABLES, "lexicon.a"),
    "tables: names": (entry(TABLES, "names", {"a": "b"}), TABLES, "names.a"),
    "tables: rates": (entry(TABLES, "rates", {"a": 7.0}), TABLES, "rates.a"),
    "tables: NaN": (text(TABLES, '{"rates": {"a": NaN}}'), TABLES, "NaN"),
    "tables: new line": (entry(TABLES, "wiki", {"a": 'x"\n(y / z)'}), TABLES, "wiki.a"),
    "tables: missing": (lambda folder: (folder / TABLES).unlink(), TABLES, "missing"),
    # Weights.
    "weights: missing": (lambda folder: (folder / WEIGHTS).unlink(), "model", "weights"),
    "weights: nothing": (text(WEIGHTS, ""), WEIGHTS, "fit"),
    "weights: text": (text(WEIGHTS, "x" * 100), WEIGHTS, "header"),
    "weights: huge header": (text(WEIGHTS, b"\xff" * 7 + b"\x7f{}"), WEIGHTS, "header"),
    "weights: huge tensor": (header(json.dumps(HUGE).encode()), WEIGHTS, "fit"),
    "weights: pickle": (
        lambda folder: torch.save({"a": torch.zeros(1)}, folder / WEIGHTS),
        WEIGHTS,
        "header",
    ),
    "weights: NaN": (one(ANY_WEIGHT, lambda w: w * torch.nan), WEIGHTS, ANY_WEIGHT),
    "weights: infinite": (one(ANY_WEIGHT, lambda w: w + torch.inf), WEIGHTS, ANY_WEIGHT),
    "weights: 10^30": (one(ANY_WEIGHT, lambda w: w + 1e30), WEIGHTS, ANY_WEIGHT),
    "weights: transposed": (one(ANY_WEIGHT, lambda w: w.T), WEIGHTS, ANY_WEIGHT),
    "weights: integers": (one(ANY_WEIGHT, lambda w: w.long()), WEIGHTS, ANY_WEIGHT),
    "weights: fewer": (weights(lambda w: w.pop(ANY_WEIGHT) is None), WEIGHTS, ANY_WEIGHT),
    "weights: more": (weights(lambda w: w | {"evil": torch.zeros(3)}), WEIGHTS, "evil"),
    "weights: scale": (
        weights(lambda w: w | {f"{ANY_WEIGHT}:scale": torch.zeros(3)}),
        WEIGHTS,
        ANY_WEIGHT,
    ),
    # The score.
    "score: list": (text(SCORE, "[]"), SCORE, "not a section"),
    "score: deep": (text(SCORE, DEEP), SCORE, "deep"),
    "score: epoch": (entry(SCORE, "epoch", "x"), SCORE, "epoch"),
    "score: sha256": (entry(SCORE, "sha256", {"a": 3}), SCORE, "sha256.a"),
    "score: minutes": (text(SCORE, '{"minutes": 1e400}'), SCORE, "1e400"),
    "score: other": (entry(SCORE, "code", 3), SCORE, "code"),
}


@pytest.fixture(scope="module")
def good(make_small: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random AMR model, as a training leaves it."""
    small = make_small("amr", size=6)
    folder = tmp_path_factory.mktemp("good")
    checkpoint.save_setup(folder, small.task, small.vocabularies)
    checkpoint.save_weights(folder / WEIGHTS, dict(small.model.state_dict()))
    (folder / SCORE).write_text('{"task": "amr", "epoch": 1}')
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a module and a folder that nothing may touch."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "evil.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    (tmp_path / "in.txt").write_text("The boy wants to go .\n")
    return tmp_path


def parse(folder: Path, *options: str) -> tuple[int, str, str]:
    """Parse a sentence with a model."""
    result = CliRunner().invoke(
        main, ["parse", "--model", str(folder), "--input", "tokens", "in.txt", *options]
    )
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.usefixtures("here")
def test_the_good_model_parses(good: Path) -> None:
    code, out, _ = parse(good)
    assert code == 0
    assert out


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize("case", CASES)
def test_a_bad_model_is_refused_in_one_sentence(case: str, good: Path, here: Path) -> None:
    change, file, field = CASES[case]
    folder = here / "model"
    shutil.copytree(good, folder)
    change(folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    code, out, err = parse(folder, "-o", "out.amr")
    assert time.monotonic() - started < SECONDS
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1024 < MEGABYTES
    assert code == 1
    assert out == ""
    assert err.count("\n") == 1
    assert err.removesuffix("\n").isprintable()
    assert file in err
    assert field in err
    assert not (here / "ran").exists()
    assert not (here / "out.amr").exists()


# Files that a training leaves --------------------------------------------------------------------


@pytest.fixture
def run(memorized: Callable[[str], tuple[Path, Path]]) -> Path:
    """A finished training."""
    return memorized("dm")[1]


class Evil:
    """What a pickle runs when it is read without care."""

    def __reduce__(self) -> Any:
        return os.abort, ()


def _state(change: Callable[[dict[str, Any]], Any]) -> Change:
    def apply(folder: Path) -> None:
        path = folder / "last" / "state.pt"
        loaded = torch.load(path, weights_only=True)
        torch.save(change(loaded), path)

    return apply


def _repacked(folder: Path) -> None:
    path = folder / "last" / "state.pt"
    with zipfile.ZipFile(path) as source:
        files = {name: source.read(name) for name in source.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in files.items():
            target.writestr(name, data)


STATES: dict[str, tuple[Change, str]] = {
    "empty": (_state(lambda _: {}), "weights"),
    "list": (_state(lambda _: [1, 2]), "damaged"),
    "code": (_state(lambda state: state | {"more": Evil()}), "abort"),
    "array": (_state(lambda state: state | {"more": bytearray(9)}), "bytearray"),
    "packed": (_repacked, "packed"),
    "text": (text("last/state.pt", "junk"), "damaged"),
    "epoch": (_state(lambda s: s | {"state": s["state"] | {"epoch": -1}}), "state.epoch"),
    "weights": (_state(lambda s: s | {"weights": {"a": 3}}), "weights.a"),
    "NaN": (
        _state(lambda s: s | {"weights": {n: w * torch.nan for n, w in s["weights"].items()}}),
        "not a number",
    ),
    "random": (_state(lambda s: s | {"random": 3}), "random"),
}


@pytest.mark.parametrize("case", STATES)
def test_a_bad_training_state_is_refused(case: str, run: Path, here: Path) -> None:
    change, word = STATES[case]
    shutil.copytree(run, here / "model")
    change(here / "model")
    code, out, err = parse(here / "model" / "last")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "state.pt" in err
    assert word in err


RECORDS = {
    "[]": "not a section",
    "{}": "config is missing",
    "3": "not a section",
    '{"config": {"task": "dm"}, "train": 5, "dev": [], "folder": "x"}': "train = 5",
    '{"config": {"task": "x"}, "train": [], "dev": []}': r"config\.task",
    '{"config": {"task": "dm"}, "train": [], "dev": [], "seed": "x"}': "seed",
    '{"config": {"task": "dm", "train": {"annotator": "os:abort"}}, "train": [], "dev": []}': (
        r"train\.annotator"
    ),
    DEEP: "deep",
}


@pytest.mark.parametrize("record", RECORDS, ids=range(len(RECORDS)))
def test_a_bad_record_of_a_training_is_refused(record: str, run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "model")
    (tmp_path / "model" / "run.json").write_text(record)
    with pytest.raises((TransducerError, ValueError), match=RECORDS[record]) as error:
        load_run(tmp_path / "model")
    assert "run.json" in str(error.value)


def test_code_is_run_in_a_resumed_training_only_if_the_user_names_it(
    run: Path, tmp_path: Path
) -> None:
    shutil.copytree(run, tmp_path / "model")
    settings = {"task": "dm", "train": {"annotator": "os:abort"}}
    record = {"config": settings, "train": [], "dev": [], "folder": "x"}
    (tmp_path / "model" / "run.json").write_text(json.dumps(record))
    with pytest.raises(ValueError, match=r"train\.annotator = 'os:abort'.* --set train\.annotator"):
        load_run(tmp_path / "model")
    assert load_run(tmp_path / "model", ["train.annotator=none"]).current.train.annotator == "none"


@pytest.mark.parametrize(
    ("card", "field"),
    [("{}", "task is missing"), ("[]", "not a section"), (DEEP, "deep"), ('{"a": NaN}', "NaN")],
    ids=["empty", "list", "deep", "NaN"],
)
def test_a_bad_card_is_refused(card: str, field: str, tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text(card)
    with pytest.raises(ModelError, match=rf"card\.json is damaged: .*{field}"):
        read_card(tmp_path)


# What a model names is for the record ------------------------------------------------------------


def test_a_model_decides_neither_what_is_read_nor_where_text_is_sent(
    good: Path, here: Path
) -> None:
    shutil.copytree(good, here / "model")
    for field, value in {
        "model.word_vectors": "/nonexistent/vectors",
        "amr.rolesets": "/nonexistent/frames",
        "amr.gazetteer": "/nonexistent/names",
        "amr.spotlight": "http://127.0.0.1:1/",
        "train.start_from": "/nonexistent/model",
        "train.contextual_from": "/nonexistent/model",
    }.items():
        config(field, value)(here / "model")
    assert Transducer.load(here / "model", "cpu").task.wikifier is None
    # The output names the model by its folder; the rest is the same.
    code, out, err = parse(here / "model")
    assert (code, out.replace("::model model ", f"::model {good.name} "), err) == parse(good)


@pytest.mark.usefixtures("here")
def test_the_user_decides_where_text_is_sent(good: Path) -> None:
    assert Transducer.load(good, "cpu", spotlight="http://127.0.0.1:1/").task.wikifier is not None
    code, out, err = parse(good, "--spotlight", "file:///etc/passwd")
    assert (code, out) == (1, "")
    assert "http:// or https://" in err


def test_the_working_folder_is_no_place_for_modules(good: Path, here: Path) -> None:
    for module in ("spacy", "matplotlib", "transformers", "json"):
        (here / f"{module}.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    config("train.annotator", "auto")(shutil.copytree(good, here / "model"))
    source = os.pathsep.join(path for path in sys.path if path and path != str(here))
    done = subprocess.run(
        [sys.executable, "-m", "transducer", "parse", "--model", "model", "in.txt"],
        env=os.environ | {"PYTHONPATH": source},
        cwd=here,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not (here / "ran").exists(), done.stderr
    assert done.returncode == 0, done.stderr


def test_a_model_of_a_plug_in_is_used_with_it(good: Path, here: Path) -> None:
    config("train.annotator", "evil:make")(shutil.copytree(good, here / "model"))
    assert parse(here / "model", "--annotator", "none")[0] == 0
