# SPDX-License-Identifier: BSD-3-Clause
"""Groups, exposures and names are read, or refused."""

import numpy as np
import pytest

from discan.data.corpus import Corpus
from discan.errors import InputError

DENSE = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [5, 0, 0, 3], [0, 0, 7, 0], [1, 1, 1, 1]])


def test_groups_by_number_and_by_label():
    by_number = Corpus(DENSE, groups=[1, 0, 1, 2])
    by_label = Corpus(DENSE, groups=["x", "y", "x", "z"])
    assert by_number.layout.group_of_word.tolist() == [1, 0, 1, 2]
    assert by_label.layout.group_of_word.tolist() == [0, 1, 0, 2]
    assert by_label.layout.group_names == ("x", "y", "z")
    assert by_label.layout.group_of_word.dtype == np.int32
    assert by_label.layout.group_sizes.tolist() == [2, 1, 1]
    assert Corpus(DENSE, groups=[0.0, 1.0, 1.0, 0.0]).n_groups == 2
    named = Corpus(DENSE, groups=[0, 1, 1, 0], group_names=["this", "that"])
    assert named.layout.group_names == ("this", "that")


@pytest.mark.parametrize(
    "groups",
    [
        [0, 1],
        [[0, 0, 1, 1]],
        [0, -1, 0, 1],
        [0, 2, 2, 0],
        [1, 1, 1, 1],
        [0, 10**15, 1, 1],
        [0, np.nan, 1, 1],
        [0, 0.5, 1, 1],
        [0, np.inf, 1, 1],
        ["a", None, "b", "b"],
        np.array(["a", np.nan, "b", "b"], dtype=object),
        "abcd",
        3,
    ],
)
def test_bad_groups(groups):
    with pytest.raises(InputError, match="group"):
        Corpus(DENSE, groups=groups)


def test_exposures():
    corpus = Corpus(DENSE, groups=[0, 0, 1, 1], exposures=np.array([[1, 2]] * 4 + [[2, 2]]))
    assert corpus.exposure_levels.tolist() == [3.0, 4.0]
    assert corpus.levels.tolist() == [0, 0, 0, 0, 1]
    assert Corpus(DENSE, exposures=[1, 0, 1, 1, 1]).exposures.shape == (5, 1)
    with pytest.raises(InputError, match="document 2 holds 3 counts in group 1"):
        Corpus(DENSE, groups=[0, 0, 1, 1], exposures=[[1, 1], [1, 1], [1, 0], [1, 1], [1, 1]])
    for bad in (np.ones((5, 3)), np.ones(4), -np.ones(5), np.full(5, np.nan), ["a"] * 5, [[1], 2]):
        with pytest.raises(InputError, match="exposure"):
            Corpus(DENSE, exposures=bad)


def test_names():
    corpus = Corpus(DENSE, word_names=[1, 2, 3, 3])
    assert corpus.layout.word_names == ("1", "2", "3", "3")
    for bad in ("abcd", ["a"], 7):
        with pytest.raises(InputError, match="word_names"):
            Corpus(DENSE, word_names=bad)
