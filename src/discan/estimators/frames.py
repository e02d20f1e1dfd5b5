# SPDX-License-Identifier: BSD-3-Clause
"""Results as data frames with real names."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

from discan.errors import InputError
from discan.typing import Array

__all__ = ["frame"]

LIBRARIES = ("pandas", "polars")


def frame(
    library: str | None, kind: str, names: Sequence[str], columns: Mapping[str, Array]
) -> Any:
    """Make a pandas frame indexed by name, or a polars frame with the names as first column.

    Parameters
    ----------
    library : {"pandas", "polars"} or None
        None is the one that is installed; pandas, if both are.
    kind : str
        What the rows are, the title of their names.
    names : (n,) names of the rows
    columns : mapping of str to (n,) array
    """
    if library is None:
        library = _installed()
    if library not in LIBRARIES:
        raise InputError("{}", argument="library", value=library, use={"library": LIBRARIES})
    module = importlib.import_module(library)
    if library == "pandas":
        return module.DataFrame(dict(columns), index=module.Index(list(names), name=kind))
    own = {title if title != kind else f"{title} (2)": values for title, values in columns.items()}
    return module.DataFrame({kind: list(names), **own})


def _installed() -> str:
    for library in LIBRARIES:
        if importlib.util.find_spec(library) is not None:
            return library
    raise InputError("a data frame needs a library for data frames; install pandas or polars")
