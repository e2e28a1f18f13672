"""What reader and writer of SDP have in common: headers and line ends."""

from __future__ import annotations

import re

HEADER = "#SDP 2015\n"
IS_HEADER = re.compile(r"\ufeff?#SDP ")
NEWLINE = re.compile(r"\r?\n")
