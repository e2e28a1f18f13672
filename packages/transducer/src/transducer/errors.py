"""The errors that users of the transducer can meet; each is one sentence."""

from __future__ import annotations


class TransducerError(Exception):
    """Root of all errors of this package about configuration, models and data."""


class ConfigError(TransducerError, ValueError):
    """A recipe, a config file or a ``--set`` is wrong."""


class ModelError(TransducerError):
    """A model directory is missing, damaged or of another version."""


class TrainingError(TransducerError):
    """Training cannot start or cannot go on."""


class LostProcessError(TransducerError):
    """Another process of a distributed run is gone."""
