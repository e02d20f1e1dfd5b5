# SPDX-License-Identifier: BSD-3-Clause
"""Wheel and source distribution hold what they must, and nothing else."""

import re
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import discan

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "discan"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MOST_BYTES = {"wheel": 1_500_000, "sdist": 4_000_000}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Build both, as ``make dist`` does."""
    wheels = pytest.importorskip("hatchling.builders.wheel")
    sources = pytest.importorskip("hatchling.builders.sdist")
    folder = str(tmp_path_factory.mktemp("dist"))
    (wheel,) = wheels.WheelBuilder(str(ROOT)).build(directory=folder, versions=["standard"])
    (source,) = sources.SdistBuilder(str(ROOT)).build(directory=folder, versions=["standard"])
    return {"wheel": Path(wheel), "sdist": Path(source)}


@pytest.fixture(scope="module")
def wheel(packages):
    with zipfile.ZipFile(packages["wheel"]) as file:
        yield file


def own_files():
    """Files of the package, compiled ones aside."""
    for path in PACKAGE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(PACKAGE.parent).as_posix()


def test_the_wheel_has_every_file_of_the_package(wheel):
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == set(own_files())
    for name in (
        "discan/py.typed",
        "discan/readers/senate2005.csv",
        "discan/explorer/explorer.css",
    ):
        assert name in held
    assert any(name.endswith(".js") for name in held)
    for name in held:
        assert wheel.read(name) == (PACKAGE.parent / name).read_bytes()


def test_the_wheel_says_what_it_is(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith("/METADATA")]
    metadata = Parser().parsestr(wheel.read(name).decode())
    assert metadata["Name"] == "discan"
    assert metadata["Version"] == PROJECT["version"]
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    needed = {line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line}
    assert needed == set(PROJECT["dependencies"])
    assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    entries = wheel.read(name.replace("METADATA", "entry_points.txt")).decode()
    assert "discan = discan.cli:main" in entries
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())


def test_the_source_distribution_can_be_tested(packages):
    with tarfile.open(packages["sdist"]) as file:
        held = {name.partition("/")[2] for name in file.getnames()}
    for name in (
        "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "Makefile",
        "src/discan/py.typed", "tests/conftest.py", "tests/golden/golden.json", "docs/howto.md",
        "examples/common.py", "benchmarks/run.py", "scripts/smoke.py",
    ):  # fmt: skip
        assert name in held, name
    assert {f"src/{name}" for name in own_files()} <= held
    unwanted = re.compile(r"(^|/)(__pycache__|\.git|\.venv|\.pytest_cache|build|dist)(/|$)")
    assert [name for name in held if unwanted.search(name)] == []


def test_sizes(packages):
    """The documentation states them; a file that does not belong would show."""
    for kind, most in MOST_BYTES.items():
        assert packages[kind].stat().st_size < most


def test_the_recipe_has_the_dependencies():
    recipe = (ROOT / "conda" / "meta.yaml").read_text("utf-8")
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    listed = {line.strip("- ").replace(" ", "") for line in run.splitlines()}
    assert listed == {*PROJECT["dependencies"], "python>=3.11"}


def test_workflows_name_what_is_there():
    """A target, a script or a kind of file that was renamed would fail at night only."""
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    text = "\n".join(path.read_text("utf-8") for path in workflows)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"run: make ([\w-]+)", text)
    assert len(targets) >= 5
    assert [name for name in targets if f"\n{name}: " not in makefile] == []
    named = re.findall(r"\b(?:tests|scripts)/[\w/]+\.py", text)
    assert len(named) >= 2
    assert [name for name in named if not (ROOT / name).is_file()] == []
    (kinds,) = re.findall(r"kind: \[(.*)\]", text)
    attacked = (ROOT / "tests" / "conformance" / "test_resigned.py").read_text("utf-8")
    (listed,) = re.findall(r"N_CASES = \{(.*)\}", attacked)
    assert kinds.split(", ") == re.findall(r'"(\w+)"', listed)


def test_citation_and_version_agree():
    assert discan.__version__ == PROJECT["version"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in citation
    versions = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if ":: Python :: 3." in c]
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    (tried,) = re.findall(r"^ +python: (\[.*\])$", workflow, re.MULTILINE)
    assert set(versions) <= set(re.findall(r"[\d.]+", tried))
