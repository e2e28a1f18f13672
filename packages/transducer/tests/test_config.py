"""Recipes and settings: the paper's numbers, and no silent mistakes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from transducer.config import TASKS, Config, from_dict, load_config, load_recipe, override, recipes
from transducer.errors import ConfigError

# The table of hyper-parameters in the paper's appendix; what differs per task is below.
PAPER = {
    "model.word_size": 300,
    "model.pos_size": 100,
    "model.index_size": 50,
    "model.char_kernel": 3,
    "model.char_size": 100,
    "model.encoder_layers": 2,
    "model.encoder_size": 512,
    "model.decoder_layers": 2,
    "model.decoder_size": 1024,
    "model.biaffine_size": 256,
    "train.learning_rate": 0.001,
    "train.max_norm": 5.0,
    "train.coverage": 1.0,
    "train.smoothing": 0.1,
    "train.batch_size": 64,
    "decode.beam": 5,
}
PAPER_TASKS = {
    "paper-amr1": ("amr", 128, 0.33, 9200, 7300),
    "paper-amr2": ("amr", 128, 0.33, 18000, 12200),
    "paper-dm": ("dm", 256, 0.2, 11000, 11000),
    "paper-ucca": ("ucca", 128, 0.33, 10000, 10000),
}
# Which features each task has besides words, characters and parts of speech (section 4.1).
PAPER_FEATURES = {
    "paper-amr1": {"anonymous_size": 50},
    "paper-amr2": {"anonymous_size": 50},
    "paper-dm": {},
    "paper-ucca": {"ner_size": 100, "dep_size": 100, "shape_size": 100},
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", recipes())
def test_every_recipe_loads_for_every_task(name: str, task: str) -> None:
    assert load_recipe(name, task=task).task == task


@pytest.mark.parametrize("name", PAPER_TASKS)
def test_paper_recipes_are_the_papers_table(name: str) -> None:
    config = load_recipe(name)
    values = config.to_dict()
    for path, expected in PAPER.items():
        section, key = path.split(".")
        assert values[section][key] == expected, path
    m = config.model
    assert PAPER_TASKS[name] == (
        config.task, m.bilinear_size, m.dropout, m.word_vocabulary, m.node_vocabulary,
    )  # fmt: skip
    optional = ("anonymous_size", "ner_size", "dep_size", "shape_size")
    expected_sizes = {key: PAPER_FEATURES[name].get(key, 0) for key in optional}
    assert {key: getattr(m, key) for key in optional} == expected_sizes
    assert (m.punct_size > 0) == (config.task == "ucca")
    assert m.contextual == "bert-large-cased"
    assert not m.contextual_tuned  # "We fix BERT parameters"
    assert not m.anchored
    assert m.previous_edge


def test_paper_amr_recipes_have_all_of_section_5() -> None:
    for name in ("paper-amr1", "paper-amr2"):
        steps = load_recipe(name).amr
        assert steps.anonymize
        assert steps.senses
        assert steps.wiki
        assert steps.polarity


def test_sections_of_other_tasks_do_not_apply() -> None:
    assert load_recipe("small", task="ucca").model.ner_size > 0
    assert load_recipe("small", task="dm").model.ner_size == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task = 'dm'\nmodle = 1", "unknown key, did you mean 'model'"),
        ("task = 'dm'\n[model]\nworld_size = 1", r"model\.world_size: unknown key, did you mean"),
        ("task = 'dm'\n[train]\nqqq = 1", r"train\.qqq: unknown key"),
        ("task = 'dm'\nmodel = 1", "model = 1 is not a section"),
        ("task = 'dm'\n[train]\nbatch_size = 'x'", "batch_size = 'x' is not of type int"),
        ("task = 'dm'\n[train]\nbatch_size = true", "is not of type int"),
        ("task = 'dm'\n[train]\nschedule = 'x'", "schedule is constant or cosine"),
        ("task = 'dm'\n[model]\nencoder_layers = 0", r"model\.encoder_layers is 1 to 16, not 0"),
        ("task = 'dm'\n[model]\nencoder_size = 1000000000", r"encoder_size is 1 to 8,192, not 10"),
        ("task = 'dm'\n[model]\npointer_reach = -3", r"model\.pointer_reach is 0 to 1,000, not -3"),
        ("task = 'dm'\n[model]\nchar_kernel = 0", r"model\.char_kernel is 1 to 32, not 0"),
        ("task = 'dm'\n[model]\ndropout = 1.0", r"dropout is at least 0 and below 1, not 1\.0"),
        ("task = 'dm'\n[model]\nword_vectors = \"a\\u001b\"", "is text without control characters"),
        ("task = 'dm'\n[train]\nlearning_rate = nan", r"train\.learning_rate is a finite number"),
        (
            "task = 'dm'\n[train]\nlearning_rate = -1",
            r"train\.learning_rate is 0 to 1e\+30, not -1",
        ),
        ("task = 'dm'\n[train]\nepochs = 0", r"train\.epochs is 1 to 1,000,000, not 0"),
        ("task = 'dm'\n[decode]\nbeam = 1000000", r"decode\.beam is 1 to 1,000, not 1000000"),
        ("task = 'dm'\n[decode]\nnbest = 3", "nbest is at most the beam"),
        ("task = 'eds'", "task is amr, dm, pas, psd or ucca, not 'eds'"),
        ("[train]\nepochs = 1", "does not say the task"),
        ("task = ", "Invalid value"),
        ("base = 'huge'", "there is no recipe 'huge'"),
    ],
)
def test_mistakes_in_a_config_file_are_errors(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message) as error:
        load_config(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "setting", ["train.epoch=3", "epochs=3", "trian.epochs=3", "train.epochs=many", "train=3"]
)
def test_mistakes_in_settings_are_errors(setting: str) -> None:
    with pytest.raises(ConfigError):
        override(load_recipe("tiny", task="dm"), [setting])


def test_settings_are_values_or_bare_words() -> None:
    changes = ["train.epochs=3", "train.average=1", "model.contextual=a/b", "amr.wiki=false"]
    config = override(load_recipe("tiny", task="dm"), changes)
    assert (config.train.epochs, config.train.average) == (3, 1.0)
    assert (config.model.contextual, config.amr.wiki) == ("a/b", False)


def test_a_config_survives_plain_dicts() -> None:
    config = load_recipe("paper-ucca")
    assert from_dict(config.to_dict()) == config


def test_the_documentation_has_every_key_and_default() -> None:
    page = Path(__file__).parents[3] / "docs" / "training.md"
    text = page.read_text(encoding="utf-8")
    for section, values in Config("dm").to_dict().items():
        if isinstance(values, dict):
            part = text.split(f"\n`[{section}]`\n")[1].split("\n`[")[0]
            rows = dict(re.findall(r"^\| `(\w+)` \| `(.*?)` \|", part, re.M))
            assert {
                key: tomllib.loads(f"x = {value}")["x"] for key, value in rows.items()
            } == values


def test_a_recipe_says_only_what_differs_from_its_base(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text('base = "small"\n[model]\ndropout = 0.5\n[ucca.model]\nner_size = 3\n')
    small, own = load_recipe("small", task="ucca"), load_config(path, task="ucca")
    assert own == override(small, ["model.dropout=0.5", "model.ner_size=3"])


def test_unknown_recipe() -> None:
    with pytest.raises(ConfigError, match="the recipes are"):
        load_recipe("huge", task="dm")
