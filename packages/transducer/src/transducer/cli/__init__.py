"""The command ``transducer``. Imports torch only when a command runs."""

from __future__ import annotations

from graphconv import starting  # the first of all: the others take a while

# isort: split
from graphconv import cliutil
from transducer.cli import inventory, parsing, showing, steps, training
from transducer.errors import TransducerError
from transducer.text.annotation import AnnotationError

COMMANDS = (
    *(training.train, training.joint, training.average, training.export),
    *(parsing.parse, parsing.evaluate, parsing.annotate),
    *(steps.preprocess, steps.postprocess),
    *(inventory.inspect, inventory.models, inventory.fetch, inventory.doctor),
    *(showing.serve, showing.demo),
)


@cliutil.group("arbora-transducer", "transducer", errors=(TransducerError, AnnotationError))
def main() -> None:
    """Train the neural transducer, and parse text into AMR, DM, PAS, PSD or UCCA graphs."""


for command in COMMANDS:
    main.add_command(command)

starting.end()  # the last of all
