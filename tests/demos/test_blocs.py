# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of the blocs are consistent and reproducible."""

from dataclasses import replace

import numpy as np
import pytest

from discan import InputError, demos
from discan.plot.palette import BRIGHT
from discan.readers.datasets import Dataset, load_senate2005


def test_numbers_add_up(blocs):
    np.testing.assert_allclose(blocs.membership.sum(axis=1), 1.0)
    np.testing.assert_allclose(blocs.outcome.sum(), 1.0)
    assert sorted(blocs.order) == list(range(100))
    assert blocs.yea.shape == (366, 3)
    assert ((blocs.seen >= 1) & (blocs.seen <= 2)).all()
    assert 0.5 < blocs.explained < 0.7
    places = [np.flatnonzero(blocs.order == blocs.typical(k, 1)[0])[0] for k in blocs.used]
    assert places == sorted(places)


def test_votes_that_set_apart(blocs):
    for k in blocs.used:
        g = blocs.apart(k, 1)[0]
        others = [blocs.yea[g, other] for other in blocs.used if other != k]
        assert not min(others) <= blocs.yea[g, k] <= max(others)


def test_same_seed_same_blocs():
    data = load_senate2005()
    first, second = (demos.find_blocs(data, 2, n_chains=1, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.membership, second.membership)
    np.testing.assert_array_equal(first.outcome, second.outcome)


def test_colours_go_from_wing_to_wing(blocs):
    paper, terminal = blocs.colours(), blocs.colours(BRIGHT, empty="")
    assert len(set(paper)) == len(paper) == len(blocs.seats)
    first, last = blocs.used[0], blocs.used[-1]
    assert (paper[first], paper[last]) == ("#174f8c", "#be4e1a")
    assert terminal[first] == BRIGHT[0][1]
    few = replace(blocs, membership=blocs.membership * [1, 1, 0])
    assert few.colours()[2] == "#c9c9c9"
    assert few.colours(empty="")[2] == ""
    assert "nearly empty: C (0.0 seats)" in few.left_empty


def test_refusals():
    data = load_senate2005()
    with pytest.raises(InputError, match="n_chains"):
        demos.find_blocs(data, n_chains=0)
    text = Dataset(data.corpus.select([0]), group_table={"agreed": np.ones(3, bool)})
    text.corpus.layout = replace(text.corpus.layout, n_groups=1)
    with pytest.raises(InputError, match="yea and nay"):
        demos.find_blocs(text)
