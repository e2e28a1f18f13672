"""UCCA XML: everything is kept, nonsense is refused with its line."""

import re
import time
from collections.abc import Callable
from xml.etree.ElementTree import canonicalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphconv.codecs import Block, ucca
from graphconv.codecs.ucca import regular as ucca_regular
from graphconv.errors import FormatError
from graphconv.graph import Edge, Graph, Node, Token, attribute
from graphconv.interop.ucca import to_passage
from graphconv.testing import CORPORA, graphs

PLAIN = """<root annotationID="0" passageID="7">
  <attributes />
  <layer layerID="0">
    <attributes />
    <extra doc="[[]]" />
    <node ID="0.1" type="Word">
      <attributes paragraph="1" paragraph_position="1" text="Ann &amp; Bob" />
      <extra dep="nsubj" lemma="ann" pos="PROPN" tag="NNP" />
    </node>
    <node ID="0.2" type="Word">
      <attributes paragraph="1" paragraph_position="2" text="left" />
      <extra orig_paragraph="3" tag="VBD" />
    </node>
    <node ID="0.3" type="Punctuation">
      <attributes paragraph="1" paragraph_position="3" text="." />
    </node>
    <node ID="0.4" type="Word">
      <attributes paragraph="2" paragraph_position="1" text="Why" />
    </node>
  </layer>
  <layer layerID="1">
    <attributes />
    <node ID="1.1" type="FN">
      <attributes />
      <edge toID="1.2" type="H">
        <attributes />
      </edge>
      <edge toID="1.5" type="U">
        <attributes />
      </edge>
    </node>
    <node ID="1.2" type="FN">
      <attributes />
      <extra remarks="sure?" />
      <edge toID="1.3" type="A">
        <attributes />
      </edge>
      <edge toID="0.2" type="Terminal">
        <attributes />
      </edge>
      <edge toID="1.4" type="A">
        <attributes />
      </edge>
    </node>
    <node ID="1.3" type="FN">
      <attributes uncertain="True" />
      <edge toID="0.1" type="Terminal">
        <attributes />
      </edge>
      <edge toID="0.4" type="Terminal">
        <attributes />
      </edge>
    </node>
    <node ID="1.4" type="FN">
      <attributes implicit="True" />
      <edge toID="1.3" type="A">
        <attributes remote="True" />
      </edge>
    </node>
    <node ID="1.5" type="PNCT">
      <attributes />
      <edge toID="0.3" type="Terminal">
        <attributes />
      </edge>
    </node>
    <node ID="1.6" type="LKG">
      <attributes />
      <edge toID="1.2" type="LA">
        <attributes />
      </edge>
    </node>
  </layer>
</root>
"""

ODD = """<?xml version="1.0" encoding="utf-8"?>
<!-- before -->
<root passageID="8" lang="de" annotationID="1"><!-- inside -->
  <extra source="web"/><attributes note="a &lt; b&#10;c"/>
  <layer layerID="1" x="y"><attributes z="1"/>
    <node ID="1.1" type="FN" color="red"><attributes type="t" order="o"/><extra/>
      <edge toID="1.2" type="H" ID="e1"><attributes/><extra why="x"/>
        <category tag="H" slot="1" layer_name="l" parent_name="p"/><category tag="S|T"/>
        <!-- on an edge --></edge>
      <edge toID="0.3"><category tag="Terminal"/></edge>
      <edge toID="2.1" type="X"><attributes/></edge>
      <edge toID="1.2" type="G"><attributes remote="False"/></edge>
      <strange a="1"><deep/></strange></node>
    <node ID="1.2" type="FN"><attributes/>
      <edge toID="0.3" type="Q"><attributes remote="True"/><category tag="Terminal"/></edge>
    </node></layer>
  <layer layerID="2"><attributes/><node ID="2.1" type="C"><attributes/></node></layer>
  <layer layerID="0"><attributes/>
    <node ID="0.3" type="Odd" a="b"><attributes text="&quot;&#233;&quot;" paragraph="4"
      paragraph_position="9" more="1"/><extra type="x" paragraph="y" lemma=""/></node>
    <node ID="0.7" type="Word"><extra/><attributes text="" paragraph_position="x"/></node>
  </layer></root>
<!-- after -->
"""


def read(text: str) -> Graph:
    graph = ucca.parse(Block(text, "7.xml", 1))
    graph.validate()
    return graph


def test_the_usual_style_comes_back_byte_for_byte() -> None:
    assert ucca.format(read(PLAIN)) == PLAIN


def test_what_is_where() -> None:
    graph = read(PLAIN)
    assert graph.id == "7"
    assert graph.tops == ("1.1",)
    assert graph.tokens[0] == Token(
        "Ann & Bob", "ann", "PROPN", None, (("dep", "nsubj"), ("tag", "NNP"))
    )
    assert graph.tokens[1].pos == "VBD"
    assert graph.tokens[2].features == (("type", "Punctuation"),)
    assert graph.tokens[3].features == (("paragraph", "2"),)
    assert [node.anchors for node in graph.nodes] == [(), (1,), (0, 3), (), (2,), ()]
    assert [node.id for node in graph.nodes if node.implicit] == ["1.4"]
    kinds = [attribute(node.attributes, "type") for node in graph.nodes]
    assert kinds == [None, None, None, None, "PNCT", "LKG"]
    assert graph.nodes[1].attributes == (("extra/remarks", "sure?"), ("order", "1"))
    assert [(e.source, e.target, e.label) for e in graph.edges if e.remote] == [("1.4", "1.3", "A")]


def test_odd_files_come_back_as_equal_xml() -> None:
    graph = read(ODD)
    assert [edge.label for edge in graph.edges] == ["H|S\\|T", "Terminal", "G", "Terminal"]
    assert graph.nodes[-1] == Node("0.3", None, (0,), attributes=(("terminal", True),))
    again = ucca.format(graph)
    assert canonicalize(again, strip_text=True) == canonicalize(ODD, strip_text=True)
    assert read(again) == graph
    for comment in ("before", "inside", "on an edge", "after"):
        assert f"<!-- {comment} -->" in again


@pytest.mark.parametrize(
    "text",
    [
        '<root annotationID="0" passageID="9"><attributes /></root>',
        '<root passageID="9"><attributes /><layer layerID="0"><attributes /></layer></root>',
        '<root annotationID="0" passageID=""><layer layerID="0" /><layer layerID="1" /></root>',
    ],
)
def test_unannotated_passages(text: str) -> None:
    graph = read(text)
    assert graph.tops == ()
    assert canonicalize(ucca.format(graph), strip_text=True) == canonicalize(text, strip_text=True)


def test_ascii_files_stay_ascii() -> None:
    text = PLAIN.replace("left", "&#233;t&#233;")
    assert read(text).tokens[1].form == "été"
    assert ucca.format(read(text)) == text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('<edge toID="1.5"', '<edge toID="1.9"', "unknown node '1.9'"),
        ('<node ID="1.5"', '<node ID="1.3"', "'1.3' is defined twice"),
        ('<node ID="1.5"', '<node ID="0.3"', "'0.3' is defined twice"),
        ('<node ID="0.3"', '<node ID="0.2"', "'0.2' is defined twice"),
        ('<node ID="0.3"', '<node ID="0.1"', "not in the order of the ids"),
        ('<node ID="0.3"', '<node ID="0.x"', "must be like 0.1"),
        ('<node ID="1.5" type="PNCT"', '<node ID="1.5"', "ID and type"),
        ('<edge toID="1.5" type="U"', '<edge type="U"', "attribute toID"),
        ('<edge toID="1.5" type="U"', '<edge toID="1.5"', "needs a category"),
        ('<edge toID="1.5" type="U"', '<edge toID="1.5" type="U', "not well-formed"),
        ("</layer>\n</root>\n", "</layer>\n", "not well-formed"),
        (' passageID="7"', "", "no passageID"),
        ("<attributes />\n", "<attributes />words\n", "unexpected text 'words'"),
    ],
)
def test_refusals_name_the_line(old: str, new: str, message: str) -> None:
    start = PLAIN.index(old)
    with pytest.raises(FormatError, match=message) as caught:
        read(PLAIN[:start] + new + PLAIN[start + len(old) :])
    line = PLAIN.count("\n", 0, start) + 1
    assert caught.value.filename == "7.xml"
    # What is not well-formed is noticed one line later; stray text is reported at its element.
    assert caught.value.lineno is not None
    assert caught.value.lineno - line in {"not well-formed": (1,), "unexpected": (-1,)}.get(
        message.partition(" text")[0], (0,)
    )


def test_terminals_need_text() -> None:
    with pytest.raises(FormatError, match="attribute text") as caught:
        read(PLAIN.replace(' text="left"', ""))
    assert caught.value.lineno == 10


def test_cycles_are_refused_unless_remote() -> None:
    down = '<edge toID="0.1" type="Terminal">'
    cyclic = PLAIN.replace(down, '<edge toID="1.4" type="A">')
    assert len(read(cyclic).edges) == 7
    with pytest.raises(FormatError, match=r"unit '1\.3' is on or below a cycle"):
        read(cyclic.replace(' remote="True"', ""))


def test_another_root_element() -> None:
    with pytest.raises(FormatError, match="not 'html'"):
        read("<html><body /></html>")


def test_entity_bombs_are_refused_at_once() -> None:
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">\n' for i in range(1, 20))
    bomb = f'<!DOCTYPE root [<!ENTITY e0 "x">{entities}]>\n<root passageID="&e19;" />'
    start = time.process_time()
    with pytest.raises(FormatError, match="document type") as caught:
        read(f"\n\n{bomb}")
    assert caught.value.lineno == 3
    assert time.process_time() - start < 1


def test_the_word_doctype_in_a_comment_is_harmless() -> None:
    text = PLAIN.replace("<layer", "<!-- <!DOCTYPE x> --><layer", 1)
    assert "<!-- <!DOCTYPE x> -->" in ucca.format(read(text))


def test_deep_elements_are_refused() -> None:
    deep = "<a>" * 20_000 + "</a>" * 20_000
    with pytest.raises(FormatError, match="nested too deeply"):
        read(PLAIN.replace("<layer", f"{deep}<layer", 1))


def test_a_graph_that_never_was_a_file() -> None:
    tokens = (Token("Go", "go", "VB"), Token("!"))
    nodes = (Node("5"), Node("a", anchors=(0,)), Node("b", anchors=(1,)), Node("c", implicit=True))
    edges = (Edge("5", "a", "P|S"), Edge("5", "b", "U"), Edge("5", "c", "A", remote=True))
    linkage = Edge("l", "5", "LA")
    graph = Graph("9", "ucca", tokens, (*nodes, Node("l")), (*edges, linkage), ("5",))
    again = read(ucca.format(graph))
    assert again.tokens[0] == tokens[0]
    assert again.tokens[1].features == (("type", "Punctuation"),)
    kinds = [attribute(node.attributes, "type") for node in again.nodes]
    assert kinds == [None, None, "PNCT", None, "LKG"]
    assert [node.id for node in again.nodes] == ["1.1", "1.2", "1.3", "1.4", "1.5"]
    assert [edge.label for edge in again.edges] == ["P|S", "U", "A", "LA"]
    assert again.tops == ("1.1",)


def test_characters_that_xml_cannot_hold() -> None:
    with pytest.raises(FormatError, match="control character"):
        ucca.format(Graph("9", "ucca", (Token("\x01"),)))


def test_a_long_chain() -> None:
    length = 50_000
    nodes = tuple(Node(f"1.{i + 1}") for i in range(length))
    edges = tuple(Edge(f"1.{i + 1}", f"1.{i + 2}", "E") for i in range(length - 1))
    graph = read(ucca.format(Graph("9", "ucca", (), nodes, edges, ("1.1",))))
    assert (graph.nodes, graph.edges) == (nodes, edges)


def test_the_toolkit_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ucca.convert", None)
    with pytest.raises(ImportError, match="pip install --no-deps ucca"):
        to_passage(read(PLAIN))


@pytest.mark.corpora
@pytest.mark.parametrize("name", ["wiki-dev", pytest.param("wiki-train", marks=pytest.mark.slow)])
def test_real_passages_come_back(name: str) -> None:
    paths = sorted((CORPORA / "ucca" / name).glob("*.xml"))
    if not paths:
        pytest.skip("the corpora are not here")
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert ucca.format(read(text)) == text, path


NEWER = PLAIN.replace(
    'type="A">\n        <attributes />', 'type="A"><attributes/><category tag="A"/>'
)
SPLICES = (
    *(" ", "\t", "\n", "\r", "\x01", "\xa0", "\u200b", "\ufffe", "é", "=", ">", "<", "'", '"', "&"),
    *(
        "&quot;",
        "&#233;",
        "&#9;",
        "&lt;",
        "&x;",
        "<!-- <node> -->",
        "<!DOCTYPE a>",
        "<?x </node>?>",
    ),
    *(
        "</node>",
        '<node ID="',
        "<node />",
        '<node ID="1.9" type="FN" />',
        "</edge>",
        '<edge toID="',
    ),
    *("<extra />", '<extra a="b" />', "<attributes />", '<category tag="A" />', "</layer>", "text"),
    *("x='1' ", 'x="1" ', 'x:y="1" ', 'xmlns="u" ', 'xmlns:x="u" ', 'xml:lang="en" ', "0.1", "1.1"),
    *("Terminal", "LKG", "True", '<?xml version="1.0"?>', "<![CDATA[ ]]>", "\ufeff", ""),
)


def written(graph: Graph) -> str:
    try:
        return ucca.format(graph)
    except FormatError:  # what XML cannot hold
        return PLAIN


def outcome(parse: Callable[[Block], Graph], text: str) -> str:
    try:
        return repr(parse(Block(text, "7.xml", 1)))
    except FormatError as error:
        return str(error)


@pytest.mark.property
@given(
    st.sampled_from([PLAIN, NEWER, ODD]) | graphs("ucca").map(written),
    st.lists(
        st.tuples(st.integers(0, 9999), st.integers(0, 9), st.sampled_from(SPLICES)), max_size=3
    ),
)
def test_the_shortcut_changes_nothing(text: str, splices: list[tuple[int, int, str]]) -> None:
    for number, length, piece in splices:
        place = number % (len(text) + 1)
        text = text[:place] + piece + text[place + length :]
    assert outcome(ucca.parse, text) == outcome(ucca.parse_whole, text)


@pytest.mark.parametrize("splice", SPLICES)
def test_the_shortcut_changes_nothing_at_any_place(splice: str) -> None:
    # Behind each quote and bracket: in values, between attributes, between elements.
    for place in [match.end() for match in re.finditer('[">]', NEWER)][::3]:
        text = NEWER[:place] + splice + NEWER[place:]
        assert outcome(ucca.parse, text) == outcome(ucca.parse_whole, text)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        NEWER,
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "").replace(" />", "/>"),
        '<?xml version="1.0" encoding="utf-8"?>\n' + PLAIN,
        PLAIN.replace("left", "l\xa0\u200beft"),
        PLAIN.replace("left", "&quot;l&#233;ft&amp;"),
        PLAIN.replace(' orig_paragraph="3"', ""),
    ],
    ids=["plain", "newer", "crlf", "one line", "declaration", "odd spaces", "references", "shapes"],
)
def test_regular_files_take_the_shortcut(text: str) -> None:
    assert ucca_regular.read(text, "7.xml") is not None
    assert outcome(ucca.parse, text) == outcome(ucca.parse_whole, text)


def test_a_value_that_looks_like_a_place_is_a_value() -> None:
    text = PLAIN.replace('orig_paragraph="3"', "xmlns:q=\"u\" orig_paragraph='value 5'")
    assert attribute(read(text).tokens[1].features, "orig_paragraph") == "value 5"


def test_features_that_are_no_text_are_written() -> None:
    token = Token("Go", None, None, features=(("a", None), ("b", 1), ("c", "<")))
    text = ucca.format(Graph("1", "ucca", (token,), (Node("1.1", None, (0,)),), tops=("1.1",)))
    assert '<extra b="1" c="&lt;" />' in text


def test_ids_with_special_characters_come_back() -> None:
    text = PLAIN.replace('"1.4"', '"1.4&lt;&quot;"')
    assert canonicalize(ucca.format(read(text))) == canonicalize(text)
