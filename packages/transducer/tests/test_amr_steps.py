import gzip
import json
import logging
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import penman
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphconv import loads
from graphconv.codecs import Block, amr
from graphconv.graph import Edge, Graph, Node, Token
from graphconv.io import read
from graphconv.testing import CORPORA, graphs
from transducer.config import AmrConfig
from transducer.errors import ConfigError
from transducer.frameworks.amr import (
    Record,
    Roleset,
    Spotlight,
    Tables,
    copy_concepts,
    copy_constant,
    copy_joined,
    copy_lemma,
    copy_others,
    postprocess,
    postprocess_graphs,
    prepare_tokens,
    preprocess,
    preprocess_graphs,
    read_rolesets,
    recover,
    retokenize,
    tokenize_graph,
)
from transducer.frameworks.amr.anonymize import (
    anonymize_tokens,
    fold,
    learn_names,
    learn_rates,
    unfold,
)
from transducer.frameworks.amr.entities import find_entities
from transducer.frameworks.amr.lexicon import learn_lexicon, lemmatize
from transducer.frameworks.amr.numbers import parse_number, parse_ordinal
from transducer.frameworks.amr.pipeline import without_tags
from transducer.frameworks.amr.polarity import learn_polarity, restore_polarity
from transducer.frameworks.amr.senses import (
    count_concepts,
    learn_senses,
    remove_senses,
    restore_senses,
)
from transducer.frameworks.amr.spotlight import make_wikifier
from transducer.frameworks.amr.wiki import KnownPages, learn_wiki, remove_wiki, restore_wiki
from transducer.text.tokens import tokenize

ALL = AmrConfig(anonymize=True, senses=True, wiki=True, polarity=True)

VINKEN = """
# ::snt Pierre Vinken did not join Acme on May 5 , 2010 .
(j / join-01 :polarity -
   :ARG0 (p / person :wiki "Pierre_V" :name (n / name :op1 "Pierre" :op2 "Vinken"))
   :ARG1 (c / company :wiki - :name (n2 / name :op1 "Acme"))
   :time (d / date-entity :year 2010 :month 5 :day 5))
"""
BOYS = """
# ::snt The three boys did not sleep .
(s / sleep-01 :polarity - :ARG0 (b / boy :quant 3))
"""


def parse(text: str) -> Graph:
    return tokenize_graph(amr.parse(Block(text.strip(), "x.amr", 1)))


def triples(graph: Graph) -> Any:
    """Return what Smatch compares, with variables kept in place."""
    labels = {node.id: f"={node.label}" for node in graph.nodes if node.constant}
    found = [(n.id, "instance", n.label) for n in graph.nodes if not n.constant]
    found += [
        (labels.get(e.source, e.source), e.label, labels.get(e.target, e.target))
        for e in graph.edges
    ]
    return sorted(map(str, found)), graph.tops


@pytest.fixture(scope="module")
def training() -> list[Graph]:
    return [parse(VINKEN), parse(BOYS)] * 3


@pytest.fixture(scope="module")
def tables(training: list[Graph]) -> Tables:
    return Tables.learn(training)


def round_trip(graph: Graph, tables: Tables, options: AmrConfig) -> Graph:
    small = preprocess(graph, tables, options)
    tokens, record = prepare_tokens(graph.tokens, tables, options)
    assert tokens == small.tokens
    return postprocess(small, record, tables, options)


def test_everything_off_changes_nothing(training: list[Graph], tables: Tables) -> None:
    options = AmrConfig(senses=False, wiki=False, polarity=False)
    for graph in training:
        assert preprocess(graph, tables, options) == graph
        assert round_trip(graph, tables, options) == graph


def test_all_steps_make_the_graph_small_and_bring_it_back(tables: Tables) -> None:
    graph = parse(VINKEN)
    small = preprocess(graph, tables, ALL)
    assert [n.label for n in small.nodes] == [
        "join",
        "-",
        "person",
        "name_1",
        "company",
        "name_2",
        "date_1",
    ]
    assert triples(round_trip(graph, tables, ALL)) == triples(graph)
    assert [copy_lemma(token, tables) for token in small.tokens] == [
        *["name_1"] * 2, "do", "not", "join", "name_2", "on", *["date_1"] * 4, ".",
    ]  # fmt: skip


def test_files_of_graphs(training: list[Graph], tables: Tables) -> None:
    small = list(preprocess_graphs(training, tables, ALL))
    back = list(postprocess_graphs(small, tables, ALL))
    assert list(map(triples, back)) == list(map(triples, training))
    assert [graph.tokens for graph in back] == [graph.tokens for graph in training]


def test_tables_survive_json(tables: Tables) -> None:
    again = Tables.from_json(tables.to_json())
    assert again == tables
    assert again.to_json() == tables.to_json()
    assert Tables.from_json("{}") == Tables()


def test_learning_twice_gives_the_same(training: list[Graph], tables: Tables) -> None:
    assert Tables.learn(training).to_json() == tables.to_json()


# Senses


def test_senses_are_removed_only_where_restored_exactly() -> None:
    labels = ["run-01", "run-02", "run-01", "long-03", "long", None]
    nodes = tuple(Node(f"x{number}", label) for number, label in enumerate(labels))
    edges = (Edge("x3", "x0", "ARG1"), Edge("x4", "x1", "mod"))
    constant = Node(":0", "run-01", constant=True)
    graph = Graph("1", "amr", nodes=(*nodes, constant), edges=edges)
    table = learn_senses(count_concepts([graph]), ["fly-01", "fly-02", "run-03"])
    assert table["run"] == "run-01"
    assert table["fly()"] == "fly-01"
    small = remove_senses(graph, table)
    assert [n.label for n in small.nodes] == [
        "run", "run-02", "run", "long", "long", None, "run-01",
    ]  # fmt: skip
    assert restore_senses(small, table) == graph


def test_unknown_predicates_get_the_first_sense() -> None:
    graph = Graph(
        "1", "amr",
        nodes=(Node("a", "google"), Node("b", "boy"), Node("c", "and")),
        edges=(Edge("a", "b", "ARG0"), Edge("c", "a", "op1"), Edge("b", "c", "ARG1")),
    )  # fmt: skip
    restored = restore_senses(graph, {"boy": "boy"})
    assert [node.label for node in restored.nodes] == ["google-01", "boy", "and"]


# Lexicon


def test_operands_are_numbered_and_constants_said_once(tables: Tables) -> None:
    text = "(a / and :op1 (x / x) :op2 (y / y :polarity - :polarity -) :op2 (z / z) :quant 2)"
    (graph,) = loads(text)
    done = postprocess(graph, Record(), tables, AmrConfig(wiki=False, polarity=False))
    roles = [edge.label for edge in done.edges if edge.source == "a"]
    assert roles == ["op1", "op2", "op3", "quant"]
    assert sum(edge.label == "polarity" for edge in done.edges) == 1
    assert len(done.nodes) == len(graph.nodes) - 1


def test_operands_in_order_stay(tables: Tables) -> None:
    # AMR writes a sentence that begins with "and" without its first operand.
    for text in ("(a / and :op2 (x / x))", "(n / name :op1 2 :op2 2)"):
        (graph,) = loads(text)
        done = postprocess(graph, Record(), tables, AmrConfig(wiki=False, polarity=False))
        assert done.edges == graph.edges


def test_lexicon_learns_irregular_and_derived_forms() -> None:
    pairs = [
        (("he", "went", "home"), ("he", "go", "home")),
        (("she", "went"), ("she", "go")),
        (("they", "went", "away"), ("they", "go", "away")),
        (("we", "went"), ("we", "go")),
        (("the", "destruction"), ("destroy",)),
    ]
    lexicon = learn_lexicon(pairs)
    assert lexicon["went"] == "go"
    assert lexicon["destruction"] == "destroy"
    assert "the" not in lexicon


LEMMAS = {
    "cities": "city", "boxes": "box", "running": "run", "stopped": "stop", "loved": "love",
    "making": "make", "walked": "walk", "glasses": "glass", "bus": "bus", "was": "be",
    "this": "this", "wolves": "wolf", "changed": "change", "sing": "sing", "falling": "fall",
}  # fmt: skip


@pytest.mark.parametrize(("form", "lemma"), LEMMAS.items())
def test_lemmatizer_without_knowledge(form: str, lemma: str) -> None:
    assert lemmatize(form, frozenset()) == lemma


DERIVED = {
    "activation": "activate", "beautifully": "beautiful", "movement": "move", "teacher": "teach",
    "happiness": "happy", "expressions": "express", "decision": "decide",
}  # fmt: skip


@pytest.mark.parametrize(("form", "stem"), DERIVED.items())
def test_lemmatizer_knows_derivation_to_known_stems(form: str, stem: str) -> None:
    assert lemmatize(form, {stem}) == stem
    assert lemmatize(form, frozenset()) != stem


def test_copy_lemma_prefers_training_then_annotator_then_rules(tables: Tables) -> None:
    assert copy_lemma(Token("boys"), tables) == "boy"
    assert copy_lemma(Token("Joins", lemma="join"), tables) == "join"
    assert copy_lemma(Token("Sleeping"), tables) == "sleep"
    assert copy_lemma(Token("blorps"), tables) == "blorp"
    assert copy_lemma(Token(""), Tables()) == ""


ROLESETS = """id\tdefinition\taliases\tamr
decide-01\tchoose\tdecide/v;decision/n\t2019
fin-01\tgive fins\tfin/v\t-
fine-01\tpunish\tfine/v;fine/n\t2019
fine-02\tgrind\tfine/v\t-
fine-03\tgood\tfine/j;dandy/j\t2019
give-01\ttransfer\tgive/v\t2019
give-up-07\tstop\tgive_up/v\t2019
smoke-02\tinhale\tsmoke/v;smoking/n\t2019
"""


@pytest.fixture(params=["rolesets.tsv", "rolesets.tsv.gz"])
def rolesets(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    path = tmp_path / request.param
    data = ROLESETS.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


def test_rolesets_say_which_frames_there_are(rolesets: str) -> None:
    read = read_rolesets(rolesets)
    assert [roleset.id for roleset in read if roleset.id.startswith("fin")] == [
        "fin-01", "fine-01", "fine-03",
    ]  # fmt: skip
    tables = Tables.learn([], read)
    assert tables.aliases == {"dandy": "fine", "decision": "decide", "smoking": "smoke"}
    assert tables.senses["fine()"] == "fine-01"
    assert tables.senses["smoke()"] == "smoke-02"
    assert Tables.from_json(tables.to_json()) == tables


def test_a_list_of_frames_has_no_aliases(tmp_path: Path) -> None:
    path = tmp_path / "frames.txt"
    path.write_text("fine-01\n\ngive-up-07\n", encoding="utf-8")
    assert read_rolesets(str(path)) == [Roleset("fine-01"), Roleset("give-up-07")]


@pytest.mark.parametrize("content", [b"frame\taliases\nfine-01\tfine/v\n", b"\xff\t", None])
def test_rolesets_that_cannot_be_read(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "rolesets.tsv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"amr.rolesets: .*rolesets.tsv"):
        read_rolesets(str(path))


def test_tokens_offer_the_frames_that_they_call(rolesets: str) -> None:
    tables = Tables.learn([], read_rolesets(rolesets))
    tokens = tokenize("Acme fined Qualcomm 242 million; gave decisions and googled smoking up.")
    labels = dict(zip((token.form for token in tokens), copy_concepts(tokens, tables), strict=True))
    others = dict(zip((token.form for token in tokens), copy_others(tokens, tables), strict=True))
    assert labels["fined"] == "fine"
    assert labels["decisions"] == "decide"
    assert others["decisions"] == "decision"
    assert labels["smoking"] == "smoke"
    assert labels["googled"] == "googled"  # no verb that is known: rather that than a non-word
    assert labels["Qualcomm"] == '="Qualcomm"'
    assert labels["Acme"] == "acme"  # the first word has a capital anyway
    assert others["fined"] == "fin"
    assert copy_others(tokenize("She gave it all up."), tables)[1] == "give-up"
    assert copy_concepts(tokenize("in Qualcomm"), Tables())[1] == "qualcomm"


def test_words_offer_the_numbers_that_they_are() -> None:
    offered = copy_joined(tokenize("on Dec. 5 the third of 242 million in the 1990s, twenty-five"))
    assert offered == [
        '"on"', "12", "5", '"the"', "3", '"of"', "242000000", "242000000", '"in"', '"the"', "1990",
        '","', "25", "25", "25",
    ]  # fmt: skip
    assert copy_joined(tokenize("14-3-3"))[0] == '"14-3-3"'


def test_names_that_the_tokenizer_cut_are_offered_whole() -> None:
    offered = copy_joined(tokenize("(B-Raf), MDA-MB-231 and (Ras) -- a"))
    whole = ['"("', '"B-Raf"', '"-"', '"B-Raf"', '")"', '","']
    assert offered[:6] == whole
    assert offered[6] == offered[8] == offered[10] == '"MDA-MB-231"'
    assert offered[11:] == ['"and"', '"("', '"Ras"', '")"', '"--"', '"a"']
    assert copy_joined([Token("B"), Token("-"), Token("Raf")]) == ['"B"', '"-"', '"Raf"']


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('see <a href="x y" id="3">here</a>', "see here </a>"),
        ("if a <b = c", "if a < b = c"),
        ("a < b and c > d", "a < b and c > d"),
        ('<a x="1" <b y="2">', '< a x = " 1 "'),
        ("< " * 200, "< " * 200),
    ],
)
def test_markup_with_attributes_is_left_out(text: str, kept: str) -> None:
    assert [token.form for token in without_tags(tokenize(text))] == kept.split()


def test_copy_constant() -> None:
    assert copy_constant(Token("2,000")) == "2000"
    assert copy_constant(Token("three")) == "3"
    assert copy_constant(Token('a"b')) == '"a\\"b"'


# Numbers and entities


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7,500,000", "7500000"), ("three hundred twenty - five", "325"),
        ("2.5 million", "2500000"),
        ("one two", None), ("two thousand ten", "2010"), ("hundred", "100"), ("1,00", None),
        ("-", None), ("five six", None), ("nineteen", "19"), ("٣", None), ("²", None),
    ],
)  # fmt: skip
def test_numbers(text: str, value: str | None) -> None:
    assert parse_number(text.split()) == value


def test_ordinals() -> None:
    assert [parse_ordinal(form) for form in ("Third", "21st", "twentieth", "boy")] == [
        "3", "21", "20", None,
    ]  # fmt: skip


def entities(text: str, **kwargs: Any) -> list[Any]:
    tokens = tuple(Token(form) for form in text.split())
    found = find_entities(tokens, kwargs.get("known", {}), kwargs.get("rates", {}))
    return [(text.split()[span.start : span.end], *span.template) for span in found]


def test_values_are_found_without_gold() -> None:
    assert entities("on 5 May 1999 at 20 %") == [
        (["5", "May", "1999"], "date-entity", (("year", "1999"), ("month", "5"), ("day", "5"))),
        (["20", "%"], "percentage-entity", (("value", "20"),)),
    ]
    assert entities("the fifth of 2012-11-18") == [
        (["fifth"], "ordinal-entity", (("value", "5"),)),
        (["2012-11-18"], "date-entity", (("year", "2012"), ("month", "11"), ("day", "18"))),
    ]
    assert entities("see www.x.org/a at 12 million") == [
        (["www.x.org/a"], "url-entity", (("value", '"www.x.org/a"'),)),
        (["12", "million"], "12000000", None),
    ]
    assert entities("three") == [(["three"], "3", None)]


def test_unreliable_patterns_are_left_out() -> None:
    assert entities("one boy", rates={"number:one": 0.1}) == []
    assert entities("one boy", rates={"number": 0.1}) == []


def test_names_are_learned_with_their_reliability() -> None:
    graph = parse(
        '# ::snt IECs and the RT-PCR of Ras .\n(a / and :op1 (c / cell :name (n / name :op1 "IEC"))'
        ' :op2 (t / thing :name (n2 / name :op1 "RT-PCR"))'
        ' :op3 (g / gene :name (n3 / name :op1 "Ras")))'
    )
    known = learn_names([(graph.tokens, graph)])
    assert known == {"IECs": ['"IEC"'], "RT - PCR": ['"RT-PCR"'], "Ras": ['"Ras"']}
    rates = learn_rates([(graph.tokens, graph)], known)
    assert rates["name:IECs"] == 1.0
    marked, templates = anonymize_tokens(graph.tokens, known, rates)
    assert [t.label for t in templates.values()] == ["name"] * 3
    small = fold(graph, templates)
    assert len(small.nodes) == len(graph.nodes) - 3
    assert triples(unfold(small, templates)) == triples(graph)
    unseen, found = anonymize_tokens(retokenize([Token("of"), Token("KRAS.")]), known, rates)
    assert found == {}  # "shape:in:XXXX" was never seen, and its family is mostly wrong
    assert [token.form for token in unseen] == ["of", "KRAS", "."]
    assert marked != graph.tokens


def test_words_that_are_never_names_are_left_alone() -> None:
    """Capitals alone would make names of "When" and "Friday"; tags and the words tell."""

    def tagged(text: str) -> tuple[Token, ...]:
        pairs = (pair.split("/") for pair in text.split())
        return tuple(Token(form, pos=tag) for form, tag in pairs)

    told = parse('(s / see-01 :ARG0 (p / person :name (n / name :op1 "Anna")) :time (f / friday))')
    pairs = [(tagged("When/WRB did/VBD Anna/NNP come/VB on/IN Friday/NNP"), told)] * 4
    pairs += [(tagged("Tom/NNP came/VBD"), parse('(p / person :name (n / name :op1 "Tom"))'))] * 4
    rates = learn_rates(pairs, {})
    new = tagged("When/WRB did/VBD Rosa/NNP come/VB on/IN Friday/NNP")
    assert [new[s.start].form for s in find_entities(new, {}, rates)] == ["Rosa"]
    bare = tuple(Token(token.form) for token in tagged("it/PRP saw/VBD Rosa/NNP"))
    assert [bare[s.start].form for s in find_entities(bare, {}, rates)] == ["Rosa"]


def test_annotated_names() -> None:
    tokens = [Token(f, features=(("ner", "PERSON"),)) for f in ("Anna", "Li", "'s")] + [Token("x")]
    assert [(span.start, span.end) for span in find_entities(tokens, {}, {})] == [(0, 2)]


def test_placeholders_that_the_text_does_not_have() -> None:
    nodes = (Node("a", "name_7"), Node("b", "number_1"), Node("c", "foo_1"))
    found = unfold(Graph("1", "amr", nodes=nodes), {})
    assert [node.label for node in found.nodes] == ["thing", "thing", "foo_1"]


# Wiki


def test_wiki_table_then_wikifier_then_no_page(training: list[Graph]) -> None:
    known = learn_wiki(training)
    bare = remove_wiki(training[0])
    assert not [edge for edge in bare.edges if edge.label == "wiki"]
    assert triples(restore_wiki(bare, known)) == triples(training[0])
    linked = restore_wiki(bare, known._replace(table={}), lambda _, name: {"Acme": 'A"c'}.get(name))
    links = {
        n.label for e in linked.edges if e.label == "wiki" for n in linked.nodes if n.id == e.target
    }
    assert links == {"-", '"A\\"c"'}
    assert restore_wiki(bare, KnownPages({}, {"": 0.2}, {})) == bare
    assert restore_wiki(training[0], known) == training[0]


def test_a_name_is_its_own_link_where_that_is_usual() -> None:
    training = [
        parse(f'(c / {kind} :wiki {link} :name (n / name :op1 "New" :op2 "{name}"))')
        for kind, link, name in (
            ("city", '"New_York"', "York"),
            ("city", '"New_Delhi"', "Delhi"),
            ("city", "-", "Town"),
            ("person", "-", "Man"),
            ("person", "-", "Woman"),
            ("person", '"New_Boy"', "Boy"),
        )
    ]
    links = learn_wiki(training)
    assert links.titles == {"": 0.5, "city": pytest.approx(2 / 3), "person": pytest.approx(1 / 3)}

    def link_of(kind: str) -> str | None:
        graph = parse(f'(c / {kind} :name (n / name :op1 "New" :op2 "Haven"))')
        restored = restore_wiki(graph, links)
        return next(node.label for node in restored.nodes if node not in graph.nodes)

    assert link_of("city") == '"New_Haven"'
    assert link_of("person") == "-"
    assert link_of("county") == '"New_Haven"'  # as often as not, over all types


class Server(HTTPServer):
    requests = failures = 0
    garbled = False


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        self.server.requests += 1
        body = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if self.server.requests <= self.server.failures:
            self.send_error(503)
            return
        answer = {
            "@text": body["text"][0],
            "Resources": [
                {"@URI": "http://dbpedia.org/resource/New_York_City", "@surfaceForm": "New York"},
                {"@URI": "http://dbpedia.org/resource/Caf%C3%A9", "@surfaceForm": "café"},
            ],
        }
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>" if self.server.garbled else data)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Any]:
    made = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def endpoint(server: Any) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}/rest/annotate"


def test_spotlight_answers_are_cached(server: Any, tmp_path: Path) -> None:
    for _ in range(2):
        wikifier = Spotlight(endpoint(server), cache=tmp_path / "cache")
        assert wikifier("He saw New York.", "New York") == "New_York_City"
        assert wikifier("He saw New York.", "café") == "Café"
        assert wikifier("He saw New York.", "Paris") is None
    assert server.requests == 1


def test_spotlight_without_a_place_for_its_cache(server: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    wikifier = Spotlight(endpoint(server), cache=tmp_path / "file" / "cache")
    assert wikifier("He saw New York.", "New York") == "New_York_City"


def test_answers_are_remembered_for_the_next_model(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARBORA_CACHE", str(tmp_path))
    for _ in range(2):
        wikifier = make_wikifier(endpoint(server))
        assert wikifier is not None
        assert wikifier("He saw New York.", "New York") == "New_York_City"
    assert server.requests == 1
    assert make_wikifier("") is None


def test_spotlight_tries_again(server: Any) -> None:
    server.failures = 2
    assert Spotlight(endpoint(server), retries=2, pause=0)("x", "New York") == "New_York_City"
    assert server.requests == 3


@pytest.mark.parametrize("kind", ["failing", "garbled", "closed"])
def test_a_dead_spotlight_warns_once(
    server: Any, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    server.failures = 99 if kind == "failing" else 0
    server.garbled = kind == "garbled"
    url = "http://127.0.0.1:9/" if kind == "closed" else endpoint(server)
    wikifier = Spotlight(url, retries=1, pause=0, timeout=2)
    with caplog.at_level(logging.WARNING):
        assert [wikifier(text, "New York") for text in ("a", "b", "c")] == [None] * 3
    assert len(caplog.records) == 1
    assert server.requests == (0 if kind == "closed" else 2)


# Polarity


def test_negation_rules_are_learned(training: list[Graph], tables: Tables) -> None:
    def lemma(token: Token) -> str:
        return copy_lemma(token, tables)

    rules = learn_polarity([(graph.tokens, graph) for graph in training], lemma)
    assert rules["not 1"] > 0.7
    graph = training[1]
    bare = without_polarity(graph)
    assert len(bare.edges) == len(graph.edges) - 1
    assert triples(restore_polarity(bare, graph.tokens, rules, lemma)) == triples(graph)
    assert restore_polarity(graph, graph.tokens, rules, lemma) == graph


def without_polarity(graph: Graph) -> Graph:
    dropped = {edge.target for edge in graph.edges if edge.label == "polarity"}
    return replace(
        graph,
        nodes=tuple(node for node in graph.nodes if node.id not in dropped),
        edges=tuple(edge for edge in graph.edges if edge.target not in dropped),
    )


def negated(text: str, *nodes: tuple[str, str], rules: dict[str, float]) -> list[str]:
    graph = Graph(
        "1", "amr", tokens=tuple(map(Token, text.split())), tops=(nodes[0][0],),
        nodes=tuple(Node(*node) for node in nodes),
    )  # fmt: skip
    found = restore_polarity(graph, graph.tokens, rules, lambda token: token.form.lower())
    return [edge.source for edge in found.edges]


def test_negation_of_each_cue_and_of_frames_only() -> None:
    rules = {"not 1": 0.9, "not 2": 0.6, "un-": 0.8}
    both = ("e", "eat-01"), ("s", "sleep-01")
    assert negated("I not eat and not sleep", *both, rules=rules) == ["e", "s"]
    assert negated("not sleep eat", *both, rules=rules) == ["s"]
    assert negated("not big eat", ("b", "big"), ("e", "eat-01"), rules=rules) == ["e"]
    assert negated("not big", ("b", "big"), rules=rules) == []
    assert negated("unhappy", ("h", "happy"), rules=rules) == ["h"]


def test_questions_are_no_negations() -> None:
    graph = parse("""# ::snt did he sleep ?
(s / sleep-01 :polarity (a / amr-unknown) :ARG0 (h / he))""")
    assert learn_polarity([(graph.tokens, graph)] * 5, lambda token: token.form) == {}


def test_a_cue_near_a_negation_adds_none() -> None:
    graph = parse("""# ::snt I do not want to eat .
(w / want-01 :ARG1 (e / eat-01 :polarity -))""")
    rules = {"not 1": 0.9}
    assert restore_polarity(graph, graph.tokens, rules, lambda token: token.form) == graph


# Recovery


def written(graph: Graph) -> penman.Graph:
    text = amr.format(replace(graph, metadata=(), tokens=()))
    return penman.decode(text)


def test_recovery_of_hopeless_graphs() -> None:
    hopeless = [
        Graph("1", "amr"),
        Graph("2", "amr", nodes=(Node(":0", "-", constant=True),), tops=(":0",)),
        Graph("3", "amr", nodes=(Node(":0", "-", constant=True),)),
        Graph("4", "amr", nodes=(Node("a"), Node("b", '"x (y)'), Node("c", " ")), tops=("zz",)),
        Graph(
            "5", "amr",
            nodes=(Node("a", "a"), Node(":0", "5", constant=True), Node(":1", "", constant=True)),
            edges=(Edge(":0", ":1", "x y"), Edge("a", "nowhere", "ARG0"), Edge("a", "a", "")),
        ),
        Graph(
            "6", "amr",
            nodes=(Node("a", "a"), Node("b", "b"), Node(":0", "5", constant=True)),
            edges=(Edge("a", ":0", "op1"), Edge("b", ":0", "op1"), Edge("a", ":0", "op1")),
        ),
    ]  # fmt: skip
    for graph in hopeless:
        found = recover(graph)
        found.validate()
        assert written(found).top
        assert recover(found) == found


ODD_LABELS = st.text(max_size=4) | st.sampled_from(["boy", '"B"', "-", "name_1", "want-01", "5"])


@st.composite
def emitted(draw: st.DrawFn) -> Graph:
    """Whatever a model might emit."""
    count = draw(st.integers(0, 6))
    ids = [f"x{number}" for number in range(count)]
    nodes = tuple(Node(i, draw(st.none() | ODD_LABELS), constant=draw(st.booleans())) for i in ids)
    ends = st.sampled_from([*ids, "nowhere"])
    roles = st.sampled_from(["ARG0", "op1", "wiki", "name", "polarity", "", "a b", "consist-of"])
    edges = tuple(Edge(draw(ends), draw(ends), draw(roles)) for _ in range(draw(st.integers(0, 8))))
    return Graph("1", "amr", nodes=nodes, edges=edges, tops=tuple(draw(st.lists(ends, max_size=2))))


@pytest.mark.property
@given(emitted())
def test_law_every_output_is_complete(graph: Graph) -> None:
    tables = Tables(senses={"want": "want-01"}, wiki_rates={"": 1.0})
    found = postprocess(graph, prepare_tokens((), tables, ALL)[1], tables, ALL)
    found.validate()
    assert len(found.tops) == 1
    assert {v for v, _, _ in written(found).instances()}
    assert recover(found) == found


@pytest.mark.property
@given(st.lists(graphs("amr"), min_size=1, max_size=4))
def test_law_senses_come_back(found: list[Graph]) -> None:
    tables = Tables.learn(found)
    for graph in found:
        small = remove_senses(graph, tables.senses)
        assert restore_senses(small, tables.senses) == graph


@pytest.mark.property
@given(st.lists(graphs("amr"), min_size=1, max_size=4))
def test_law_folding_is_undone(found: list[Graph]) -> None:
    pairs = [(graph.tokens, graph) for graph in found]
    known = learn_names(pairs)
    for tokens, graph in pairs:
        _, templates = anonymize_tokens(tokens, known, learn_rates(pairs, known))
        assert triples(unfold(fold(graph, templates), templates)) == triples(graph)


@pytest.mark.corpora
@pytest.mark.parametrize("name", ["lpp", "bio"])
def test_round_trip_of_real_graphs(name: str) -> None:
    path = CORPORA / "amr" / f"{name}-train.amr"
    if not path.exists():
        pytest.skip("no corpora")
    training = [tokenize_graph(graph) for graph in read(path, format="amr")][:300]
    tables = Tables.learn(training)
    senses = AmrConfig(senses=True, wiki=False, polarity=False)
    entities = replace(senses, anonymize=True)
    for graph in training:
        assert recover(graph) == graph
        assert triples(round_trip(graph, tables, senses)) == triples(graph)
        assert triples(round_trip(graph, tables, entities)) == triples(graph)
