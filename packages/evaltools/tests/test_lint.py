"""Each rule of lint: what it finds, and what it leaves alone."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import evaltools
from evaltools.cli import main
from evaltools.errors import EvaluationError
from evaltools.linting import RULES, Finding, lint, lint_file, read_frames
from graphconv.codecs import Block
from graphconv.codecs.amr import parse
from graphconv.testing import CORPORA

FRAMES = {
    "want-01": frozenset({"ARG0", "ARG1"}),
    "go-02": frozenset({"ARG0", "ARG4"}),
    "have-polarity-91": frozenset({"ARG1", "ARG2"}),
    "be-located-at-91": frozenset({"ARG1", "ARG2"}),
}
TABLE = "id\tdefinition\troles\nwant-01\tdesire\tARG0=wanter;ARG1=thing wanted\ngo-02\tgo\tARG0=x\n"

FAULTS = [
    ("no-concept", "(w / want-01 :ARG0 (b))", "b"),
    ("concept-form", "(w / want-01 :ARG0 (b / Boy))", "b"),
    ("concept-form", "(w / want-01 :ARG1 (f / 5))", "f"),
    ("unknown-frame", "(w / want-77)", "w"),
    ("frame-role", "(w / want-01 :ARG3 (b / boy))", "w"),
    ("frame-role", "(b / boy :ARG0 (g / girl))", "b"),
    ("frame-role", "(b / boy :ARG5-of (w / want-01))", "w"),
    ("unknown-role", "(b / boy :colour (r / red))", "b"),
    ("repeated-role", "(w / want-01 :ARG0 (b / boy) :ARG0 (g / girl))", "w"),
    ("repeated-role", '(b / boy :name (n / name :op1 "A" :op1 "B"))', "n"),
    ("repeated-edge", "(b / boy :mod (r / red) :mod r)", "b"),
    ("gap", '(b / boy :name (n / name :op1 "A" :op3 "B"))', "n"),
    ("gap", "(m / multi-sentence :snt2 (b / boy))", "m"),
    ("name", "(p / person :name (n / name))", "n"),
    ("name", '(p / person :name "Ann")', "p"),
    ("wiki", '(p / person :wiki "Ann")', "p"),
    ("wiki", '(p / person :wiki "Ann Lee" :name (n / name :op1 "Ann"))', "p"),
    ("wiki", '(p / person :wiki (a / ann) :name (n / name :op1 "Ann"))', "p"),
    ("entity-type", '(g / go-02 :ARG0 (p / cat :name (n / name :op1 "Ann")))', "p"),
    ("entity-type", '(g / go-02 :name (n / name :op1 "Ann"))', "g"),
    ("constant", '(w / want-01 :ARG0 "boy")', "w"),
    ("constant", "(w / want-01 :ARG0 boy)", "w"),
    ("constant", "(w / want-01 :ARG0 -)", "w"),
    ("constant", '(o / ordinal-entity :value "1")', "o"),
    ("fixed-value", "(g / go-02 :mode polite)", "g"),
    ("fixed-value", "(g / go-02 :polarity (n / not))", "g"),
    ("fixed-value", "(g / go-02 :polite yes)", "g"),
    ("inverse", "(b / boy :domain-of (t / tall))", "b"),
    ("inverse", "(b / boy :mod-of (t / tall))", "b"),
    ("inverse", "(g / go-02 :polarity-of -)", "g"),
    ("reification", "(b / boy :ARG1-of (l / be-located-at-91 :ARG2 (h / house)))", "l"),
    ("date", "(b / boy :weekday (m / monday))", "b"),
]
FINE = [
    '(w / want-01 :polarity - :ARG0 (p / person :wiki - :name (n / name :op1 "Ann" :op2 "Lee")))',
    "(a / and :op2 (g / go-02 :mode imperative :polite +))",
    "(n / name :poss (i / i))",
    '(d / dogs-bar :name (n / name :op1 "Rex"))',
    "(h / have-polarity-91 :ARG1 (g / go-02) :ARG2 -)",
    "(l / be-located-at-91 :ARG1 (b / boy) :ARG2 (h / house))",
    "(b / boy :ARG1-of (l / be-located-at-91 :ARG2 (h / house) :time (n / now)))",
    '(d / date-entity :year 1903 :era "BC" :time "15:00" :weekday (m / monday))',
    "(g / go-02 :polarity (a / amr-unknown) :prep-as (b / boy) :quant 3 :consist-of (m / man))",
    '(s / string-entity :value "2")',
    "(f / found-01 :location (x / here) :location (y / there))",
]


def found(text: str) -> list[Finding]:
    graph = parse(Block(f"# ::snt Dogs at the bar\n{text}", "test.amr", 1))
    return lint(graph, FRAMES)


@pytest.mark.parametrize(("code", "text", "variable"), FAULTS)
def test_faults(code: str, text: str, variable: str) -> None:
    assert (code, variable) in [(finding.code, finding.variable) for finding in found(text)]


@pytest.mark.parametrize("text", FINE)
def test_no_faults(text: str) -> None:
    assert found(text) == []


def test_every_rule_is_tested() -> None:
    assert {code for code, _, _ in FAULTS} == RULES.keys()


def test_without_a_table_nothing_is_said_about_frames() -> None:
    graph = parse(Block("(w / want-77 :ARG9 (b / boy))", "test.amr", 1))
    assert lint(graph) == []


@pytest.fixture
def amr(tmp_path: Path) -> str:
    path = tmp_path / "a.amr"
    text = (
        "# ::id 1\n(w / want-01\n  :ARG0 (b / boy\n     :mod :x)\n  :ARG1 (g / go-02\n  :ARG7 b))\n"
    )
    path.write_text(f"{text}\n# ::id 2\n(b / boy\n   :colour 7)\n\n# ::id 2\n(c / cat)\n")
    return str(path)


def test_everything_that_can_be_scored_can_be_checked(amr: str, tmp_path: Path) -> None:
    text = "(b / boy\n   :colour 7)"
    (found,) = evaltools.lint(text)
    assert (found.line, found.code) == (2, "unknown-role")
    graph = parse(Block(text, "test.amr", 1))
    assert [f.code for f in evaltools.lint([graph, graph])] == [
        "unknown-role",
        "repeated-id",
        "unknown-role",
    ]
    table = tmp_path / "rolesets.tsv"
    table.write_text(TABLE)
    assert evaltools.lint(amr, table) == list(lint_file(amr, read_frames(table)))


def test_files(amr: str, tmp_path: Path) -> None:
    table = tmp_path / "rolesets.tsv.gz"
    table.write_bytes(gzip.compress(TABLE.encode()))
    frames = read_frames(str(table))
    places = [(f.line, f.graph, f.variable, f.code) for f in lint_file(amr, frames)]
    assert (6, "1", "g", "frame-role") in places
    assert (10, "2", "b", "unknown-role") in places
    assert (12, "2", "", "repeated-id") in places


def test_the_command(amr: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["lint", amr])
    assert result.exit_code == 1
    assert f"{amr}:10: 2: b: unknown-role: the role :colour is unknown" in result.stdout
    result = CliRunner().invoke(main, ["lint", "--json", amr])
    codes = {json.loads(line)["code"] for line in result.stdout.splitlines()}
    assert {"unknown-role", "repeated-id"} <= codes
    clean = tmp_path / "clean.amr"
    clean.write_text("(w / want-01 :ARG0 (b / boy))\n")
    result = CliRunner().invoke(main, ["lint", str(clean)])
    assert (result.exit_code, result.output) == (0, "")
    broken = tmp_path / "broken.amr"
    broken.write_text("(w / want-01\n\n(b / boy :colour 7)\n")
    result = CliRunner().invoke(main, ["lint", str(broken), str(clean), "--ignore", "unknown-role"])
    assert result.exit_code == 1
    assert "broken.amr" in result.stderr
    assert result.stdout == ""
    result = CliRunner().invoke(main, ["lint", str(clean), "--ignore", "nothing"])
    assert result.exit_code == 2


@pytest.mark.parametrize("text", ["", "name\tkind\n", "id\troles\nwant-01\n", "\udcff"])
def test_a_table_that_is_none(text: str, tmp_path: Path) -> None:
    table = tmp_path / "table.tsv"
    table.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(EvaluationError, match=r"table\.tsv"):
        read_frames(str(table))


def test_other_frameworks(tmp_path: Path) -> None:
    path = tmp_path / "a.mrp"
    path.write_text('{"id": "1", "framework": "dm", "input": "x", "nodes": []}\n')
    with pytest.raises(EvaluationError, match="lint reads AMR, not dm"):
        list(lint_file(str(path)))


OPEN = CORPORA / "amr/open/open-dev.amr"


@pytest.mark.corpora
@pytest.mark.skipif(not OPEN.exists(), reason="needs open-dev")
def test_the_open_corpus_is_clean() -> None:
    frames = read_frames(str(OPEN.parents[2] / "propbank/rolesets.tsv.gz"))
    assert list(lint_file(str(OPEN), frames)) == []
