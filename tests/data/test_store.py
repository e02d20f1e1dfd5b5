# SPDX-License-Identifier: BSD-3-Clause
"""A corpus comes back from its file as it was."""

import numpy as np
import pytest

from discan.data.corpus import Corpus
from discan.data.nouns import Nouns
from discan.data.store import load_corpus, save_corpus

W = np.array([[1, 0, 2, 0], [0, 0, 0, 3], [4, 1, 0, 0]])


@pytest.mark.parametrize("exposures", [None, [[1.0, 2.0], [0.5, 1.0], [1.0, 1.0]]])
def test_round_trip(tmp_path, exposures):
    corpus = Corpus(
        W, groups=[0, 0, 1, 1], exposures=exposures, word_names=list("abcd"),
        group_names=["x", "y"], document_names=["p", "q", "r"], nouns=Nouns("cell", "gene"),
        metadata={"age": np.array([1.0, np.nan, 3.0]), "kind": ["u", None, "v"]},
        reading={"format": "csv"},
    )  # fmt: skip
    save_corpus(corpus, tmp_path / "c.discan")
    again = load_corpus(tmp_path / "c.discan")
    assert again.digest == corpus.digest
    assert (again.exposures is None) == (exposures is None)
    if exposures is not None:
        np.testing.assert_array_equal(again.exposures, exposures)
    assert again.layout.word_names == tuple("abcd")
    assert again.layout.group_names == ("x", "y")
    assert again.document_names == ("p", "q", "r")
    assert again.nouns == corpus.nouns
    assert again.reading == {"format": "csv"}
    np.testing.assert_array_equal(again.metadata["age"], [1.0, np.nan, 3.0])
    assert list(again.metadata["kind"]) == ["u", None, "v"]
