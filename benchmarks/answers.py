# SPDX-License-Identifier: BSD-3-Clause
"""Proportions of new documents (transform), and online fits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import judge
import numba
import numpy as np
import tools
from corpora import Counts, synthetic
from curves import Watch
from scipy import sparse
from store import Results, Row
from tools import Task

import discan
from discan.algorithms import MAP, CollapsedVariational, Variational

__all__ = ["measure_online", "measure_transform", "settled"]

# scikit-learn's; 1e-3 is its default
TOLERANCES = (1e-1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-5, 1e-7, 1e-9, 1e-11)
LENGTH = 40.0  # mean number of tokens of a synthetic document
SETTLE_STEPS = 5000


def measure_transform(
    results: Results, corpus: Counts, components: list[int], repeats: int,
    clock: Callable[[], float],
) -> None:  # fmt: skip
    """Time the proportions of new documents, and measure their distance from the fixed point.

    Both tools solve the same problem for fixed components: a_k <- alpha + sum_j w_j R_jk with
    weights exp(digamma(a)). Each answer is compared with the fixed point to which it converges.
    """
    ways = {"scikit-learn LDA": _sklearn_transform, "discan": _our_transform}
    for n_components in components:
        given = _components(corpus, n_components), corpus.test, corpus.alpha(n_components)
        for repeat in range(repeats):
            for tool, transform in ways.items():
                results.measure(
                    "transform", f"K={n_components}, {corpus.test.shape[0]} documents", tool,
                    repeat, partial(_time_transform, transform, *given, clock),
                    peer=tool != "discan", default=tool == "discan",
                )  # fmt: skip


def measure_online(
    results: Results, corpus: Counts, n_components: int, n_documents: int, seconds: float
) -> None:
    """Fit synthetic documents in two online passes, and in batch until the time is over.

    The first of the two passes is that of the start.
    """
    task: list[Task] = []

    def data() -> Task:
        if not task:
            task.append(_synthetic_task(corpus, n_components, n_documents))
        return task[0]

    pairs = [
        (
            tools.ours(f"batch, {kind.name}", algorithm=kind(), tol=0.0),
            tools.ours(f"online, {kind.name}", algorithm=kind(online=True), max_iter=1, tol=0.0),
        )
        for kind in (CollapsedVariational, MAP, Variational)
    ]
    for tool in (tool for pair in pairs for tool in pair):

        def work(tool: tools.Tool = tool) -> Row:
            test, alpha = data().corpus.test, data().alpha
            watch = Watch(
                lambda answer: judge.perplexity(answer.components(), test, alpha), seconds,
                spacing=1.3,
            )  # fmt: skip
            tool.fit(data(), watch)
            return {"points": watch.points}

        results.measure(
            "online", f"K={n_components}, {n_documents:,} documents", tool.name, 0, work
        )


@numba.njit
def settled(shape, loadings, indptr, words, counts, alpha, steps):  # type: ignore[no-untyped-def]
    """Repeat fixed-point steps for each row of ``shape``, in place, until it converges."""
    n_components = loadings.shape[1]
    weights, gained = np.empty(n_components), np.empty(n_components)
    for i in range(shape.shape[0]):
        for _ in range(steps):
            for k in range(n_components):
                weights[k] = np.exp(_digamma(shape[i, k]))
            gained[:] = 0.0
            for t in range(indptr[i], indptr[i + 1]):
                row = loadings[words[t]]
                share = counts[t] / max(np.dot(weights, row), 1e-300)
                for k in range(n_components):
                    gained[k] += share * row[k]
            moved = 0.0
            for k in range(n_components):
                new = alpha + weights[k] * gained[k]
                moved = max(moved, abs(new - shape[i, k]))
                shape[i, k] = new
            if moved < 1e-12:
                break


@numba.njit
def _digamma(x):  # type: ignore[no-untyped-def]
    """Digamma by recurrence up to 6, then the asymptotic series."""
    value = 0.0
    while x < 6.0:
        value -= 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    series = square * (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square / 240)))
    return value + np.log(x) - 0.5 / x - series


def _time_transform(
    transform: Any, components: Any, documents: Any, alpha: float, clock: Callable[[], float]
) -> Row:
    """Return seconds and distance of every answer of a tool."""
    transform(components, documents[:50], alpha, clock)  # warm-up
    found = transform(components, documents, alpha, clock)
    return {
        "points": [
            (seconds, tolerance, _distance(answer, components, documents, alpha))
            for seconds, tolerance, answer in found
        ]
    }


def _distance(answer: Any, components: Any, documents: Any, alpha: float) -> float:
    """Return the mean L1 distance of the proportions of documents from their fixed point."""
    lengths = np.asarray(documents.sum(axis=1)).reshape(-1, 1)
    shape = np.ascontiguousarray(answer * (lengths + alpha * len(components)))
    matrix = sparse.csr_array(documents)
    settled(
        shape, np.ascontiguousarray(components.T), matrix.indptr, matrix.indices,
        matrix.data.astype(np.float64), alpha, SETTLE_STEPS,
    )  # fmt: skip
    final = shape / shape.sum(axis=1, keepdims=True)
    return max(float(np.abs(answer - final).sum(axis=1).mean()), 1e-12)


def _sklearn_transform(components: Any, documents: Any, alpha: float, clock: Any) -> list[Any]:
    from sklearn.decomposition import LatentDirichletAllocation

    found = []
    for tolerance in TOLERANCES:
        model = LatentDirichletAllocation(
            len(components), doc_topic_prior=alpha, mean_change_tol=tolerance,
            max_doc_update_iter=100 if tolerance >= 1e-3 else 5000,
        )  # fmt: skip
        model._init_latent_vars(components.shape[1], dtype=np.float64)
        model.n_features_in_ = components.shape[1]
        model.components_ = model.exp_dirichlet_component_ = components
        matrix = documents.astype(np.float64)
        began = clock()
        answer = model.transform(matrix)
        found.append((clock() - began, tolerance, answer))
    return found


def _our_transform(components: Any, documents: Any, alpha: float, clock: Any) -> list[Any]:
    model = discan.DCA.from_components(components, alpha=alpha, algorithm="variational")
    began = clock()
    answer = model.transform(documents)
    return [(clock() - began, 0.0, answer)]


def _components(corpus: Counts, n_components: int) -> Any:
    """Return the components of a short fit."""
    model = discan.DCA(
        n_components, algorithm="map", alpha=corpus.alpha(n_components), gamma=0.01, max_iter=15,
        random_state=0, progress=False,
    )  # fmt: skip
    return model.fit(corpus.train).components_


def _synthetic_task(corpus: Counts, n_components: int, n_documents: int) -> Task:
    rows = _components(corpus, n_components)
    alpha = corpus.alpha(n_components)
    train = synthetic(rows, n_documents, LENGTH, alpha, seed=1)
    test = synthetic(rows, 500, LENGTH, alpha, seed=2)
    return Task(Counts("synthetic", train, test), n_components, 1)
