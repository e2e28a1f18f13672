"""Hypothesis profiles for all tests: ``dev`` by default, ``thorough`` in ``nox -s property``."""

import importlib.util
import os

from hypothesis import HealthCheck, settings

_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile(
    "dev", max_examples=100, deadline=None, derandomize=True, suppress_health_check=_SLOW
)
settings.register_profile("thorough", max_examples=3000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# Modules that only whoever has an optional package can import.
_COMPONENT = "packages/transducer/src/transducer/parsing/spacy_component.py"
collect_ignore = [] if importlib.util.find_spec("spacy") else [_COMPONENT]
