"""What can be set of a server, and its limits."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from transducer.errors import ConfigError

SHORTEST_TOKEN = 16


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits and defaults of a server."""

    beam: int | None = None
    """The beam of requests that name none; None is each model's own."""
    queue: int = 256
    """Requests that wait, at most; one more is told to come again."""
    max_characters: int = 20_000
    """Characters of one text."""
    timeout: float = 60.0
    """Seconds from a request's arrival to its answer."""
    token: str = ""
    """What clients have to send as bearer token; empty: nothing."""
    origins: tuple[str, ...] = ()
    """Web pages that may call the server from a browser (CORS); none by default."""
    patience: float = 0.004
    """Seconds that the first of some requests waits for others to be decoded with."""
    max_connections: int = 1024

    def __post_init__(self) -> None:
        for name in ("queue", "max_characters", "max_connections"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, and 1 is the least")
        if not self.timeout > 0:
            raise ConfigError(f"timeout is {self.timeout}, and must be more than 0 seconds")

    @property
    def max_body(self) -> int:
        """Bytes of a request: each character as an escape of JSON, and some more."""
        return 12 * self.max_characters + 65_536

    def admits(self, header: str) -> bool:
        """Say whether an ``Authorization`` header has the token, in the same time for all."""
        expected = f"Bearer {self.token}".encode()
        return not self.token or secrets.compare_digest(header.encode("latin-1"), expected)


def read_token(path: str) -> str:
    """Return the token in a file, which is not a secret if it is short."""
    try:
        token = Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--token-file {path}: {error}") from error
    if len(token) < SHORTEST_TOKEN or not token.isprintable() or " " in token:
        raise ConfigError(
            f"--token-file {path}: a token has at least {SHORTEST_TOKEN} characters and no blank"
        )
    return token
