# SPDX-License-Identifier: BSD-3-Clause
"""Sums over a table are those of the table."""

import numpy as np
import pytest
from scipy.special import gammaln

from discan.data.corpus import Corpus

DENSE = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [5, 0, 0, 3], [0, 0, 7, 0], [1, 1, 1, 1]])


@pytest.mark.parametrize("groups", [None, [1, 0, 1, 2]])
@pytest.mark.parametrize("scale", [1, 0.5, 2**33])
def test_sums(groups, scale):
    table = DENSE * scale
    corpus = Corpus(table, groups=groups, exposures=None)
    assert corpus.integral == (scale != 0.5)
    assert corpus.counts.dtype == (np.int32 if scale == 1 else np.float64)
    assert corpus.n_tokens == table.sum()
    assert isinstance(corpus.n_tokens, int if corpus.integral else float)
    assert corpus.lengths.tolist() == table.sum(axis=1).tolist()
    assert corpus.word_totals.tolist() == table.sum(axis=0).tolist()
    codes = corpus.layout.group_of_word
    lengths = np.stack([table[:, codes == g].sum(axis=1) for g in range(corpus.n_groups)], axis=1)
    np.testing.assert_allclose(corpus.log_count_factorials, gammaln(table + 1.0).sum(axis=1))
    np.testing.assert_allclose(corpus.log_group_factorials, gammaln(lengths + 1.0).sum(axis=1))
    assert corpus.log_exposure_powers.tolist() == [0.0] * 5
    assert corpus.total_exposures.tolist() == [corpus.n_groups] * 5
    exposures = np.where(lengths > 0, 1.5 + np.arange(5)[:, None], 0.0)
    exposed = Corpus(table, groups=groups, exposures=exposures)
    expected = (lengths * np.log(np.where(lengths > 0, exposures, 1.0))).sum(axis=1)
    np.testing.assert_allclose(exposed.log_exposure_powers, expected)


def test_exact_token_count_beyond_float():
    assert Corpus([[10**15 - 1] * 11]).n_tokens == 11 * (10**15 - 1)
