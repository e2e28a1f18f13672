"""The frameworks that a model can be trained for, and the module that defines each of them.

To add one, write a module as :mod:`transducer.frameworks` says, and enter it here.
"""

from __future__ import annotations

FRAMEWORKS = {
    "amr": "transducer.frameworks.amr.task",
    "dm": "transducer.frameworks.bilexical",
    "pas": "transducer.frameworks.bilexical",
    "psd": "transducer.frameworks.bilexical",
    "ucca": "transducer.frameworks.ucca",
}
"""The module of each framework, imported when it is first needed: the names alone cost nothing."""
