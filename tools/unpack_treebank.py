"""Unpack the files of a treebank: ``unpack_treebank.py ewt-train.tar.gz -o ewt-train``.

Treebanks of many small files are distributed as archives; readers take folders.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import click

from graphconv import cliutil
from graphconv.io.files import output_folder


@click.command()
@click.argument("archive", type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--output", required=True, metavar="DIR")
def main(archive: str, output: str) -> None:
    """Write the files of ARCHIVE (tar, also packed) to DIR, without the folders they are in."""
    with cliutil.data_errors(), output_folder(output) as folder:
        for name, content in _files(archive):
            if (folder / name).exists():
                raise cliutil.DataError(f"{archive} has two files called {name}")
            (folder / name).write_bytes(content)


def _files(archive: str) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents; what is wrong with the archive is said of it, not of the output."""
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                content = tar.extractfile(member)
                name = Path(member.name).name
                if content is not None and not name.startswith("."):
                    yield name, content.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise cliutil.DataError(f"{archive}: {error}") from error


if __name__ == "__main__":
    main()
