# SPDX-License-Identifier: BSD-3-Clause
"""What tests share: runs of any cell, and data with planted components."""

import numpy as np

from discan.fitting.run import Task
from discan.fitting.starting import begin


def make_run(corpus, model, algorithm, prior, *, init="auto", engine=None, **options):
    """Begin a run of a prepared model; options are those of a ``Task``."""
    options["learn"] = frozenset(options.get("learn", ()))
    return begin(Task(corpus, model, algorithm, prior, **options), init, engine)


def fit_run(corpus, model, algorithm, prior, *, max_iter=None, tol=1e-5, **options):
    """Fit a prepared model; options are those of ``make_run``."""
    run = make_run(corpus, model, algorithm, prior, **options)
    run.advance(max_iter, tol, progress=False)
    return run.result()


def planted_counts(rng, components, alpha, lengths):
    """Draw documents of the given lengths (I,) from components (K, J): counts (I, J)."""
    proportions = rng.dirichlet(alpha, len(lengths))
    rows = zip(lengths, proportions @ components, strict=True)
    return np.array([rng.multinomial(n, p / p.sum()) for n, p in rows])
