# SPDX-License-Identifier: BSD-3-Clause
"""Callbacks of scikit-learn see each cycle of a fit, and can stop it."""

import numpy as np
import pytest

import discan

pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")

X = np.random.default_rng(0).poisson(1.0, (40, 12))


class Watcher:
    """Note the hooks, and stop after some cycles."""

    def __init__(self, stop_after=None):
        self.seen, self.scores, self.stop_after = [], [], stop_after

    def setup(self, estimator, context):
        self.seen.append("setup")

    def teardown(self, estimator, context):
        self.seen.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.seen.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        self.seen.append(f"end {context.task_name}")
        self.scores.append(fitted_estimator.score(X))
        return context.task_name == "cycle" and len(self.scores) == self.stop_after


@pytest.mark.parametrize("algorithm", ["map", "collapsed"])
def test_each_cycle_is_a_task(algorithm):
    watcher = Watcher()
    model = discan.LDA(2, algorithm=algorithm, learn=(), max_iter=5, tol=0.0, random_state=0)
    model.set_callbacks(watcher).fit(X)
    assert watcher.seen[:2] == ["setup", "begin fit"]
    assert watcher.seen[2:-2] == ["begin cycle", "end cycle"] * 5
    assert watcher.seen[-2:] == ["end fit", "teardown"]
    assert watcher.scores[-1] == model.score(X)
    assert len(set(watcher.scores[:-1])) > 1  # each is that of its own cycle


def test_a_callback_stops_the_fit():
    model = discan.LDA(2, algorithm="map", max_iter=50, tol=0.0, random_state=0)
    model.set_callbacks(Watcher(stop_after=3)).fit(X)
    assert model.n_iter_ == 3


def test_the_same_bits_with_and_without():
    plain = discan.LDA(2, max_iter=6, random_state=0).fit(X)
    watched = discan.LDA(2, max_iter=6, random_state=0).set_callbacks(Watcher()).fit(X)
    np.testing.assert_array_equal(plain.components_, watched.components_)


def test_several_chains_are_refused():
    with pytest.raises(discan.InputError, match="one chain"):
        discan.LDA(2, n_chains=2, max_iter=4).set_callbacks(Watcher()).fit(X)
