"""What earlier versions called settings, and how they saved them. Imports no torch.

Recipes, ``--set``, models and trainings of earlier versions are read under the names of today.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RENAMED: Mapping[str, Mapping[str, str]] = {
    "train": {"average": "moving_average"},  # ``transducer average`` is the mean of some models
    "amr": {"frames": "rolesets"},  # frames are those of SDP
}
"""Section -> the name of a setting up to format 2 -> its name now."""

_COPY_WAYS = ("concept", "constant", "joined", "other")
"""What the numbers 1 to 4 of ``model.copy_ways`` meant in format 1."""


def name_of_today(path: str) -> str:
    """Return a setting's name, which may be one that an earlier version gave it.

    >>> name_of_today("train.average"), name_of_today("train.epochs")
    ('train.moving_average', 'train.epochs')
    """
    section, _, key = path.rpartition(".")
    today = RENAMED.get(section, {}).get(key)
    return f"{section}.{today}" if today else path


def renamed(sections: Mapping[str, Any]) -> dict[str, Any]:
    """Return sections of a config whose settings have the names of today.

    Who gives a setting under both names has one too many: the earlier one stays, and is unknown.

    >>> renamed({"task": "dm", "train": {"epochs": 3, "average": 0.9}})
    {'task': 'dm', 'train': {'epochs': 3, 'moving_average': 0.9}}
    """
    result = dict(sections)
    for section, names in RENAMED.items():
        values = result.get(section)
        if isinstance(values, Mapping):
            result[section] = {
                key if names.get(key, key) in values else names.get(key, key): value
                for key, value in values.items()
            }
    return result


def upgraded(values: Any) -> Any:
    """Return a config that an earlier version saved as this one would have saved it.

    Up to 0.2.0 (format 1) ``model.copy_ways`` was a number, and there were three settings more:
    ``notes``, which nothing read, ``model.link_order``, which followed from the task, and
    ``model.previous_edge``, which was true in every model that was kept. One in which it is not is
    no model of this version: the setting stays, and is refused as unknown. Format 2 has the names
    of :data:`RENAMED`.

    >>> upgraded({"task": "dm", "model": {"copy_ways": 1, "link_order": True}, "notes": ""})
    {'task': 'dm', 'model': {'copy_ways': 'concept'}}
    """
    if not isinstance(values, Mapping):
        return values
    result = renamed({key: value for key, value in values.items() if key != "notes"})
    if isinstance(result.get("model"), Mapping):
        model = {key: value for key, value in result["model"].items() if key != "link_order"}
        if model.get("previous_edge") is True:
            del model["previous_edge"]
        ways = model.get("copy_ways")
        if type(ways) is int and 1 <= ways <= len(_COPY_WAYS):
            model["copy_ways"] = _COPY_WAYS[ways - 1]
        result["model"] = model
    return result
