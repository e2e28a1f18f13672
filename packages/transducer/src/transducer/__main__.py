"""``python -m transducer``, which is what ``torchrun -m transducer`` starts."""

import os
import sys

# ``-m`` looks for modules in the working folder first: whatever lies there, such as a model that
# was downloaded, must not be what ``import spacy`` finds. Who wants that says PYTHONPATH=.
if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):  # noqa: PTH109
    del sys.path[0]

from transducer.cli import main

if __name__ == "__main__":
    main(prog_name="transducer")
