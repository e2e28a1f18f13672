"""Ctrl-C while a command line is still importing ends it at once, without a traceback.

Importing this module begins that time, :func:`end` ends it: then Ctrl-C is a KeyboardInterrupt
again, which the commands answer themselves. Who imports the command line into a program of their
own has the same. It imports next to nothing: before it, Ctrl-C is Python's.
"""

from __future__ import annotations

import signal


def _begin() -> bool:
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False  # somebody else answers it
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    except ValueError:  # not in the main thread
        return False
    return True


_BEGUN = _begin()


def end() -> None:
    """Let Ctrl-C be a KeyboardInterrupt again."""
    if _BEGUN and signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
