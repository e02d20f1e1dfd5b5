# SPDX-License-Identifier: BSD-3-Clause
"""Names of components: given one by one, in a list, or by a function; numbers for the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from discan.errors import InputError, shown
from discan.fitting.summary import Component

__all__ = ["Given", "default_names", "read_names", "words_by_lift"]

log = logging.getLogger("discan")

Given = tuple[str | None, ...]
LONGEST = 200  # characters of a name


def default_names(noun: str, n_components: int) -> tuple[str, ...]:
    """Names of components that were given none: the noun and a number from 1."""
    return tuple(f"{noun} {k}" for k in range(1, n_components + 1))


def words_by_lift(component: Component) -> str:
    """Name a component by the three words that set it apart most; others if there are none."""
    words = component.distinctive or component.words
    return ", ".join(word.name for word in words[:3])


def read_names(
    names: Any, given: Given, defaults: Sequence[str], summary: Callable[[], Iterable[Component]]
) -> Given:
    """Return the name of each component (K,), None where it has only a number.

    Parameters
    ----------
    names : mapping, sequence or callable
        Names by number from 1 or by present name, where the others keep theirs; K names in order;
        or a function of a ``Component`` that returns a name. None and "" take a name away.
    given : (K,) names so far
    defaults : (K,) names of components that have none
    summary : callable
        Returns a ``Component`` for each component, in order.
    """
    if callable(names):
        found = [_text(names(component)) for component in summary()]
    elif isinstance(names, Mapping):
        found = list(given)
        for key, name in names.items():
            found[_find(key, given, defaults)] = _text(name)
    elif isinstance(names, Iterable) and not isinstance(names, str):
        found = [_text(name) for name in names]
        if len(found) != len(defaults):
            raise InputError(
                f"there are {len(found)} names for {len(defaults)} components; give one for each, "
                "or a mapping from the numbers of some, from 1, to their names"
            )
    else:
        raise InputError(
            f"names cannot be {shown(names)}; give a mapping from numbers to names, a list, or a "
            "function"
        )
    return _distinct(found, defaults)


def _find(key: Any, given: Given, defaults: Sequence[str]) -> int:
    """Return the place of the component that a number from 1, or a name, stands for."""
    for names in (given, defaults):
        if isinstance(key, str) and key in names:
            return list(names).index(key)
    number = int(key) if isinstance(key, str) and key.strip().isdecimal() else key
    if isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= len(defaults):
        return number - 1
    raise InputError(
        f"there is no component {shown(key)}; they are numbered 1 to {len(defaults)} and called "
        f"{shown([name or other for name, other in zip(given, defaults, strict=True)])}"
    )


def _text(name: Any) -> str | None:
    """Return a name in one line; None if it is empty."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise InputError(f"{shown(name)} is not a name; give text")
    text = " ".join(name.split())
    if len(text) > LONGEST:
        raise InputError(f"{shown(text)} has {len(text)} characters; at most {LONGEST} are allowed")
    return text or None


def _distinct(names: Sequence[str | None], defaults: Sequence[str]) -> Given:
    """Number the second and later ones of a name: every column of a table has its own."""
    names = [None if n == default else n for n, default in zip(names, defaults, strict=True)]
    used = {default for name, default in zip(names, defaults, strict=True) if name is None}
    result: list[str | None] = []
    for name in names:
        unique, n = name, 1
        while unique is not None and unique in used:
            n += 1
            unique = f"{name} ({n})"
        if unique is not None:
            used.add(unique)
            if unique != name:
                log.warning("another component is called %r; this one is called %r", name, unique)
        result.append(unique)
    return tuple(result)
