"""Graphs in a notebook, or as markup to put anywhere.

>>> from graphconv import loads
>>> render(loads("(b / boy)")).startswith("<svg")
True
>>> render(loads("(b / boy)"), page=True).startswith("<!doctype html>")
True
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from graphconv.graph import Graph


def render(
    graphs: Graph | Iterable[Graph], page: bool = False, jupyter: bool | None = None
) -> str | None:
    """Draw graphs, one below the other: SVG, or with *page* a whole HTML page.

    In a notebook the picture is shown and None is returned; *jupyter* says whether this is one,
    if it should not be found out.
    """
    from graphconv import draw  # noqa: PLC0415 - slow to import, and few need it

    items: list[Any] = [graphs] if isinstance(graphs, Graph) else list(graphs)
    for item in items:
        if not isinstance(item, Graph):
            message = f"graphconv.render draws graphs, not {type(item).__name__}"
            raise TypeError(f"{message}: read a string with graphconv.loads")
    pictures = [draw.svg(graph) for graph in items]
    if page:
        names = (f"{graph.id} · {graph.framework}" for graph in items)
        markup = draw.page("Graphs", zip(names, pictures, strict=True))
    else:
        markup = "\n".join(pictures)
    if not (in_notebook() if jupyter is None else jupyter):
        return markup
    _show(markup)
    return None


def in_notebook() -> bool:
    """Say whether this runs in a notebook's kernel, without importing one."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def _show(markup: str) -> None:
    try:
        display: Any = __import__("IPython.display", fromlist=["display"])
    except ImportError as error:
        message = "jupyter=True needs IPython: pip install ipython, or leave jupyter out"
        raise ImportError(message) from error
    display.display(display.HTML(markup))
