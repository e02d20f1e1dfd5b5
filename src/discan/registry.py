# SPDX-License-Identifier: BSD-3-Clause
"""Find a model or an algorithm by its name."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from discan.errors import InputError

__all__ = ["Entry", "Registry", "declared", "entries", "import_all"]

T = TypeVar("T")


class Entry(NamedTuple):
    """A registered class: its full name, its short name, and what it is in one line.

    ``summary`` is the class attribute of that name, or the docstring's first line.
    """

    name: str
    short: str
    summary: str

    @property
    def shown(self) -> str:
        """The name that help and messages use: the full name if it is one word."""
        return self.short if "-" in self.name else self.name


class Registry(Generic[T]):
    """Classes by full name and by short name; ``@registry.register`` adds one."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._classes: dict[str, type[T]] = {}

    def register(self, cls: type[T]) -> type[T]:
        """Add a class under its ``name`` and ``short`` name; use as a decorator."""
        described: Any = cls
        self._classes[described.name] = self._classes[described.short] = cls
        return cls

    def __iter__(self) -> Iterator[type[T]]:
        """Iterate over the classes, in the order they were registered."""
        return iter(dict.fromkeys(self._classes.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """All names that ``find`` knows, full and short."""
        return tuple(self._classes)

    def entry(self, cls: Any) -> Entry:
        """Return the names and the summary of a registered class."""
        summary = vars(cls).get("summary") or _first_line(cls.__doc__)
        return Entry(cls.name, cls.short, summary)

    def find(self, choice: Any) -> T:
        """Return an instance for a name, a class or an instance."""
        if isinstance(choice, str) and choice.lower() in self._classes:
            return self._classes[choice.lower()]()
        for cls in self:
            if choice is cls:
                return cls()
            if isinstance(choice, cls):
                return choice
        raise InputError(
            "{} is not known", argument=self.kind, value=choice, use={self.kind: self.names}
        )


def declared(package: str) -> tuple[Entry, ...]:
    """List the classes that the files of a package register, without importing the package.

    Help and completion use this list: importing algorithms takes seconds, reading the files
    takes milliseconds.
    """
    spec = importlib.util.find_spec(package)
    folders = (spec.submodule_search_locations if spec else None) or ()
    texts = (
        path.read_text("utf-8") for folder in folders for path in sorted(Path(folder).glob("*.py"))
    )
    nodes = (node for text in texts if ".register\n" in text for node in ast.parse(text).body)
    return tuple(_declared(node) for node in nodes if _registers(node))


def entries(package: str) -> tuple[Entry, ...]:
    """List the registered classes of a package; if it is not imported, those that it declares."""
    module = sys.modules.get(package)
    if module is None:
        return declared(package)
    registry = next(value for value in vars(module).values() if isinstance(value, Registry))
    return tuple(registry.entry(cls) for cls in registry)


def import_all(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, so that what a new file registers is found by itself."""
    for module in pkgutil.iter_modules(path):
        importlib.import_module(f"{package}.{module.name}")


def _registers(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and any(
        isinstance(decorator, ast.Attribute) and decorator.attr == "register"
        for decorator in node.decorator_list
    )


def _declared(node: Any) -> Entry:
    """Read the class attributes that are text."""
    values: dict[str, Any] = {
        ast.unparse(target): part.value.value
        for part in node.body
        if isinstance(part, (ast.Assign, ast.AnnAssign)) and isinstance(part.value, ast.Constant)
        for target in (part.targets if isinstance(part, ast.Assign) else [part.target])
    }
    summary = values.get("summary") or _first_line(ast.get_docstring(node))
    return Entry(values["name"], values["short"], summary)


def _first_line(docstring: str | None) -> str:
    """Return the first line of a docstring, without the full stop."""
    return (docstring or "").strip().partition("\n")[0].removesuffix(".")
