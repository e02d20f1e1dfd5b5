# SPDX-License-Identifier: BSD-3-Clause
"""Find the docstrings of the running Python's standard library; nothing is imported."""

from __future__ import annotations

import ast
import gc
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["library_docstrings"]

_NO_PROSE = {
    "antigravity", "distutils", "encodings", "ensurepip", "idlelib", "lib2to3", "pydoc_data",
    "test", "this", "turtledemo",
}  # fmt: skip


def library_docstrings() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Iterate over public modules: (module, [(full name, docstring), ...])."""
    root = Path(sysconfig.get_path("stdlib"))
    collecting = gc.isenabled()
    gc.disable()  # syntax trees are many small objects; this halves the time
    try:
        for file in _library_files(root):
            try:
                tree = ast.parse(file.read_bytes())
            except (OSError, SyntaxError, ValueError):
                continue
            parts = file.relative_to(root).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            docstrings = list(_docstrings(tree, module))
            if docstrings:
                yield module, docstrings
    finally:
        if collecting:
            gc.enable()


def _library_files(root: Path) -> Iterator[Path]:
    for name in sorted(sys.stdlib_module_names - _NO_PROSE):
        if name.startswith("_"):
            continue
        folder = root / name
        files = sorted(folder.rglob("*.py")) if folder.is_dir() else [root / f"{name}.py"]
        for file in files:
            inner = file.relative_to(root).parts
            if file.is_file() and not {"test", "tests"} & set(inner):
                yield file


def _docstrings(node: Any, name: str) -> Iterator[tuple[str, str]]:
    text = ast.get_docstring(node, clean=False)
    if text:
        yield name, text
    for inner in node.body:
        if isinstance(inner, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _docstrings(inner, f"{name}.{inner.name}")
