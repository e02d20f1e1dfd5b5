# SPDX-License-Identifier: BSD-3-Clause
"""Rates of the samplers: seconds per sweep, tokens per second, and the quality reached."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import judge
import numpy as np
import peers
import tools
from corpora import Counts, replicate
from store import Results, Row
from tools import Task

import discan
from discan.algorithms import Collapsed, Gibbs

__all__ = ["Rate", "plan", "run"]

FLOORS = {20: 1.2, 100: 1.5, 500: 3.0, 1000: 5.0}


@dataclass(frozen=True)
class Rate:
    """A chain to time: ``tool`` is "tomotopy" or one of ours.

    All chains start at random, hyperparameters are fixed, and the first sweep is not timed.
    """

    section: str
    cell: str
    tool: str
    n_components: int
    threads: int
    sweeps: int
    tokens: int | None = None
    model: str = "dm"
    algorithm: str = "collapsed"
    schedule: str = "auto"
    judged: bool = False
    repeats: int = 3


@dataclass(frozen=True)
class Sizes:
    """The sizes of all sections."""

    components: tuple[int, ...]
    threads: tuple[int, ...]
    sweeps: int
    threads_tokens: int
    growth_tokens: tuple[int, ...]
    growth_components: tuple[int, ...]
    long_sweeps: int
    repeats: int


FULL = Sizes(
    (20, 100, 500, 1000), (1, 2), 20, 10_000_000, (1_000_000, 3_000_000, 10_000_000, 50_000_000),
    (20, 50, 100, 200, 500, 1000, 2000), 100, 3,
)  # fmt: skip
SHORT = Sizes((20, 100), (1,), 10, 1_000_000, (250_000, 500_000, 1_000_000), (20, 100, 500), 20, 1)


def plan(section: str, sizes: Sizes) -> Iterator[Rate]:
    """List the chains of a section, tools of one cell together."""
    if section == "sampler":
        for n_components in sizes.components:
            for threads in sizes.threads:
                cell = f"K={n_components}, {threads} thread{'s' * (threads > 1)}"
                head = (section, cell)
                rest = (n_components, threads, sizes.sweeps)
                # short chains need more repeats against random load of the machine
                repeats = 2 * sizes.repeats - 1 if n_components <= 100 else sizes.repeats
                for tool in ("tomotopy", "discan"):
                    yield Rate(*head, tool, *rest, judged=True, repeats=repeats)
    elif section == "threads":
        for threads in (1, 2):
            yield Rate(
                section, f"K=100, {sizes.threads_tokens:,} tokens", f"{threads} threads", 100,
                threads, 4, tokens=sizes.threads_tokens, repeats=sizes.repeats,
            )  # fmt: skip
    elif section == "schedule":
        for schedule in ("exact", "blocked"):
            yield Rate(
                section, f"K=100, {sizes.long_sweeps} sweeps", schedule, 100, 1, sizes.long_sweeps,
                schedule=schedule, judged=True, repeats=sizes.repeats,
            )  # fmt: skip
    elif section == "models":
        for model in ("dm", "gp", "cgp"):
            yield Rate(section, "K=100", model, 100, 1, 5, model=model, repeats=sizes.repeats)
    elif section == "gibbs":
        for algorithm in ("collapsed", "gibbs"):
            yield Rate(
                section, "K=100", algorithm, 100, 1, 5, algorithm=algorithm, repeats=sizes.repeats
            )
    elif section == "growth":
        for tokens in sizes.growth_tokens:
            yield Rate(
                section, "tokens", f"{tokens}", 100, 1, 3, tokens=tokens, repeats=sizes.repeats
            )
        for n_components in sizes.growth_components:
            yield Rate(
                section, "components", f"{n_components}", n_components, 1, 3, repeats=sizes.repeats
            )


def run(
    rates: list[Rate],
    corpus: Counts,
    results: Results,
    clock: Callable[[], float] = time.perf_counter,
) -> None:
    """Time the chains, those of one cell in turn."""
    for cell in dict.fromkeys(rate.cell for rate in rates):
        here = [rate for rate in rates if rate.cell == cell]
        for repeat in range(max(rate.repeats for rate in here)):
            for rate in here:
                if rate.tool in tools.missing() or repeat >= rate.repeats:
                    continue
                results.measure(
                    rate.section, cell, rate.tool, repeat, _work(rate, corpus, repeat, clock),
                    corpus=corpus.name, components=rate.n_components, threads=rate.threads,
                    sweeps=rate.sweeps,
                )  # fmt: skip


def _work(rate: Rate, whole: Counts, seed: int, clock: Callable[[], float]) -> Callable[[], Row]:
    def work() -> Row:
        corpus = replicate(whole, rate.tokens) if rate.tokens else whole
        task = Task(corpus, rate.n_components, rate.threads, seed=seed)
        time_chain = _time_tomotopy if rate.tool == "tomotopy" else _time_ours
        if rate.tool != "tomotopy":
            small = replace(task, corpus=corpus.first(300))
            _time_ours(rate, small, clock)  # compile or load the kernels
        seconds, components = time_chain(rate, task, clock)
        found: Row = {
            "seconds": seconds / rate.sweeps,
            "rate": corpus.tokens * rate.sweeps / seconds,
            "tokens": corpus.tokens,
        }
        if rate.judged:
            found["perplexity"] = judge.perplexity(components, corpus.judged, task.alpha)
        return found

    return work


def _time_ours(rate: Rate, task: Task, clock: Callable[[], float]) -> tuple[float, Any]:
    """Return the seconds of the sweeps after the first, and the last components."""
    ticks: list[float] = []
    last: dict[str, Any] = {}
    n_cycles = rate.sweeps + 1

    def after_cycle(run: Any) -> bool:
        ticks.append(clock())
        if run.cycle == n_cycles:
            last["components"] = run.loadings.T
        return len(ticks) >= n_cycles

    options: dict[str, Any] = {"burn_in": n_cycles, "n_draws": 1}
    if rate.algorithm == "gibbs":
        algorithm: Any = Gibbs(**options)
    else:
        algorithm = Collapsed(schedule=rate.schedule, **options)
    discan.DCA(
        rate.n_components, model=rate.model, algorithm=algorithm, alpha=task.alpha,
        gamma=task.gamma, learn=(), init="random", n_jobs=rate.threads,
        random_state=task.seed, progress=False, callback=after_cycle,
    ).fit(task.corpus.train)  # fmt: skip
    return ticks[-1] - ticks[0], last["components"]


def _time_tomotopy(rate: Rate, task: Task, clock: Callable[[], float]) -> tuple[float, Any]:
    """Return the same for tomotopy, with the faster of its parallel schemes."""
    best = (np.inf, None)
    schemes = ["DEFAULT"] if rate.threads == 1 else ["PARTITION", "COPY_MERGE"]
    for scheme in schemes:
        model = peers.tomotopy_model(task)
        kind = peers.tomotopy_scheme(scheme)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.train(1, workers=rate.threads, parallel=kind)
            began = clock()
            model.train(rate.sweeps, workers=rate.threads, parallel=kind)
        seconds = clock() - began
        if seconds < best[0]:
            best = seconds, peers.tomotopy_components(model, task.corpus.train.shape[1])
    return best
