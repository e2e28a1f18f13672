"""What makes a score quotable: metric, profile, options, version, and the hashes of both inputs."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from graphconv.io.files import sha256


def signature(
    metric: str, options: dict[str, Any], certified: bool, hashes: dict[str, str]
) -> dict[str, Any]:
    """Return the signature of a score, for the JSON report; word vectors are told by their hash."""
    shown = {name: value for name, value in options.items() if name != "profile"}
    if shown.get("vectors"):
        shown["vectors"] = sha256(shown["vectors"])[:12]
    return {
        "metric": metric,
        "profile": options.get("profile"),
        "options": shown,
        "version": version("arbora-evaltools"),
        "certified": certified,
        "sha256": hashes,
    }


def one_line(parts: dict[str, Any]) -> str:
    """Return a signature as one line, for the table.

    >>> one_line({"metric": "sdp", "profile": None, "options": {}, "version": "0.1.0",
    ...           "certified": True, "sha256": {"gold": "ab" * 32, "pred": "cd" * 32}})
    'sdp|v:0.1.0|certified:yes|gold:abababababab|pred:cdcdcdcdcdcd'
    """
    fields = [parts["metric"]]
    if parts["profile"]:
        fields.append(f"profile:{parts['profile']}")
    fields += [f"{name}:{_shown(value)}" for name, value in parts["options"].items()]
    fields += [f"v:{parts['version']}", f"certified:{_shown(parts['certified'])}"]
    fields += [f"{side}:{digest[:12]}" for side, digest in parts["sha256"].items()]
    return "|".join(fields)


def _shown(value: object) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
