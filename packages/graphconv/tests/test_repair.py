"""The laws of repair: valid texts stay, repairs are valid, and no shorter repair exists."""

import gzip
import itertools
import json
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import penman
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from graphconv import cli, repair
from graphconv.check import SAMPLE
from graphconv.codecs import amr
from graphconv.errors import FormatError
from graphconv.graph import Graph
from graphconv.mend import KINDS, _valid
from graphconv.testing import CORPORA, graphs

TOKENS = ("(", ")", "/", "a", "b", "c", ":x", ":y", '"s"', "~e.1")
AMR_CORPORA = CORPORA / "amr"


def assert_valid(text: str) -> None:
    assert _valid(text, "text", 1, strict=True) is not None, text
    lines = text.split("\n")
    comments = all(line.lstrip("\ufeff \t\r").startswith("#") for line in lines if line.strip())
    for tree in penman.iterparse([] if comments else lines):
        penman.interpret(tree)


@pytest.mark.property
@given(graphs("amr"))
def test_valid_graph_comes_back_byte_for_byte(graph: Graph) -> None:
    try:
        text = amr.format(replace(graph, metadata=(), extras=()))
    except FormatError:
        return  # PENMAN cannot hold it
    if _valid(text, "text", 1) is not None:
        assert repair(text).text == text
        assert repair(text.replace("\n", "\r\n")).text == text.replace("\n", "\r\n")
    else:  # a concept or a role is missing
        assert_valid(repair(text).text)


@pytest.mark.property
@given(
    st.lists(
        st.sampled_from(
            (*TOKENS, '"', "\n", "#", ":", "# ::id 1\n", "ö~", "\\", "1:2", "```\n", "Hm.")
        ),
        max_size=25,
    ),
    st.sampled_from(("", " ")),
)
def test_every_repair_is_valid_and_stays(tokens: list[str], joint: str) -> None:
    text = joint.join(tokens)
    done = repair(text)
    assert_valid(done.text)
    again = repair(done.text)
    assert again.text == done.text
    assert not again.edits


@pytest.mark.property
@given(st.text("()/:~\"'#\\ \nabAR01-é\t\r”“", max_size=40))
def test_any_text_becomes_valid(text: str) -> None:
    done = repair(text)
    assert_valid(done.text)
    assert all(edit.kind in KINDS and edit.line >= 1 and edit.column >= 1 for edit in done.edits)
    lines = text.split("\n")
    assert all(edit.line <= len(lines) for edit in done.edits)
    assert all(edit.column <= len(lines[edit.line - 1]) + 1 for edit in done.edits)


def is_value(before: tuple[str, ...]) -> bool:
    """Say whether a concept or a value comes next."""
    return bool(before) and (before[-1] == "/" or before[-1][0] == ":")


def neighbors(tokens: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Everything that one edit of the documented kinds makes of a sequence of tokens."""
    for i in range(len(tokens)):
        before, token, after = tokens[:i], tokens[i], tokens[i + 1 :]
        yield before + after  # left out
        if token.isalnum():
            yield (*before, f":{token}", *after)
            yield (*before, "v9", *after)  # another variable
            end = i + 1
            # Words become one where a concept or a value stands, not where a variable does.
            while is_value(before) and end < len(tokens) and tokens[end].isalnum():
                end += 1
                yield (*before, "-".join(tokens[i:end]), *tokens[end:])
        if token == "(" and before[-1:] and before[-1][0] == ":":
            for length in (3, 5):
                node = tokens[i : i + length]
                whole = node[-1] == ")" and len(node) == length
                earlier = ("(", node[1]) in [*itertools.pairwise(before)] if whole else False
                if whole and earlier and (length == 3 or node[2] == "/"):
                    yield (*before, *tokens[i + 1 : i + 2], *tokens[i + length :])  # a mention
    for i in range(len(tokens) + 1):
        for new in (("(",), (")",), ("/",), (":z",), ("v8",), ("v7",), ("/", "t"), ("t",)):
            yield (*tokens[:i], *new, *tokens[i:])


def is_valid(tokens: tuple[str, ...]) -> bool:
    text = " ".join(tokens)
    return text.count("(") == text.count(")") > 0 and _valid(text, "text", 1) == 1


def fewest(tokens: tuple[str, ...], limit: int) -> int:
    """Search every sequence of edits for the shortest, up to *limit*."""
    seen = layer = {tokens}
    for count in range(limit):
        if any(map(is_valid, layer)):
            return count
        layer = {new for old in layer for new in neighbors(old)} - seen
        seen = seen | layer
    return limit


SLOW = [pytest.param(seed, 400, 13, marks=pytest.mark.slow) for seed in range(35, 45)]


@pytest.mark.parametrize(("seed", "count", "longest"), [(35, 40, 6), *SLOW])
def test_no_repair_has_fewer_edits(seed: int, count: int, longest: int) -> None:
    """Of three edits only short texts are searched by default: there are many ways."""
    chance = random.Random(seed)
    graph = ("(", "a", "/", "b", ":x", "(", "c", "/", "a", ")", ":y", "a", ")")
    checked = set()
    for number in range(count):
        tokens = list(graph if number % 2 else graph[:4] + graph[10:])
        for _ in range(chance.randint(1, 3)):
            place = chance.randrange(len(tokens))
            if chance.random() < 0.6:
                del tokens[place]
            else:
                tokens.insert(place, chance.choice(TOKENS))
        done = repair(" ".join(tokens))
        if done.graphs != 1 or any(edit.kind in ("junk", "connect") for edit in done.edits):
            continue
        if len(done.edits) <= (3 if len(tokens) <= longest else 2):
            checked.add(len(done.edits))
            assert fewest(tuple(tokens), min(len(done.edits), 3)) == len(done.edits), tokens
    assert checked >= {1, 2, 3}


@pytest.mark.parametrize(
    ("broken", "mended", "kinds"),
    [
        ("(a / b :x (c / d", "(a / b :x (c / d))", "bracket bracket"),
        ("(a / b))", "(a / b)", "bracket"),
        ("(a / b\n  :x (c / d\n  :y (e / f))", "(a / b\n  :x (c / d)\n  :y (e / f))", "bracket"),
        ("(a / b\n  :x (c / d))\n  :y (e / f))", "(a / b\n  :x (c / d)\n  :y (e / f))", "bracket"),
        ('(n / name :op1 "A :op2 "B")', '(n / name :op1 "A" :op2 "B")', "quote"),
        ('(n / name :op1 A" :op2 "B")', '(n / name :op1 "A" :op2 "B")', "quote"),
        ('(n / name :op1 \\"A\\")', '(n / name :op1 "A")', "quote"),
        ("(n / name :op1 “A B”)", '(n / name :op1 "A B")', "quote"),
        ("(a / b :x (a / c))", "(a / b :x (c2 / c))", "variable"),
        ("(a / b :x (c / d) :y (c / d))", "(a / b :x (c / d) :y c)", "mention"),
        ("(a / b :x (c / d) :y (c))", "(a / b :x (c / d) :y c)", "mention"),
        ("(a / b :x (c))", "(a / b :x (c / thing))", "concept"),
        ("(boy :x y)", "(boy / boy :x y)", "concept"),
        ("(a b)", "(a / b)", "slash"),
        ("(a / b :x a ~e.1 / c))", "(a / b :x (c2  / c))", "bracket variable junk"),
        ("(a / b ARG0 (c / d))", "(a / b :ARG0 (c / d))", "role"),
        ("(a / and :op1 c (d / e))", "(a / and :op1 c :op2 (d / e))", "role"),
        ("(a / b :x :y c)", "(a / b  :y c)", "role"),
        ("(a / b :prep-w/o c)", "(a / b :prep-w-o c)", "role"),
        ("(a / b :x ~e.1 ~e.2 c)", "(a / b :x ~e.1  c)", "junk"),
        ("(a / and/or :x 10:30~e.4)", '(a / and-or :x "10:30"~e.4)', "symbol symbol"),
        ("(a / b :x New York City)", '(a / b :x "New York City")', "symbol"),
        (
            "# ::id 1\n(a / b)\n(c / d)",
            "# ::id 1\n(m / multi-sentence :snt1 (a / b)\n:snt2 (c / d))",
            "connect",
        ),
        ("Sure:\n```\n(a / b)\n```\nBye (now).", "(a / b)\n", "junk junk junk junk"),
        ("The graph is (a / b).", "(a / b)", "junk junk"),
        (
            "# ::id 1\nSorry.\n\n# ::id 2\n(a / b)\n",
            "# ::id 1\n(a / amr-empty)\n\n# ::id 2\n(a / b)\n",
            "junk graph",
        ),
        ("(a / b\udcff)", "(a / b\ufffd)", "encoding"),
    ],
)  # fmt: skip
def test_kinds_of_edits(broken: str, mended: str, kinds: str) -> None:
    done = repair(broken)
    assert done.text == mended
    assert [edit.kind for edit in done.edits] == kinds.split()


def test_sample_is_valid() -> None:
    text = (SAMPLE / "sample.amr").read_text(encoding="utf-8")
    assert repair(text).text == text


def mutated(text: str, chance: random.Random) -> str:
    place = chance.randrange(len(text))
    kind = chance.randrange(4)
    if kind == 0:
        return text[:place]  # cut off
    if kind == 1:
        places = [i for i, c in enumerate(text) if c in '()"/:']
        place = chance.choice(places)
        return text[:place] + text[place + 1 :]
    if kind == 2:
        return text[:place] + chance.choice('()"/:') + text[place:]
    return text.replace(f"({text[1]} /", "(b /", 1)


def test_mutated_graphs_are_repaired() -> None:
    chance = random.Random(1)
    sample = (SAMPLE / "sample.amr").read_text(encoding="utf-8").split("\n\n")
    bodies = [text[text.index("(") :] for text in sample if "(" in text][:20]
    for body in itertools.chain.from_iterable([body] * 5 for body in bodies):
        assert_valid(repair(mutated(body, chance)).text)


@pytest.mark.corpora
@pytest.mark.skipif(not AMR_CORPORA.exists(), reason="no corpora")
@pytest.mark.parametrize("name", ["lpp-dev.amr", "dialogue-dev.amr.gz"])
def test_treebanks_come_back_byte_for_byte(name: str) -> None:
    data = (AMR_CORPORA / name).read_bytes()
    text = (gzip.decompress(data) if name.endswith("gz") else data).decode()
    done = repair(text)
    assert done.text == text


def test_cost_is_linear() -> None:
    def seconds(size: int) -> float:
        text = "(a / b\n" + "".join(f"  :op{i} (x{i} / y :mod (z{i} / w)\n" for i in range(size))
        start = time.process_time()
        repair(text)
        return time.process_time() - start

    small = min(seconds(40), seconds(40))
    assert seconds(160) < 12 * small


@pytest.mark.parametrize("before", ["", "(a / b)\n\n"])
def test_a_comment_behind_text_outside_of_brackets_hides_nothing(before: str) -> None:
    mended = repair(f"{before}# ::id 1\n# ::snt x\n  :ARG1 (c / city\n  #:name (n / name)\n")
    found = list(amr.blocks(mended.text.split("\n"), "mended"))
    assert mended.graphs == len(found) == (2 if before else 1)
    assert [node.label for node in amr.parse(found[-1]).nodes] == ["city"]


def test_command(tmp_path: Path) -> None:
    broken = tmp_path / "in.txt"
    broken.write_text("# ::id q\n(a / b :x (c / d)\n\n(e / f)\n")
    output, report = tmp_path / "out.amr", tmp_path / "report.jsonl"
    arguments = ["repair", str(broken), "-o", str(output), "--report", str(report)]
    result = CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == 0, result.output
    assert result.stderr == "1 of 2 graphs were repaired: 1 edits (bracket 1)\n"
    assert output.read_text() == "# ::id q\n(a / b :x (c / d))\n\n(e / f)\n"
    assert json.loads(report.read_text()) == {
        "file": str(broken), "line": 2, "column": 18, "kind": "bracket",
        "what": "put in )", "graph": "q",
    }  # fmt: skip


def test_command_without_a_graph(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("Sorry.\n")
    output = tmp_path / "out.amr"
    result = CliRunner().invoke(cli.main, ["repair", str(tmp_path / "in.txt"), "-o", str(output)])
    assert result.exit_code == 1
    assert "there is no PENMAN graph in the file" in result.output
    assert not output.exists()
