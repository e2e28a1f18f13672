"""Run a notebook in a kernel of this very Python, and write it with its results.

    python tools/run_notebook.py docs/tutorial.ipynb OUT.ipynb

Needs nbclient and ipykernel. A cell that raises ends the run with its traceback and exit code 1.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat
from jupyter_client.manager import KernelManager

SECONDS = 300
"""The longest that a cell may take."""


def main() -> None:
    source, target = sys.argv[1:]
    kernels = KernelManager()
    # Not the kernel called python3 that the user may have registered.
    assert kernels.kernel_spec is not None
    kernels.kernel_spec.argv[0] = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        client = nbclient.NotebookClient(
            nbformat.read(source, as_version=4),
            km=kernels,
            timeout=SECONDS,
            resources={"metadata": {"path": folder}},
        )
        try:
            executed = client.execute()
        except nbclient.exceptions.CellExecutionError as error:
            sys.exit(str(error))
    Path(target).write_text(nbformat.writes(executed), encoding="utf-8")


if __name__ == "__main__":
    main()
