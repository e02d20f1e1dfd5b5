# SPDX-License-Identifier: BSD-3-Clause
"""The cost of merging: paired with the whole fit, on the same tokens."""

import numpy as np
import pytest

import discan
from discan.hierarchy import merging_costs
from discan.hierarchy.costs import usual_numbers


def test_costs_rise_and_agree_with_scores(flat, counts):
    corpus = discan.Corpus(counts[80:])
    rows = merging_costs(flat.tree(), corpus)
    assert [row.components for row in rows] == [6, 3, 2, 1]
    assert rows[0].cost == rows[0].cost_error == 0
    assert 0 < rows[1].cost < rows[2].cost < rows[3].cost
    for row in rows:
        score, error = flat.tree().merged(row.components).score_with_error(corpus)
        assert (row.nats_per_token, row.error) == pytest.approx((score, error))
        assert row.cost == pytest.approx(rows[0].nats_per_token - row.nats_per_token)
    # merging far components costs more than the error of the difference
    assert rows[3].cost > 5 * rows[3].cost_error > 0


def test_a_frame_of_costs(flat, counts):
    table = flat.merging_costs(counts[80:], [2], library="pandas")
    assert list(table.index) == ["6", "2"]
    assert list(table.columns) == ["nats_per_token", "error", "cost", "cost_error", "perplexity"]
    np.testing.assert_allclose(table["perplexity"], np.exp(-table["nats_per_token"]))


def test_usual_numbers():
    assert usual_numbers(50) == [50, 25, 13, 7, 4, 2, 1]
    assert usual_numbers(1) == [1]
