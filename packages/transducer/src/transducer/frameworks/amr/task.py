"""AMR: concepts and constants that words offer, and the paper's section 5 around the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphconv.arborescence import Row
from graphconv.conversion.labels import CONSTANT
from graphconv.graph import Attributes, Graph, Token
from transducer.config import Config
from transducer.data.examples import Example
from transducer.data.trees import RowKind, TreeRules
from transducer.frameworks import amr
from transducer.frameworks.amr.anchoring import anchored, places
from transducer.frameworks.amr.anonymize import placeholder
from transducer.frameworks.tasks import Sentence, Task
from transducer.text.tokens import clean


def row_kind(label: str, relation: str, is_word: bool) -> RowKind:
    """Return what may hang below a row: nothing below a constant."""
    del relation, is_word
    return RowKind.LEAF if label.startswith(CONSTANT) else RowKind.NODE


class AmrTask(Task):
    """AMR; the tables know senses, names, Wikipedia pages and negations of the training data."""

    __slots__ = ()
    trees = TreeRules(row_kind, words_are_nodes=False, text_order=False)
    metric = "smatch"
    metric_options = ("fine_grained",)
    tables_type = amr.Tables

    @classmethod
    def learn(cls, config: Config, graphs: Sequence[Graph]) -> AmrTask:
        """Make the task of a new model, learning its tables from the training graphs."""
        propbank = config.amr.rolesets
        known_names = config.amr.gazetteer
        tables = amr.Tables.learn(
            graphs,
            amr.read_rolesets(propbank) if propbank else (),
            amr.read_gazetteer(known_names) if known_names else {},
        )
        return cls(config, tables, amr.make_wikifier(config.amr.spotlight))

    @classmethod
    def tokenized(cls, graph: Graph) -> Graph:
        """Return the graph with tokens cut by rule, unless its file has tokens of its own."""
        return amr.tokenize_graph(graph)

    @classmethod
    def needs(cls, config: Config) -> Iterator[str]:
        """Yield what a recipe asks for beyond the treebank, a line each."""
        a = config.amr
        none = "none, senses are those of the files (amr.rolesets)"
        yield f"PropBank's rolesets: {a.rolesets or none}"
        yield f"gazetteer: {a.gazetteer or 'none, names are taken as decoded (amr.gazetteer)'}"
        if a.wiki:
            wikifier = a.spotlight or "none, unknown names get no page (amr.spotlight)"
            yield f"Spotlight: {wikifier}"

    def simplified(self, graph: Graph) -> Graph:
        """Return the graph that the model learns."""
        return amr.preprocess(graph, self.tables, self.config.amr)

    def example(
        self, sentence_id: str, tokens: tuple[Token, ...], rows: tuple[Row, ...] = ()
    ) -> Example:
        """Return what the model sees of a sentence: also what copying each token can give."""
        return Example(
            sentence_id,
            self.trees,
            tokens,
            offers=self._offers(tokens),
            anonymous=tuple(placeholder(token) is not None for token in tokens),
            rows=rows,
        )

    def sentence(self, sentence_id: str, tokens: tuple[Token, ...]) -> Sentence:
        """Prepare one sentence."""
        prepared, record = amr.prepare_tokens(tokens, self.tables, self.config.amr)
        return Sentence(sentence_id, self.example(sentence_id, prepared), record.tokens, record)

    def metadata(self, text: str) -> Attributes:
        """Return the sentence: AMR has no other place for it."""
        return (("snt", clean(text)),)

    def aligned(
        self,
        graph: Graph,
        sentence: Sentence,
        rows: Sequence[Row],
        attention: Sequence[Sequence[float]],
    ) -> Graph:
        """Return the graph with the words that its nodes stand for."""
        forms = [token.form for token in sentence.example.tokens]
        return anchored(graph, places(rows, forms, sentence.example.offers, attention))

    def finished(self, graph: Graph, sentence: Sentence) -> Graph:
        """Return the complete AMR for what the model emitted."""
        return amr.postprocess(graph, sentence.record, self.tables, self.config.amr, self.wikifier)

    def _offers(self, tokens: Sequence[Token]) -> tuple[tuple[str, ...], ...]:
        """Return the labels that copying each token can give."""
        ways = [
            amr.copy_concepts(tokens, self.tables),
            [CONSTANT + amr.copy_constant(token) for token in tokens],
            [CONSTANT + constant for constant in amr.copy_joined(tokens)],
            amr.copy_others(tokens, self.tables),
        ]
        return tuple(zip(*ways[: self.config.model.n_copy_ways], strict=True))


TASK = AmrTask
