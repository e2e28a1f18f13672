"""Code as a user writes it: `nox -s typecheck` reads it with mypy --strict; it is not run."""

from pathlib import Path

import evaltools
import graphconv
import transducer
from graphconv import Edge, Graph, Node, Token

nlp = transducer.load("amr", "dm", "ucca", device="cpu")
doc: transducer.Doc = nlp("The boy wants to go. He left.")
texts: list[str] = [doc.text for doc in nlp.pipe(["a", "b"], batch_size=64, errors="raise")]
spans: list[tuple[int, int] | None] = [token.span for token in doc.tokens]
starts: list[int] = [sentence.start for sentence in doc.sentences]
amr: tuple[Graph, ...] = doc.amr
same: tuple[Graph, ...] = doc.graphs["amr"]
labels: list[str | None] = [found.node.label for found in doc.nodes_at(0, 3)]
again: transducer.Doc = transducer.Doc.from_json(doc.to_json())
html: str = doc._repr_html_()

parser = transducer.Transducer.from_pretrained(
    Path("model"), revision=None, cache_dir=None, local_files_only=True
)
graphs: list[Graph] = parser.parse(["The boy goes.", ["The", "boy"], [Token("goes")]])
parser.parse(["The boy goes ."], tokenized=True, errors="keep")
parser.save_pretrained("folder")
address: str = parser.push_to_hub("me/model", private=True)

read: list[Graph] = graphconv.loads("(b / boy)", format="amr", framework="amr")
text: str = graphconv.dumps(read, format="mrp") + str(read[0]) + read[0].text
triples: list[tuple[str, str, str]] = read[0].triples()
span: tuple[int, int] | None = read[0].span("b")
back: Graph = Graph.from_dict(read[0].to_dict())
shown: str | None = graphconv.render(read, page=False, jupyter=None)
picture: str = read[0]._repr_svg_()
score: float | None = None if back.scores is None else back.scores.nodes["b"]
sure: float | None = None if back.scores is None else back.scores.probability(Edge("a", "b", "c"))
network = read[0].to_networkx(flat=True)
node: Node = read[0].nodes[0]

result = evaltools.score("gold.amr", read, metric="auto")
alignment = evaltools.align("(b / boy)", read[0])
pairs: tuple[tuple[str, str], ...] = alignment.pairs
lists: tuple[tuple[str, ...], ...] = (alignment.matched, alignment.missing, alignment.extra)
certified: bool = alignment.certified
