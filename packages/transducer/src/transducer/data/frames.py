"""The frames of words as the files have them: a feature of tokens (SDP 2015, column seven)."""

from __future__ import annotations

from collections.abc import Sequence

from graphconv.graph import Token, attribute

FRAME = "frame"
"""The feature of a token that holds its frame."""

NO_FRAME = "_"


def token_frames(tokens: Sequence[Token]) -> list[str]:
    """Return the frames of a sentence's words; nothing if none of them has one."""
    frames = [attribute(token.features, FRAME) for token in tokens]
    return [str(frame or NO_FRAME) for frame in frames] if any(frames) else []


def with_frames(tokens: Sequence[Token], frames: Sequence[str]) -> tuple[Token, ...]:
    """Return the tokens with their frames."""
    return tuple(
        token if frame == NO_FRAME else token._replace(features=(*token.features, (FRAME, frame)))
        for token, frame in zip(tokens, frames, strict=True)
    )


def without_frame(token: Token) -> Token:
    """Return the token without its frame, which belongs to the gold graph."""
    if not any(name == FRAME for name, _ in token.features):
        return token
    return token._replace(features=tuple(pair for pair in token.features if pair[0] != FRAME))
