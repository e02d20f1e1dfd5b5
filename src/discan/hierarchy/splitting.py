# SPDX-License-Identifier: BSD-3-Clause
"""Look inside a component: the part of the data that it explains, to be fitted again."""

from __future__ import annotations

import numpy as np

from discan.data.corpus import Corpus
from discan.engines import Engine
from discan.errors import InputError
from discan.fitting.result import Fit

__all__ = ["LEAST", "component_number", "inside"]

AT_ONCE = 2**18  # entries x components that are worked on at once
LEAST = 0.01  # expected tokens of an entry, below which it is left out


def inside(fit: Fit, component: int, corpus: Corpus, engine: Engine | None = None) -> Corpus:
    """Return the corpus of a component's expected counts E[v_ijk], with the same documents.

    The tokens of an entry are divided among the components in the ratio of score times loading, at
    the posterior means of both. Entries of less than a hundredth of a token are left out. To fit
    this corpus again is a heuristic: a partition, step by step, without a joint likelihood of both
    levels.

    Parameters
    ----------
    fit : Fit
    component : int
        From 0.
    corpus : Corpus
        Documents in the columns of the fit.
    engine : Engine, optional
    """
    scores = fit.infer(corpus, engine).scores
    loadings = fit.mean_loadings
    documents = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.indptr))
    counts = np.empty(corpus.n_entries)
    step = max(1, AT_ONCE // fit.n_components)
    for start in range(0, corpus.n_entries, step):
        entries = slice(start, start + step)
        parts = scores[documents[entries]] * loadings[corpus.words[entries]]
        whole = np.maximum(parts.sum(axis=1), 1e-300)
        counts[entries] = corpus.counts[entries] * parts[:, component] / whole
    counts[counts < LEAST] = 0.0
    if not counts.any():
        raise InputError(
            f"{fit.component_names[component]} explains no token of these documents, so there is "
            "nothing to split"
        )
    return corpus.with_counts(counts, corpus.exposures)


def component_number(fit: Fit, asked: object) -> int:
    """Return the number, from 0, of a component that is asked for by number from 1 or by name."""
    names = fit.component_names
    if isinstance(asked, str) and asked in names:
        return names.index(asked)
    if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool):
        if 1 <= asked <= len(names):
            return int(asked) - 1
    raise InputError(
        "there is no {}", argument="component", value=asked,
        remedy=f"give its name, or a number from 1 to {len(names)}",
    )  # fmt: skip
