"""What `nox` runs: all sessions but those with ``default=False``, which are opt-in.

Every test runs once: those of graphconv and evaltools in tests_core, which has no torch, so that
they cannot depend on it; those of the transducer and across the packages in tests. Environments
hold what constraints.txt pins and nothing else; `install` checks it.
"""

import os
import re
import shutil
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "venv"
nox.options.reuse_venv = "yes"
nox.options.error_on_missing_interpreters = False  # `pythons` says which are missing

ROOT = Path(__file__).parent
GROUPS = nox.project.load_toml("pyproject.toml")
CORE = ("packages/graphconv", "packages/evaltools")
PACKAGES = (*CORE, "packages/transducer")
# With what it needs to train and to serve.
EVERYTHING = (*CORE, "packages/transducer[serve,train]")
OTHER_PYTHONS = [
    version
    for version in ("3.11", "3.12", "3.13")
    if version != f"{sys.version_info.major}.{sys.version_info.minor}"
]
STRANGERS = (
    *("ucca==1.3.11", "perin-parser==0.0.23", "zensols.amr==0.2.10"),
    *("pyemd==1.1.0", "POT==0.9.7.post1"),  # zensols.amr needs the first, and that the second
)
"""Official tools, or packages with a copy of one, whose dependencies cannot or need not be had."""
ATHERIS = "atheris==3.0.0"


def install(session: nox.Session, *groups: str, packages: tuple[str, ...] = ()) -> None:
    """Install dependency groups and our packages (editable) with the pinned versions."""
    session.install(
        "--quiet",
        "--constraint=constraints.txt",
        *nox.project.dependency_groups(GROUPS, *groups),
        *(f"--editable={package}" for package in packages),
    )
    session.run("python", "tools/environment.py", "pinned", silent=True)


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff, and the import contracts between the packages."""
    install(session, "lint")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    sources = ":".join(str(ROOT / package / "src") for package in PACKAGES)
    session.run("lint-imports", "--no-cache", env={"PYTHONPATH": sources})


@nox.session
def typecheck(session: nox.Session) -> None:
    """Mypy, strict, on the packages, their tests and the tools."""
    install(session, "typecheck", packages=EVERYTHING)
    session.run("mypy", *session.posargs)


@nox.session
def tests_core(session: nox.Session) -> None:
    """The tests of graphconv and evaltools, in an environment without torch."""
    install(session, "test", packages=("packages/graphconv[png]", "packages/evaltools"))
    session.run("python", "-c", "import torch", success_codes=[1], silent=True)
    session.run("pytest", *CORE, "tests/test_imports.py", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """The tests of the transducer, and those across the packages."""
    install(session, "test", "notebook", packages=(*CORE, "packages/transducer[serve,spacy,train]"))
    session.run("pytest", "packages/transducer", "tests", *session.posargs)


@nox.session(python=OTHER_PYTHONS)
def pythons(session: nox.Session) -> None:
    """The tests of graphconv and evaltools with the other Pythons that are here.

    `nox -s pythons-3.13 -- transducer` is for the transducer, too: the index has torch for that
    Python, on Linux with some gigabytes of CUDA.
    """
    whole = "transducer" in session.posargs
    install(session, "test", packages=EVERYTHING if whole else CORE)
    folders = (*PACKAGES, "tests") if whole else (*CORE, "tests/test_imports.py")
    session.run("pytest", "-q", "-m", "not oracle and not slow and not property", *folders)


@nox.session(reuse_venv=False)
def licences(session: nox.Session) -> None:
    """Licences, number and reasons of what `pip install -r requirements.txt` installs."""
    session.install("--quiet", "--requirement=requirements.txt")
    session.run("python", "tools/environment.py", "licences", "pinned")


@nox.session(name="property", default=False)
def property_(session: nox.Session) -> None:
    """The laws with thousands of examples, and the slow tests."""
    install(session, "test", packages=EVERYTHING)
    session.run(
        "pytest",
        "-m",
        "(property or slow) and not oracle",
        *session.posargs,
        env={"HYPOTHESIS_PROFILE": "thorough"},
    )


@nox.session(reuse_venv=False)  # it has what is not pinned
def oracle(session: nox.Session) -> None:
    """Compare with the official tools: ucca, penman, smatch, smatchpp, mtool, WLK; in short."""
    judge(session, {"ORACLE_GRAPHS": "60", "ORACLE_PASSAGES": "200", "ORACLE_SEEDS": "1"})


@nox.session(default=False, reuse_venv=False)  # it has what is not pinned
def oracle_long(session: nox.Session) -> None:
    """The same comparison on more graphs, for a quarter of an hour."""
    judge(session, {})


def judge(session: nox.Session, sample: dict[str, str]) -> None:
    """Run the comparison with the official tools on a sample of the treebanks' graphs."""
    install(session, "oracle", packages=CORE)
    session.install("--quiet", "--no-deps", *STRANGERS)
    session.run("pytest", "-m", "oracle", *CORE, "tests/oracle", *session.posargs, env=sample)


@nox.session
def models(session: nox.Session) -> None:
    """Parse twenty sentences with each model that ships, and compare with stored graphs.

    The encoder is fetched if it is not in the cache. `-- --update` stores the graphs anew.
    """
    install(session, packages=EVERYTHING)
    session.run("python", "tools/check_models.py", *session.posargs)


@nox.session(default=False, reuse_venv=False)
def lowest(session: nox.Session) -> None:
    """The default tests with the lowest version of everything that the packages require.

    `nox -s lowest -- core` leaves out the transducer, whose lowest torch comes with CUDA.
    """
    core = "core" in session.posargs
    packages = CORE if core else EVERYTHING
    constraints = Path(session.create_tmp()) / "lowest.txt"
    constraints.write_text("".join(f"{line}\n" for line in lowest_versions()), encoding="utf-8")
    session.install(
        "--quiet",
        f"--constraint={constraints}",
        *nox.project.dependency_groups(GROUPS, "test"),
        *(f"--editable={package}" for package in packages),
    )
    session.run("pytest", *CORE, *(() if core else ("packages/transducer", "tests")))


def lowest_versions() -> list[str]:
    """Return the lower bounds that the packages and the test tools declare, as constraints."""
    declared = [*nox.project.dependency_groups(GROUPS, "test")]
    for package in PACKAGES:
        project = nox.project.load_toml(f"{package}/pyproject.toml")["project"]
        declared += project["dependencies"]
        declared += [
            line for extra in project.get("optional-dependencies", {}).values() for line in extra
        ]
    bounds: dict[str, tuple[int, ...]] = {}
    for line in declared:
        bound = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", line)
        if bound:  # of several bounds of a package the highest holds
            version = tuple(map(int, bound[2].split(".")))
            bounds[bound[1]] = max(version, bounds.get(bound[1], ()))
    return sorted(f"{name}=={'.'.join(map(str, version))}" for name, version in bounds.items())


@nox.session(default=False)
def mutants(session: nox.Session) -> None:
    """Break the code in many places, one at a time; the default tests must notice each."""
    install(session, "test", packages=EVERYTHING)
    session.run("python", "tools/mutants.py", *session.posargs)


@nox.session
def browser(session: nox.Session) -> None:
    """The page in Chromium, and the API against /openapi.json.

    Without Chromium it is skipped, unless it is named or CI is set: then that is an error.
    """
    if not any(map(shutil.which, ("chromium", "chromium-browser"))):
        message = "there is no chromium on the path (Debian: apt-get install chromium)"
        if os.environ.get("CI") or any("browser" in argument for argument in sys.argv[1:]):
            session.error(message)
        session.skip(message)
    install(session, "browser", packages=EVERYTHING)
    folder = "packages/transducer/tests"
    session.run(
        *("pytest", f"{folder}/test_page.py", f"{folder}/test_serving_api.py", *session.posargs),
        env={"ARBORA_BROWSER": "1"},
    )


@nox.session(default=False)
def attack(session: nox.Session) -> None:
    """Ten minutes of damaged files, sudden ends and bad models; --seconds, --seed, --inputs."""
    install(session, packages=EVERYTHING)
    session.run("python", "tools/attack.py", *session.posargs)


@nox.session(default=False, reuse_venv=False)  # it has what is not pinned
def fuzz(session: nox.Session) -> None:
    """Coverage-guided fuzzing of every reader, ten minutes each; `-- --seconds 60 amr sdp`."""
    install(session, packages=EVERYTHING)
    session.install("--quiet", ATHERIS)
    session.run("python", "tools/fuzz.py", *session.posargs)


@nox.session(default=False)
def ray(session: nox.Session) -> None:
    """The three commands on a Ray cluster of two workers, which are killed, too."""
    install(session, "test", packages=(*CORE, "packages/transducer[ray,serve,train]"))
    session.run("pytest", "tests/test_ray.py", *session.posargs)


@nox.session(default=False, reuse_venv=False)  # it has what is not pinned
def bench(session: nox.Session) -> None:
    """Speed and memory; the arguments are those of tools/bench.py."""
    install(session, packages=EVERYTHING)
    session.install("--quiet", "--no-deps", *STRANGERS)
    session.install("--quiet", "--constraint=constraints.txt", "tqdm", "requests")
    for name in session.posargs[:1] or ("graphconv", "evaltools", "transducer"):
        session.run("python", "tools/bench.py", name, *session.posargs[1:])


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the site, warnings as errors; run every example of README, docs and docstrings."""
    install(session, "docs", packages=EVERYTHING)
    session.run("sphinx-build", "-q", "-W", "-E", "-b", "html", "docs", "docs/_build/html")
    session.run("pytest", "-m", "not oracle", "tests/test_docs.py", *session.posargs)
    session.run("pytest", "-m", "not oracle", *(f"{package}/src" for package in PACKAGES))


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """Build the wheels in dist/, check them, and try them in a clean environment."""
    install(session, "build")
    wheels = ROOT / "dist"
    for package in PACKAGES:
        session.run("python", "-m", "build", "--outdir", str(wheels), package, silent=True)
    built = sorted(str(path) for path in wheels.glob("arbora_*"))
    session.run("twine", "check", "--strict", *built)
    clean = Path(session.create_tmp()) / "clean"
    session.run("python", "-m", "venv", "--clear", str(clean))
    session.run(
        str(clean / "bin" / "pip"),
        "install",
        "--quiet",
        "--constraint=constraints.txt",
        *(path for path in built if path.endswith(".whl")),
        external=True,
    )
    for package in PACKAGES:
        session.run(str(clean / "bin" / Path(package).name), "--help", silent=True, external=True)


@nox.session(default=False)
def pin(session: nox.Session) -> None:
    """Write constraints.txt anew from what a clean environment resolves to."""
    groups = nox.project.dependency_groups(
        GROUPS, "test", "notebook", "lint", "typecheck", "browser", "build", "docs", "oracle"
    )
    session.install("--quiet", "torch==2.13.0", *groups)
    editable = (
        "packages/graphconv[all]",
        "packages/evaltools",
        "packages/transducer[ray,serve,spacy,train]",
    )
    session.install("--quiet", *(f"--editable={package}" for package in editable))
    frozen = session.run(
        *("python", "-m", "pip", "freeze", "--all", "--exclude=pip", "--exclude-editable"),
        silent=True,
    )
    # A local version such as 2.13.0+cpu names one wheel; the public one accepts all of them.
    lines = [line.split("+")[0] for line in str(frozen).splitlines()]
    header = "# Everything that the packages and the tools resolve to; made by `nox -s pin`.\n"
    Path("constraints.txt").write_text(header + "\n".join(lines) + "\n", encoding="utf-8")
