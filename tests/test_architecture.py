# SPDX-License-Identifier: BSD-3-Clause
"""Imports go one way, and optional packages stay optional."""

import ast
import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
FILES = sorted((SOURCE / "discan").rglob("*.py"))

UPPER = {"models", "algorithms", "engines", "fitting", "estimators"}
FORBIDDEN = {"data": UPPER, "models": UPPER - {"models"}}


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
            names = [name if base == "discan" or name in MODULES else base for name in submodules]
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


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_imports_go_one_way(path):
    here = layer(module_name(path))
    layers = {layer(name) for name in imported_modules(path)}
    if here == "kernels":
        assert layers <= {"kernels"}
    assert not layers & FORBIDDEN.get(here, set())
    if here not in ("cli", "__main__"):
        assert "cli" not in layers


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_licence_line(path):
    assert path.read_text("utf-8").startswith("# SPDX-License-Identifier: BSD-3-Clause\n")


def test_import_leaves_optional_packages_alone():
    code = "import sys, discan; print(*{m.split('.')[0] for m in sys.modules})"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    loaded = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "discan" in loaded
    assert not {"pandas", "polars", "plotly", "dask"} & set(loaded)


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
