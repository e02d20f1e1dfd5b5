# SPDX-License-Identifier: BSD-3-Clause
"""A corpus with its priors, and chains over the components of its tokens, for the evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from discan.data.blocks import Block
from discan.data.corpus import Corpus
from discan.evaluation.labellings import Labellings
from discan.kernels.annealing import anneal, draw_components
from discan.kernels.collapsed import assign, count_tokens, document_counts
from discan.models import LoadingsPrior, Model, ScoreTable
from discan.typing import Array

__all__ = ["Base", "Chain", "Problem", "warmed"]

TOKENS_AT_ONCE = 5_000_000  # token updates between two chances to interrupt


@dataclass(frozen=True, eq=False)
class Problem:
    """What the evidence is of: counts, and a model with all its hyperparameters.

    Attributes
    ----------
    corpus : Corpus
    model : Model
    prior : LoadingsPrior
    seed : int
    """

    corpus: Corpus
    model: Model
    prior: LoadingsPrior
    seed: int

    @property
    def n_components(self) -> int:
        """Number of components, K."""
        return len(self.model.alpha)

    @cached_property
    def table(self) -> ScoreTable:
        """Score table at the exposure levels of the corpus."""
        return self.model.score_table(self.corpus.exposure_levels)

    @cached_property
    def constant(self) -> float:
        """What completes log F + log D, as a chain has them, bag form."""
        corpus, rows = self.corpus, self.table.rows(self.corpus.levels)
        terms = (gammaln(rows.shape) - rows.shape * np.log(rows.rate)).sum(axis=1)
        terms = terms + self.model.log_constant(corpus.lengths) + self.model.log_bag(corpus)
        return float(np.sum(terms))

    @cached_property
    def log_urn(self) -> float:
        """Log of the normaliser of the urn scheme F_DM, summed over documents."""
        lengths, shape = self.corpus.lengths, self.table.rows(self.corpus.levels).shape.sum(axis=1)
        return float(np.sum(gammaln(shape + lengths) - gammaln(shape)))

    @cached_property
    def block(self) -> Block:
        """All documents as one block."""
        block: Block
        (block,) = self.corpus.blocks_of(max(self.corpus.n_entries, 1))
        return block

    @cached_property
    def classes(self) -> Array:
        """Number of the class of each component, (K,): those of equal priors are of one class."""
        values = np.array(list(self.model.values().values()))
        return np.unique(values, axis=1, return_inverse=True)[1].ravel()

    @cached_property
    def labellings(self) -> Labellings:
        """The ways to name the components that change nothing: K! or fewer."""
        log_number = gammaln(np.bincount(self.classes) + 1.0).sum()
        return Labellings(self.classes, float(log_number))


class Base(NamedTuple):
    """Independent tokens: component k of word j in document i by loadings_jk scores_ik."""

    loadings: Array
    scores: Array


@dataclass(eq=False)
class Chain:
    """A chain over the components of all tokens, scores and loadings integrated out.

    It begins with a draw from the urn scheme of the Dirichlet-multinomial, or from ``base``.
    """

    problem: Problem
    run: int
    base: Base | None = None
    n_sweeps: int = 0
    assignments: Array = field(init=False)
    loading_counts: Array = field(init=False)
    totals: Array = field(init=False)

    def __post_init__(self) -> None:
        """Draw the first state."""
        problem, layout, block = self.problem, self.problem.prior.layout, self.problem.block
        n_components = problem.n_components
        dtype = np.uint16 if n_components <= 2**16 else np.uint32
        self.assignments = np.empty(block.token_stop, dtype=dtype)
        self.loading_counts = np.zeros((layout.n_words, n_components), dtype=np.int32)
        self.totals = np.zeros((layout.n_groups, n_components), dtype=np.int64)
        if self.base is not None:
            seed = np.uint64(problem.seed) + np.uint64(self.run + 1)
            assign(block.indptr, block.words, block.counts, *self.base, self.assignments, seed, 0)
            count_tokens(
                block.indptr, block.words, block.counts, self.assignments, self.loading_counts
            )
            self.totals += layout.group_sums(self.loading_counts)
            return
        draw_components(
            block.indptr, block.words, block.counts, block.levels, problem.table.shape,
            layout.group_of_word, self.assignments, self.loading_counts, self.totals,
            np.uint64(problem.seed), self.run,
        )  # fmt: skip

    def sweep(self, ladder: Array, n_sweeps: int = 1) -> Array:
        """Make ``n_sweeps`` sweeps at each temperature; return the energies (T, n_sweeps)."""
        problem, block, prior = self.problem, self.problem.block, self.problem.prior
        energies = np.empty((len(ladder), n_sweeps))
        none = np.empty((0, problem.n_components))
        base = Base(none, none) if self.base is None else self.base
        step = max(1, TOKENS_AT_ONCE // max(1, block.token_stop * n_sweeps))
        for start in range(0, len(ladder), step):
            part = slice(start, start + step)
            anneal(
                block.indptr, block.words, block.counts, block.levels, *problem.table,
                prior.layout.group_of_word, prior.gamma, prior.totals, *base,
                self.assignments, self.loading_counts, self.totals,
                np.ascontiguousarray(ladder[part]), energies[part],
                np.uint64(problem.seed), self.run, self.n_sweeps,
            )  # fmt: skip
            self.n_sweeps += energies[part].size
        return energies + problem.constant + (problem.log_urn if self.base is None else 0.0)

    @property
    def component_counts(self) -> Array:
        """Tokens of each document and component in the present state, (I, K)."""
        block, n_components = self.problem.block, self.problem.n_components
        counts = np.zeros((self.problem.corpus.n_documents, n_components), dtype=np.int64)
        document_counts(block.indptr, block.counts, self.assignments, counts)
        return counts


def warmed(problem: Problem, run: int, n_sweeps: int) -> Chain:
    """Begin a chain that goes from the prior to the posterior in ``n_sweeps`` sweeps."""
    chain = Chain(problem, run)
    chain.sweep(np.linspace(0.0, 1.0, n_sweeps) ** 2)
    return chain
