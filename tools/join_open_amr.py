r"""Put the sentences back into the open AMR corpus, which is published without them.

    python tools/join_open_amr.py --pud en_pud-ud-test.conllu --ewt en_ewt-ud-train.conllu \
        --ewt en_ewt-ud-dev.conllu --wescience erg/tsdb/gold/ws01 ... -o open-train.amr

``data/amr/*.graphs`` has ids and graphs; the sentences belong to UD English-PUD, UD English-EWT,
WeScience, Redwoods, UCCA English-Wiki and PropBank's frame files, and come from the user's own
copies of them (``--ucca FOLDER --propbank propbank-frames/frames -o open-more.amr``). Each is
compared with a SHA-256 of what was annotated. The hash is over characters: whitespace and the shape
of quotes and dashes do not count. Nothing is written if a sentence is missing or differs, unless
``--partial`` says so.

    python tools/join_open_amr.py --split open-dev.amr -o data/amr/open-dev.graphs

does the opposite: it takes the sentences out.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import click

from graphconv import cliutil, read
from graphconv.io.files import output

PUBLISHED = Path(__file__).parent.parent / "data" / "amr"
_SHOWN = 10
_DIGITS = 16
_QUOTES = str.maketrans({
    "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "`": "'", "–": "-", "—": "-", "−": "-",
})  # fmt: skip
# [incr tsdb()] writes @ inside a field as \s; i-input is the seventh field of a usual item file.
_ESCAPED = {"\\s": "@", "\\n": "\n", "\\\\": "\\"}
_INPUT_FIELD = 6
_FRAMES = re.compile(
    r'<roleset\b[^>]*?\bid="(?P<roleset>[^"]*)"|<text>(?P<text>.*?)</text>', re.DOTALL
)


def digest(sentence: str) -> str:
    r"""Return the first 16 digits of the SHA-256 of a sentence's characters.

    >>> digest("“Yes” — no") == digest('"Yes" -- no') != digest("Yes - no")
    True
    """
    text = unicodedata.normalize("NFKC", sentence).translate(_QUOTES).replace("''", '"')
    text = re.sub("-+", "-", text)
    return hashlib.sha256("".join(text.split()).encode()).hexdigest()[:_DIGITS]


def conllu_sentences(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the ids and texts of a CoNLL-U file."""
    sent_id = ""
    for line in _lines(path):
        name, _, value = line.removeprefix("#").partition("=")
        if line.startswith("#") and name.strip() == "sent_id":
            sent_id = value.strip()
        elif line.startswith("#") and name.strip() == "text" and sent_id:
            yield sent_id, value.strip()
            sent_id = ""


def erg_sentences(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the ids and texts of a profile, of its item file, or of an SDP file."""
    if path.is_dir():
        item = next((p for p in (path / "item", path / "item.gz") if p.exists()), None)
        if item is None:
            raise cliutil.DataError(f"{path}: a profile has a file 'item', and there is none")
        return _items(item, _input_field(path / "relations"))
    first = next(_lines(path), "")
    return _sdp(path) if first.startswith("#") else _items(path, _INPUT_FIELD)


def ucca_sentences(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the ids and texts of UCCA passages: a file, or a folder of them."""
    for graph in read(path):
        yield graph.id, untokenized([token.form for token in graph.tokens])


def propbank_sentences(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the ids and texts of examples: a frame file, a folder of them, or JSON lines.

    An id is the roleset and the beginning of the text's hash: a roleset has several examples.
    """
    files = sorted(path.glob("*.xml")) if path.is_dir() else [path]
    for file in files:
        for roleset, tokens in _examples(file):
            text = from_penn(tokens)
            yield f"{roleset}.{digest(text)[:6]}", text


def _examples(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the roleset and the tokens of each example."""
    if ".jsonl" in file.suffixes:
        for line in _lines(file):
            example = json.loads(line)
            yield example["id"], example["text"]
        return
    roleset = ""
    for match in _FRAMES.finditer("\n".join(_lines(file))):
        if match["roleset"]:
            roleset = re.sub(r"[._]", "-", match["roleset"])
        else:
            yield roleset, html.unescape(match["text"])


def join(
    blocks: Iterable[tuple[str, str, str]], sentences: dict[str, list[str]]
) -> tuple[list[str], list[str], list[str]]:
    """Return the graphs with their sentences, the ids that are missing, and those that differ."""
    joined, missing, other = list[str](), list[str](), list[str]()
    for graph_id, wanted, graph in blocks:
        found = sentences.get(graph_id, [])
        sentence = next((text for text in found if digest(text) == wanted), None)
        if sentence is not None:
            joined.append(f"# ::id {graph_id}\n# ::snt {sentence}\n{graph}\n")
        else:
            (other if found else missing).append(graph_id)
    return joined, missing, other


def read_graphs(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the id, the hash and the graph of each block of a file without sentences."""
    for number, block in enumerate(_blocks(path), start=1):
        match = re.fullmatch(r"# ::id (\S+) ::sha256 ([0-9a-f]{16})\n(.+)", block, re.DOTALL)
        if match is None:
            message = f"graph {number} does not begin with '# ::id ... ::sha256 ...'"
            raise cliutil.DataError(f"{path}: {message}")
        yield match[1], match[2], match[3]


def split(path: Path) -> Iterator[str]:
    """Yield the graphs of an AMR file with hashes in the place of sentences."""
    for number, block in enumerate(_blocks(path), start=1):
        match = re.fullmatch(r"# ::id (\S+)\n# ::snt (.*?)\n(\(.+)", block, re.DOTALL)
        if match is None:
            message = f"graph {number} is not '# ::id', '# ::snt' and a graph"
            raise cliutil.DataError(f"{path}: {message}")
        yield f"# ::id {match[1]} ::sha256 {digest(match[2])}\n{match[3]}\n"


def _blocks(path: Path) -> Iterator[str]:
    text = "\n".join(_lines(path))
    return (block for block in re.split(r"\n\s*\n", text.strip("\n")) if block)


def _lines(path: Path) -> Iterator[str]:
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile) as error:
        raise cliutil.DataError(f"{path}: it is neither UTF-8 nor gzip: {error}") from error
    return iter(text.splitlines())


def _items(path: Path, field: int) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(_lines(path), start=1):
        cells = line.split("@")
        if len(cells) <= field:
            message = f"an item has fields separated by @, i-input being number {field + 1}"
            raise cliutil.DataError(f"{path}:{number}: {message}")
        yield cells[0], re.sub(r"\\[sn\\]", lambda match: _ESCAPED[match[0]], cells[field])


def _input_field(relations: Path) -> int:
    """Return the place of i-input, which the schema beside an item file gives."""
    if not relations.exists():
        return _INPUT_FIELD
    inside, fields = False, []
    for line in _lines(relations):
        if line.startswith("item:"):
            inside = True
        elif inside and line.strip():
            fields.append(line.split()[0])
        elif inside:
            break
    return fields.index("i-input") if "i-input" in fields else _INPUT_FIELD


def _sdp(path: Path) -> Iterator[tuple[str, str]]:
    sent_id, forms = "", list[str]()
    for line in chain(_lines(path), [""]):
        if line.startswith("#") and "\t" not in line:
            sent_id = line[1:].strip()
        elif line:
            forms.append(line.split("\t")[1])
        elif forms:
            yield sent_id, untokenized(forms)
            forms = []


def untokenized(forms: list[str]) -> str:
    """Return tokens as a text, about as it was written.

    >>> untokenized(["He", "said", ":", "“", "It", "is", "here", "(", "now", ")", "”", "."])
    'He said: "It is here (now)".'
    """
    text = " ".join(forms).translate(_QUOTES)
    text = re.sub(r'" (.*?) "', r'"\1"', text)
    text = re.sub(r" (?=[,.;:!?)\]%]|'(?:s|re|ve|ll|d|m)?\b|n't\b)|(?<=[(\[$]) ", "", text)
    return re.sub(r"(?<=\w) - (?=\w)", "-", text)


def from_penn(tokens: str) -> str:
    """Return tokens of the Penn Treebank, with blanks between them, as a text.

    >>> from_penn("He said `` yes '' ( twice ) .")
    'He said "yes" (twice).'
    """
    return untokenized(tokens.replace("``", '"').replace("''", '"').split())


def _variants(text: str) -> list[str]:
    """Return a text as it is, and without the links and the emphasis of Wikipedia."""
    plain = re.sub(r"\[\[(?:[^\]|]*\|)?([^\]]*)\]\]", r"\1", text)
    plain = re.sub(r"'{2,5}|⌊\S*|\S*⌋", "", plain)
    return [text] if plain == text else [text, " ".join(plain.split())]


def _collect(copies: Iterable[tuple[str, Iterable[str]]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for prefix, paths in copies:
        for path in paths:
            before = len(found)
            for sent_id, text in SOURCES[prefix](Path(path)):
                found.setdefault(f"{prefix}.{sent_id}", []).extend(_variants(text))
            if len(found) == before:
                cliutil.note(f"{path}: no sentence found that others do not have")
    return found


SOURCES: dict[str, Callable[[Path], Iterator[tuple[str, str]]]] = {
    "pud": conllu_sentences,
    "ewt": conllu_sentences,
    "ws": erg_sentences,
    "rw": erg_sentences,
    "uw": ucca_sentences,
    "pb": propbank_sentences,
}
"""How ids begin, and what reads the sentences behind them."""


def _graphs_for(target: str) -> Path:
    """Return the published file that an output is named after, else the training part."""
    stem = Path(target).name.partition(".")[0]
    names = (f"{stem}.graphs", f"{stem}.graphs.gz", "open-train.graphs.gz")
    return next(path for path in (PUBLISHED / name for name in names) if path.exists())


def _report(what: str, ids: list[str]) -> None:
    if ids:
        more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
        cliutil.note(f"{len(ids)} {what}: {', '.join(ids[:_SHOWN])}{more}")


@click.command()
@click.option("--pud", multiple=True, type=cliutil.existing(folders=False), help="CoNLL-U.")
@click.option("--ewt", multiple=True, type=cliutil.existing(folders=False), help="CoNLL-U.")
@click.option(
    "--wescience", "ws", multiple=True, type=cliutil.existing(), help="Profile, item or SDP."
)
@click.option(
    "--redwoods", "rw", multiple=True, type=cliutil.existing(), help="Profile, item or SDP."
)
@click.option("--ucca", "uw", multiple=True, type=cliutil.existing(), help="UCCA's passages.")
@click.option("--propbank", "pb", multiple=True, type=cliutil.existing(), help="Frame files.")
@click.option("--graphs", type=cliutil.existing(folders=False), help="Default: by OUT's name.")
@click.option("--partial", is_flag=True, help="Write what can be joined, and exit 0.")
@click.option("--split", "whole", type=cliutil.existing(folders=False), help="The opposite.")
@click.option("-o", "--output", "target", required=True, metavar="OUT")
def main(
    *, graphs: str | None, partial: bool, whole: str | None, target: str, **copies: tuple[str, ...]
) -> None:
    """Join the open AMR graphs with your own copies of their sentences."""
    if whole:
        blocks = list(split(Path(whole)))
    else:
        source = Path(graphs) if graphs else _graphs_for(target)
        blocks, missing, other = join(read_graphs(source), _collect(copies.items()))
        _report("sentences are missing", missing)
        _report("sentences are not the ones that were annotated", other)
        if (missing or other) and not partial:
            raise cliutil.DataError(f"{source}: not every sentence was found; nothing is written")
    with output(target) as stream:
        stream.write("\n".join(blocks).encode())
    click.echo(f"{len(blocks)} graphs", err=True)


if __name__ == "__main__":
    main()
