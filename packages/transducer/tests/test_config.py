"""Recipes and settings: no silent mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from transducer.config import (
    COPY_WAYS,
    TASKS,
    from_dict,
    load_config,
    load_recipe,
    override,
    recipes,
)
from transducer.earlier import RENAMED, upgraded
from transducer.errors import ConfigError
from transducer.storage.record import read_record


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", recipes())
def test_every_recipe_loads_for_every_task(name: str, task: str) -> None:
    assert load_recipe(name, task=task).task == task


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
        ("[task.drg.model]\ndropout = 0.1", r"task\.drg: unknown key"),
        ("[task]\nucca = 1", r"task\.ucca: unknown key"),
        ("[amr.model]\ndropout = 0.1", r"\[amr\.model\] is called \[task\.amr\.model\]"),
        ("[dm.train]\nepochs = 1", r"\[dm\.train\] is called \[task\.dm\.train\]"),
        ("task = 'amr'\n[model]\ncopy_ways = 3", "copy_ways = 3 is not of type str"),
        ("task = 'amr'\n[model]\ncopy_ways = 'x'", "is concept, constant, joined or other"),
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
    changes = ["train.epochs=3", "train.moving_average=1", "model.contextual=a/b", "amr.wiki=false"]
    config = override(load_recipe("tiny", task="dm"), changes)
    assert (config.train.epochs, config.train.moving_average) == (3, 1.0)
    assert (config.model.contextual, config.amr.wiki) == ("a/b", False)


def test_a_config_survives_plain_dicts() -> None:
    config = load_recipe("paper-ucca")
    assert from_dict(config.to_dict()) == config


def test_a_recipe_says_only_what_differs_from_its_base(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text('base = "small"\n[model]\ndropout = 0.5\n[task.ucca.model]\nner_size = 3\n')
    small, own = load_recipe("small", task="ucca"), load_config(path, task="ucca")
    assert own == override(small, ["model.dropout=0.5", "model.ner_size=3"])


def test_a_recipe_of_one_task_keeps_what_its_base_says_of_it(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text('base = "small"\n[task.ucca.train]\nepochs = 2\n')
    assert load_config(path, task="dm") == load_recipe("small", task="dm")
    path.write_text('base = "small"\ntask = "ucca"\n[train]\nepochs = 2\n')
    assert load_config(path) == override(load_recipe("small", task="ucca"), ["train.epochs=2"])


@pytest.mark.parametrize(("number", "name"), [*enumerate(COPY_WAYS, start=1)])
def test_a_config_of_the_first_format_is_read(number: int, name: str) -> None:
    config = override(load_recipe("tuned", task="amr"), [f"model.copy_ways={name}"])
    model = {"copy_ways": number, "link_order": False, "previous_edge": True}
    old = config.to_dict()
    old |= {"notes": "x", "model": {**old["model"], **model}}
    assert from_dict(upgraded(old)) == config
    assert config.model.n_copy_ways == number
    old["model"]["previous_edge"] = False
    with pytest.raises(ConfigError, match="previous_edge: unknown key"):
        from_dict(upgraded(old))


OLD_NAMES = [
    (section, old, new) for section, names in RENAMED.items() for old, new in names.items()
]


@pytest.mark.parametrize(("section", "old", "new"), OLD_NAMES)
def test_earlier_names_of_settings_are_read(
    section: str, old: str, new: str, tmp_path: Path
) -> None:
    value = {"moving_average": 0.5, "rolesets": "rolesets.tsv"}[new]
    config = override(load_recipe("small", task="amr"), [f"{section}.{new}={value}"])
    assert override(load_recipe("small", task="amr"), [f"{section}.{old}={value}"]) == config
    saved = config.to_dict()
    saved[section][old] = saved[section].pop(new)
    assert from_dict(upgraded(saved)) == config
    for name in (section, f"task.amr.{section}"):
        (tmp_path / "a.toml").write_text(f'base = "small"\n[{name}]\n{old} = {value!r}\n')
        assert load_config(tmp_path / "a.toml", task="amr") == config
    run = {"config": saved, "folder": "runs/amr"}
    (tmp_path / "run.json").write_text(json.dumps({**run, "averaged": [run]}))
    record = read_record(tmp_path)
    assert from_dict(record["config"]) == from_dict(record["averaged"][0]["config"]) == config
    saved[section][new] = value
    with pytest.raises(ConfigError, match=f"{section}.{old}: unknown key"):
        from_dict(upgraded(saved))


@pytest.mark.parametrize("damaged", [None, 3, [], {"model": 3}, {"model": {"copy_ways": True}}])
def test_a_damaged_config_is_left_to_who_checks_it(damaged: object) -> None:
    assert upgraded(damaged) == damaged


@pytest.mark.parametrize("task", TASKS)
def test_the_demo_does_not_end_by_the_clock(task: str) -> None:
    train = load_recipe("tiny", task=task).train
    assert not train.minutes
    assert train.updates


def test_unknown_recipe() -> None:
    with pytest.raises(ConfigError, match="the recipes are"):
        load_recipe("huge", task="dm")
