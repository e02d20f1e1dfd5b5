# SPDX-License-Identifier: BSD-3-Clause
"""Errors that a caller can catch, with the argument at fault and the remedy as fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = [
    "Argument",
    "DiscanError",
    "InputError",
    "LimitError",
    "ModelFileError",
    "StorageError",
    "alternatives",
    "python_setting",
    "shown",
]

Setting = Callable[..., str]


def shown(value: Any) -> str:
    """Return the ``repr`` of a value in one short line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def python_setting(name: str, *values: Any) -> str:
    """Word an argument and its values as Python does: ``format='lines' or 'jsonl'``."""
    return f"{name}={alternatives('...' if value is ... else shown(value) for value in values)}"


def alternatives(texts: Iterable[str]) -> str:
    """Join texts as a sentence does: "a, b or c"."""
    *others, last = texts
    return f"{', '.join(others)} or {last}" if others else last


class Argument:
    """An argument and its values in a remark; the command line words it as a shell takes it.

    ``others`` are more arguments, {name: value}.
    """

    def __init__(self, name: str, *values: Any, others: Mapping[str, Any] | None = None) -> None:
        self.pairs = [(name, values), *((n, (v,)) for n, v in (others or {}).items())]

    def worded(self, setting: Setting) -> str:
        """Return the text; ``setting(name, *values)`` words an argument and its values."""
        return ", ".join(setting(name, *values) for name, values in self.pairs)

    def __str__(self) -> str:
        """Word the argument as Python does."""
        return self.worded(python_setting)


class DiscanError(Exception):
    """Every error that discan raises on purpose.

    Parameters
    ----------
    problem : str
        What is wrong, and where. With an ``argument``, its first ``{}`` stands for
        ``argument=value``.
    argument : str, optional
        The argument at fault.
    value : optional
        What was given for it.
    use : mapping, optional
        What to use instead: {argument: value or tuple of values}; ``...`` stands for any value.
    remedy : str, optional
        What to do otherwise, in words.

    Examples
    --------
    >>> str(InputError("{} is not known", argument="format", value="x", use={"format": ("csv",)}))
    "format='x' is not known; use one of 'csv'"
    """

    def __init__(
        self,
        problem: str = "",
        *,
        argument: str | None = None,
        value: Any = None,
        use: Mapping[str, Any] | None = None,
        remedy: str = "",
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.argument = argument
        self.value = value
        self.use = dict(use or {})
        self.remedy = remedy

    def worded(self, setting: Setting, value: Callable[[Any], str] = repr) -> str:
        """Return the message; ``setting(name, *values)`` words an argument and its values.

        ``value`` words a value that stands alone, in a list of what the argument may be.
        """
        text = self.problem
        if self.argument is not None:
            text = text.replace("{}", setting(self.argument, self.value), 1)
        advice = ", or ".join(part for part in (self.remedy, self._instead(setting, value)) if part)
        return f"{text}; {advice}" if advice else text

    def _instead(self, setting: Setting, value: Callable[[Any], str]) -> str:
        """Word what to use instead."""
        choices = {name: v if isinstance(v, tuple) else (v,) for name, v in self.use.items()}
        if self.argument is not None and set(choices) == {self.argument}:
            return f"use one of {', '.join(map(value, choices[self.argument]))}"
        pairs = [setting(name, *values) for name, values in choices.items()]
        return f"use {', or '.join(pairs)}" if pairs else ""

    def __str__(self) -> str:
        """Return the message, arguments worded as Python does."""
        return self.worded(python_setting)


class InputError(DiscanError, ValueError):
    """The data or a setting is wrong; the message says where and what to do."""


class LimitError(DiscanError, ValueError):
    """The data or a setting is larger than discan can handle."""


class ModelFileError(DiscanError, ValueError):
    """A model file is damaged, incomplete or of an unknown version."""


class StorageError(DiscanError, OSError):
    """Reading from or writing to the disk failed."""
