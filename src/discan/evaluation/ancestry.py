# SPDX-License-Identifier: BSD-3-Clause
"""Tables of ancestry as the tools of population genetics read them: Q and P."""

from __future__ import annotations

import numpy as np

from discan.fitting.result import Fit
from discan.typing import Array

__all__ = ["frequencies", "table_text"]


def frequencies(fit: Fit) -> Array:
    """Rows of a P file, with a column per component, (n, K).

    A locus of two alleles has one row, the frequency of its second allele, as ADMIXTURE writes it.
    Any other locus has a row per allele.
    """
    layout = fit.layout
    of_word = layout.group_of_word
    # place of each word inside its group
    order = np.argsort(of_word, kind="stable")
    place = np.empty(layout.n_words, dtype=np.intp)
    starts = np.concatenate(([0], np.cumsum(layout.group_sizes)))[:-1]
    place[order] = np.arange(layout.n_words) - starts[of_word[order]]
    kept = (layout.group_sizes[of_word] != 2) | (place == 1)
    rows = order[kept[order]]
    return np.asarray(fit.components[:, rows].T)


def table_text(table: Array) -> str:
    """Write a table without names: numbers with six decimals, separated by spaces."""
    return "".join(" ".join(f"{value:.6f}" for value in row) + "\n" for row in table)
