"""graphconv and evaltools never import torch, and --help of no command imports anything slow."""

import importlib.util
import pkgutil
import resource
import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "spacy", "scipy", "numpy", "networkx", "penman", "matplotlib")


def _loaded(script: str, names: tuple[str, ...]) -> list[str]:
    """Run *script* in a new interpreter and return which of *names* it imported."""
    tail = f"\nimport sys; print(*[n for n in {names!r} if n in sys.modules], file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script + tail], capture_output=True, text=True, check=True
    )
    return done.stderr.split()


def _modules(package: str) -> list[str]:
    spec = importlib.util.find_spec(package)
    assert spec
    assert spec.submodule_search_locations
    found = pkgutil.walk_packages(spec.submodule_search_locations, f"{package}.")
    # interop and testing are for those who have installed something more.
    return [m.name for m in found if m.name.split(".")[1] not in ("interop", "testing", "__main__")]


@pytest.mark.parametrize("package", ["graphconv", "evaltools"])
def test_no_module_imports_torch(package: str) -> None:
    script = "\n".join(f"import {name}" for name in _modules(package))
    assert _loaded(script, ("torch", "transformers")) == []


@pytest.mark.parametrize("package", ["graphconv", "evaltools", "transducer"])
def test_help_is_fast(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    script = f"from {package}.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    assert _loaded(script, HEAVY) == []
    before = _children_seconds()
    subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert _children_seconds() - before < 0.5


def _children_seconds() -> float:
    """Return the processor time of finished children; unlike the clock it ignores other load."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def test_a_model_is_outlined_without_the_compiler_of_torch() -> None:
    pytest.importorskip("torch")
    script = (
        "import torch\nfrom transducer.outline import outlined\n"
        "with outlined(): torch.nn.Embedding(3, 2, padding_idx=0), torch.nn.Linear(2, 2)"
    )
    assert _loaded(script, ("torch._dynamo",)) == []
