"""Code as users write it: complete types, the snippets of the documentation, clear complaints."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import evaltools
import graphconv
import transducer
from evaltools.errors import EvaluationError
from graphconv import FormatError, Graph, GraphconvError
from transducer.errors import ConfigError, TransducerError

ROOT = Path(__file__).parents[1]


def test_user_code_is_checked_with_complete_types() -> None:
    """Mypy, strict, reads tests/user_code.py; our packages say that they have types."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert settings["strict"] is True
    assert "tests" in settings["files"]
    assert (ROOT / "tests" / "user_code.py").exists()
    for package in ("graphconv", "evaltools", "transducer"):
        assert (ROOT / "packages" / package / "src" / package / "py.typed").exists()


ONE_SENTENCE = [
    (lambda: transducer.load("amrr"), TransducerError, "amrr"),
    (transducer.load, TransducerError, "load"),
    (lambda: graphconv.loads("(b / boy"), FormatError, "boy"),
    (lambda: graphconv.loads(""), FormatError, "the string is empty"),
    (lambda: graphconv.loads("(b / boy)", format="xls"), FormatError, "unknown format 'xls'"),
    (lambda: graphconv.loads("(b / boy)", framework="dm"), GraphconvError, "not dm"),
    (lambda: graphconv.loads("gold.amr"), FormatError, "graphconv.read"),
    (lambda: list(graphconv.read("(b / boy)")), FormatError, "graphconv.loads"),
    (lambda: Graph.from_dict({"id": "1"}), FormatError, "'framework' is missing"),
    (lambda: graphconv.render(["(b / boy)"]), TypeError, "graphconv.loads"),  # type: ignore[list-item]
    (lambda: evaltools.score("(b / boy)", "(b / boy)", metric="bleu"), EvaluationError, "bleu"),
    (lambda: evaltools.align("(b / boy)", Graph("1", "dm")), EvaluationError, "one framework"),
    (lambda: transducer.Doc.from_json("{}"), TransducerError, "this is not a parsed document"),
]


@pytest.mark.parametrize(("call", "error", "said"), ONE_SENTENCE, ids=range(len(ONE_SENTENCE)))
def test_bad_arguments_give_one_sentence(call: object, error: type[Exception], said: str) -> None:
    """It names what is wrong, in one line."""
    with pytest.raises(error) as caught:
        call()  # type: ignore[operator]
    message = str(caught.value)
    assert said in message
    assert "\n" not in message
    assert issubclass(ConfigError, TransducerError)
