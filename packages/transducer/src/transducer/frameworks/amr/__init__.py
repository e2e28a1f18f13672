"""AMR before and after the model: the paper's section 5 as pure functions on graphs.

>>> from graphconv.graph import Edge, Graph, Node, Token
>>> from transducer.config import AmrConfig
>>> graph = Graph(
...     "1", "amr", tokens=tuple(map(Token, "the boy slept .".split())),
...     nodes=(Node("s", "sleep-01"), Node("b", "boy")),
...     edges=(Edge("s", "b", "ARG0"),), tops=("s",),
... )
>>> tables = Tables.learn([graph] * 3)
>>> small = preprocess(graph, tables, AmrConfig())
>>> [node.label for node in small.nodes], [copy_lemma(token, tables) for token in small.tokens]
(['sleep', 'boy'], ['the', 'boy', 'sleep', '.'])
>>> _, record = prepare_tokens(graph.tokens, tables, AmrConfig())
>>> [node.label for node in postprocess(small, record, tables, AmrConfig()).nodes]
['sleep-01', 'boy']
"""

from transducer.frameworks.amr.gazetteer import read_gazetteer
from transducer.frameworks.amr.pipeline import (
    Record,
    postprocess,
    postprocess_graphs,
    prepare_tokens,
    preprocess,
    preprocess_graphs,
    retokenize,
    tokenize_graph,
)
from transducer.frameworks.amr.propbank import Roleset, read_rolesets
from transducer.frameworks.amr.recover import recover
from transducer.frameworks.amr.spotlight import Spotlight, make_wikifier
from transducer.frameworks.amr.tables import (
    Tables,
    copy_concepts,
    copy_constant,
    copy_joined,
    copy_lemma,
    copy_others,
)

NAME = "amr"
"""What the framework is called."""

__all__ = [
    "NAME",
    "Record",
    "Roleset",
    "Spotlight",
    "Tables",
    "copy_concepts",
    "copy_constant",
    "copy_joined",
    "copy_lemma",
    "copy_others",
    "make_wikifier",
    "postprocess",
    "postprocess_graphs",
    "prepare_tokens",
    "preprocess",
    "preprocess_graphs",
    "read_gazetteer",
    "read_rolesets",
    "recover",
    "retokenize",
    "tokenize_graph",
]
