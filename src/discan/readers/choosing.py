# SPDX-License-Identifier: BSD-3-Clause
"""Choose the words of texts to keep, by the numbers of documents that hold them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from discan.errors import InputError
from discan.readers.tokens import TextOptions, read_frequency
from discan.typing import Array

__all__ = ["FEW_DOCUMENTS", "Limits", "check_fields", "limits_of", "most_frequent", "nothing_left"]

FEW_DOCUMENTS = 20
"""With fewer documents, no word is dropped for its document frequency unless asked for."""


class Limits(NamedTuple):
    """Fewest and most documents that a word may be in."""

    lowest: int
    highest: int

    def allow(self, frequencies: Array) -> Array:
        """Tell which words to keep, by the number of documents that each is in."""
        return (frequencies >= self.lowest) & (frequencies <= self.highest)


def limits_of(options: TextOptions, n_documents: int) -> Limits:
    """Return the limits that options ask for."""
    few = n_documents < FEW_DOCUMENTS
    min_df = read_frequency("min_df", options.min_df)
    max_df = read_frequency("max_df", options.max_df)
    lowest = _documents(1 if few else 2, min_df, n_documents, upwards=True)
    highest = _documents(1.0 if few else 0.5, max_df, n_documents, upwards=False)
    if lowest > highest:
        raise InputError(
            f"min_df asks for words of {lowest} documents or more and max_df for {highest} or "
            f"fewer, of {n_documents}; lower min_df or raise max_df"
        )
    return Limits(lowest, highest)


def most_frequent(totals: Array, counted: Array, n_words: int) -> Array:
    """Tell which words to keep so that at most ``n_words`` of those that count are left.

    Parameters
    ----------
    totals : (n,) array
        How often each word occurs.
    counted : (n,) bool array
        False for labels, which are always kept.
    n_words : int
    """
    places = np.flatnonzero(counted)
    order = np.argsort(-totals[places], kind="stable")
    kept = np.ones(totals.size, dtype=bool)
    kept[places[order[n_words:]]] = False
    return kept


def check_fields(origin: str, fields: Sequence[str], groups: Array) -> None:
    """Refuse a field without a word."""
    for field, name in enumerate(fields):
        if not (groups == field).any():
            raise InputError(
                f"{origin}: field {name!r} has no word left; leave the field out, or "
                "change min_df, max_df, max_words, stop_words or vocabulary"
            )


def nothing_left(
    origin: str, n_documents: int, n_words: int, n_rare: int, n_frequent: int, limits: Limits
) -> InputError:
    """Return the error that no word is left; ``n_words`` were found."""
    start = f"{origin}: no word is left of {n_documents} documents"
    if n_words == 0:
        return InputError(
            f"{start}; they are empty or hold only stop words and numbers",
            remedy="look at the file",
            use={"stop_words": "none", "numbers": True},
        )
    return InputError(
        f"{start}: of {n_words} different words, {n_rare} are in fewer than {limits.lowest} "
        f"documents and {n_frequent} in more than {limits.highest}; lower min_df or raise max_df"
    )


def _documents(default: int | float, given: int | float | None, n: int, upwards: bool) -> int:
    """Return a limit of document frequency as a number of documents."""
    limit = default if given is None else given
    if isinstance(limit, int):
        return limit
    share = limit * n  # 0.1 * 30 is a little above 3
    return max(1, math.ceil(share - 1e-9) if upwards else math.floor(share + 1e-9))
