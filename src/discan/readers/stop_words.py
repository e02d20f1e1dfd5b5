# SPDX-License-Identifier: BSD-3-Clause
"""The English stop words."""

from __future__ import annotations

import importlib.util
import runpy
from functools import cache
from pathlib import Path

__all__ = ["english_stop_words"]


@cache
def english_stop_words() -> frozenset[str]:
    """Return scikit-learn's list of English stop words.

    Only the file that holds the list is run: importing all of scikit-learn takes longer than
    reading most data.
    """
    package = importlib.util.find_spec("sklearn")
    if package is not None and package.origin is not None:
        file = Path(package.origin).parent / "feature_extraction" / "_stop_words.py"
        if file.is_file():
            return frozenset(runpy.run_path(str(file))["ENGLISH_STOP_WORDS"])
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)
