# SPDX-License-Identifier: BSD-3-Clause
"""Find a model or an algorithm by its name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

from discan.errors import InputError

__all__ = ["Registry", "import_all"]

T = TypeVar("T")


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


def import_all(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, so that what a new file registers is found by itself."""
    for module in pkgutil.iter_modules(path):
        importlib.import_module(f"{package}.{module.name}")
