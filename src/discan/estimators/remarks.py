# SPDX-License-Identifier: BSD-3-Clause
"""Remarks on data that a fit can use, but that are probably not what was meant."""

from __future__ import annotations

import logging

import numpy as np
from scipy import sparse

from discan.data.corpus import Corpus
from discan.errors import DiscanError, InputError
from discan.fitting.result import Fit
from discan.typing import Array

__all__ = ["remark_on_data", "remark_on_fit"]

log = logging.getLogger("discan")

FEWEST_TOKENS = 20  # per component
LOOKED_AT = 2**17  # entries
FEWEST_MULTIPLES = 20


def remark_on_data(corpus: Corpus, n_components: int) -> None:
    """Say if the counts look like tf-idf, or if they are too few for so many components."""
    for remark in (_too_many(corpus, n_components), _weighted(corpus)):
        if remark is not None:
            log.warning(remark)


def remark_on_fit(fit: Fit) -> None:
    """Say if components are empty, or if several chains disagree."""
    if fit.documents is None:
        return
    if fit.chains is not None:
        troubled = not fit.chains.agree or any("not mixed" in line for line in fit.chains.report)
        for line in fit.chains.report:
            log.log(logging.WARNING if troubled else logging.INFO, line)
    empty = int((fit.documents.totals < 1.0).sum())
    if empty:
        log.warning(
            InputError(
                f"{empty} of {fit.n_components} {fit.nouns.components} explain less than one count "
                "each",
                use={"n_components": max(fit.n_components - empty, 1)},
            )
        )


def _too_many(corpus: Corpus, n_components: int) -> DiscanError | None:
    """Return a remark if there are too many components for the data.

    A table of I documents and J words in G groups has at most min(I, J - G + 1) components that
    are not mixtures of each other; and a component of a few tokens is noise.
    """
    lengths, n_documents = corpus.length_table
    documents = int(n_documents[lengths > 0].sum())
    words = int((corpus.word_totals > 0).sum())
    most = max(1, min(documents, words - corpus.n_groups + 1))
    by_tokens = max(1, int(corpus.n_tokens) // FEWEST_TOKENS)
    if n_components <= min(most, by_tokens):
        return None
    nouns = corpus.nouns
    tokens = f"{corpus.n_tokens:,}" if corpus.integral else f"{corpus.n_tokens:,.6g}"
    return InputError(
        f"{n_components} {nouns.components} are too many for the data: {documents:,} "
        f"{nouns.documents}, {words:,} {nouns.words}, {tokens} counts",
        use={"n_components": min(most, by_tokens)},
    )


def _weighted(corpus: Corpus) -> DiscanError | None:
    """Return a remark if fractions look like tf-idf or like proportions."""
    if corpus.integral:
        return None
    how = _how_weighted(corpus)
    if how is None:
        return None
    return InputError(
        f"the counts are fractions that look {how}; the models need the counts themselves, because "
        "a large count says more than a small one",
        remedy="leave the weighting out, e.g. use CountVectorizer",
    )


def _how_weighted(corpus: Corpus) -> str | None:
    first = max(corpus.blocks_of(LOOKED_AT)[0].stop, 2)
    rows = corpus.select(slice(0, first)).to_csr().astype(np.float64)
    some = np.diff(rows.indptr) > 1  # a row of one entry has length 1 by chance
    if some.sum() >= 2:
        squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()[some]
        if np.allclose(squares, 1.0, atol=1e-5):
            return "like tf-idf (every row has length 1)"
        if np.allclose(np.asarray(rows.sum(axis=1)).ravel()[some], 1.0, atol=1e-5):
            return "like proportions (every row sums to 1)"
    return (
        "like tf-idf (every column is a weight times whole numbers)" if _multiples(rows) else None
    )


def _multiples(rows: sparse.csr_array) -> bool:
    """Whether each column holds whole multiples of a unit of its own.

    The unit is the smallest entry of the column, or the smallest difference of two entries.
    """
    order = np.lexsort((rows.data, rows.indices))
    columns, values = rows.indices[order], rows.data[order]
    steps = np.diff(values, prepend=0.0)
    first = np.concatenate(([True], columns[1:] != columns[:-1]))
    steps[first] = values[first]
    steps[steps <= 1e-9 * values] = np.inf  # the same entry again
    units = np.minimum.reduceat(steps, np.flatnonzero(first))
    ratio: Array = values / units[np.cumsum(first) - 1]
    several = ratio > 1.5
    shared = values / units.min()
    if several.sum() < FEWEST_MULTIPLES or (np.abs(shared - np.rint(shared)) < 1e-6 * shared).all():
        return False  # one unit for all columns, as in ratings with half stars
    whole = np.abs(ratio - np.rint(ratio)) < 1e-6 * ratio
    return bool(whole[several].mean() > 0.95)
