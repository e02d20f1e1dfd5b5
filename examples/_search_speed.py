# SPDX-License-Identifier: BSD-3-Clause
"""How fast a large index is searched."""

from __future__ import annotations

import time

import numpy as np
from common import Report
from scipy import sparse
from threadpoolctl import threadpool_limits

import discan
from discan.engines.threads import Threads
from discan.search import Index
from discan.search.own_words import OwnWords
from discan.search.shares import AllShares, TopShares
from discan.search.views import View

__all__ = ["speed"]


def speed(report: Report) -> None:
    """Time queries to a large index of random documents."""
    n_documents = 5_000 if report.quick else 1_000_000
    n_components, n_words, n_kept, length = 300, 20_000, 20, 30
    rng = np.random.default_rng(0)
    fit = discan.DCA.from_components(rng.dirichlet([0.01] * n_words, n_components)).fit_
    steps = rng.integers(1, n_components // n_kept, (n_documents, n_kept), dtype=np.uint16)
    values = rng.random((n_documents, n_kept), dtype=np.float32)
    values *= (0.95 / values.sum(axis=1))[:, None]
    rest = (1.0 - values.sum(axis=1)).astype(np.float32)
    background = np.full(n_components, 1.0 / n_components)
    numbers = np.cumsum(steps, axis=1, dtype=np.uint16) - np.uint16(1)
    top = TopShares(numbers, values, rest, background)
    weight = np.full(n_documents, 1.0 / (length + 5.0), np.float32)
    tokens = rng.integers(0, n_words, (n_documents, length), dtype=np.int32)
    ends = np.arange(0, tokens.size + 1, length)
    table = sparse.csr_array((np.ones(tokens.size, np.int32), tokens.ravel(), ends),
                             shape=(n_documents, n_words))  # fmt: skip
    table.sum_duplicates()
    own = OwnWords.of(discan.Corpus(table))
    kinds = {
        f"{n_kept} largest shares": Index(fit, (View(top, weight),)),
        f"{n_kept} largest shares, and words": Index(fit, (View(top, weight),), own),
    }
    whole = AllShares(top.rows(slice(None), np.float32))
    kinds["all shares, float32"] = Index(fit, (View(whole, weight),))
    rows = []
    with threadpool_limits(1), Threads(1) as engine:  # threads of BLAS count, too
        for title, index in kinds.items():
            arrays = [weight, *vars(index.views[0].shares).values()]
            if index.words is not None:
                arrays += [own.indptr, own.documents, own.counts]
            size = sum(array.nbytes for array in arrays if hasattr(array, "nbytes"))
            times = []
            for n in (1, 3, 5, 10, 20):
                query = np.bincount(rng.integers(0, n_words, n), minlength=n_words)
                taken = []
                for _ in range(3):
                    began = time.process_time()
                    index.search(query, 10, engine=engine)
                    taken.append(time.process_time() - began)
                times.append(f"{min(taken):.2f}")
            rows.append((title, f"{size / 1e6:,.0f}", *times))
    report.say(
        f"## Speed\n\nProcessor seconds of a query of 1, 3, 5, 10 and 20 tokens to an index of "
        f"{n_documents:,} random documents of {length} tokens and {n_components} components, on "
        "one thread, and megabytes of the index in memory. Documents are searched by pieces, so "
        "that two threads need half of the time. Up to 5 tokens the probability is summed "
        "exactly, over all sets of tokens; longer queries are taken token by token."
    )
    report.table(["index", "MB", "1", "3", "5", "10", "20"], rows)
