"""Everything that the AMR steps learn from training data, as one value that JSON can hold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Annotated

from graphconv.conversion.labels import CONSTANT
from graphconv.graph import Graph, Token
from transducer.frameworks.amr.anonymize import (
    constant_label,
    learn_names,
    learn_rates,
    placeholder,
)
from transducer.frameworks.amr.gazetteer import Gazetteer, with_names_of
from transducer.frameworks.amr.lexicon import concepts, denied, learn_lexicon
from transducer.frameworks.amr.nationalities import named_after
from transducer.frameworks.amr.numbers import find_values
from transducer.frameworks.amr.polarity import learn_polarity
from transducer.frameworks.amr.propbank import Roleset, alias_table
from transducer.frameworks.amr.senses import count_concepts, learn_senses, stem
from transducer.frameworks.amr.wiki import KnownPages, learn_wiki
from transducer.schema import Name, Range, checked, parse_json
from transducer.text.annotation import is_punctuation, token_features

Share = Annotated[float, Range(0, 1)]


@dataclass(frozen=True)
class Tables:
    """What the training data says; the modules of this package say what each table is for."""

    lexicon: dict[Name, Name] = field(default_factory=dict)
    """Lower-cased form -> the concept, without sense, that it most often stands for."""
    senses: dict[Name, Name] = field(default_factory=dict)
    """Stem, with "()" if it has arguments -> roleset, or stem."""
    names: dict[Name, tuple[Name, ...]] = field(default_factory=dict)
    """Name in the text -> name in the graph."""
    rates: dict[Name, Share] = field(default_factory=dict)
    """Pattern -> how often what it finds is in the graph."""
    wiki: dict[Name, Name] = field(default_factory=dict)
    """"type name" or "name" -> page, "" for none."""
    wiki_rates: dict[Name, Share] = field(default_factory=dict)
    """Type of entity -> how often it has a page."""
    wiki_titles: dict[Name, Share] = field(default_factory=dict)
    """Type of entity -> how often its page is the name itself, of those that are it or "-"."""
    negation: dict[Name, Share] = field(default_factory=dict)
    """Rule -> how often it is right."""
    aliases: dict[Name, Name] = field(default_factory=dict)
    """Word -> stem of the rolesets that it calls (PropBank)."""
    gazetteer: dict[Name, Name] = field(default_factory=dict)
    """Name in training data or a gazetteer -> its readings: type, page, type, page ..."""

    @classmethod
    def learn(
        cls,
        graphs: Iterable[Graph],
        rolesets: Sequence[Roleset] = (),
        gazetteer: Mapping[str, str] | None = None,
    ) -> Tables:
        """Learn from the graphs of a training file, their tokens cut by ``tokenize_graph``.

        *rolesets* and *gazetteer* say what there is beyond them; without a gazetteer, decoded names
        are taken as they are.
        """
        corpus = list(graphs)
        pairs = [(graph.tokens, graph) for graph in corpus]
        known = learn_names(pairs)
        pages = learn_wiki(corpus, Gazetteer(gazetteer or {}))
        first = cls(
            lexicon=learn_lexicon((_forms(graph), _stems(graph)) for graph in corpus),
            senses=learn_senses(count_concepts(corpus), (roleset.id for roleset in rolesets)),
            aliases=alias_table(rolesets),
        )
        return replace(
            first,
            names={text: tuple(parts) for text, parts in known.items()},
            rates=learn_rates(pairs, known),
            wiki=dict(pages.table),
            wiki_rates=dict(pages.rates),
            wiki_titles=dict(pages.titles),
            negation=learn_polarity(pairs, lambda token: copy_lemma(token, first)),
            gazetteer=with_names_of(corpus, gazetteer) if gazetteer else {},
        )

    def to_json(self) -> str:
        """Return the tables as JSON, the same for the same tables."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Tables:
        """Read what :meth:`to_json` wrote; a table that is missing is empty."""
        tables: Tables = checked(cls, parse_json(text))
        return tables

    @property
    def known_pages(self) -> KnownPages:
        """What the training data says of pages."""
        return KnownPages(self.wiki, self.wiki_rates, self.wiki_titles, self.known_names)

    @cached_property
    def known_names(self) -> Gazetteer:
        """The gazetteer, to look names up in."""
        return Gazetteer(self.gazetteer)

    @cached_property
    def stems(self) -> frozenset[str]:
        """All concepts of the training data and of PropBank, without senses."""
        bare = {key.removesuffix("()") for key in self.senses}
        return frozenset(bare) | frozenset(self.lexicon.values())


def _forms(graph: Graph) -> tuple[str, ...]:
    return tuple(t.form.lower() for t in graph.tokens if not is_punctuation(t.form))


def _stems(graph: Graph) -> tuple[str, ...]:
    # A name is said by its parts, which are constants, never by the word "name".
    return tuple(
        stem(node.label)
        for node in graph.nodes
        if not node.constant and node.label is not None and node.label != "name"
    )


def copy_lemma(token: Token, tables: Tables) -> str:
    """Return the concept, without sense, or placeholder that a token offers to source copy.

    The training data's own word for the form comes first, then the annotator's lemma if it is a
    known concept, then what the form can be called.
    """
    marked = placeholder(token)
    return marked if marked is not None else next(_concepts(token, tables))


def _concepts(token: Token, tables: Tables) -> Iterator[str]:
    """Yield what a token can be called, the likeliest first."""
    form = token.form.lower()
    if form in tables.lexicon:
        yield tables.lexicon[form]
    given = token_features(token)["lemma"]
    if given is not None and (given.lower() in tables.stems or not form.isascii()):
        yield given.lower()
    yield from concepts(given or form, tables.stems, tables.aliases)


def copy_concepts(tokens: Sequence[Token], tables: Tables) -> list[str]:
    """Return the labels that tokens offer first: concepts, but of names that are none the constant.

    Where PropBank says which words there are, a capital in the middle of a sentence is enough.
    """
    labels = []
    for place, token in enumerate(tokens):
        concept = copy_lemma(token, tables)
        name = tables.aliases and place and token.form[:1].isupper()
        known = concept in tables.stems or placeholder(token) is not None
        labels.append(CONSTANT + copy_constant(token) if name and not known else concept)
    return labels


def copy_others(tokens: Sequence[Token], tables: Tables) -> list[str]:
    """Return the concepts that tokens offer instead: of words together, or the next best ones.

    Of *unfair* it is what it denies.

    >>> tables = Tables(senses={"give-up()": "give-up-07", "give()": "give-01"})
    >>> copy_others([Token(form) for form in ("gave", "it", "up")], tables)
    ['give-up', 'it', 'up']
    """
    forms = [token.form.lower() for token in tokens]
    others = []
    for place, token in enumerate(tokens):
        first = copy_lemma(token, tables)
        base = denied(forms[place], tables.stems, tables.aliases)
        found = [*([base] if base else []), *_concepts(token, tables)]
        together = (
            f"{concept}-{form}"
            for concept in (*found, forms[place])
            for form in forms[place + 1 : place + 1 + _PARTICLE]
        )
        known = (concept for concept in together if concept in tables.stems)
        others.append(next(known, next((c for c in found if c != first), first)))
    return others


_PARTICLE = 3
"""How far behind its verb a particle is looked for, in words."""


def copy_constant(token: Token) -> str:
    """Return the constant that a token offers to source copy: a number, or its form in quotes."""
    return constant_label(token.form)


def copy_joined(tokens: Sequence[Token]) -> list[str]:
    """Return the constants that tokens offer together with others.

    The tokenizer cuts ``B-Raf`` and ``MEK1/2``, which are names: each of their words offers the
    whole. Marks offer only themselves. Words that are a number, alone or together, offer that,
    words such as *Turkish* the name behind them.

    >>> spans = ((0, 3), (4, 5), (5, 6), (6, 9))
    >>> copy_joined([Token(f, span=s) for f, s in zip(("the", "B", "-", "Raf"), spans)])
    ['"the"', '"B-Raf"', '"-"', '"B-Raf"']
    """
    joined: list[str] = []
    start = 0
    while start < len(tokens):
        end = start + 1
        while end < len(tokens) and _glued(tokens[end - 1], tokens[end]):
            end += 1
        run = tokens[start:end]
        outer = [place for place, token in enumerate(run) if not is_punctuation(token.form)]
        first, last = (outer[0], outer[-1]) if outer else (0, -1)
        whole = "".join(token.form for token in run[first : last + 1])
        joined += (
            copy_constant(token if is_punctuation(token.form) else token._replace(form=whole))
            for token in run
        )
        start = end
    for place, value in find_values([token.form for token in tokens]).items():
        # Digits that are part of a name (``14-3-3``) are no number; words (twenty-five) are.
        if joined[place] == copy_constant(tokens[place]) or tokens[place].form.isalpha():
            joined[place] = value
    for place, token in enumerate(tokens):
        name = named_after(token.form)
        if name is not None and joined[place] == copy_constant(token):
            joined[place] = constant_label(name)
    return joined


def _glued(left: Token, right: Token) -> bool:
    """Say whether nothing stood between two tokens, and a mark that names contain joins them."""
    together = left.span is not None and right.span is not None and left.span[1] == right.span[0]
    return together and (left.form in _JOINING or right.form in _JOINING)


_JOINING = frozenset("-/+'’.")
