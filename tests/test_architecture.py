# SPDX-License-Identifier: BSD-3-Clause
"""Imports go one way and in no circle, nothing private is read from outside, names match."""

import ast
import importlib
import os
import pkgutil
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from discan.algorithms import Algorithm

SOURCE = Path(__file__).parents[1] / "src"
FILES = sorted((SOURCE / "discan").rglob("*.py"))

# What each part may import, besides itself and the modules at the top.
BELOW = {
    "kernels": set(),
    "data": set(),
    "engines": set(),
    "readers": {"data", "kernels"},
    "models": {"data"},
    "algorithms": {"data", "engines", "kernels", "models"},
    "fitting": {"data", "engines", "kernels", "models", "algorithms"},
    "evaluation": {"data", "engines", "kernels", "models", "algorithms", "fitting"},
    "search": {"kernels", "data", "engines", "models", "algorithms", "fitting", "readers"},
    "hierarchy": {"data", "engines", "algorithms", "fitting", "evaluation"},
    "estimators": {
        "data", "engines", "models", "algorithms", "fitting", "evaluation", "hierarchy", "search",
    },
    "selection": {
        "data", "engines", "models", "algorithms", "fitting", "evaluation", "estimators",
    },
    "plot": {"data", "evaluation", "fitting", "hierarchy"},
    "reporting": {"data", "engines", "fitting", "models", "plot"},
    "explorer": {"data", "evaluation", "fitting", "plot", "reporting"},
    "demos": {"algorithms", "data", "estimators", "fitting", "plot", "readers", "reporting"},
    "cli": {
        "algorithms", "data", "demos", "engines", "estimators", "evaluation", "explorer", "fitting",
        "hierarchy", "models", "plot", "readers", "reporting", "search", "selection",
    },
    "__main__": {"cli"},
}  # fmt: skip
TOP = {"errors", "registry", "typing", "validation"}
# The algorithm in eleven verbs.
VERBS = {
    "refusal", "plan", "init", "init_state", "prepare", "begin_step", "step", "update", "finish",
    "read", "infer",
}  # fmt: skip


def module_name(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path) for path in FILES}


def layer(module):
    """The part of discan that a module belongs to, "" for the package itself."""
    return [*module.split("."), ""][1]


def imported_modules(path, text=None):
    """Modules of ours that a file imports, anywhere in it, absolutely or relatively."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package.pop()
    for node in ast.walk(ast.parse(path.read_text("utf-8") if text is None else text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*base, *([node.module] if node.module else [])])
            submodules = [f"{base}.{alias.name}" for alias in node.names]
            # `from discan.fitting import run` imports discan.fitting.run, but
            # `from discan.fitting.run import x` imports no module discan.fitting.run.x.
            names = [name if name in MODULES else base for name in submodules]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "discan")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import numpy, discan.fitting.run", ["discan.fitting.run"]),
        ("from discan.fitting import run", ["discan.fitting.run"]),
        ("from . import corpus", ["discan.data.corpus"]),
        ("from .corpus import Corpus", ["discan.data.corpus"]),
        ("from ..fitting.run import Run", ["discan.fitting.run"]),
        ("from .. import cli", ["discan.cli"]),
        ("def f():\n    from discan.cli import main", ["discan.cli"]),
    ],
)
def test_this_test_sees_imports(text, expected):
    assert list(imported_modules(SOURCE / "discan" / "data" / "splits.py", text)) == expected


def test_every_part_is_known():
    """No module lies loose at the top beside those that all parts use."""
    assert {layer(name) for name in MODULES} == {"", *BELOW, *TOP}
    for name in TOP:
        assert (SOURCE / "discan" / f"{name}.py").is_file()


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_imports_go_one_way(path):
    here = layer(module_name(path))
    layers = {layer(name) for name in imported_modules(path)} - {here}
    if here == "kernels":
        assert not layers
    elif here in TOP | {""}:
        assert layers <= TOP | {""}
    else:
        assert layers <= BELOW[here] | TOP | {""}


def test_there_are_no_import_cycles():
    """Imports inside functions count: a cycle that is imported late is still a cycle."""
    graph = {module_name(path): set(imported_modules(path)) - {module_name(path)} for path in FILES}
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError


def own_names(tree):
    """Names that a module defines: functions, classes, and attributes that it assigns."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def private_reads(text):
    """Private attributes and names of other modules of ours that a module reads."""
    tree = ast.parse(text)
    own = set(own_names(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in own:
            if not isinstance(node.value, ast.Name) or node.value.id not in ("self", "cls"):
                yield node.attr
        elif isinstance(node, ast.ImportFrom) and "discan" in (node.module or "."):
            yield from (alias.name for alias in node.names if is_private(alias.name))


def is_private(name):
    # namedtuples have public methods whose names begin with an underscore
    return name.startswith("_") and not name.startswith("__") and name not in TUPLE_METHODS


TUPLE_METHODS = {"_asdict", "_fields", "_make", "_replace"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("estimator._layout", ["_layout"]),
        ("from discan.fitting.run import _check", ["_check"]),
        ("class A:\n    def _f(self): ...\ndef g(a): a._f()", []),
        ("self._x", []),
        ("super()._blend(x)", ["_blend"]),
        ("x.__dict__", []),
    ],
)
def test_this_test_sees_private_reads(text, expected):
    assert list(private_reads(text)) == expected


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_nothing_private_is_read_from_outside(path):
    found = set(private_reads(path.read_text("utf-8")))
    assert not found - FOREIGN.get(module_name(path), set())


# Private names of other libraries, which have no public form.
FOREIGN = {
    "discan.estimators.features": {"_check_feature_names_in"},
}


def test_an_algorithm_has_eleven_verbs():
    verbs = {name for name, value in vars(Algorithm).items() if callable(value)}
    assert {name for name in verbs if not name.startswith("_")} == VERBS


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_licence_line(path):
    assert path.read_text("utf-8").startswith("# SPDX-License-Identifier: BSD-3-Clause\n")


def test_tests_are_the_same_tree():
    """A folder of tests has a package beside it, and a test file a module of its name."""
    here = Path(__file__).parent
    packages = {
        path.name for path in (SOURCE / "discan").iterdir() if (path / "__init__.py").exists()
    }
    folders = {path.name for path in here.iterdir() if next(path.glob("test_*.py"), None)}
    assert folders - packages == {"conformance", "statistics"}
    assert packages - folders == set()


def test_import_leaves_optional_packages_alone():
    code = "import sys, discan; print(*{m.split('.')[0] for m in sys.modules})"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    loaded = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "discan" in loaded
    assert not {"pandas", "polars", "plotly", "dask"} & set(loaded)


def test_import_leaves_the_garbage_collector_alone():
    code = (
        "import gc\n"
        "def state(): return gc.get_freeze_count(), gc.isenabled(), gc.get_threshold()\n"
        "before = state(); import discan; discan.DCA; assert before == state()"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


@pytest.mark.parametrize("name", ["discan.models", "discan.algorithms", "discan.readers"])
def test_a_new_file_is_found_by_itself(name):
    package = importlib.import_module(name)
    for module in pkgutil.iter_modules(package.__path__):
        assert f"{name}.{module.name}" in sys.modules


def test_kernels_with_reordered_sums_exist_once():
    """A helper that is not inlined has two copies, whose sums may be in different orders."""
    reordered = []
    for found in pkgutil.iter_modules([str(SOURCE / "discan" / "kernels")]):
        module = importlib.import_module(f"discan.kernels.{found.name}")
        for name, value in vars(module).items():
            options = getattr(value, "targetoptions", {})
            if "reassoc" in (options.get("fastmath") or ()) and name.startswith("_"):
                reordered.append((module.__name__, name, options.get("forceinline", False)))
    assert len(reordered) >= 5
    assert all(inlined for *_, inlined in reordered), reordered
