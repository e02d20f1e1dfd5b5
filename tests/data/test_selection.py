# SPDX-License-Identifier: BSD-3-Clause
"""Documents are selected by a slice, a mask or their numbers."""

import numpy as np
import pytest

from discan.data.corpus import Corpus
from discan.errors import DiscanError

DENSE = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [5, 0, 0, 3], [0, 0, 7, 0], [1, 1, 1, 1]])


def bits(corpus):
    arrays = (corpus.indptr, corpus.words, corpus.counts)
    return tuple((array.dtype.str, array.shape, array.tobytes()) for array in arrays)


@pytest.mark.parametrize(
    "documents", [[3, 0, 3], slice(1, 4), [-1], np.array([True, False, True, False, True])]
)
def test_select(documents):
    corpus = Corpus(
        DENSE, groups=[0, 0, 1, 1], exposures=np.ones((5, 2)), document_names=list("vwxyz")
    )
    chosen = corpus.select(documents)
    assert bits(chosen) == bits(Corpus(DENSE[documents]))
    assert chosen.document_names == tuple(np.array(list("vwxyz"))[documents])
    assert chosen.exposures.shape == (len(chosen), 2)


def test_select_tightens_and_refuses():
    corpus = Corpus([[0.5, 1], [2, 3]])
    assert corpus.select([1]).counts.dtype == np.int32
    for bad in ([], [2], [-3], [0.5], [True], [[0]]):
        with pytest.raises(DiscanError):
            corpus.select(bad)
