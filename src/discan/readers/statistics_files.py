# SPDX-License-Identifier: BSD-3-Clause
"""Read surveys as Stata (.dta) and SPSS (.sav) keep them, through pandas, with their labels."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import wraps
from typing import Any

from discan.data.corpus import Corpus
from discan.data.frames import frame_as_csv
from discan.readers.categorical import read_categorical
from discan.readers.guess import reader
from discan.readers.source import Source, TextSource

__all__ = ["read_spss", "read_stata"]


def _loaded(source: Source, load: str, packages: tuple[str, ...]) -> TextSource:
    """Return the table of a file as text; labels stand in place of codes."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            problem = f"reading it needs the package {package}: pip install {package}; or save it"
            raise source.error(f"{problem} as CSV, with labels")
    import pandas

    with source.faults("cannot be read by pandas"):
        try:
            frame = getattr(pandas, load)(source.path)
        except ValueError as error:
            if "not unique" not in str(error):  # labels that repeat: the codes are read
                raise
            frame = getattr(pandas, load)(source.path, convert_categoricals=False)
    return TextSource(str(source.path), frame_as_csv(frame))


def _table_reader(
    load: str, packages: tuple[str, ...]
) -> Callable[[Callable[..., Corpus]], Callable[..., Corpus]]:
    """Read a table of answers by a function of pandas; use as a decorator."""

    def decorate(function: Callable[..., Corpus]) -> Callable[..., Corpus]:
        @wraps(read_categorical)
        def read(source: Source, *arguments: Any, **options: Any) -> Corpus:
            table = _loaded(source, load, packages)
            return function(table, *arguments, **{"delimiter": ",", "header": True, **options})

        return read

    return decorate


@reader(
    "stata",
    "Stata's .dta, a table of answers with their labels (needs pandas)",
    endings=(".dta",),
)
@_table_reader("read_stata", ("pandas",))
def read_stata(source: Source, *arguments: Any, **options: Any) -> Corpus:
    """Read a table of answers."""
    return read_categorical(source, *arguments, **options)


@reader(
    "spss",
    "SPSS' .sav, a table of answers with their labels (needs pandas and pyreadstat)",
    endings=(".sav", ".zsav"),
    sniff=lambda source: source.head.startswith(("$FL2", "$FL3")),
)
@_table_reader("read_spss", ("pandas", "pyreadstat"))
def read_spss(source: Source, *arguments: Any, **options: Any) -> Corpus:
    """Read a table of answers."""
    return read_categorical(source, *arguments, **options)
