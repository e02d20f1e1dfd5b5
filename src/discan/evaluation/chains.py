# SPDX-License-Identifier: BSD-3-Clause
"""Run several chains, choose one, match the others to it, and say whether they agree."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from signal import SIGINT, SIGTERM
from typing import Any

import numpy as np

from discan.data.corpus import Corpus
from discan.data.folders.corpus import FolderCorpus
from discan.engines import Engine, Threads
from discan.evaluation.comparison import ALIKE, SAME, Comparison, compare, listed
from discan.evaluation.diagnostics import MIXED, rhat, summaries
from discan.evaluation.matching import agreement, match
from discan.fitting.chains import Chains
from discan.fitting.interrupts import deferred
from discan.fitting.posterior import KnownDocuments, KnownLoadings
from discan.fitting.result import Fit
from discan.fitting.run import Run
from discan.fitting.starting import needed_bytes
from discan.fitting.task import Task
from discan.typing import Array

__all__ = ["MOST_CHAINS", "as_fits", "chain_seeds", "chains_bytes", "gathered", "run_chains"]

MOST_CHAINS = 10_000
# Components of other chains are kept up to this many numbers.
MOST_NUMBERS = 2**24
# Number of tokens, roughly, of the documents that chains are chosen by.
MOST_TOKENS = 2**19
# Memory while chains are compared, as measured: tables of loadings per chain and for all of them;
# tables of scores, and bytes per non-zero count, of the documents that samplers are chosen by.
TABLES_PER_CHAIN, TABLES, SCORE_TABLES, ENTRY_BYTES = 5.6, 4.0, 9.0, 24.0
# A component below this share of the tokens does not count in the verdict.
LEAST_SIZE = 0.005
# A chain has another log p if the difference is above this, in standard deviations of its draws.
DEVIATIONS = 4.0


def chain_seeds(seed: int, n: int) -> list[int]:
    """Seeds of n chains: the first is the seed itself, the others follow from it by number."""
    others = [
        int(np.random.SeedSequence([seed, chain]).generate_state(1, np.uint64)[0] >> np.uint64(1))
        for chain in range(1, n)
    ]
    return [seed, *others]


def run_chains(
    begin: Callable[[int, Engine], Run],
    n: int,
    n_threads: int,
    advance: Callable[[int, Run, Callable[[Run], Any], bool | None], None],
    progress: bool | None = None,
    engine: Engine | None = None,
) -> list[Fit]:
    """Begin and finish n chains on some threads; the answer does not depend on their number.

    Ctrl-C stops all chains after their present cycles. What a chain needs besides its result is
    given back when it ends.

    Parameters
    ----------
    begin : function of a chain's number and an engine
    n : int
    n_threads : int
        Chains at once, at most; if there are more, each chain has several.
    advance : function of a chain's number, its run, a callback and whether to show progress
    progress : bool, optional
    engine : Engine, optional
        If given, chains run on it one after the other.
    """
    at_once, workers = _shared(n, n_threads) if engine is None else (1, 1)
    stopped = threading.Event()

    def one(chain: int) -> Fit:
        if engine is not None:
            return ended(chain, engine)
        with Threads(workers) as own:
            return ended(chain, own)

    def ended(chain: int, own: Engine) -> Fit:
        run = begin(chain, own)
        main = threading.current_thread() is threading.main_thread()
        advance(chain, run, lambda _: stopped.is_set() or asked(), progress if main else False)
        if run.reason == "interrupted":
            stopped.set()
        elif stopped.is_set() or asked():
            run.reason = "interrupted"
        return run.result()

    with deferred([SIGINT, SIGTERM]) as asked, Threads(at_once) as outer:
        return outer.run(one, range(n))


def chains_bytes(task: Task, init: Any, n: int, n_threads: int) -> int:
    """Estimate the memory of n chains from a start (see ``starting.begin``) on some threads.

    It is that of the chains that run at once, with the results of the others, or that of comparing
    all results, whichever is more.
    """
    schedule = task.plan()
    at_once, workers = (1, n_threads) if schedule.corpus.on_disk else _shared(n, n_threads)
    one = needed_bytes(task, schedule, init, workers)
    corpus, n_components = schedule.corpus, len(task.model.alpha)
    loadings, documents = schedule.kept_bytes or (float(one), 0.0)
    drawn = task.draws_bytes(schedule)
    kept = loadings + documents + drawn
    running = at_once * one + (n - at_once) * kept
    table = 8.0 * n_components * corpus.n_words
    copied = drawn if schedule.thin else documents  # in the order of the chosen chain
    comparing = n * (kept + copied + TABLES_PER_CHAIN * table) + TABLES * table
    scoring = 0.0
    if schedule.thin:
        part = 1.0 / _step(corpus)
        scores = 8.0 * n_components * corpus.n_documents  # of all; some documents are looked at
        scoring = n * kept + part * (SCORE_TABLES * scores + ENTRY_BYTES * corpus.n_entries)
    return int(max(running, comparing, scoring))


def gathered(
    fits: Sequence[Fit], corpus: Corpus, keep_order: bool = False, engine: Engine | None = None
) -> Fit:
    """Return the best fit of several chains, with what the others have in common with it.

    For samplers, the best is the one that best predicts one half of each document from the other
    half (``Fit.score``). Log p(W, z) would mislead: it is low where tokens could belong to several
    components, even if the components are right. For other algorithms, the best has the largest
    objective. Components of the others are put in its order; nothing is averaged over chains.

    Parameters
    ----------
    fits : sequence of Fit
    corpus : Corpus
        The training documents; if there are many, some of them are used.
    keep_order : bool
        Whether the components stay in the order of the chain, not by size.
    engine : Engine, optional
    """
    value = _values(fits, corpus, engine)
    chosen = int(np.argmax(value))
    best = fits[chosen] if keep_order else fits[chosen].by_size()
    matched = [
        best if n == chosen else fit.permuted(match(best, fit).order) for n, fit in enumerate(fits)
    ]
    similarity = agreement(matched)
    near = np.array([1.0 - match(best, fit).matched for fit in matched])
    others = np.arange(len(fits)) != chosen
    stability = near[others].mean(axis=0) if others.any() else np.ones(best.n_components)
    numbers = len(fits) * best.components.size
    chains = Chains(
        seeds=tuple(int(fit.settings["seed"]) for fit in fits),
        chosen=chosen,
        value=value,
        report=(),
        agree=True,
        similarity=similarity,
        stability=stability,
        sizes=np.array([fit.sizes for fit in matched]),
        components=np.array([fit.components for fit in matched], dtype=np.float32)
        if numbers <= MOST_NUMBERS
        else None,
        objective=np.zeros((len(fits), 0)),
    )
    if all(fit.record is not None for fit in matched):
        n_draws = min(fit.record.n_draws for fit in matched if fit.record is not None)
        chains = replace(
            chains,
            objective=np.array([fit.draw_objectives[-n_draws:] for fit in matched]),
            records=[fit.record.last(n_draws) for fit in matched if fit.record is not None],
        )
    if all(fit.draws is not None for fit in matched):
        chains = replace(chains, draws=[fit.draws for fit in matched if fit.draws is not None])
    report, agree = _report(matched, chains)
    # the seed of the fit is that of all chains
    settings = {**best.settings, "seed": chains.seeds[0], "chains": len(fits)}
    best = replace(best, settings=settings, chains=replace(chains, report=report, agree=agree))
    mixing = _mixing(best)
    if mixing and best.chains is not None:
        best = replace(best, chains=replace(best.chains, report=(*report, *mixing)))
    return best


def as_fits(fit: Fit) -> list[Fit]:
    """Fits of all chains with their components and sizes only, e.g. to draw their flow."""
    chains = fit.chains
    if chains is None or chains.components is None:
        return [fit]
    result = []
    for components, sizes in zip(chains.components, chains.sizes, strict=True):
        table = np.array(components.T, dtype=np.float64)
        row = sizes[None, :] * float(fit.settings.get("tokens", 1.0))
        documents = KnownDocuments(row, row, None, None)
        result.append(replace(fit, loadings=KnownLoadings(table), documents=documents, chains=None))
    return result


# ---- details ----


def _shared(n: int, n_threads: int) -> tuple[int, int]:
    """Return how many of n chains run at once, and on how many threads each of them."""
    at_once = min(n, n_threads)
    return at_once, max(1, n_threads // at_once)


def _values(fits: Sequence[Fit], corpus: Corpus, engine: Engine | None) -> Array:
    """What the best fit is chosen by, (C,)."""
    last = np.array([float(fit.trace.last("objective")) for fit in fits])
    if not fits[0].algorithm.whole_counts:
        return last
    step = _step(corpus)
    some = corpus if step == 1 else corpus.select(np.arange(0, corpus.n_documents, step))
    if isinstance(some, FolderCorpus):  # it is small
        some = some.loaded()
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = np.array([fit.score(some, engine) for fit in fits])
    return scores if np.isfinite(scores).all() else last


def _step(corpus: Corpus) -> int:
    """Return n: every n-th document is used to choose a chain."""
    return max(1, int(corpus.n_tokens // MOST_TOKENS))


def _report(fits: Sequence[Fit], chains: Chains) -> tuple[tuple[str, ...], bool]:
    """Say which chains agree with the chosen one, and what the others do."""
    n, chosen = len(fits), chains.chosen
    kind = "chain" if fits[0].algorithm.whole_counts else "start"
    found = [compare(fits[chosen], fit) for fit in fits]
    same = [_agrees(each) for each in found]
    total = sum(same)
    sampled = kind == "chain"
    best = "predicts best" if sampled else "has the highest objective"
    unit = " nats per token" if sampled else ""
    by = f"{kind} {chosen + 1} is used: it {best} ({_number(chains.value[chosen])}{unit})"
    if total == n:
        first = f"all {n} {kind}s agree"
    elif total == 1:
        first = f"no two {kind}s agree" if not _others_agree(fits, same) else (
            f"{kind} {chosen + 1} agrees with none of the other {n - 1}"
        )  # fmt: skip
    else:
        first = f"{total} of {n} {kind}s agree"
    sentences = []
    for number, (each, alike) in enumerate(zip(found, same, strict=True)):
        if not alike:
            sentences.append(f"{kind} {number + 1} {_differs(each)}{_lower(chains, number)}")
        elif _stuck(chains, number):
            sentences.append(f"{kind} {number + 1} has the same components but another log p")
    verdict = "; ".join([first, *sentences])
    return (verdict, by), total == n


def _agrees(comparison: Comparison) -> bool:
    """Whether all components that are large enough to count are the same."""
    counts = comparison.first.sizes >= LEAST_SIZE
    pairs = comparison.matching.pairs
    counted = counts[pairs[:, 0]] | (comparison.second.sizes >= LEAST_SIZE)[pairs[:, 1]]
    return bool((comparison.matching.matched[counted] <= SAME).all())


def _others_agree(fits: Sequence[Fit], same: list[bool]) -> bool:
    others = [fit for fit, alike in zip(fits, same, strict=True) if not alike]
    return any(_agrees(compare(a, b)) for n, a in enumerate(others) for b in others[n + 1 :])


def _differs(comparison: Comparison) -> str:
    """Say in a few words what a chain does otherwise."""
    names, others = comparison.first.component_names, comparison.second.component_names
    parts = [f"merges {listed([names[p] for p in whole])}" for _, whole in comparison.merges]
    parts += [f"splits {names[k]}" for k, _ in comparison.splits]
    told = {p for _, whole in comparison.merges for p in whole}
    told |= {k for k, _ in comparison.splits}
    partner = dict(comparison.matching.pairs.tolist())
    lost = [
        k
        for k in range(len(names))
        if comparison.matching.distances[k, partner[k]] > ALIKE
        and comparison.first.sizes[k] >= LEAST_SIZE
        and k not in told
    ]
    if lost:
        parts.append(f"has nothing like {listed([names[k] for k in lost])}")
    if not parts:
        away = [
            k
            for k in range(len(others))
            if comparison.matching.distances[k, partner[k]] > SAME
            and comparison.first.sizes[k] >= LEAST_SIZE
        ]
        parts.append(f"has other forms of {listed([names[k] for k in away])}" if away
                     else "has other components")  # fmt: skip
    return " and ".join(parts)


def _stuck(chains: Chains, number: int) -> bool:
    """Whether the log p of a chain lies apart from the chosen one's, beyond what draws vary."""
    if not chains.objective.shape[1]:
        return False
    one, other = chains.objective[chains.chosen], chains.objective[number]
    return bool(abs(one.mean() - other.mean()) > DEVIATIONS * max(one.std(), other.std()))


def _lower(chains: Chains, number: int) -> str:
    """Say how much worse a chain is than the chosen one."""
    here, best = (_number(chains.value[n]) for n in (number, chains.chosen))
    return f" ({here} against {best})"


def _number(value: float) -> str:
    """Write what chains are chosen by: nats per token, or the objective."""
    return f"{value:.4f}" if abs(value) < 100 else f"{value:,.1f}"


def _mixing(fit: Fit) -> list[str]:
    """Say which quantities have not mixed."""
    values = {name: rhat(x) for name, x in summaries(fit).items() if x.shape[1] >= 8}
    if not values:
        return []
    worst = max(values, key=lambda name: values[name])
    if values[worst] <= MIXED:
        return [f"the chains have mixed: R-hat is at most {values[worst]:.2f}"]
    n = sum(value > MIXED for value in values.values())
    return [
        f"the chains have not mixed: R-hat is above {MIXED:g} for {n} of {len(values)} quantities, "
        f"up to {values[worst]:.2f} for {worst}"
    ]
