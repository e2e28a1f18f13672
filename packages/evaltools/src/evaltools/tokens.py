"""Make sure that two graphs are about the same tokens, before their positions are compared."""

from __future__ import annotations

from graphconv.errors import ConversionError
from graphconv.graph import Graph

_BRACKETS = frozenset({"-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-"})


def check_tokens(gold: Graph, pred: Graph) -> None:
    """Raise ConversionError unless both graphs have the same tokens.

    Treebanks write quotes, dashes and brackets differently, so only letters and digits count.

    >>> from graphconv.graph import Token
    >>> gold = Graph("7", "dm", (Token("``"), Token("Go"), Token("home")))
    >>> check_tokens(gold, Graph("7", "dm", (Token('"'), Token("go"), Token("home"))))
    >>> check_tokens(gold, Graph("7", "dm", (Token('"'), Token("Went"), Token("home"))))
    Traceback (most recent call last):
    graphconv.errors.ConversionError: graph 7: token 2 is 'Go' in gold but 'Went' in the prediction
    """
    if gold.tokens is pred.tokens:
        return
    for position, (token, other) in enumerate(zip(gold.tokens, pred.tokens, strict=False), start=1):
        if token[0] != other[0] and _letters(token.form) != _letters(other.form):
            _refuse(gold, f"token {position} is {token.form!r} in gold but {other.form!r}")
    if len(gold.tokens) != len(pred.tokens):
        _refuse(gold, f"there are {len(gold.tokens)} tokens in gold but {len(pred.tokens)}")


def _letters(form: str) -> str:
    if form in _BRACKETS:
        return ""
    return "".join(filter(str.isalnum, form)).casefold()


def _refuse(gold: Graph, message: str) -> None:
    raise ConversionError(f"{message} in the prediction", graph_id=gold.id)
