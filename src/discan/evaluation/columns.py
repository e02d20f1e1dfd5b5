# SPDX-License-Identifier: BSD-3-Clause
"""The words that two fits have in common, and their components over these words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discan.data.layout import Layout
from discan.errors import InputError
from discan.fitting.result import Fit
from discan.typing import Array

__all__ = ["Shared", "shared_columns"]


@dataclass(frozen=True, eq=False)
class Shared:
    """Components of two fits over the words that both have.

    Attributes
    ----------
    first, second : (K, J) and (L, J) arrays
        Rows sum to one inside each group.
    layout : Layout
        The common words and their groups.
    weights : (G,) array
        Mean counts of the groups.
    left_out : float
        Larger of the two shares of probability that fell on words which only one fit has.
    """

    first: Array
    second: Array
    layout: Layout
    weights: Array
    left_out: float


def shared_columns(first: Fit, second: Fit) -> Shared:
    """Find the words that two fits have in common: by name and group, or by place without names."""
    one, two = first.layout, second.layout
    if one.word_names is None or two.word_names is None:
        if one.n_words != two.n_words or (one.group_of_word != two.group_of_word).any():
            raise InputError(
                f"the fits have {one.n_words:,} and {two.n_words:,} words in {one.n_groups} and "
                f"{two.n_groups} groups, without names to match them by",
                remedy="compare fits to the same columns",
            )
        here = there = np.arange(one.n_words)
    else:
        place = {key: j for j, key in enumerate(_keys(two))}
        pairs = [(j, place[key]) for j, key in enumerate(_keys(one)) if key in place]
        if not pairs:
            raise InputError(
                "the fits have no word in common", remedy="compare fits to the same kind of data"
            )
        here, there = np.array(pairs).T
    groups, codes = np.unique(one.group_of_word[here], return_inverse=True)
    layout = Layout(len(here), codes.astype(np.int32), len(groups))
    kept = [fit.components[:, at] for fit, at in ((first, here), (second, there))]
    weights = np.asarray(first.group_totals)[groups]
    # a component that has none of the common words of a group is flat there
    sums = [layout.group_sums(table.T).T for table in kept]
    left_out = max(float(1.0 - np.average(total.mean(axis=0), weights=weights)) for total in sums)
    normal = [
        np.where(
            total[:, codes] > 0,
            table / np.maximum(total[:, codes], 1e-300),
            1.0 / layout.group_sizes[codes],
        )
        for table, total in zip(kept, sums, strict=True)
    ]
    return Shared(normal[0], normal[1], layout, weights, left_out)


def _keys(layout: Layout) -> list[tuple[str, str]]:
    """Name of each word with that of its group, if there are several."""
    words = layout.word_names or ()
    if layout.n_groups == 1:
        return [("", word) for word in words]
    groups = layout.group_names or tuple(map(str, range(layout.n_groups)))
    return [(groups[g], word) for g, word in zip(layout.group_of_word, words, strict=True)]
