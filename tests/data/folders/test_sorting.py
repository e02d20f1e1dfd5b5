# SPDX-License-Identifier: BSD-3-Clause
"""Entries in any order give the documents of the same table in memory."""

import numpy as np
import pytest
from scipy import sparse

from discan.data.corpus import Corpus
from discan.data.folders import sorting
from discan.data.folders.pieces import join_pieces
from discan.data.folders.sorting import TripleSpool


@pytest.mark.parametrize("order", ["sorted", "shuffled", "by word", "one document"])
@pytest.mark.parametrize("fractions", [False, True])
@pytest.mark.parametrize("run_entries", [7, 100, 2**22])
def test_equals_the_table_in_memory(tmp_path, monkeypatch, order, fractions, run_entries):
    monkeypatch.setattr(sorting, "_FEWEST", 3)
    rng = np.random.default_rng(0)
    n, shape = 400, (30, 9)
    documents, words = rng.integers(0, 25, n), rng.integers(0, 9, n)  # pairs repeat
    documents[documents == 5] = 6  # an empty document; the last ones are empty, too
    if order == "one document":
        documents[:] = 11
    counts = rng.random(n) if fractions else rng.integers(0, 300, n).astype(float)
    if order == "sorted":
        place = np.argsort(documents, kind="stable")
    elif order == "by word":
        place = np.argsort(words, kind="stable")
    else:
        place = rng.permutation(n)
    documents, words, counts = documents[place], words[place], counts[place]
    spool = TripleSpool(tmp_path, run_entries=run_entries)
    for start in range(0, n, 13):
        part = slice(start, start + 13)
        spool.add(documents[part], words[part], counts[part], dict)
    spool.flush(dict)
    pieces = list(spool.pieces(*shape))
    found = join_pieces(pieces)
    expected = Corpus(sparse.coo_array((counts, (documents, words)), shape=shape))
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.words, expected.words)
    assert found.counts.astype(np.float64).tobytes() == expected.counts.astype(float).tobytes()
    if run_entries == 7 and order != "one document":
        assert len(pieces) > 3


def test_no_entries(tmp_path):
    (piece,) = TripleSpool(tmp_path).pieces(4, 3)
    assert piece.indptr.tolist() == [0] * 5
