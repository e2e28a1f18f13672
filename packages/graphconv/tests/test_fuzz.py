"""Damaged files of every format give errors about data, never anything else."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from graphconv import io
from graphconv.errors import GraphconvError
from graphconv.testing import passage

SDP = (
    "#SDP 2015\n#1\n1\tIt\tit\tPRP\t-\t-\t_\tARG1\n2\trains\train\tVBZ\t+\t+\tv:e-i\t_\n\n"
    "#2\n1\tOld\told\tJJ\t-\t+\ta\t_\t_\n2\tmen\tman\tNNS\t-\t-\tn\tARG1\tARG1\n"
    "3\tsleep\tsleep\tVBP\t+\t+\tv\t_\t_\n4\t.\t_\t.\t-\t-\t_\t_\t_\n\n"
)
SDP_2014 = "#1\n1\tIt\tit\tPRP\t-\t-\tARG1\n2\trains\train\tVBZ\t+\t+\t_\n\n"
AMR = (
    "# AMR release\n\n# ::id 1 ::date 2019\n# ::snt The boy wants to go .\n"
    '(w / want-01~e.2 :polarity -\n   :ARG0 (b / boy :name "O. K.")\n'
    "   :ARG1 (g / go-02\n      :ARG0 b))\n\n# ::id 2\n(p / person :ARG0-of (s / sing-01))\n\n"
)
REMOTE = '<edge toID="1.2" type="A"><attributes remote="True" /></edge>'
UCCA = (
    passage("7", "Stop")
    .replace('text="Stop" />', 'text="Stop" />\n      <extra lemma="stop" tag="VB" />')
    .replace(
        'type="PNCT">', 'type="PNCT"><edge toID="1.2" type="A"><attributes remote="True" /></edge>'
    )
)
MRP = "".join(
    json.dumps(record) + "\n"
    for record in (
        {
            "id": "1",
            "flavor": 0,
            "framework": "dm",
            "version": 1.0,
            "time": "2019-08-06",
            "input": "I go.",
            "tops": [1],
            "nodes": [
                {
                    "id": 0,
                    "label": "I",
                    "properties": ["pos"],
                    "values": ["PRP"],
                    "anchors": [{"from": 0, "to": 1}],
                },
                {"id": 1, "label": "go", "anchors": [{"from": 2, "to": 4}]},
            ],
            "edges": [{"source": 1, "target": 0, "label": "ARG1"}],
        },
        {
            "id": "2",
            "framework": "amr",
            "input": "No",
            "tops": [0],
            "nodes": [
                {"id": 0, "label": "go-02", "properties": ["polarity"], "values": ["-"]},
                {"id": 1, "label": "a", "graphconv": {"attributes": [["x", {"list": [1]}]]}},
            ],
            "edges": [{"source": 0, "target": 1, "label": "mod-of", "normal": "mod"}],
            "graphconv": {"tokens": [["No", None, None, [0, 2]]]},
        },
        {
            "id": "3",
            "flavor": 1,
            "framework": "ucca",
            "input": "Go",
            "tops": [1],
            "nodes": [{"id": 0, "anchors": [{"from": 0, "to": 2}]}, {"id": 1}],
            "edges": [
                {"source": 1, "target": 0, "label": "H"},
                {
                    "source": 1,
                    "target": 0,
                    "label": "A",
                    "attributes": ["remote"],
                    "values": [True],
                },
            ],
        },
    )
)
ARBORESCENCE = "".join(
    json.dumps({"arborescence": 1, **record}) + "\n"
    for record in (
        {
            "id": "1",
            "framework": "dm",
            "tokens": [["It", "it"], ["rains", "rain", "VBZ", [3, 8], [["frame", "v:e-i"]]]],
            "rows": [["rains", 1, 0, "root", [1]], ["It", 2, 1, "ARG1", [0]]],
            "side": {
                "ids": ["a", "b"],
                "nodes": [[0, {"attributes": [["pred", "+"]]}]],
                "node_order": [1, 0],
                "metadata": [["x", {"list": [1]}]],
            },
        },
        {
            "id": "2",
            "framework": "amr",
            "tokens": [],
            "rows": [
                ["go-02", 1, 0, "root"],
                ["=-", 2, 1, "polarity"],
                ["go-02", 1, 1, "ARG0-of"],
            ],
            "side": {"tops": ["g"]},
        },
        {
            "id": "3",
            "framework": "ucca",
            "tokens": [["Go"]],
            "rows": [["ROOT", 1, 0, "root"], ["Go", 2, 1, "H", [0]], ["Go", 2, 1, "A*"]],
            "side": {},
        },
    )
)
RELATIONS = "".join(
    json.dumps(record) + "\n"
    for record in (
        {
            "id": "1",
            "framework": "dm",
            "tokens": [["It", "it", "PRP"], ["rains", None, None]],
            "relations": [["<root>", 0, "root", "rains", 1, 1], ["rains", 1, "ARG1", "It", 2, 0]],
        },
        {
            "id": "2",
            "framework": "ucca",
            "tokens": [["Go", None, None]],
            "relations": [
                ["<root>", 0, "root", "ROOT", 1, None],
                ["ROOT", 1, "H", "Go", 2, 0],
                ["ROOT", 1, "A*", "Go", 2, 0],
            ],
        },
    )
)
TSV = (
    "#id\t1\n#framework\tdm\n#token\tIt\tit\tPRP\n#token\trains\t_\t_\n"
    "<root>\t0\troot\trains\t1\t1\nrains\t1\tARG1\tIt\t2\t0\n\n"
    "#id\t2\n#framework\tamr\n<root>\t0\troot\tgo-02\t1\t_\n"
)
SAMPLES = {
    "sdp": SDP,
    "sdp-2014": SDP_2014,
    "amr": AMR,
    "ucca": UCCA,
    "mrp": MRP,
    "arborescence": ARBORESCENCE,
    "relations": RELATIONS,
    "relations-tsv": TSV,
}
# What damage looks like where it hurts: the punctuation of all formats, and values of other types.
GARBAGE = [
    *("", "\t", "\n", "\r\n", "\x00", "\ufeff", "#", "(", ")", "/", ":", "~", '"', "\\", "<", ">"),
    *(
        "&",
        "[",
        "]",
        "{",
        "}",
        ",",
        "null",
        "true",
        "-1",
        "1e400",
        "NaN",
        "999999",
        "[]",
        "{}",
        "_",
    ),
    *('"x"', "\ud800\udc00", "<!DOCTYPE a>", "<?x?>", "&lt;", "1.1", "+", "ö", "\x85", "\\ud800"),
]

Mutation = Callable[[random.Random, bytes], bytes]


def cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def change_bytes(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def insert_garbage(rng: random.Random, data: bytes) -> bytes:
    place = rng.randrange(len(data))
    skip = rng.choice([0, 0, 1, 2, 5])
    garbage = rng.choice(GARBAGE).encode("utf-8", "surrogatepass")
    return data[:place] + garbage + data[place + skip :]


def change_lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(4)
    if how == 0:
        del lines[i]
    elif how == 1:
        lines.insert(i, lines[j])
    elif how == 2:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines[i] = lines[i].strip()
    return b"".join(lines)


def swap_pieces(rng: random.Random, data: bytes) -> bytes:
    """Exchange two cells, attributes or values: well-formed, but wrong."""
    separator = rng.choice([b"\t", b" ", b", ", b'"', b": "])
    pieces = data.split(separator)
    i, j = rng.randrange(len(pieces)), rng.randrange(len(pieces))
    pieces[i], pieces[j] = pieces[j], pieces[i]
    return separator.join(pieces)


MUTATIONS: list[Mutation] = [cut, change_bytes, insert_garbage, change_lines, swap_pieces]


def read_and_convert(path: Path, name: str | None) -> list[GraphconvError]:
    """Do with a file what the commands do; return what was reported."""
    errors: list[GraphconvError] = []  # of files and of graphs: nothing else is ever raised
    graphs = list(io.read(path, format=name, on_error=errors.append))
    trees = list(io.read_arborescences(path, format=name, on_error=errors.append))
    target = path.with_suffix(".out")
    for items, form in ((graphs, "mrp"), (trees, "arborescence"), (trees, "relations")):
        io.write(items, target, format=form, on_error=errors.append)
    for graph in graphs:
        single = target.with_suffix(".xml") if io.native_format(graph) == "ucca" else target
        io.write([graph], single, format=io.native_format(graph), on_error=errors.append)
    for error in errors:
        assert "\n" not in str(error)
    return errors


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_are_good(name: str, tmp_path: Path) -> None:
    path = tmp_path / "sample"
    path.write_bytes(SAMPLES[name].encode())
    assert len(list(io.read(path))) == len(list(io.read_arborescences(path))) > 0


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
@pytest.mark.parametrize("name", SAMPLES)
def test_damage_is_reported(name: str, mutate: Mutation, tmp_path: Path) -> None:
    rounds = 25
    path = tmp_path / "damaged"
    rng = random.Random(f"{name} {mutate.__name__}")
    sample = SAMPLES[name].encode()
    path.write_bytes(sample)
    assert not read_and_convert(path, None)
    reported = 0
    for _ in range(rounds):
        data = mutate(rng, sample)
        path.write_bytes(data)
        form = rng.choice([None, name.partition("-")[0]])
        try:
            reported += bool(read_and_convert(path, form))
        except Exception as error:
            error.add_note(f"format {form}, file {data!r}")
            raise
    assert reported, "no damage was reported"
