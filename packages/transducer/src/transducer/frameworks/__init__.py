"""What each framework needs around the model: before it, and after decoding.

A framework is a module that defines ``TASK``, a subclass of
:class:`transducer.frameworks.tasks.Task`: how its graphs become examples and rows become graphs,
what its trees look like, and what may come next in them. To add one, write the module and enter it
in :mod:`transducer.registry`; nothing else in this package knows the frameworks by name.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from transducer.registry import FRAMEWORKS

if TYPE_CHECKING:
    from transducer.frameworks.tasks import Task


def task_of(framework: str) -> type[Task]:
    """Return what a framework defines."""
    task: type[Task] = import_module(FRAMEWORKS[framework]).TASK
    return task
