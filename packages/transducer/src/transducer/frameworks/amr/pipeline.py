"""The AMR steps in order, before training and after decoding; each has its switch in AmrConfig.

Before: Wikipedia pages are removed, entities folded, senses removed.
After: senses restored, entities unfolded, negations added, misplaced constants, quantities and
known names corrected, Wikipedia pages added, the graph completed, operands numbered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from graphconv.graph import Graph, Token, attribute
from transducer.config import AmrConfig
from transducer.frameworks.amr import anonymize, polarity, senses, wiki
from transducer.frameworks.amr.constants import repair_constants
from transducer.frameworks.amr.entities import Template
from transducer.frameworks.amr.known_names import correct_names
from transducer.frameworks.amr.operands import number_operands
from transducer.frameworks.amr.quantities import repair_quantities
from transducer.frameworks.amr.recover import recover
from transducer.frameworks.amr.tables import Tables, copy_lemma
from transducer.text.tokens import tokenize

_LONGEST_TAG = 60
"""Tokens of the longest markup that is looked for."""


@dataclass(frozen=True)
class Record:
    """What postprocessing must know about one sentence."""

    tokens: tuple[Token, ...] = ()
    templates: dict[str, Template] = field(default_factory=dict)


def retokenize(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Cut tokens that were split at white space only; annotated tokens are left as they are.

    AMR files without ``::tok`` have such tokens. Annotate after this, not before.
    """
    if any(token.lemma is not None or token.pos is not None for token in tokens):
        return tuple(tokens)
    return without_tags(tokenize(_spaced(tokens)))


def _spaced(tokens: Sequence[Token]) -> str:
    """Return the text of tokens, with blanks between them but where spans say that there is none.

    So what was cut before is cut into the same tokens again, and is known to have been one word.
    """
    parts: list[str] = []
    end: int | None = None
    for token in tokens:
        if parts and (end is None or token.span is None or token.span[0] != end):
            parts.append(" ")
        parts.append(token.form)
        end = None if token.span is None else token.span[1]
    return "".join(parts)


def without_tags(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Leave out markup with attributes, which is cut into many tokens and means nothing.

    >>> text = 'cells [ <xref ref-type="bibr" rid="B1">1</xref> ] , a < b'
    >>> " ".join(token.form for token in without_tags(tokenize(text)))
    'cells [ 1 </xref> ] , a < b'
    """
    kept: list[Token] = []
    place = 0
    while place < len(tokens):
        stop = _tag_end(tokens, place) if tokens[place].form == "<" else place
        if stop == place:
            kept.append(tokens[place])
        place = max(stop, place + 1)
    return tuple(kept)


def _tag_end(tokens: Sequence[Token], start: int) -> int:
    """Return where the tag that starts here ends, or its start if it is none."""
    if not (start + 1 < len(tokens) and tokens[start + 1].form[:1].isalpha()):
        return start
    forms = [token.form for token in tokens[start + 1 : start + _LONGEST_TAG]]
    inside = forms[: forms.index(">")] if ">" in forms else []
    return start + len(inside) + 2 if "=" in inside and "<" not in inside else start


def tokenize_graph(graph: Graph) -> Graph:
    """Return the graph with tokens cut by rule, unless its file has tokens of its own."""
    if any(attribute(graph.metadata, name) is not None for name in ("tok", "tokens")):
        return graph
    return replace(graph, tokens=retokenize(graph.tokens))


def prepare_tokens(
    tokens: Sequence[Token], tables: Tables, options: AmrConfig
) -> tuple[tuple[Token, ...], Record]:
    """Return the tokens for the model, and the record for :func:`postprocess`; no gold needed."""
    cut = retokenize(tokens)
    if not options.anonymize:
        return cut, Record(cut)
    marked, templates = anonymize.anonymize_tokens(cut, tables.names, tables.rates)
    return marked, Record(cut, templates)


def preprocess(graph: Graph, tables: Tables, options: AmrConfig) -> Graph:
    """Return the graph that the model learns, with the tokens that it will see at test time."""
    tokens, record = prepare_tokens(graph.tokens, tables, options)
    if options.wiki:
        graph = wiki.remove_wiki(graph)
    if options.anonymize:
        graph = anonymize.fold(graph, record.templates)
    if options.senses:
        graph = senses.remove_senses(graph, tables.senses)
    return replace(graph, tokens=tokens)


def postprocess(
    graph: Graph,
    record: Record,
    tables: Tables,
    options: AmrConfig,
    wikifier: wiki.Wikifier | None = None,
) -> Graph:
    """Return the complete AMR for what the model emitted."""
    if options.senses:
        graph = senses.restore_senses(graph, tables.senses)
    if options.anonymize:
        graph = anonymize.unfold(graph, record.templates)
    graph = recover(graph)
    if options.polarity:
        graph = polarity.restore_polarity(
            graph, record.tokens, tables.negation, lambda token: copy_lemma(token, tables)
        )
    graph = repair_constants(
        replace(graph, tokens=record.tokens),
        tables.known_names,
        lambda form: copy_lemma(Token(form), tables),
    )
    graph = correct_names(repair_quantities(graph), tables.known_names)
    if options.wiki:
        graph = wiki.restore_wiki(graph, tables.known_pages, wikifier)
    return replace(number_operands(recover(graph)), tokens=record.tokens)


def preprocess_graphs(
    graphs: Iterable[Graph], tables: Tables, options: AmrConfig
) -> Iterator[Graph]:
    """Preprocess the graphs of a file."""
    for graph in graphs:
        yield preprocess(graph, tables, options)


def postprocess_graphs(
    graphs: Iterable[Graph],
    tables: Tables,
    options: AmrConfig,
    wikifier: wiki.Wikifier | None = None,
) -> Iterator[Graph]:
    """Postprocess the graphs of a file; their tokens say again what the placeholders stand for."""
    for graph in graphs:
        plain = tuple(without_placeholder(token) for token in graph.tokens)
        _, record = prepare_tokens(plain, tables, options)
        yield postprocess(graph, record, tables, options, wikifier)


def without_placeholder(token: Token) -> Token:
    """Return the token as it was before anonymization."""
    kept = tuple(pair for pair in token.features if pair[0] != anonymize.PLACEHOLDER)
    return token._replace(features=kept)
