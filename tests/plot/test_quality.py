# SPDX-License-Identifier: BSD-3-Clause
"""Quality against K: the best, and the smallest within one standard error."""

import numpy as np
import pandas
import pytest

import discan
from discan import plot


def test_quality():
    table = {3: [2.0, 2.2], 2: [1.0, 1.1], 5: [2.1, 2.25]}
    figure = plot.quality(table)
    mean = figure.data[1]
    np.testing.assert_array_equal(mean.x, [2, 3, 5])
    np.testing.assert_allclose(mean.y, [1.05, 2.1, 2.175])
    np.testing.assert_allclose(mean.error_y.array, [0.05, 0.1, 0.075])
    assert figure.layout.meta["best"] == 5
    assert figure.layout.meta["one_standard_error"] == 3
    frame = pandas.DataFrame(list(table.values()), index=list(table))
    np.testing.assert_allclose(plot.quality(frame).data[1].y, mean.y)
    perplexity = plot.quality({k: np.negative(v) for k, v in table.items()}, higher_is_better=False)
    assert perplexity.layout.meta["one_standard_error"] == 3
    single = plot.quality({2: 1.0, 3: 2.0})
    assert single.layout.meta["one_standard_error"] is None
    assert single.layout.meta["best"] == 3


def test_quality_of_a_grid_search():
    from sklearn.model_selection import GridSearchCV

    counts = np.random.default_rng(0).poisson(2.0, (24, 6))
    estimator = discan.LDA(max_iter=3, random_state=0, progress=False)
    search = GridSearchCV(estimator, {"n_components": [1, 2]}, cv=3).fit(counts)
    figure = plot.quality(search.cv_results_)
    np.testing.assert_allclose(figure.data[1].y, search.cv_results_["mean_test_score"])
    assert figure.layout.meta["best"] == search.best_params_["n_components"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot.quality({}), "no scores"),
        (lambda: plot.quality([1, 2]), "no scores"),
        (lambda: plot.quality({0: 1.0}), "K=0"),
        (lambda: plot.quality({"many": 1.0}), "K='many'"),
        (lambda: plot.quality({2: [np.nan]}), "scores of K=2"),
        (lambda: plot.quality({"split0_test_score": [1.0]}), "did not vary n_components"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call, message, refused):
    refused(call, message)
