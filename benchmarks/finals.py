# SPDX-License-Identifier: BSD-3-Clause
"""The race to the end: every tool runs until it is done, and three judges follow it.

The plain default of discan, which learns its priors and ends when it has settled, against peers of
fixed length. Every model is judged with its own alpha.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import corpora
import judges
import other_peers
import peers
import tools
from curves import Answer, Watch
from races import TITLES, warm_up
from store import Results
from tools import Task, Tool

__all__ = ["COMPONENTS", "CORPORA", "cells", "run", "tools_for"]

# The small ones first: the time limit may cut off the rest.
CORPORA = ("ap", "kos", "reuters", "newsgroups", "debian", "newsgroups-stop")
COMPONENTS = (20, 100, 500)
ITERATIONS = 1000
SPACING = {20: 1.2, 100: 1.25}  # judging costs more with more components
SLOW = {"scikit-learn": 60.0, "gensim": 60.0, "bigartm": 60.0, "vowpalwabbit": 60.0}  # seconds
MANY_PROCESSES = ("scikit-learn LDA", "gensim LdaMulticore")  # their processor time is not known


def tools_for(threads: int) -> tuple[Tool, ...]:
    """List the tools: the peers, then our default."""
    several = threads > 1
    return (
        peers.tomotopy_lda("tomotopy", passes=ITERATIONS),
        peers.tomotopy_lda("tomotopy, alpha learnt", learn_alpha=10, passes=ITERATIONS),
        other_peers.mallet_lda(passes=ITERATIONS),
        other_peers.bigartm_lda(),
        other_peers.vowpal_lda(),
        peers.sklearn_lda("scikit-learn LDA", passes=50),
        peers.gensim_lda(
            "gensim LdaMulticore" if several else "gensim LdaModel", multicore=several, passes=20
        ),
        tools.ours("discan, default", priors=False),
    )


def cells(names: Iterable[str], components: Iterable[int]) -> Iterator[tuple[str, int]]:
    """List corpora and numbers of components; an absent corpus is skipped with a line."""
    for name in names:
        if corpora.absent(name):
            print(f"{TITLES[name]}: not on this machine, so left out", flush=True)
            continue
        for n_components in components:
            yield name, n_components


def run(
    name: str, corpus: corpora.Counts, n_components: int, threads: int, repeats: int,
    results: Results, packages: Iterable[str] = tools.PEERS,
) -> None:  # fmt: skip
    """Run our default and the peers of these packages in turn, and keep what the judges say."""
    chosen = {None, *packages} - set(tools.missing())
    task = Task(corpus, n_components, threads)
    number = "1 thread" if threads == 1 else f"{threads} threads"
    for repeat in range(repeats):
        for tool in tools_for(threads):
            if tool.package not in chosen:
                continue

            def work(tool: Tool = tool, repeat: int = repeat) -> dict[str, Any]:
                warm_up(tool, task)
                return follow(tool, dataclasses.replace(task, seed=repeat))

            results.measure(
                "final", f"{TITLES[name]}, K={n_components}, {number}", tool.name, repeat, work,
                corpus=name, components=n_components, threads=threads,
                peer=tool.package is not None, tokens=corpus.tokens,
            )  # fmt: skip


def follow(tool: Tool, task: Task) -> dict[str, Any]:
    """Fit to the end; return a snapshot for each time the judges were asked.

    A snapshot has seconds, processor (seconds, None if unknown), passes, the sum of alpha, and
    the perplexity by each judge.
    """
    snapshots: list[dict[str, Any]] = []
    whole = threads_only(tool, task)

    def judged(answer: Answer) -> float:
        alpha = answer.alpha() if answer.alpha else task.alpha
        components = answer.components()
        found = judges.all_judges(components, task.corpus.test, alpha)
        total = float(judges.judge.vector(alpha, components).sum())
        snapshots.append({"processor": watch.processor if whole else None, "alpha": total, **found})
        return found["completion"]

    seconds = SLOW.get(tool.package or "", float("inf"))
    watch = Watch(judged, seconds, spacing=SPACING.get(task.n_components, 1.35))
    tool.fit(task, watch)
    for snapshot, (spent, passes, _) in zip(snapshots, watch.points, strict=True):
        snapshot.update(seconds=spent, passes=passes)
    last = snapshots[-1]
    shown = ", ".join(f"{name} {last[name]:.1f}" for name in judges.JUDGES)
    end = (
        f"{last['seconds']:.2f} s, {last['passes']:.4g} passes, {shown}, alpha {last['alpha']:.2f}"
    )
    return {"snapshots": snapshots, "end": end}


def threads_only(tool: Tool, task: Task) -> bool:
    """Whether the tool works in this process alone, so that its processor time is known."""
    return task.threads == 1 or tool.name not in MANY_PROCESSES
