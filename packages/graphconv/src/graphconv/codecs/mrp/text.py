"""The text of an MRP record: tokens from anchors and whitespace, and anchors from tokens.

MRP has no tokens. The text is cut at whitespace and at both ends of every anchor:

>>> [token.form for token in cut("He can't.", [(3, 6), (6, 8)])]
['He', 'can', "'t", '.']
>>> positions([(3, 8)], [(0, 2), (3, 6), (6, 8), (8, 9)])
(1, 2)
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Any

from graphconv.codecs._json import Malformed, expect, expect_list, field, optional
from graphconv.codecs.arborescence import token_from_json
from graphconv.frameworks import FRAMEWORKS, Nodes
from graphconv.frameworks import framework as framework_of
from graphconv.graph import Attributes, Graph, Token, attribute

Span = tuple[int, int]

PRIVATE = "graphconv"
"""The key for what MRP has no place for; other tools pass over it."""

_PUNCTUATION: Attributes = (("type", "Punctuation"),)


def tokens_of(record: dict[str, Any], framework: str) -> tuple[tuple[Token, ...], list[Span]]:
    """Return the tokens of a record and where they are in its text."""
    kind = FRAMEWORKS[framework].nodes
    text = optional(record.get("input"), str, "'input'") or ""
    items = record.get("nodes") or []
    anchors = [anchor_spans(item, len(text)) for item in items]
    given = private(record).get("tokens")
    if given is not None:
        tokens = tuple(token_from_json(item) for item in expect(given, list, "the tokens"))
        written, spans = rebuild(tokens, text)
        # The sentence of an AMR may be spelled otherwise, but then no anchor fits both.
        if written != text and "input" in record and (framework != "amr" or any(anchors)):
            raise Malformed("the tokens are not those of the input")
    else:
        spread = [span for some in anchors for span in some]
        tokens = cut(text, spread, set(spread) if kind is Nodes.TOKEN else ())
        spans = [token.span for token in tokens if token.span]
        if kind is Nodes.UNIT:
            tokens = tuple(map(_typed, tokens))
    if kind is Nodes.TOKEN:
        tokens = _described(tokens, [positions(some, spans) for some in anchors], items)
    return tokens, spans


def given_text(graph: Graph) -> str | None:
    """Return the sentence of a graph as its file gave it, if it did."""
    noted = framework_of(graph.framework, graph.id).penman_notes
    given = attribute(graph.metadata, "snt") if noted else attribute(graph.extras, "input")
    return given if isinstance(given, str) else None


def private(item: dict[str, Any]) -> dict[str, Any]:
    """Return what graphconv alone has to say about a record, a node or an edge."""
    return optional(item.get(PRIVATE), dict, f"{PRIVATE!r}") or {}


def anchor_spans(item: dict[str, Any], length: int) -> list[Span]:
    """Return the anchors of a node of a record."""
    spans = []
    for anchor in optional(item.get("anchors"), list, "the anchors of a node") or []:
        expect(anchor, dict, "an anchor")
        start, end = field(anchor, "from", int), field(anchor, "to", int)
        if not 0 <= start <= end <= length:
            raise Malformed(f"the anchor {start}:{end} lies outside of the input")
        spans.append((start, end))
    return spans


def pairs(item: dict[str, Any], key: str) -> list[tuple[str, Any]]:
    """Return the properties of a node, or the attributes of an edge, with their values."""
    names = expect_list(item.get(key) or [], str, f"{key!r}")
    values = expect(item.get("values") or [], list, "'values'")
    if names and len(names) != len(values):
        raise Malformed(f"there are {len(names)} {key}, but {len(values)} values")
    return list(zip(names, values, strict=False))


def cut(text: str, anchors: Collection[Span], whole: Collection[Span] = ()) -> tuple[Token, ...]:
    """Cut *text* at whitespace and anchors; the spans in *whole* may have whitespace inside."""
    cuts = sorted({0, len(text), *(end for span in anchors if span[0] < span[1] for end in span)})
    tokens = []
    for start, end in pairwise(cuts):
        if (start, end) in whole:
            tokens.append(Token(text[start:end], span=(start, end)))
            continue
        for match in re.finditer(r"\S+", text[start:end]):
            span = (start + match.start(), start + match.end())
            tokens.append(Token(match[0], span=span))
    return tuple(tokens)


def positions(anchors: Iterable[Span], spans: Sequence[Span]) -> tuple[int, ...]:
    """Return the positions of the tokens that lie inside of the anchors, in the anchors' order."""
    found: dict[int, None] = {}
    for start, end in anchors:
        position = bisect_left(spans, (start, start))
        while position < len(spans) and spans[position][1] <= end:
            found[position] = None
            position += 1
    return tuple(found)


def anchors(tokens: Sequence[int], spans: Sequence[Span], *, merge: bool) -> list[dict[str, int]]:
    """Return the anchors of the tokens at these positions; *merge* makes one of neighbors."""
    found: list[dict[str, int]] = []
    before = None
    for position in tokens:
        start, end = spans[position]
        if merge and found and before == position - 1:
            found[-1]["to"] = end
        else:
            found.append({"from": start, "to": end})
        before = position
    return found


def rebuild(tokens: Sequence[Token], text: str | None = None) -> tuple[str, list[Span]]:
    """Return a text with the tokens and where they are in it: *text*, if they are all there."""
    found = _find(tokens, text) if text is not None else None
    if text is not None and found is not None:
        return text, found
    spans = [token.span for token in tokens if token.span]
    fits = len(spans) == len(tokens) and all(
        end - start == len(token.form) for (start, end), token in zip(spans, tokens, strict=True)
    )
    if not fits or any(one[1] > two[0] for one, two in pairwise(spans)):
        plain = [token._replace(span=None) for token in tokens]
        joined = " ".join([token.form for token in tokens])
        return joined, _find(plain, joined) or []
    parts = []
    end = 0
    for token, span in zip(tokens, spans, strict=True):
        parts += [" " * (span[0] - end), token.form]
        end = span[1]
    return "".join(parts), spans


def _find(tokens: Iterable[Token], text: str) -> list[Span] | None:
    spans: list[Span] = []
    end = 0
    for token in tokens:
        start = token.span[0] if token.span else text.find(token.form, end)
        if start < end or not text.startswith(token.form, start):
            return None
        end = start + len(token.form)
        if token.span and token.span[1] != end:
            return None
        spans.append((start, end))
    return spans


def _typed(token: Token) -> Token:
    """Mark a token of UCCA that has neither letters nor digits."""
    if all(unicodedata.category(character)[0] in "PS" for character in token.form):
        return token._replace(features=_PUNCTUATION)
    return token


def _described(
    tokens: tuple[Token, ...], places: Iterable[tuple[int, ...]], items: Iterable[dict[str, Any]]
) -> tuple[Token, ...]:
    """Give the tokens what their nodes say; of several nodes of one token the first."""
    described = list(tokens)
    seen = set()
    for place, item in zip(places, items, strict=True):
        if len(place) != 1 or place[0] in seen:
            continue
        seen.add(place[0])
        form, lemma, pos, span, features = described[place[0]]
        properties = dict(pairs(item, "properties"))
        frame = properties.get("frame")
        if isinstance(frame, str) and attribute(features, "frame") is None:
            features = (*features, ("frame", frame))
        described[place[0]] = Token(
            form,
            lemma if item.get("label") is None else str(item["label"]),
            properties["pos"] if isinstance(properties.get("pos"), str) else pos,
            span,
            features,
        )
    return tuple(described)
