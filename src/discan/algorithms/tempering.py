# SPDX-License-Identifier: BSD-3-Clause
"""Tempered EM: choose the exponent of the responsibilities on held-out documents."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import xlogy

from discan.algorithms.base import Clock, Cycle, Params, Start
from discan.algorithms.expectation import Expectation
from discan.algorithms.schedule import Schedule
from discan.algorithms.statistics import Stats
from discan.algorithms.wrapper import Wrapper
from discan.data.blocks import BLOCK_ENTRIES
from discan.data.corpus import Corpus
from discan.data.rules import ONE, stored
from discan.data.splits import split_tokens
from discan.engines import Engine
from discan.errors import DiscanError, InputError
from discan.models import Model
from discan.typing import Array

__all__ = ["Temperature", "Tempered"]

EVERY = 5  # cycles from one look at the held-out documents to the next
HELD_OUT = 10  # every tenth document is held out


@dataclass(frozen=True)
class Temperature:
    """Memory of the search for the temperature, which itself is ``Params.power``.

    Attributes
    ----------
    best : float
        Best held-out log-likelihood so far.
    gained : bool
        Whether the present temperature has raised it.
    best_loadings : (J, K) array or None
    """

    best: float | None = stored(types="number", default=None)
    gained: bool = stored(types="flag", default=True)
    best_loadings: Array | None = stored("J", "K", low=0, high=ONE, default=None)

    @property
    def problem(self) -> str | None:
        """Why there can be no such memory between two cycles."""
        if (self.best is None) != (self.best_loadings is None):
            return "the best result is missing"
        if self.best is None and not self.gained:
            return "there is no best result"
        return None


@dataclass(frozen=True)
class Tempered(Wrapper):
    """EM whose temperature falls whenever held-out documents stop gaining."""

    wrapped: Expectation
    eta: float

    def refusal(
        self, model: Model, learn: frozenset[str], corpus: Corpus | None = None
    ) -> DiscanError | None:
        """Refuse data that no tokens or documents can be held out of."""
        if corpus is not None and corpus.on_disk:
            return InputError(
                "tau='auto' holds documents out, and a corpus folder is fitted as a whole; give a "
                "number"
            )
        if corpus is not None and not corpus.integral:
            return InputError("tau='auto' holds out tokens and needs whole counts; give a number")
        if corpus is not None and corpus.n_documents < HELD_OUT:
            return InputError(
                f"tau='auto' holds out a tenth of the documents and needs {HELD_OUT} or more"
            )
        return super().refusal(model, learn, corpus)

    def plan(self, corpus: Corpus, n_components: int, seed: np.uint64) -> Schedule:
        """As EM, on nine in ten documents."""
        order = np.random.default_rng(int(seed)).permutation(corpus.n_documents)
        held_out, training = np.split(order, [corpus.n_documents // HELD_OUT])
        schedule = super().plan(corpus.select(np.sort(training)), n_components, seed)
        rest = corpus.select(np.sort(held_out))
        scored = min(corpus.n_entries // HELD_OUT, BLOCK_ENTRIES)
        # a copy of the training documents, and what scores those held out
        more = 9 * corpus.n_entries + 8 * n_components * scored
        visits = (schedule.visit_bytes or schedule.bytes) + more
        # all documents are folded in at the end
        end = n_components * (24 * corpus.n_words + 66 * corpus.n_documents) + 9 * corpus.n_entries
        return replace(
            schedule, held_out=rest, memory_type=Temperature,
            bytes=max(visits, end), block_bytes=0, visit_bytes=visits,
        )  # fmt: skip

    def init(self, params: Params, schedule: Schedule, start: Start, clock: Clock) -> Params:
        """Begin without a best result."""
        return replace(super().init(params, schedule, start, clock), memory=Temperature())

    def finish(
        self, before: Params, params: Params, stats: Stats, clock: Clock, schedule: Schedule,
        engine: Engine,
    ) -> Cycle:  # fmt: skip
        """Every few cycles, lower the temperature if held-out documents stopped gaining."""
        cycle = super().finish(before, params, stats, clock, schedule, engine)
        if clock.cycle % EVERY != EVERY - 1:
            return cycle
        memory: Temperature = params.memory
        score = self._held_out_score(params, schedule)
        if memory.best is None or score > memory.best:
            memory = Temperature(score, True, params.loadings)
            return cycle._replace(params=replace(params, memory=memory))
        if memory.gained:
            memory = replace(memory, gained=False)
            return cycle._replace(
                params=replace(params, power=params.power * self.eta, memory=memory)
            )
        return cycle._replace(
            params=replace(params, loadings=memory.best_loadings),
            reason="held-out perplexity no longer falls at lower temperatures",
        )

    def _held_out_score(self, params: Params, schedule: Schedule) -> float:
        """Log-likelihood of half of the held-out tokens, proportions from the other half."""
        assert schedule.held_out is not None
        observed, scored = split_tokens(schedule.held_out, rng=0)
        params = params.at(observed.exposure_levels)
        loadings = np.asarray(params.loadings)
        total = 0.0
        for block in observed.blocks:
            proportions = self.infer(params, block, np.uint64(0)).scores
            part = scored.select(slice(block.start, block.stop))
            rows = np.repeat(np.arange(part.n_documents), np.diff(part.indptr))
            chances = np.einsum("tk,tk->t", proportions[rows], loadings[part.words])
            total += float(xlogy(part.counts, np.maximum(chances, 1e-12)).sum())
        return total
