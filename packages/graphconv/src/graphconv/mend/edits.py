"""From the steps of a path to the mended text, and a log of what was changed where."""

from __future__ import annotations

import re
from typing import NamedTuple

from graphconv.codecs.amr.writer import NO_SYMBOL
from graphconv.mend.paths import AGAIN, MARKED, NAMED, ROLE, SLASH, VAR, Op
from graphconv.mend.pieces import Piece, as_concept, quoted

KINDS = (
    "bracket", "quote", "variable", "mention", "slash", "concept", "role", "symbol", "connect",
    "junk", "graph", "encoding",
)  # fmt: skip
"""The kinds of edits."""

_LISTS = {"and": "op", "or": "op", "name": "op", "multi-sentence": "snt"}
_numbered = re.compile(r":(op|snt)(\d+)").fullmatch
_short = re.compile(r"[^\W\d_]?\d*").fullmatch
_DELETED = {"(": "bracket", ")": "bracket", "/": "slash", "R": "role", "T": "quote"}
_UNKNOWN = "thing"


class Mended(NamedTuple):
    """A mended text, and what was changed: place in the old text, kind, and what."""

    text: str
    log: list[tuple[int, str, str]]


class _Change(NamedTuple):
    start: int
    end: int
    text: str


class _OpenNode:
    """An open node: its concept, and how far its numbered roles are."""

    def __init__(self) -> None:
        self.concept = ""
        self.series = ""
        self.number = 0

    def see(self, role: str) -> None:
        match = _numbered(role)
        if match:
            self.series = match[1]
            self.number = max(self.number, int(match[2]))

    def next_role(self) -> str:
        """Return a role for a value that has none: the next of a list, else ``:mod``."""
        series = _LISTS.get(self.concept) or self.series
        if not series:
            return ":mod"
        self.number += 1
        return f":{series}{self.number}"


class Editor:
    """Applies the steps of a path to its text."""

    def __init__(self, text: str, ops: list[Op]) -> None:
        self.text = text
        self.ops = ops
        self.changes: list[_Change] = []
        self.log: list[tuple[int, str, str]] = []
        self.open_nodes: list[_OpenNode] = []
        self.used = set(re.findall(rf"[^{NO_SYMBOL}]+", text))
        self.concepts: dict[str, str] = {}  # of the variables so far
        self.variable = ""  # the one that waits for its concept
        self.end = 0  # of the last piece
        self.right = False  # whether something was put in before the next piece
        self.parts: list[Piece] = []  # the words that make up the last concept or value
        self.of_concept = False  # whether these are a concept
        self.joints: list[int] = []  # where further roots start

    def run(self) -> Mended:
        """Return the mended text and the log."""
        number = 0
        while number < len(self.ops):
            op = self.ops[number]
            if op.name not in ("join", "more") and not (op.name == "delete" and self.parts):
                self._finish_word()
            if op.name.startswith("insert"):
                self._insert(number)
                number += 1
            else:
                number += self._mention(number) or self._use(number)
                self.end = self.ops[number - 1].piece.end
                self.right = False
        self._finish_word()
        self._connect()
        return Mended(self._applied(), sorted(self.log, key=lambda entry: entry[0]))

    def _applied(self) -> str:
        parts = []
        done = 0
        for start, end, text in sorted(self.changes, key=lambda change: change.start):
            parts += [self.text[done:start], text]
            done = end
        return "".join([*parts, self.text[done:]])

    def _change(self, start: int, end: int, text: str) -> None:
        self.changes.append(_Change(start, end, text))

    # Putting in

    def _insert(self, number: int) -> None:
        what, state = self.ops[number].piece.kind, self.ops[number].state
        place = self._next_start(number)
        left = what in (")", "concept") and not self.right
        text, kind, message = self._insertion(number, what, state)
        if left:
            place = self.end
            text = text if what == ")" else f" {text}"
        else:
            self.right = True
            text = text if what == "(" else f"{text} "
        self._change(place, place, text)
        self.log.append((place, kind, message))
        if what == "(":
            self.open_nodes.append(_OpenNode())
        elif what == ")":
            self.open_nodes.pop()

    def _insertion(self, number: int, what: str, state: int) -> tuple[str, str, str]:
        """Return the text to put in, the kind of edit and its description."""
        if what == "variable":
            name = self._fresh(self._concept_after(number))
            self._name(name)
            return name, "variable", f"put in the variable {name}"
        if what == "concept":
            concept = self._missing_concept()
            self._label(concept)
            text = concept if state == SLASH else f"/ {concept}"
            return text, "concept", f"put in the concept {concept}"
        if what == "role":
            role = self.open_nodes[-1].next_role()
            return role, "role", f"put in the role {role}"
        kind = "slash" if what == "/" else "bracket"
        return what, kind, f"put in {what}"

    def _next_start(self, number: int) -> int:
        for op in self.ops[number:]:
            if op.piece.start >= 0:
                return op.piece.start
        return self.end

    def _concept_after(self, number: int) -> str:
        """Return the concept of the node whose variable is at this step."""
        for op in self.ops[number + 1 :]:
            if op.state not in (NAMED, AGAIN, SLASH):
                break
            if op.state == SLASH and op.name == "take":
                return op.piece.text
        return ""

    def _fresh(self, concept: str) -> str:
        letter = concept[0].lower() if concept and concept[0].isalpha() else "x"
        name, number = letter, 1
        while name in self.used:
            number += 1
            name = f"{letter}{number}"
        self.used.add(name)
        return name

    def _missing_concept(self) -> str:
        # A node that is one long word was meant as its concept: (boy) is (boy / boy).
        word = self.variable
        return _UNKNOWN if _short(word) else word

    # Taking, and leaving out

    def _use(self, number: int) -> int:
        """Take or leave out the piece of a step; return 1, the number of steps."""
        name, piece, state = self.ops[number]
        if name == "delete":
            self._delete(piece, _DELETED.get(piece.kind, "junk"))
        elif name == "junk":
            self._delete(piece, "junk")
        elif name in ("join", "more"):
            self.parts.append(piece)
            if name == "join":
                self.log.append((piece.start, "symbol", "joined the words to one"))
        elif name == "connect":
            self._joint(piece.start)
        elif name == "colon":
            self._change(piece.start, piece.end, f":{piece.text}")
            self.log.append((piece.start, "role", f"put a colon before {piece.text}"))
            self.open_nodes[-1].see(f":{piece.text}")
        else:
            self._take(number, piece, state)
        return 1

    def _take(self, number: int, piece: Piece, state: int) -> None:
        if piece.kind == "(":
            self.open_nodes.append(_OpenNode())
        elif piece.kind == ")":
            self.open_nodes.pop()
        elif piece.kind == "R":
            self._mend(piece, piece.text)
            self.open_nodes[-1].see(piece.text)
        elif state == VAR:
            self._take_variable(number, piece)
        elif state in (SLASH, ROLE, MARKED) and piece.kind in "STG":
            self.parts, self.of_concept = [piece], state == SLASH
            if state == SLASH:
                self._label(piece.text)

    def _take_variable(self, number: int, piece: Piece) -> None:
        again = number + 1 < len(self.ops) and self.ops[number + 1].state == AGAIN
        name = piece.text
        if again:
            name = self._fresh(self._concept_after(number))
            self._change(piece.start, piece.end, name)
            message = f"{piece.text} is defined before; this one is now {name}"
            self.log.append((piece.start, "variable", message))
        self._name(name)

    def _name(self, variable: str) -> None:
        self.variable = variable

    def _label(self, concept: str) -> None:
        self.open_nodes[-1].concept = concept
        self.concepts.setdefault(self.variable, concept)

    def _mention(self, number: int) -> int:
        """Turn a node that is defined before into a mention of it; return the steps that it has."""
        if not self._is("(", number) or number + 2 >= len(self.ops):
            return 0
        variable, after = self.ops[number + 1], self.ops[number + 2]
        if variable.state != VAR or after.state != AGAIN or after.name != "take":
            return 0
        steps = 3
        if after.piece.kind == "/":
            concept = self.ops[number + 3]
            known = self.concepts.get(variable.piece.text)
            if concept.name != "take" or concept.piece.text != known:
                return 0
            steps = 5
        if number + steps > len(self.ops) or not self._is(")", number + steps - 1):
            return 0
        start, end = self.ops[number].piece.start, self.ops[number + steps - 1].piece.end
        name = variable.piece.text
        self._change(start, end, name)
        self.log.append((start, "mention", f"{name} is defined before; this is a mention of it"))
        return steps

    def _is(self, kind: str, number: int) -> bool:
        op = self.ops[number]
        return op.name == "take" and op.piece.kind == kind

    def _delete(self, piece: Piece, kind: str) -> None:
        before, after = (
            self.text[piece.start - 1 : piece.start],
            self.text[piece.end : piece.end + 1],
        )
        apart = not before.strip(" \t\r\n\v\f()") or not after.strip(" \t\r\n\v\f()")
        self._change(piece.start, piece.end, "" if apart else " ")
        shown = piece.text if len(piece.text) <= 40 else piece.text[:39] + "…"
        self.log.append((piece.start, kind, f"left out {shown}"))

    def _mend(self, piece: Piece, text: str) -> None:
        """Replace a piece that was read as something else than it is."""
        if piece.edit:
            self._change(piece.start, piece.end, text)
            old = self.text[piece.start : piece.end]
            self.log.append((piece.start, piece.edit, f"{old} is now {text}"))

    def _finish_word(self) -> None:
        """Write the last concept or value, if it was mended or has several words."""
        if not self.parts:
            return
        parts, self.parts = self.parts, []
        is_concept = self.of_concept
        if len(parts) == 1:
            piece = parts[0]
            if piece.kind == "G":
                self._mend(piece, as_concept(piece.text) if is_concept else quoted(piece.text))
            else:
                self._mend(piece, piece.text)
            return
        start, end = parts[0].start, parts[-1].end
        self.changes = [c for c in self.changes if c.end <= start or c.start >= end]
        if parts[0].edit:
            self.log.append((start, parts[0].edit, f"mended {self.text[start : parts[0].end]}"))
        self._change(start, end, _joined(parts, is_concept))

    def _joint(self, place: int) -> None:
        """Start a further root, as a part of multi-sentence."""
        self.joints.append(place)
        number = len(self.joints) + 1
        self._change(place, place, f":snt{number} ")
        self.log.append((place, "connect", f"this part is now :snt{number} of multi-sentence"))
        self.open_nodes.append(_OpenNode())

    def _connect(self) -> None:
        """Put several roots below one."""
        if self.joints:
            name = self._fresh("multi-sentence")
            start = self._next_start(0)
            self.changes.insert(0, _Change(start, start, f"({name} / multi-sentence :snt1 "))
            self._change(self.end, self.end, ")")


def _joined(parts: list[Piece], is_concept: bool) -> str:
    words = [part.text[1:-1] if part.kind == "T" else part.text for part in parts]
    if is_concept and all(part.kind != "T" for part in parts):
        return as_concept("-".join(words))
    texts = [
        word if part.kind == "T" else quoted(word)[1:-1]
        for part, word in zip(parts, words, strict=True)
    ]
    return f'"{" ".join(texts)}"'
