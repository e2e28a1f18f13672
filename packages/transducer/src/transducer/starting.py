"""Ctrl-C while the command line is still importing ends it at once, without a traceback.

Importing this module begins that time, :func:`end` ends it: then Ctrl-C is a KeyboardInterrupt
again, which the commands answer themselves. Who imports the command line into a program of their
own has the same.
"""

from __future__ import annotations

import signal
import threading

_BEGUN = (
    threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
)
if _BEGUN:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def end() -> None:
    """Let Ctrl-C be a KeyboardInterrupt again."""
    if _BEGUN and signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
