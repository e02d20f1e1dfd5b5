# SPDX-License-Identifier: BSD-3-Clause
"""Describe the options of a reader, and turn their text into values by the types declared."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from discan.errors import InputError

__all__ = ["Option", "options_of"]

_PATH_OR_NONE = {NoneType, os.PathLike[str]}
_LISTS_OF_WORDS = {Iterable[str], Sequence[str]}
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class Option:
    """An option: its name, its default, a sentence of help, and the types it takes."""

    name: str
    default: Any
    help: str
    kinds: frozenset[Any]

    def parse(self, text: Any) -> Any:
        """Return the value that a text stands for; what is not text is a value already."""
        if not isinstance(text, str):
            return text
        text = text.replace("\\t", "\t")
        if self.kinds == {str}:
            return text
        if self.kinds == {bool}:
            return self._truth(text)
        if self.kinds == {bool, str}:
            return {"true": True, "false": False}.get(text.lower(), text)
        if self.kinds & _LISTS_OF_WORDS:
            is_list = "," in text or str not in self.kinds
            return tuple(text.split(",")) if is_list else text
        if "," in text and len(text) > 1:
            return tuple(_scalar(part) for part in text.split(","))
        return _scalar(text)

    def takes(self, value: Any) -> bool:
        """Whether a value that a model remembers has one of the types of the option."""
        if value is None:
            return self.default is None
        if isinstance(value, dict):
            return any(get_origin(kind) is Mapping for kind in self.kinds)
        listed = [
            _kinds(get_args(kind)[0])
            for kind in self.kinds
            if get_origin(kind) in (Sequence, Iterable)
        ]
        if not isinstance(value, (list, tuple)):
            return any(_is_of(value, kinds) for kinds in (self.kinds, *listed))
        return any(all(_is_of(item, kinds) for item in value) for kinds in listed)

    def _truth(self, text: str) -> bool:
        if text.lower() not in _TRUTH:
            use = {self.name: (True, False)}
            raise InputError("{}", argument=self.name, value=text, use=use)
        return _TRUTH[text.lower()]


def options_of(function: Callable[..., Any]) -> dict[str, Option]:
    """Return the options of a reader or a dataclass, as its signature declares them.

    The help of an option is the text in its ``Annotated`` type. The source, which comes first in
    every reader, is no option.
    """
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    return {
        p.name: Option(p.name, p.default, _help(hints[p.name]), _kinds(hints[p.name]))
        for p in parameters
        if p.kind is not p.VAR_KEYWORD and p.name not in ("source", "like")
    }


def _help(hint: Any) -> str:
    return str(get_args(hint)[1]) if get_origin(hint) is Annotated else ""


def _kinds(hint: Any) -> frozenset[Any]:
    """Return the types in a union; paths are given as text, and None cannot be given at all."""
    if get_origin(hint) is Annotated:
        return _kinds(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return frozenset().union(*map(_kinds, get_args(hint)))
    return frozenset({hint}) - _PATH_OR_NONE


def _is_of(value: Any, kinds: frozenset[Any]) -> bool:
    """Whether a value has one of these types; a whole number is a number."""
    return type(value) in kinds or (type(value) is int and float in kinds)


def _scalar(text: str) -> Any:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return {"true": True, "false": False}.get(text.lower(), text)
