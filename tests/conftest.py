# SPDX-License-Identifier: BSD-3-Clause
"""What tests share: the cells of models and algorithms, runs of any cell, and planted data."""

import numpy as np
import pytest

from discan.algorithms import ALGORITHMS
from discan.fitting.starting import begin
from discan.fitting.task import Task
from discan.models import MODELS


def cells(of=lambda algorithm: algorithm()):
    """Every model with every algorithm that fits it, as parameters (model, ``of(algorithm)``)."""
    return [
        pytest.param(model.short, of(algorithm), id=f"{model.short}-{algorithm.short}")
        for model in MODELS
        for algorithm in ALGORITHMS
        if not algorithm().refusal(model(), frozenset())
    ]


def make_run(corpus, model, algorithm, prior, *, init="auto", engine=None, **options):
    """Begin a run of a prepared model; options are those of a ``Task``."""
    options["learn"] = frozenset(options.get("learn", ()))
    return begin(Task(corpus, model, algorithm, prior, **options), init, engine)


def fit_run(corpus, model, algorithm, prior, *, max_iter=None, tol=1e-5, **options):
    """Fit a prepared model; options are those of ``make_run``."""
    run = make_run(corpus, model, algorithm, prior, **options)
    run.advance(max_iter, tol, progress=False)
    return run.result()


def planted(rng, shape, n_components, gamma, alpha):
    """Draw components (K, J), then proportions (I, K), for a table of shape (I, J)."""
    n_documents, n_words = shape
    components = rng.dirichlet(np.full(n_words, gamma), n_components)
    return components, rng.dirichlet(np.broadcast_to(alpha, n_components), n_documents)


def counted(rng, lengths, proportions, components):
    """Draw documents of the given lengths (I,): counts (I, J)."""
    rows = zip(lengths, proportions @ components, strict=True)
    return np.array([rng.multinomial(length, chances) for length, chances in rows])


def not_repeated(estimator):
    """Checks of scikit-learn that ask for another meaning of weights, and why they fail."""
    reason = "a weight makes one longer document, not several equal ones"
    form = "check_sample_weight_equivalence_on_{}_data"
    return {form.format(kind): reason for kind in ("dense", "sparse")}
