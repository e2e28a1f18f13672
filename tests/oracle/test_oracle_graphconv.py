"""The official readers, on what graphconv writes: penman 1.3.1 and the ucca toolkit 1.3.11."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from graphconv.codecs import Block, amr, ucca
from graphconv.graph import Graph, Node
from graphconv.interop.ucca import from_passage, to_passage
from graphconv.testing import CORPORA

pytestmark = [pytest.mark.oracle, pytest.mark.corpora]

AMR = sorted((CORPORA / "amr").glob("*.amr"))
UCCA = [CORPORA / "ucca" / name for name in ("wiki-dev", "wiki-train")]
PASSAGES = int(os.environ.get("ORACLE_PASSAGES", "250"))
MULTIPLE = """<root annotationID="0" passageID="8"><attributes />
  <layer layerID="0"><attributes />
    <node ID="0.1" type="Word">
      <attributes paragraph="1" paragraph_position="1" text="Go" /></node>
    <node ID="0.2" type="Punctuation">
      <attributes paragraph="2" paragraph_position="1" text="!" /></node>
  </layer>
  <layer layerID="1"><attributes />
    <node ID="1.1" type="FN"><attributes />
      <edge toID="1.2" type="H"><attributes /><category tag="H" /></edge>
      <edge toID="1.4" type="U"><attributes /><category tag="U" /></edge></node>
    <node ID="1.2" type="FN"><attributes /><extra remarks="why?" />
      <edge toID="1.3" type="P"><attributes uncertain="True" /><category tag="P" />
        <category layer_name="extra" parent_name="P" slot="1" tag="S" /></edge></node>
    <node ID="1.3" type="FN"><attributes />
      <edge toID="0.1" type="Terminal"><attributes /><category tag="Terminal" /></edge></node>
    <node ID="1.4" type="PNCT"><attributes />
      <edge toID="0.2" type="Terminal"><attributes /><category tag="Terminal" /></edge></node>
  </layer></root>"""


@pytest.fixture(scope="module")
def convert() -> Any:
    return pytest.importorskip("ucca.convert")


def passages(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield some hundred passages, evenly chosen: the toolkit takes its time."""
    if not folder.is_dir():
        pytest.skip("the corpora are not here")
    paths = sorted(folder.glob("*.xml"))
    for path in paths[:: max(1, len(paths) // PASSAGES)]:
        yield path.name, path.read_text(encoding="utf-8")


def everything(passage: Any) -> list[Any]:
    """Return all that a passage says, layer by layer."""
    said = [passage.ID, passage.attrib.copy(), dict(passage.extra)]
    for layer in passage.layers:
        said += [layer.ID, layer.attrib.copy(), dict(layer.extra)]
        for node in layer.all:
            said += [node.ID, node.tag, node.attrib.copy(), dict(node.extra)]
            for edge in node.outgoing:
                categories = [(c.tag, c.slot, c.layer, c.parent) for c in edge.categories]
                said += [edge.child.ID, edge.attrib.copy(), dict(edge.extra), categories]
    return said


def skeleton(passage: Any) -> list[Any]:
    """Return the terminals and the edges of a passage."""
    edges = [
        (
            node.ID,
            edge.child.ID,
            sorted(c.tag for c in edge.categories),
            bool(edge.attrib.get("remote")),
        )
        for node in passage.layer("1").all
        for edge in node.outgoing
    ]
    return [[node.text for node in passage.layer("0").all], sorted(edges)]


def bare(graph: Graph) -> Graph:
    """Return *graph* as a parser would predict it: no attributes, features or extras."""
    kept = [node for node in graph.nodes if ("terminal", True) not in node.attributes]
    assert len(kept) == len(graph.nodes)
    return Graph(
        id=graph.id,
        framework="ucca",
        tokens=tuple(token._replace(features=()) for token in graph.tokens),
        nodes=tuple(Node(n.id, anchors=n.anchors, implicit=n.implicit) for n in kept),
        edges=tuple(edge._replace(attributes=()) for edge in graph.edges),
        tops=graph.tops,
    )


@pytest.mark.parametrize("path", AMR, ids=lambda path: path.name)
def test_penman_reads_the_same_graphs(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    penman = pytest.importorskip("penman")
    model = pytest.importorskip("penman.models.amr").model
    caplog.set_level(logging.ERROR, logger="penman")
    text = path.read_text(encoding="utf-8")
    blocks = list(amr.blocks(text.splitlines(keepends=True), path.name))
    originals = list(penman.loads(text, model=model))
    written = list(penman.loads("".join(amr.format(amr.parse(b)) for b in blocks), model=model))
    assert len(blocks) == len(originals) == len(written) > 0
    for block, original, again in zip(blocks, originals, written, strict=True):
        graph = amr.parse(block)
        assert graph.tops == (original.top,)
        labels = {node.id: node.label for node in graph.nodes if node.constant}
        triples = {(n.id, ":instance", n.label) for n in graph.nodes if not n.constant}
        triples |= {(e.source, f":{e.label}", labels.get(e.target, e.target)) for e in graph.edges}
        assert triples == set(original.triples), graph.id
        for name in ("triples", "top", "metadata"):
            assert getattr(again, name) == getattr(original, name), graph.id
        for read in (penman.surface.alignments, penman.surface.role_alignments):
            assert read(again) == read(original), graph.id


@pytest.mark.parametrize("folder", UCCA, ids=lambda path: path.name)
def test_the_toolkit_reads_the_same_passages(folder: Path, convert: Any) -> None:
    for name, text in passages(folder):
        original = convert.from_standard(ElementTree.fromstring(text))
        graph = ucca.parse(Block(text, name, 1))
        passage = to_passage(graph)
        assert passage.equals(original, ordered=True), name
        assert everything(passage) == everything(original), name


@pytest.mark.parametrize("folder", UCCA[:1], ids=lambda path: path.name)
def test_graphs_from_passages(folder: Path, convert: Any) -> None:
    for name, text in passages(folder):
        original = convert.from_standard(ElementTree.fromstring(text))
        graph = from_passage(original)
        assert everything(to_passage(graph)) == everything(original), name
        read = ucca.parse(Block(text, name, 1))
        assert (graph.tokens, graph.edges, graph.tops) == (read.tokens, read.edges, read.tops)
        assert graph.nodes == read.nodes, name


@pytest.mark.parametrize("folder", UCCA[:1], ids=lambda path: path.name)
def test_the_toolkit_reads_predicted_graphs(folder: Path, convert: Any) -> None:
    for name, text in passages(folder):
        original = convert.from_standard(ElementTree.fromstring(text))
        passage = to_passage(bare(ucca.parse(Block(text, name, 1))))
        assert skeleton(passage) == skeleton(original), name
        heads = [node.ID for node in original.layer("1").top_scenes]
        assert [node.ID for node in passage.layer("1").top_scenes] == heads, name


def test_several_categories_and_paragraphs(convert: Any) -> None:
    original = convert.from_standard(ElementTree.fromstring(MULTIPLE))
    graph = ucca.parse(Block(MULTIPLE, "8.xml", 1))
    assert [edge.label for edge in graph.edges] == ["H", "U", "P|S"]
    assert everything(to_passage(graph)) == everything(original)
    assert everything(to_passage(from_passage(original))) == everything(original)
