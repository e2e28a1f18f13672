"""Reading XML safely, with line numbers for complaints.

>>> source = parse_xml("<root><a x='1' /></root>", "a.xml")
>>> source.root.tag, source.line(source.root[0])
('root', 1)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.parsers import expat

from graphconv.errors import FormatError

XML_NAMESPACE = "{http://www.w3.org/XML/1998/namespace}"
_INTERPRETED = frozenset({"root", "layer", "node", "edge", "category", "attributes", "extra"})
_has_text = re.compile(r">\s*+[^<]").search


class XmlSource(NamedTuple):
    """An XML file: its root element, and what stands around that."""

    root: Element
    text: str
    filename: str
    around: tuple[tuple[str, str], ...]
    """What there is of ``declaration``, ``prolog`` and ``epilog``, in this order."""

    def line(self, element: Element) -> int:
        """Return the line of *element*; the tree does not know it, so the text is read again."""
        lines: list[int] = []
        content, skipped = _skip_space(self.text)
        parser = expat.ParserCreate()
        parser.StartElementHandler = lambda *_: lines.append(parser.CurrentLineNumber)
        parser.Parse(content, True)
        elements = filter(_is_element, self.root.iter())
        found = (line for line, each in zip(lines, elements, strict=True) if each is element)
        return skipped + next(found)

    def fail(self, message: str, element: Element) -> NoReturn:
        """Raise FormatError at the line of *element*, and show that line."""
        raise _error(message, self.text, self.filename, self.line(element))

    def quote(self, element: Element) -> str:
        """Return *element* as XML, without what follows it."""
        try:
            text = ElementTree.tostring(element, encoding="unicode")
        except RecursionError as exc:
            message = "the elements are nested too deeply"
            raise _error(message, self.text, self.filename, self.line(element)) from exc
        return text.removesuffix(element.tail or "")


def parse_xml(text: str, filename: str) -> XmlSource:
    """Parse *text*; refuse document type declarations, and with them all entities."""
    content, skipped = _skip_space(text)
    # Only these begin anything but elements: comments, declarations, processing instructions.
    plain = "<!" not in content and "<?" not in content
    try:
        around = () if plain else _read_around(content, filename, skipped)
        builder = ElementTree.TreeBuilder(insert_comments=True, insert_pis=True)
        parser = None if plain else ElementTree.XMLParser(target=builder)
        root = ElementTree.fromstring(content, parser)
    except UnicodeEncodeError as exc:
        line = text.count("\n", 0, exc.start) + skipped + 1
        raise _error("this is not UTF-8 text", text, filename, line) from exc
    except (ElementTree.ParseError, expat.ExpatError) as exc:
        line = exc.position[0] if isinstance(exc, ElementTree.ParseError) else exc.lineno
        message = f"this is not well-formed XML, {expat.ErrorString(exc.code)}"
        raise _error(message, text, filename, line + skipped) from exc
    source = XmlSource(root, text, filename, around)
    if "xmlns" in content:
        _refuse_namespaces(source)
    if _has_text(content):
        for element, piece in _texts(root):
            if piece and not piece.isspace():
                source.fail(f"unexpected text {piece.strip()[:40]!r}", element)
    return source


def _error(message: str, text: str, filename: str, lineno: int) -> FormatError:
    """Return an error that shows its line."""
    lines = text.split("\n", lineno)[lineno - 1 : lineno]
    shown = lines[0].strip() if lines else None
    return FormatError(message, filename=filename, lineno=lineno, text=shown)


def _refuse_namespaces(source: XmlSource) -> None:
    """Refuse attributes in a namespace on elements that we interpret: nobody could write them."""
    for element in filter(_is_element, source.root.iter()):
        foreign = [n for n in element.attrib if n[0] == "{" and not n.startswith(XML_NAMESPACE)]
        if foreign and element.tag in _INTERPRETED:
            source.fail(f"an attribute in a namespace, {foreign[0]}, is not supported", element)


def _skip_space(text: str) -> tuple[str, int]:
    """Return *text* without the space before it, and how many lines that was."""
    content = text.lstrip("\ufeff \t\r\n")
    return content, text.count("\n", 0, len(text) - len(content))


def _texts(root: Element) -> Iterator[tuple[Element, str | None]]:
    """Yield all text between elements, with an element near it."""
    for element in filter(_is_element, root.iter()):
        yield element, element.text
        for child in element:
            yield element, child.tail


def _is_element(element: Any) -> bool:
    """Tell elements from comments and instructions, whose tag is a function."""
    return isinstance(element.tag, str)


def _read_around(text: str, filename: str, skipped: int) -> tuple[tuple[str, str], ...]:
    """Return the declaration, and the comments and instructions outside of the root element."""
    parts = {"declaration": "", "prolog": "", "epilog": ""}
    depth = 0

    def place() -> str:
        return "epilog" if depth < 0 else "prolog"

    def refuse(*_: object) -> None:
        message = "document type declarations and entities are not allowed"
        raise _error(message, "\n" * skipped + text, filename, parser.CurrentLineNumber + skipped)

    def declare(_: str, encoding: str | None, __: int) -> None:
        # What we write is UTF-8, whatever the file was.
        if encoding is None or encoding.lower() == "utf-8":
            parts["declaration"] = text[: text.index("?>") + 2]

    def enter(*_: object) -> None:
        nonlocal depth
        depth += 1

    def leave(_: str) -> None:
        nonlocal depth
        depth = depth - 1 or -1

    def comment(data: str) -> None:
        if depth <= 0:
            parts[place()] += f"<!--{data}-->\n"

    def instruct(target: str, data: str) -> None:
        if depth <= 0:
            parts[place()] += f"<?{target} {data}?>\n"

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.XmlDeclHandler = declare
    parser.StartElementHandler = enter
    parser.EndElementHandler = leave
    parser.CommentHandler = comment
    parser.ProcessingInstructionHandler = instruct
    parser.Parse(text, True)
    return tuple((name, part.rstrip("\n")) for name, part in parts.items() if part)
