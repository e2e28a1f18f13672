"""Say what works on this machine, and how fast: what a person runs before anything else.

Every line is a finding: ``ok``, ``none`` (not here, and not needed) or ``BAD`` (needed and broken).
Nothing is fetched, and nothing is written but the caches.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from transducer.errors import TransducerError

OK, NONE, BAD = "ok", "none", "BAD"
"""States of findings."""

_PACKAGES = {"torch": "", "tokenizers": "", "safetensors": "", "transformers": ""}
_TRAINING = {"accelerate": "training", "rich": "training", "matplotlib": "training"}
_SENTENCES = (
    "The boy wants to go to town .",
    "Two dogs that bark loudly do not bite .",
    "She said that the report , which nobody had read , was published in 2019 .",
    "It rains .",
)
_SIZE = 2048
"""Rows and columns of the matrices that are multiplied to measure a device."""


class Finding(NamedTuple):
    """One line: what was looked at, whether it works, and what there is to say."""

    what: str
    state: str
    says: str


def examine(device: str = "auto") -> Iterator[Finding]:
    """Look at everything, the quick things first."""
    yield Finding("Python", OK, f"{platform.python_version()}, {platform.platform()}")
    yield from _packages()
    yield from _processors()
    yield from _gpus()
    yield from _encoders()
    yield from _tasks(device)


def _packages() -> Iterator[Finding]:
    for name, purpose in (_PACKAGES | _TRAINING).items():
        try:
            yield Finding(name, OK, version(name))
        except PackageNotFoundError:
            advice = f"only {purpose} needs it: pip install 'arbora-transducer[train]'"
            yield Finding(name, NONE if purpose else BAD, advice if purpose else "not installed")


def _processors() -> Iterator[Finding]:
    import torch  # noqa: PLC0415 - after the finding that it is here

    speed = _speed("cpu", torch.float32)
    yield Finding("CPU", OK, f"{os.cpu_count()} cores, {torch.get_num_threads()} threads, {speed}")
    fast = torch.cpu._is_avx512_bf16_supported()
    says = f"{_speed('cpu', torch.bfloat16)}" if fast else "slow on this CPU, so fp32 is used"
    yield Finding("CPU, bf16", OK if fast else NONE, says)
    engine = torch.backends.quantized.engine
    works = engine != "none"
    yield Finding("CPU, int8", OK if works else NONE, engine if works else "fp32 is used")


def _gpus() -> Iterator[Finding]:
    import torch  # noqa: PLC0415 - see _processors

    for number in range(torch.cuda.device_count()):
        what, name = f"GPU {number}", f"cuda:{number}"
        properties = torch.cuda.get_device_properties(number)
        yield Finding(what, OK, f"{properties.name}, {properties.total_memory / 1e9:.1f} GB")
        for kind in (torch.float32, torch.bfloat16, torch.float16):
            short = str(kind).removeprefix("torch.")
            try:
                yield Finding(f"{what}, {short}", OK, _speed(name, kind))
            except RuntimeError as error:
                yield Finding(f"{what}, {short}", BAD, str(error).splitlines()[0])
    if torch.backends.mps.is_available():
        yield Finding("MPS", OK, _speed("mps", torch.float32))
    elif not torch.cuda.is_available():
        yield Finding("GPU", NONE, f"torch {torch.__version__} sees none: the CPU computes")


def _speed(device: str, kind: Any) -> str:
    """Measure products of matrices."""
    import torch  # noqa: PLC0415 - see _processors

    size = _SIZE // 2 if device == "cpu" else _SIZE
    left = torch.ones(size, size, device=device, dtype=kind)
    _timed(lambda: float((left @ left)[0, 0]))  # the first one prepares
    seconds = min(_timed(lambda: float((left @ left)[0, 0])) for _ in range(3))
    return f"{2 * size**3 / seconds / 1e12:.2f} TFLOP/s"


def _timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _encoders() -> Iterator[Finding]:
    from transducer.encoders.places import look  # noqa: PLC0415 - imports slowly
    from transducer.encoders.references import parse_reference  # noqa: PLC0415 - imports slowly

    for name in sorted(_needed()):
        try:
            encoder = look(parse_reference(name))
        except TransducerError as error:
            yield Finding(f"encoder {name}", BAD, str(error))
            continue
        if encoder is None:
            yield Finding(f"encoder {name}", BAD, f"not here: transducer fetch {name}")
        else:
            yield Finding(f"encoder {name}", OK, f"verified, {encoder.folder}")


def _needed() -> dict[str, list[str]]:
    """Return the encoders of the models that ship, and the tasks of each."""
    from transducer.storage.checkpoint import load_setup  # noqa: PLC0415 - imports slowly
    from transducer.storage.shipped import find_model, shipped_tasks  # noqa: PLC0415

    result: dict[str, list[str]] = {}
    for task in shipped_tasks():
        name = load_setup(find_model(task))[0].model.contextual
        if name:
            result.setdefault(name, []).append(task)
    return result


def _tasks(device: str) -> Iterator[Finding]:
    from transducer.encoders.places import look  # noqa: PLC0415 - imports slowly
    from transducer.encoders.references import parse_reference  # noqa: PLC0415 - imports slowly
    from transducer.storage.shipped import shipped_tasks  # noqa: PLC0415

    lacking: dict[str, str] = {}
    for name, tasks in _needed().items():
        try:
            here = look(parse_reference(name)) is not None
        except TransducerError:
            here = False
        lacking |= {} if here else dict.fromkeys(tasks, name)
    if not shipped_tasks():
        yield Finding("models", BAD, "none ships with this version: transducer train makes one")
    for task in shipped_tasks():
        if task in lacking:
            yield Finding(f"parse --task {task}", BAD, f"its encoder {lacking[task]} is not here")
        else:
            yield _parsed(task, device)


def _parsed(task: str, device: str) -> Finding:
    """Parse some sentences, and some again to see how long they take."""
    from transducer.parsing.parser import Transducer  # noqa: PLC0415 - imports slowly

    what = f"parse --task {task}"
    try:
        started = time.perf_counter()
        parser = Transducer.shipped(task, device)
        loaded = time.perf_counter() - started
        parser.parse(_SENTENCES)
        seconds = _timed(lambda: parser.parse(_SENTENCES * 2))
    except (TransducerError, RuntimeError, OSError) as error:
        return Finding(what, BAD, (str(error) or type(error).__name__).splitlines()[0])
    words = 2 * sum(len(sentence.split()) for sentence in _SENTENCES)
    where = parser.device
    return Finding(what, OK, f"loaded in {loaded:.1f} s, {words / seconds:.0f} words/s on {where}")
