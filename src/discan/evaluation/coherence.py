# SPDX-License-Identifier: BSD-3-Clause
"""Coherence: whether the first words of a component occur in the same documents.

Both measures count documents, not windows of words. The measure C_V is not offered: it needs the
order of the words and a reference corpus.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from discan.data.corpus import Corpus
from discan.typing import Array
from discan.validation import one_of

__all__ = ["co_documents", "coherence", "npmi", "u_mass"]


def coherence(corpus: Corpus, lists: Sequence[Array], measure: str = "npmi") -> Array:
    """Coherence of each list of words, (K,); never NaN.

    Parameters
    ----------
    corpus : Corpus
        The documents in which the words are counted.
    lists : sequence of (n,) int arrays
        Words of each component, the first one first (see ``first_words``).
    measure : {"npmi", "u_mass"}
    """
    one_of("measure", measure, ("npmi", "u_mass"))
    of = npmi if measure == "npmi" else u_mass
    together = co_documents(corpus, lists)
    return np.array([of(table, corpus.n_documents) for table in together])


def co_documents(corpus: Corpus, lists: Sequence[Array]) -> list[Array]:
    """Number of documents that have both of two words, a table (n, n) per list.

    The diagonal holds the number of documents of each word.
    """
    used = np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *lists])).astype(np.intp)
    place = np.full(corpus.n_words, -1)
    place[used] = np.arange(len(used))
    columns = place[corpus.words]
    keep = columns >= 0
    rows = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.indptr))[keep]
    ones = np.ones(int(keep.sum()))
    table = sparse.csr_array(
        (ones, (rows, columns[keep])), shape=(corpus.n_documents, len(used))
    ).tocsc()
    return [(table[:, place[words]].T @ table[:, place[words]]).toarray() for words in lists]


def npmi(together: Array, n_documents: int) -> float:
    """Mean normalised pointwise mutual information of all pairs of words, from -1 to 1.

    ``log(p_ij / (p_i p_j)) / -log p_ij``. One document is added in which the words are independent:
    ``p_ij = (D_ij + p_i p_j) / (D + 1)``. So pairs that never meet have a finite value below 0, and
    pairs of which nothing is known, because a word is in no document, count as 0.

    Parameters
    ----------
    together : (n, n) array
        Documents that have both words; on the diagonal those that have the word.
    n_documents : int
    """
    above = np.triu_indices(len(together), 1)
    alone = np.diag(together) / max(n_documents, 1)
    by_chance = np.outer(alone, alone)[above]
    observed = (together[above] + by_chance) / (n_documents + 1)
    # both words in every document: independent, as far as can be seen
    known = (by_chance > 0) & (by_chance < 1)
    values = np.zeros(len(observed))
    values[known] = np.log(observed[known] / by_chance[known]) / -np.log(observed[known])
    return float(values.mean()) if len(values) else 0.0


def u_mass(together: Array, n_documents: int) -> float:
    """Mean of ``log((D_ij + 1) / D_j)`` over the pairs where word j precedes word i.

    Near 0 is coherent, lower is worse. If word j is in no document, the value of the pair is the
    least that there is: ``-log(D + 1)``.

    Parameters
    ----------
    together : (n, n) array
        Documents that have both words; on the diagonal those that have the word.
    n_documents : int
    """
    first, second = np.triu_indices(len(together), 1)
    alone = np.diag(together)[first]
    both = together[first, second]
    least = -np.log(n_documents + 1.0)
    values = np.where(alone > 0, np.log((both + 1.0) / np.maximum(alone, 1.0)), least)
    return float(values.mean()) if len(values) else 0.0
