# SPDX-License-Identifier: BSD-3-Clause
"""Starts from the tokens of a chain: its components are joined, and it may send up tables."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from discan.algorithms.base import Start
from discan.algorithms.merging import Tokens
from discan.data.blocks import BlockRef
from discan.fitting.run import Run
from discan.fitting.start_memory import with_tables
from discan.fitting.start_scores import in_order
from discan.models import DirichletMultinomial, Model
from discan.typing import Array

log = logging.getLogger("discan")

__all__ = ["dissolved", "joined", "reduced", "tables_for_parents"]

# If no more than this part of the components can be joined, the chain may do it.
FEW_MERGED = 0.01
# Sum of alpha of the components that are empty at the start.
SPARE_ALPHA = 1e-3


def dissolved(run: Run, rng: np.random.Generator) -> tuple[Start, bool]:
    """Join and dissolve components of a chain; return also whether the chain may do the rest."""
    tokens, prior = _tokens(run), run.task.prior
    before = int((tokens.loading_counts.sum(axis=0) > 0).sum())
    done = tokens.merge(rng) + tokens.dissolve(rng)
    log.debug("%d components of %d are joined with others", done, before)
    counts, spare = tokens.loading_counts, SPARE_ALPHA / len(tokens.alpha)
    alpha = np.where(counts.sum(axis=0) > 0, tokens.alpha, spare)
    model: Any = replace(run.params.model, alpha=alpha)  # type: ignore[type-var]
    start = Start(
        np.ascontiguousarray(prior.without_seeds(counts)),
        np.ascontiguousarray(tokens.component_counts), model, run.params.prior, tokens.components,
    )  # fmt: skip
    return start, done <= FEW_MERGED * before


def joined(run: Run, wanted: int) -> Start:
    """Join components of a chain that has too many, until as many are left as are wanted."""
    tokens = _tokens(run)
    tokens.join(int((tokens.sizes > 0).sum()) - wanted)
    kept, components = _largest(tokens, wanted)
    counts = tokens.component_counts[:, kept] + tokens.alpha[kept]
    return Start(
        np.ascontiguousarray(tokens.loading_counts[:, kept]), np.ascontiguousarray(counts),
        components=components,
    )  # fmt: skip


def reduced(run: Run, wanted: int, rng: np.random.Generator, last: bool) -> tuple[Start, Model]:
    """Take half of the components that are too many from a flat chain, or all at last."""
    tokens = _tokens(run)
    surplus = int((tokens.sizes > 0).sum()) - wanted
    tokens.reduce(rng, max(0, -(-surplus // 2)))
    sizes = tokens.sizes
    n_kept = wanted if last else max(wanted, int((sizes > 0).sum()))
    kept, components = _largest(tokens, n_kept)
    scores = None
    if components is None:  # tokens of components that are left out fall to others
        scores = np.ascontiguousarray(tokens.component_counts[:, kept] + tokens.alpha[kept])
    fitted = DirichletMultinomial(alpha=tokens.alpha[kept])
    start = Start(
        np.ascontiguousarray(tokens.loading_counts[:, kept]), scores, fitted, run.params.prior,
        components,
    )  # fmt: skip
    return start, fitted


def _largest(tokens: Tokens, n: int) -> tuple[Array, Array | None]:
    """Return the n largest components, in their order; and what the tokens' (N,) are among them.

    The latter is None if other components have tokens.
    """
    kept = np.sort(np.argsort(-tokens.sizes, kind="stable")[:n])
    number = np.full(len(tokens.alpha), -1, dtype=np.int32)
    number[kept] = np.arange(len(kept))
    components = number[tokens.components]
    return kept, components if (components >= 0).all() else None


def _tokens(run: Run) -> Tokens:
    """Return the tokens of a collapsed chain."""
    corpus, blocks = run.training, in_order(run)
    states = [run.states.get(block) for block in blocks]
    rows = np.repeat(np.arange(corpus.n_documents, dtype=np.int32), np.diff(corpus.indptr))
    counts = np.empty((corpus.n_documents, run.params.n_components), order="F")
    for block, state in zip(blocks, states, strict=True):
        read = corpus.read(block)
        counts[block.start : block.stop] = state.counts(read, run.params.n_components)
    return Tokens(
        np.repeat(rows, corpus.counts),
        np.repeat(corpus.words, corpus.counts),
        np.concatenate([state.assignments for state in states]).astype(np.int32),
        np.asarray(run.params.loading_counts).astype(np.float64, order="F"),
        counts,
        np.array(run.params.model.alpha),
        run.params.prior,
    )


def tables_for_parents(run: Run) -> Any:
    """Return the tables that documents of a flat chain send up, a sparse (I', K) array.

    Of many documents a part is taken, evenly spaced, so that a chain of parents can begin with too
    many of them.
    """
    n_documents, blocks = run.training.n_documents, in_order(run)
    n = with_tables(n_documents, sum(int(_tables_of(run, block).sum()) for block in blocks))
    taken = np.arange(n) * n_documents // n
    parts = []
    for block in blocks:
        first, last = np.searchsorted(taken, [block.start, block.stop])
        rows = taken[first:last] - block.start
        parts.append(sparse.csr_array(_tables_of(run, block)[rows]))
    return sparse.vstack(parts, format="csr")


def _tables_of(run: Run, block: BlockRef) -> Array:
    """Tables that the documents of a block send up, (n, K)."""
    counts = run.states.get(block).counts(run.training.read(block), run.params.n_components)
    return np.asarray(np.rint(2.0 * np.log1p(counts)), dtype=np.int32)
