# SPDX-License-Identifier: BSD-3-Clause
"""A corpus folder holds a corpus, with its names and all that is known of it."""

import json

import numpy as np

from discan.data.folders.shards import load_folder


def assert_same(folder, corpus):
    """The folder holds the corpus, with its names and all that is known of it."""
    found = load_folder(folder)
    assert found.digest == corpus.digest
    for part in ("word_names", "group_names", "n_words"):
        assert getattr(found.layout, part) == getattr(corpus.layout, part)
    np.testing.assert_array_equal(found.layout.group_of_word, corpus.layout.group_of_word)
    for part in ("indptr", "words", "counts", "left_out"):
        np.testing.assert_array_equal(getattr(found, part), getattr(corpus, part))
        assert getattr(found, part).dtype == getattr(corpus, part).dtype
    assert found.document_names == corpus.document_names
    assert (found.nouns, found.reading) == (corpus.nouns, json.loads(json.dumps(corpus.reading)))
    assert list(found.metadata) == list(corpus.metadata)
    for name, column in corpus.metadata.items():
        assert found.metadata[name].dtype == column.dtype
        np.testing.assert_array_equal(found.metadata[name], column)
    if corpus.exposures is not None:
        np.testing.assert_array_equal(found.exposures, corpus.exposures)
