# SPDX-License-Identifier: BSD-3-Clause
"""Q and P files for tools of population genetics."""

import io

import numpy as np

import discan
from discan.evaluation.ancestry import frequencies, table_text

RNG = np.random.default_rng(0)


def test_one_row_per_locus_of_two_alleles_and_one_per_allele_of_others():
    components = np.array([[0.2, 0.8, 0.5, 0.25, 0.25, 0.9, 0.1]])
    groups = [0, 0, 1, 1, 1, 2, 2]
    fit = discan.MPCA.from_components(components, groups=groups).fit_
    np.testing.assert_allclose(frequencies(fit)[:, 0], [0.8, 0.5, 0.25, 0.25, 0.1])


def test_columns_of_a_locus_need_not_be_side_by_side():
    fit = discan.MPCA.from_components([[0.2, 0.6, 0.8, 0.4]], groups=[0, 1, 0, 1]).fit_
    np.testing.assert_allclose(frequencies(fit)[:, 0], [0.8, 0.4])


def test_numbers_are_read_again():
    table = RNG.dirichlet([1, 1, 1], 5)
    text = table_text(table)
    np.testing.assert_allclose(np.loadtxt(io.StringIO(text)), table, atol=5e-7)
    assert text.count("\n") == 5
