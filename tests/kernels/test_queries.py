# SPDX-License-Identifier: BSD-3-Clause
"""The kernel of queries equals its twin."""

import numpy as np
import pytest

from discan.kernels import queries
from discan.kernels.twins import queries as twins
from discan.search.shares import AllShares, top_shares

EVERYTHING = slice(0, 50)


def found(*given):
    logs = np.full(len(given[6]), np.nan)
    queries.tokens_in_turn(*given, logs)
    return logs


def arguments(dtype, n_components, n_tokens, top, mixes):
    """50 documents; the shares of some are almost all of one component."""
    rng = np.random.default_rng(n_components)
    table = rng.dirichlet(np.full(n_components, 0.2), 50)
    shares = AllShares(table)
    if top:
        shares = top_shares(table, top, np.full(n_components, 1.0 / n_components), np.float64)
    loadings = rng.random((n_tokens, n_components)).astype(dtype)
    loadings[:, ::3] = 0.0
    own = rng.random((50, n_tokens)) * mixes
    inverse = np.append(rng.random(49) / 10, 0.0)  # the last shares are known exactly
    return *shares.parts(EVERYTHING, dtype), inverse, loadings, own


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-5), (np.float64, 1e-12)])
@pytest.mark.parametrize("n_components", [1, 2, 7, 8, 9, 33])
@pytest.mark.parametrize("n_tokens", [1, 2, 12])
@pytest.mark.parametrize("top", [None, 1, 6])
@pytest.mark.parametrize("mixes", [0, 1])
def test_tokens_in_turn(dtype, rtol, n_components, n_tokens, top, mixes):
    given = arguments(dtype, n_components, n_tokens, top, mixes)
    before = [array.copy() for array in given]
    np.testing.assert_allclose(found(*given), twins.tokens_in_turn(*given), rtol=rtol, atol=rtol)
    for array, copy in zip(given, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_what_is_impossible_and_what_is_nearly_so():
    values = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    nothing = np.empty(0)
    loadings = np.array([[1e-200, 0.0], [0.5, 0.0], [1e-200, 1e-5]])
    given = (
        values, np.empty((0, 0), np.int32), nothing, nothing, np.full(3, 0.1), loadings,
        np.zeros((3, 3)),
    )  # fmt: skip
    logs = found(*given)
    np.testing.assert_allclose(logs, twins.tokens_in_turn(*given), rtol=1e-12)
    assert logs[2] == -np.inf
    assert np.isfinite(logs[:2]).all()


def test_long_queries_leave_the_range_of_no_number():
    """Products of many small or large probabilities are taken apart in time."""
    given = list(arguments(np.float64, 9, 2000, None, 0))
    for scale in (1e-3, 1e3):
        scaled = [*given[:5], given[5] * scale, given[6]]
        logs = found(*scaled)
        np.testing.assert_allclose(logs, twins.tokens_in_turn(*scaled), rtol=1e-10)
        assert np.isfinite(logs).all()


def test_two_tokens_are_exact():
    """E[(y_1 m)(y_2 m)] of a Dirichlet: the mean of products, by its second moments."""
    given = arguments(np.float64, 7, 2, None, 0)
    values, inverse, loadings = given[0], given[4], given[5]
    first, second = values @ loadings[0], values @ loadings[1]
    both = values @ (loadings[0] * loadings[1])
    expected = (first * second + both * inverse) / (1.0 + inverse)
    np.testing.assert_allclose(found(*given), np.log(expected), rtol=1e-12)
