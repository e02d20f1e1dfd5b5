# SPDX-License-Identifier: BSD-3-Clause
"""Base of the algorithms that wrap another one: every verb is the wrapped algorithm's."""

from __future__ import annotations

from typing import Any

import numpy as np

from discan.algorithms.base import Algorithm, Clock, Cycle, Params, Posterior, Start
from discan.algorithms.schedule import Schedule
from discan.algorithms.statistics import Stats
from discan.data.blocks import Block
from discan.data.corpus import Corpus
from discan.engines import Engine
from discan.errors import DiscanError
from discan.models import Model

__all__ = ["Wrapper"]


class Wrapper(Algorithm):
    """Forward every verb to ``wrapped``; subclasses override the verbs that they change."""

    wrapped: Algorithm

    def refusal(  # noqa: D102
        self, model: Model, learn: frozenset[str], corpus: Corpus | None = None
    ) -> DiscanError | None:
        return self.wrapped.refusal(model, learn, corpus)

    def plan(self, corpus: Corpus, n_components: int, seed: np.uint64) -> Schedule:  # noqa: D102
        return self.wrapped.plan(corpus, n_components, seed)

    def init(self, params: Params, schedule: Schedule, start: Start, clock: Clock) -> Params:  # noqa: D102
        return self.wrapped.init(params, schedule, start, clock)

    def init_state(  # noqa: D102
        self, params: Params, block: Block, start: Start, clock: Clock, lane: Stats
    ) -> Any:
        return self.wrapped.init_state(params, block, start, clock, lane)

    def prepare(self, params: Params, clock: Clock, engine: Engine) -> Params:  # noqa: D102
        return self.wrapped.prepare(params, clock, engine)

    def begin_step(self, params: Params, block: Block, state: Any) -> None:  # noqa: D102
        self.wrapped.begin_step(params, block, state)

    def step(self, params: Params, block: Block, state: Any, clock: Clock, lane: Stats) -> None:  # noqa: D102
        self.wrapped.step(params, block, state, clock, lane)

    def update(  # noqa: D102
        self, params: Params, stats: Stats, fraction: float, clock: Clock, engine: Engine
    ) -> Params:
        return self.wrapped.update(params, stats, fraction, clock, engine)

    def finish(  # noqa: D102
        self, before: Params, params: Params, stats: Stats, clock: Clock, schedule: Schedule,
        engine: Engine,
    ) -> Cycle:  # fmt: skip
        return self.wrapped.finish(before, params, stats, clock, schedule, engine)

    def read(self, params: Params, block: Block, state: Any) -> Posterior:  # noqa: D102
        return self.wrapped.read(params, block, state)

    def infer(self, params: Params, block: Block, seed: np.uint64) -> Posterior:  # noqa: D102
        return self.wrapped.infer(params, block, seed)
