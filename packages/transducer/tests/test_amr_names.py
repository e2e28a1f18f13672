"""What is mended in decoded AMR: misplaced constants, and names that a gazetteer knows better."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from graphconv import dumps, loads
from graphconv.graph import Graph, Token
from transducer.config import AmrConfig
from transducer.errors import ConfigError
from transducer.frameworks.amr import Record, Tables, postprocess, read_gazetteer
from transducer.frameworks.amr.constants import repair_constants
from transducer.frameworks.amr.gazetteer import Gazetteer, with_names_of
from transducer.frameworks.amr.known_names import correct_names
from transducer.frameworks.amr.wiki import learn_wiki

KNOWN = Gazetteer(
    {
        "Hamas": "organization Hamas",
        "Jordan": "country Jordan",
        "Michael Jordan": "person Michael_Jordan",
        "Mercury": "planet Mercury_(planet) person Freddie_Mercury",
        "Opium": "book -",
        "Brexit": "event Brexit",
        "Roman Empire": "country Roman_Empire",
        "German": "language German_language",
        "Standard German": "language Standard_German",
        "Twitter": "product Twitter",
        "NASA": "government-organization NASA",
        "Cher Ami": "animal Cher_Ami",
    }
)


NASA = "government-organization"


def _graph(text: str, sentence: str) -> Graph:
    graph = next(iter(loads(f"# ::id 1\n{text}\n", "amr")))
    return replace(graph, tokens=tuple(Token(form) for form in sentence.split()))


def _flat(graph: Graph) -> str:
    lines = dumps([graph], "amr").splitlines()
    return " ".join(" ".join(line for line in lines if not line.startswith("#")).split())


def _named(kind: str, *words: str) -> str:
    operands = " ".join(f':op{n} "{word}"' for n, word in enumerate(words, start=1))
    return f"(x / {kind} :name (n / name {operands}))"


@pytest.mark.parametrize(
    ("decoded", "sentence", "expected"),
    [
        (_named("person", "Hamas"), "Hamas spoke", _named("organization", "Hamas")),
        (_named("product", "HAMAS"), "HAMAS spoke", _named("organization", "HAMAS")),
        # A type that the name can have stays, and one that the sentence says.
        (_named("person", "Mercury"), "Mercury sang", _named("person", "Mercury")),
        (_named("city", "Mercury"), "Mercury shone", _named("planet", "Mercury")),
        (_named("fragrance", "Opium"), "the fragrance Opium", _named("fragrance", "Opium")),
        # One word can be a person's name, or a molecule's.
        (_named("person", "Jordan"), "Jordan spoke", _named("person", "Jordan")),
        (_named("city", "Jordan"), "Jordan is dry", _named("country", "Jordan")),
        (_named("enzyme", "NASA"), "NASA binds", _named("enzyme", "NASA")),
        # What the sentence writes.
        (
            _named("country", "Rome", "Empire"),
            "the Roman Empire",
            _named("country", "Roman", "Empire"),
        ),
        (_named("language", "German"), "Standard German", _named("language", "Standard", "German")),
        (_named("person", "German"), "Standard German", _named("language", "German")),
        (_named("event", "Brexit", "July"), "Brexit in July", _named("event", "Brexit")),
        (_named("city", "pro-Jordan"), "pro - Jordan views", _named("country", "Jordan")),
        (_named("agency", "U.S.", "NASA"), "the U.S. NASA", _named(NASA, "U.S.", "NASA")),
        # The beginning of an unknown name can be a name of its own, its end cannot.
        (_named("fund", "Bo", "Twitter"), "Bo Li Twitter", _named("fund", "Bo", "Twitter")),
        (_named("language", "France"), "good French", _named("language", "France")),
        (_named("product", "Germany"), "good German", _named("language", "German")),
        (_named("country", "Germany"), "a German car", _named("country", "Germany")),
        (_named("person", "Bo", "Li"), "Bo Li spoke", _named("person", "Bo", "Li")),
        # A thing or a predicate is no entity, but about one.
        (
            _named("account", "Twitter"),
            "a Twitter account",
            '(x / account :mod (p / product :name (n / name :op1 "Twitter")))',
        ),
        (
            _named("vote-01", "Brexit"),
            "after the vote on Brexit",
            '(x / vote-01 :mod (e / event :name (n / name :op1 "Brexit")))',
        ),
    ],
)
def test_known_names_are_corrected(decoded: str, sentence: str, expected: str) -> None:
    assert _flat(correct_names(_graph(decoded, sentence), KNOWN)) == expected


def test_a_name_is_not_written_twice() -> None:
    text = (
        '(a / and :op1 (l / language :name (n / name :op1 "German"))'
        ' :op2 (l2 / language :name (n2 / name :op1 "Standard" :op2 "German")))'
    )
    graph = _graph(text, "Standard German and German")
    assert correct_names(graph, KNOWN) == graph


def test_without_a_gazetteer_names_stay() -> None:
    graph = _graph(_named("person", "Hamas"), "Hamas spoke")
    assert correct_names(graph, Gazetteer({})) is graph


@pytest.mark.parametrize(
    ("decoded", "sentence", "expected"),
    [
        ('(d / day :quant "several")', "several days", "(d / day :quant (s / several))"),
        ('(d / day :quant "two")', "two days", "(d / day :quant 2)"),
        ("(d / date-entity :year (x / 1979))", "in 1979", "(d / date-entity :year 1979)"),
        ("(d / day :quant (t / twenty))", "twenty days", "(d / day :quant 20)"),
        ("(s / say-01 :ARG0 (o / one))", "one said", "(s / say-01 :ARG0 (o / one))"),
        (
            '(d / date-entity :year "1914-1918")',
            "1914-1918",
            "(d / date-entity :year 1914 :year2 1918)",
        ),
        ('(d / date-entity :year "BC")', "BC", '(d / date-entity :era "BC")'),
        (
            '(f / scent :mod "Cher" :mod "Ami")',
            "the scent Cher Ami",
            '(f / scent :mod (a / animal :name (n / name :op1 "Cher" :op2 "Ami")))',
        ),
        (
            '(f / scent :mod "Zzyzx")',
            "the scent Zzyzx",
            '(f / scent :mod (t / thing :name (n / name :op1 "Zzyzx")))',
        ),
        # As they should be.
        ('(f / figure :mod "5F")', "figure 5F", '(f / figure :mod "5F")'),
        ('(u / url-entity :value "a.org")', "a.org", '(u / url-entity :value "a.org")'),
        ("(s / sleep-01 :polarity -)", "not sleep", "(s / sleep-01 :polarity -)"),
    ],
)
def test_misplaced_constants_become_what_was_meant(
    decoded: str, sentence: str, expected: str
) -> None:
    assert _flat(repair_constants(_graph(decoded, sentence), KNOWN, str.lower)) == expected


@pytest.mark.parametrize("name", ["names.tsv", "names.tsv.gz"])
def test_a_gazetteer_is_read(name: str, tmp_path: Path) -> None:
    text = (
        "Georgia\tcountry\tGeorgia_(country)\nGeorgia\tstate\tGeorgia_(U.S._state)\n\nBo\tcat\t-\n"
    )
    data = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    known = read_gazetteer(str(tmp_path / name))
    assert known == {
        "Bo": "cat -",
        "Georgia": "country Georgia_(country) state Georgia_(U.S._state)",
    }
    assert Gazetteer(known).readings(["Mr.", "BO"]) == []
    assert Gazetteer(known).page("state", ["Georgia"]) == '"Georgia_(U.S._state)"'
    assert Gazetteer(known).page("cat", ["Bo"]) == "-"
    assert Gazetteer(known).page("river", ["Georgia"]) is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file"),
        (b"\xff\xfe", "utf-8"),
        (b"Bo\tcat\t-\nBo cat\n", "line 2: not a name, a type and a page.*'Bo cat'"),
        (b"Bo\tbig cat\t-\n", "line 1"),
        (b"\tcat\t-\n", "line 1"),
    ],
)
def test_a_gazetteer_that_cannot_be_read(
    content: bytes | None, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "names.tsv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=rf"amr.gazetteer: .*names.tsv.*{problem}"):
        read_gazetteer(str(path))


def test_pages_are_written_as_constants(tmp_path: Path) -> None:
    (tmp_path / "names.tsv").write_text('Weird Al\tperson\t"Weird_Al"_Yankovic\n')
    known = Gazetteer(read_gazetteer(str(tmp_path / "names.tsv")))
    assert known.page("person", ["Weird", "Al"]) == r'"\"Weird_Al\"_Yankovic"'


def test_names_of_the_training_data_come_first() -> None:
    text = _named("sea", "Georgia").replace(":name", ':wiki "Georgia_Sea" :name')
    graphs = [_graph(text, "Georgia")] * 2 + [_graph(_named("city", "Georgia"), "Georgia")]
    known = with_names_of(graphs, {"Georgia": "country - city -", "Bo": "cat -"})
    assert known == {"Bo": "cat -", "Georgia": "sea Georgia_Sea city - country -"}


def test_postprocessing_takes_type_and_page_from_the_gazetteer() -> None:
    tables = Tables.learn([], gazetteer={"Hamas": "organization Hamas"})
    assert Tables.from_json(tables.to_json()) == tables
    graph = _graph(_named("person", "Hamas"), "Hamas spoke")
    done = postprocess(graph, Record(graph.tokens), tables, AmrConfig(wiki=True))
    assert _flat(done) == '(x / organization :wiki "Hamas" :name (n / name :op1 "Hamas"))'
    assert Tables.learn([graph]).gazetteer == {}


def test_pages_of_unknown_names_are_learned_from_unknown_names() -> None:
    famous = '(p / person :wiki "Hamas" :name (n / name :op1 "Hamas"))'
    unknown = '(p / person :wiki - :name (n / name :op1 "Elaf"))'
    graphs = loads(
        "\n\n".join(f"# ::id {i}\n{g}" for i, g in enumerate([famous] * 4 + [unknown] * 3))
    )
    assert learn_wiki(graphs).titles["person"] == 4 / 7
    assert learn_wiki(graphs, KNOWN).titles["person"] == 0
    assert learn_wiki(graphs, KNOWN).rates == learn_wiki(graphs).rates
