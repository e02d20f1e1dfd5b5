# SPDX-License-Identifier: BSD-3-Clause
"""Blocks are runs of whole documents, none of which is left out."""

import numpy as np

from discan.data import corpus as corpus_module
from discan.data.corpus import Corpus

DENSE = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [5, 0, 0, 3], [0, 0, 7, 0], [1, 1, 1, 1]])


def test_blocks_tile_the_corpus(monkeypatch):
    monkeypatch.setattr(corpus_module, "BLOCK_ENTRIES", 3)
    corpus = Corpus(np.concatenate([DENSE, np.zeros((2, 4), int)]), exposures=np.arange(1.0, 8.0))
    blocks = corpus.blocks
    assert [(b.index, b.start, b.stop) for b in blocks] == [
        (0, 0, 2),
        (1, 2, 4),
        (2, 4, 5),
        (3, 5, 7),
    ]
    assert [(b.token_start, b.token_stop) for b in blocks] == [(0, 3), (3, 18), (18, 22), (22, 22)]
    for block in blocks:
        assert block.words is corpus.words
        assert np.shares_memory(block.indptr, corpus.indptr)
        assert block.indptr.size == block.stop - block.start + 1
        assert block.levels.tolist() == corpus.levels[block.start : block.stop].tolist()


def test_empty_documents_make_one_block():
    corpus = Corpus(np.zeros((3, 2)))
    assert [(b.start, b.stop) for b in corpus.blocks] == [(0, 3)]
    assert corpus.n_tokens == 0
    assert corpus.lengths.tolist() == [0, 0, 0]
