# SPDX-License-Identifier: BSD-3-Clause
"""What a corpus is made of, and how it is indexed and shown."""

import numpy as np
import pytest

from discan.data.corpus import Corpus
from discan.errors import InputError

DENSE = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [5, 0, 0, 3], [0, 0, 7, 0], [1, 1, 1, 1]])


def test_of_and_repr():
    corpus = Corpus(DENSE, groups=["a", "a", "b", "b"])
    assert Corpus.of(corpus) is corpus
    assert Corpus.of(corpus, groups=[0, 0, 1, 1]) is corpus
    assert len(Corpus.of(DENSE)) == 5
    with pytest.raises(InputError, match="groups differ"):
        Corpus.of(corpus, groups=[0, 1, 1, 1])
    assert repr(corpus) == (
        "<Corpus: 5 documents x 4 words, 22 tokens in 9 non-zeros (45 %), 2 groups>"
    )


def test_a_corpus_is_indexed_by_documents():
    corpus = Corpus(DENSE, document_names=list("abcde"), exposures=np.arange(1.0, 6.0))
    assert corpus.shape == (5, 4)
    assert corpus[[3, 1]].document_names == ("d", "b")
    assert corpus[1:3].exposures.ravel().tolist() == [2.0, 3.0]
    assert corpus[np.arange(5) > 2, ...].shape == (2, 4)
    assert corpus[[0], :].document_names == ("a",)
    assert corpus[-1].document_names == ("e",)
    with pytest.raises(IndexError, match="outside"):
        corpus[5]
    with pytest.raises(InputError, match="documents alone"):
        corpus[[0], 1]
    with pytest.raises(TypeError):
        iter(corpus)
    with pytest.raises(TypeError):
        np.asarray(corpus)
