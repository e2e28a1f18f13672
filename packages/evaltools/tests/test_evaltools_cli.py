"""The commands, and every kind of bad input: a right score or one clear sentence."""

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from evaltools.cli import main
from graphconv.testing import interrupt_imports

Write = Callable[[str, str], str]

GOLD = """\
# ::id 1
# ::snt The boy wants to go.
(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))

# ::id 2
# ::snt Dogs bark.
(k / bark-01 :ARG0 (d / dog))

# ::id 3
# ::snt Rain.
(r / rain-01)
"""
PRED = GOLD.replace("(d / dog)", "(d / cat)").replace("want-01", "need-01")
SDP = "#SDP 2015\n#7\n1\tDogs\tdog\tNNS\t-\t-\t_\tARG1\n2\tbark\tbark\tVBP\t+\t+\tv:e-i\t_\n\n"
UCCA = """<root annotationID="0" passageID="{id}"><attributes/><layer layerID="0"><attributes/>
<node ID="0.1" type="Word"><attributes paragraph="1" paragraph_position="1" text="Dogs"/></node>
<node ID="0.2" type="Word"><attributes paragraph="1" paragraph_position="2" text="bark"/></node>
</layer><layer layerID="1"><attributes/>
<node ID="1.1" type="FN"><attributes/><edge toID="1.2" type="H"><attributes/></edge></node>
<node ID="1.2" type="FN"><attributes/><edge toID="1.3" type="A"><attributes/></edge>
<edge toID="1.4" type="{category}"><attributes/></edge></node>
<node ID="1.3" type="FN"><attributes/><edge toID="0.1" type="Terminal"><attributes/></edge></node>
<node ID="1.4" type="FN"><attributes/><edge toID="0.2" type="Terminal"><attributes/></edge></node>
</layer></root>
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write_file


@pytest.fixture
def gold(write: Write) -> str:
    return write("gold.amr", GOLD)


@pytest.fixture
def pred(write: Write) -> str:
    return write("pred.amr", PRED)


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=stdin)


def report(*arguments: str) -> dict[str, Any]:
    result = run("score", "--format", "json", *arguments)
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def refused(*arguments: str) -> str:
    result = run("score", *arguments)
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return result.stderr


def without(text: str, number: int) -> str:
    blocks = text.split("\n\n")
    return "\n\n".join(blocks[: number - 1] + blocks[number:])


def test_score_as_json(gold: str, pred: str) -> None:
    found = report(gold, pred)
    assert found["smatch"]["gold"] == found["smatch"]["pred"] == 7 + 4 + 2
    assert found["smatch"]["match"] == 6 + 3 + 2
    assert found["smatch"]["f1"] == pytest.approx(1100 / 13)
    signature = found["signature"]
    assert signature["metric"] == "smatch"
    assert signature["profile"] == "smatch-1.0.4"
    assert signature["certified"] is True
    assert signature["sha256"]["gold"] == hashlib.sha256(GOLD.encode()).hexdigest()
    assert "fine_grained" not in found


def test_score_as_a_table(gold: str, pred: str) -> None:
    result = run("score", gold, pred, "--fine-grained", "--bootstrap", "50")
    assert result.exit_code == 0
    assert "84.62   84.62   84.62" in result.stdout
    assert "Named Ent." in result.stdout
    assert "95 % interval of F1" in result.stdout
    assert "certified:yes" in result.stdout


def test_profiles_restarts_and_jobs(gold: str, pred: str) -> None:
    assert report(gold, pred, "--profile", "smatchpp-amr")["smatch"]["match"] == 5 + 3 + 2
    climbed = report(gold, pred, "--restarts", "3", "--seed", "5")
    assert climbed["signature"]["options"] == {"fine_grained": False, "restarts": 3, "seed": 5}
    assert climbed["smatch"]["match"] == 11
    assert report(gold, pred, "--jobs", "2")["smatch"] == report(gold, pred)["smatch"]
    assert report(gold, pred, "--time-limit", "5")["smatch"] == report(gold, pred)["smatch"]


def test_bootstrap_and_per_graph(gold: str, pred: str, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    found = report(gold, pred, "--bootstrap", "100", "--seed", "3", "--per-graph", str(out))
    low, high = found["bootstrap"]["f1"]
    assert low < found["smatch"]["f1"] < high
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert [record["id"] for record in records] == ["1", "2", "3"]
    assert sum(record["smatch"]["match"] for record in records) == found["smatch"]["match"]
    assert all(record["certified"] for record in records)


def test_fine_grained(gold: str, pred: str) -> None:
    found = report(gold, pred, "--fine-grained")
    assert found["fine_grained"]["Concepts"]["match"] == 4


def test_standard_input(gold: str) -> None:
    result = run("score", gold, "-", "--format", "json", stdin=PRED)
    assert json.loads(result.stdout)["smatch"]["match"] == 11
    assert run("score", "-", "-").exit_code == 2


def test_order_does_not_matter_where_there_are_ids(gold: str, write: Write, tmp_path: Path) -> None:
    blocks = PRED.strip().split("\n\n")
    turned = write("turned.amr", "\n\n".join(reversed(blocks)) + "\n")
    out = tmp_path / "out.jsonl"
    assert report(gold, turned, "--per-graph", str(out))["smatch"]["match"] == 11
    ids = [json.loads(line)["id"] for line in out.read_text().splitlines()]
    assert ids == ["1", "2", "3"]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_missing_prediction_counts_as_empty(gold: str, write: Write, number: int) -> None:
    path = write("short.amr", without(GOLD, number))
    result = run("score", gold, path, "--format", "json")
    found = json.loads(result.stdout)
    assert found["missing"] == [str(number)]
    sizes = (7, 4, 2)
    assert found["smatch"]["match"] == found["smatch"]["pred"] == 13 - sizes[number - 1]
    assert found["smatch"]["gold"] == 13
    assert f"have no valid prediction, which counts as empty: {number}" in result.stderr


def test_an_extra_prediction_is_reported(write: Write, pred: str) -> None:
    result = run("score", write("short.amr", without(GOLD, 2)), pred, "--format", "json")
    assert json.loads(result.stdout)["extra"] == ["2"]
    assert "have no gold graph and are left out: 2" in result.stderr


def test_without_ids_the_order_counts(gold: str, write: Write) -> None:
    bare = "\n\n".join(block.split("\n")[-1] for block in PRED.strip().split("\n\n")) + "\n"
    assert report(gold, write("bare.amr", bare))["smatch"]["match"] == 11
    message = refused(gold, write("shorter.amr", without(bare, 2)))
    assert "shorter.amr: 2 graphs, but 3 in" in message
    message = refused(write("longer.amr", bare + "\n(x / x)\n"), gold)
    assert "gold.amr: 3 graphs, but 4 in" in message


def test_without_ids_different_sentences_are_reported(write: Write) -> None:
    one = write("one.amr", "# ::snt Dogs bark.\n(k / bark-01)\n")
    two = write("two.amr", "# ::snt It rains.\n(k / bark-01)\n")
    same = write("same.amr", "# ::tok Dogs bark .\n(k / bark-01)\n")
    assert "different sentences" in run("score", one, two).stderr
    assert run("score", one, same).stderr == ""


def test_wrong_and_repeated_ids(gold: str, write: Write) -> None:
    other = write("other.amr", PRED.replace("::id ", "::id x"))
    assert "no prediction has the id of a gold graph" in refused(gold, other)
    twice = write("twice.amr", PRED.replace("::id 3", "::id 1"))
    assert "twice.amr: two graphs have the id '1'" in refused(gold, twice)
    assert "twice.amr: two graphs have the id '1'" in refused(twice, gold)
    some = write("some.amr", PRED.replace("# ::id 2\n", ""))
    assert "has no id, but others have one" in refused(gold, some)


def test_a_graph_that_is_not_there_does_not_shift_the_others(gold: str, write: Write) -> None:
    hole = PRED.replace("(k / bark-01 :ARG0 (d / cat))\n", "")
    message = refused(gold, write("hole.amr", hole))
    assert "hole.amr:" in message


BROKEN = {
    "bracket missing": PRED.replace("(d / cat))", "(d / cat)"),
    "time without quotes": PRED.replace("(d / cat)", "(d / cat) :time 16:42"),
    "fraction without quotes": PRED.replace("(d / cat)", "(d / cat) :value 1/2"),
    "variable twice": PRED.replace("(d / cat)", "(k / cat)"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_prediction(gold: str, write: Write, name: str) -> None:
    path = write("broken.amr", BROKEN[name])
    assert "broken.amr:" in refused(gold, path)
    result = run("score", gold, path, "--skip-invalid", "--format", "json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert "2" in found["missing"]
    assert found["smatch"]["match"] == 6 + 2
    assert "broken predictions count as empty" in result.stderr
    assert "broken.amr:" in refused(path, gold, "--skip-invalid")


def test_a_bracket_too_many_harms_no_graph(gold: str, write: Write) -> None:
    path = write("broken.amr", PRED.replace("(d / cat))", "(d / cat)))"))
    assert "broken.amr:7: " in refused(gold, path)
    assert report(gold, path, "--skip-invalid")["smatch"]["match"] == 11


def test_a_broken_prediction_without_ids_does_not_shift(gold: str, write: Write) -> None:
    bare = (
        "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))\n\n(k / bark-01\n\n(r / rain-01)\n"
    )
    path = write("bare.amr", bare)
    found = report(gold, path, "--skip-invalid")
    assert (found["smatch"]["match"], found["missing"]) == (7 + 2, ["2"])


def test_alignments_and_strings_with_spaces(write: Write) -> None:
    gold = write("gold.amr", '# ::id 1\n(c / city :op1 "New York")\n')
    pred = write("pred.amr", '# ::id 1\n(c / city~e.2 :op1~e.3 "New York"~e.4)\n')
    assert report(gold, pred)["smatch"]["f1"] == 100


def test_empty_files(gold: str, write: Write) -> None:
    empty = write("empty.amr", "")
    assert "empty.amr: the file is empty" in refused(gold, empty)
    assert "empty.amr: the file is empty" in refused(empty, gold)


def test_missing_file(gold: str) -> None:
    assert run("score", gold, "no-such-file").exit_code == 2


def test_two_frameworks(gold: str, write: Write) -> None:
    sdp = write("pred.sdp", SDP)
    assert "pred.sdp: the prediction is dm but gold" in refused(gold, sdp)
    assert "smatch scores amr, eds, not dm" in refused(sdp, sdp, "--metric", "smatch")


def test_sdp(write: Write) -> None:
    gold = write("gold.sdp", SDP)
    pred = write("pred.sdp", SDP.replace("ARG1", "ARG2"))
    found = report(gold, pred)
    assert (found["labelled"]["match"], found["unlabelled"]["match"]) == (1, 2)
    assert found["signature"]["metric"] == "sdp"
    other = write("other.sdp", SDP.replace("Dogs", "Cats"))
    message = refused(gold, other)
    assert "other.sdp: graph 7: token 1 is 'Dogs' in gold but 'Cats'" in message
    found = report(gold, other, "--skip-invalid")
    assert (found["missing"], found["labelled"]["match"]) == (["7"], 0)
    assert report(gold, pred, "--framework", "psd")["labelled"]["match"] == 1


def test_ucca_folders(tmp_path: Path) -> None:
    for name, category in (("gold", "P"), ("pred", "S")):
        folder = tmp_path / name
        folder.mkdir()
        for passage in ("1", "2"):
            (folder / f"{passage}.xml").write_text(UCCA.format(id=passage, category=category))
    found = report(str(tmp_path / "gold"), str(tmp_path / "pred"))
    assert found["labelled"]["primary"]["match"] == 2 * 2
    assert found["unlabelled"]["all"]["f1"] == 100
    assert found["signature"]["options"] == {"normalize": True}
    found = report(str(tmp_path / "gold"), str(tmp_path / "pred"), "--no-normalize")
    assert found["signature"]["options"] == {"normalize": False}
    (tmp_path / "pred" / "2.xml").unlink()
    found = report(str(tmp_path / "gold"), str(tmp_path / "pred"))
    assert found["missing"] == ["2"]


def mrp(framework: str, identifier: str) -> str:
    node = {"id": 0, "label": "x"} if framework in ("amr", "eds") else {"id": 0, "anchors": []}
    record = {
        "id": identifier,
        "flavor": 0,
        "framework": framework,
        "version": 1.0,
        "time": "2019-06-23",
        "input": "Go",
        "tops": [0],
        "nodes": [{**node, "anchors": [{"from": 0, "to": 2}]}],
        "edges": [],
    }
    return json.dumps(record) + "\n"


def test_files_with_several_frameworks(write: Write) -> None:
    mixed = write("mixed.mrp", "".join(mrp(name, "1") for name in ("dm", "psd", "eds", "amr")))
    said = "dm and psd graphs together: choose one with framework= (--framework)"
    assert said in refused(mixed, mixed)
    assert report(mixed, mixed, "--framework", "psd")["labelled"]["gold"] == 1
    assert report(mixed, mixed, "--metric", "sdp")["labelled"]["gold"] == 1
    amr = write("gold.amr", "# ::id 1\n(x / x)\n")
    assert report(amr, mixed)["smatch"]["match"] == 2
    assert report(mixed, amr, "--metric", "smatch")["smatch"]["match"] == 2
    psd = write("psd.mrp", mrp("psd", "1"))
    sdp = write("gold.sdp", "#SDP 2015\n#1\n1\tGo\tgo\tVB\t+\t-\t_\n\n")
    assert report(sdp, psd)["labelled"]["match"] == 1
    message = refused(amr, psd)
    assert "psd.mrp: there is no amr graph" in message
    assert "gold.sdp" in refused(sdp, amr)


def test_compare(gold: str, pred: str) -> None:
    result = run("compare", gold, pred, gold, "--samples", "100", "--format", "json")
    found = json.loads(result.stdout)
    assert found["a"]["match"] == 11
    assert found["b"]["f1"] == 100
    assert found["difference"] == pytest.approx(200 / 13)
    assert 0 < found["p"] <= 1
    result = run("compare", gold, pred, gold, "--samples", "100")
    assert "B - A: +15.38 F1" in result.stdout


def test_validity(write: Write) -> None:
    text = GOLD.replace("(b / boy)", "(b / boy) :ARG0 (c / cat)")
    path = write("pred.amr", text)
    found = json.loads(run("validity", path, "--format", "json").stdout)
    assert (found["graphs"], found["invalid"], found["broken"]) == (3, 1, 0)
    assert found["ids"]["repeated core role"] == ["1"]
    broken = write("broken.amr", text.replace("(r / rain-01)", "(r / rain-01"))
    result = run("validity", broken)
    assert result.exit_code == 0
    assert "broken                1" in result.stdout
    assert run("validity", write("empty.amr", "")).exit_code == 1


def test_diff(gold: str, write: Write, tmp_path: Path) -> None:
    pred = write("pred.amr", without(PRED, 3))
    result = run("diff", gold, pred, "--worst", "2")
    assert result.exit_code == 0
    shown = result.stdout
    assert shown.startswith("3: F1 0.00")
    assert "2: F1 75.00\n  3 items match\n  - dog\n  + cat\n" in shown
    page = tmp_path / "out.html"
    assert run("diff", gold, pred, "-o", str(page)).exit_code == 0
    assert page.read_text().count("<svg") == 2 * 3
    bare = "\n\n".join(block.split("\n")[-1] for block in PRED.strip().split("\n\n")) + "\n"
    result = run("diff", gold, write("bare.amr", bare), "--worst", "1")
    assert result.stdout.startswith("2: F1 75.00\n  3 items match\n  - dog\n  + cat\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_during_imports_is_silent() -> None:
    interrupt_imports("evaltools.cli")
