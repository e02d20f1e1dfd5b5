# SPDX-License-Identifier: BSD-3-Clause
"""Races: which tool reaches a given quality first. The cells are listed here as data."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import judge
import peers
import tools
from corpora import Counts
from curves import Answer, Watch, time_to
from store import Results
from tools import Task, Tool

__all__ = ["TITLES", "Cell", "cells", "run", "warm_up"]

WARM_DOCUMENTS = 300

# K: (floor, target perplexities on 20 newsgroups); without targets the peer's curve sets them.
QUALITY = {20: (5.0, (4000, 3800)), 100: (4.0, (3500, 3200)), 500: (4.0, (3300, 3000)),
           1000: (6.0, ())}  # fmt: skip
SECONDS = {20: 30.0, 100: 60.0, 500: 150.0, 1000: 100.0}
LEARN_ALPHA = (2850,)
# A peer stops when it has taken this many times as long as the floor allows.
SPARE = 1.5
SLOW_TO_IMPORT = "enstop"  # every import compiles for half a minute or more
TITLES = {
    "newsgroups": "20 newsgroups", "debian": "Debian", "docstrings": "docstrings", "ap": "AP",
    "kos": "KOS", "reuters": "Reuters", "newsgroups-stop": "20 newsgroups with stop words",
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One comparison: a corpus, K, threads, and the tools.

    ``targets``: values to reach; () means the best peer's value after half and all of its time.
    ``ours``: the first is our default.
    """

    section: str
    corpus: str
    n_components: int
    threads: int
    peers: tuple[Tool, ...]
    ours: tuple[Tool, ...]
    floor: float
    seconds: float
    targets: tuple[float, ...] = ()
    measure: str = "perplexity"
    repeats: int = 3

    @property
    def label(self) -> str:
        """Name of the cell in tables."""
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return f"{TITLES[self.corpus]}, K={self.n_components}, {threads}"


def cells(
    section: str, corpora: Iterable[str], components: Iterable[int], threads: Iterable[int],
    whole: bool,
) -> Iterator[Cell]:  # fmt: skip
    """List the cells of a section; ``whole`` says whether the corpora are complete."""
    make = {"quality": _quality, "alpha": _alpha, "variational": _variational, "kl": _kl}[section]
    for corpus in corpora:
        for n_components in components:
            for n_threads in threads:
                cell = make(corpus, n_components, n_threads)
                if cell is None:
                    continue
                yield cell if whole else _shortened(cell)


def run(
    cell: Cell, corpus: Counts, results: Results, clock: Callable[[], float] = time.perf_counter
) -> None:
    """Run the tools in turn, once per repeat.

    With targets we run first, and peers get 1.5 times the time that the floor allows. Without
    targets peers run first, and we continue until we reach their quality.
    """
    absent = tools.missing()
    task = Task(corpus, cell.n_components, cell.threads)
    judged = _judge(cell, corpus, task.alpha)
    warmed: set[str] = set()
    order = (*cell.ours, *cell.peers) if cell.targets else (*cell.peers, *cell.ours)
    for repeat in range(cell.repeats):
        for tool in order:
            if tool.package in absent:
                continue
            stop_at, seconds = min(cell.targets, default=float("-inf")), cell.seconds
            if tool.package is None and not cell.targets:
                stop_at = _lowest(cell, results)
            elif tool.package is not None and cell.targets:
                seconds = min(seconds, SPARE * cell.floor * _our_time(cell, results, stop_at))

            def work(
                tool: Tool = tool, repeat: int = repeat, stop_at: float = stop_at,
                seconds: float = seconds,
            ) -> dict:  # fmt: skip
                if tool.name not in warmed:
                    warm_up(tool, task)
                    warmed.add(tool.name)
                spacing = 1.2 if cell.n_components <= 100 else 1.35  # evaluation costs more
                watch = Watch(judged, seconds, stop_at, spacing, clock)
                tool.fit(dataclasses.replace(task, seed=repeat), watch)
                return {"points": watch.points}

            results.measure(
                cell.section, cell.label, tool.name, repeat, work,
                corpus=cell.corpus, components=cell.n_components, threads=cell.threads,
                peer=tool.package is not None, default=tool is cell.ours[0],
                floor=cell.floor, targets=cell.targets, measure=cell.measure, tokens=corpus.tokens,
            )  # fmt: skip


def _judge(cell: Cell, corpus: Counts, alpha: float) -> Callable[[Answer], float]:
    if cell.measure == "divergence":
        return lambda answer: judge.divergence(
            answer.scores() if answer.scores else None, answer.components(), corpus.train
        )
    return lambda answer: judge.perplexity(
        answer.components(), corpus.judged, answer.alpha() if answer.alpha else alpha
    )


def warm_up(tool: Tool, task: Task) -> None:
    """Compile, load and start everything: a small fit, then one pass over the real corpus."""
    small = dataclasses.replace(task, corpus=task.corpus.first(WARM_DOCUMENTS))
    tool.fit(small, Watch(lambda answer: 0.0, budget=1.0))
    if tool.package is None:
        tool.fit(task, Watch(lambda answer: 0.0, budget=0.0))


def _lowest(cell: Cell, results: Results) -> float:
    """Return the lowest value of a peer so far."""
    rows = results.good(cell.section, cell=cell.label, peer=True)
    return min((point[2] for row in rows for point in row["points"]), default=float("-inf"))


def _our_time(cell: Cell, results: Results, target: float) -> float:
    """Return the longest time of our default to the target; inf if it missed the target once."""
    rows = results.good(cell.section, cell=cell.label, default=True)
    return max((time_to(row["points"], target) for row in rows), default=float("inf"))


# ---- cells ----


def _shortened(cell: Cell) -> Cell:
    """Shorten a cell: a tenth of the time, one repeat, no targets, no slow import."""
    peers = tuple(tool for tool in cell.peers if tool.package != SLOW_TO_IMPORT)
    return dataclasses.replace(cell, peers=peers, targets=(), seconds=cell.seconds / 10, repeats=1)


def _quality(corpus: str, n_components: int, threads: int) -> Cell:
    """Fixed hyperparameters, against the best collapsed sampler."""
    floor, targets = QUALITY.get(n_components, (4.0, ()))
    rivals = [peers.tomotopy_lda("tomotopy")]
    if threads > 1:
        rivals = [
            peers.tomotopy_lda("tomotopy, partition", "PARTITION"),
            peers.tomotopy_lda("tomotopy, copy and merge", "COPY_MERGE"),
        ]
    return Cell(
        "quality", corpus, n_components, threads, tuple(rivals),
        (tools.ours("discan, default"),),
        floor, SECONDS.get(n_components, 60.0), targets if corpus == "newsgroups" else (),
        repeats=3 if n_components <= 100 and corpus == "newsgroups" else 1,
    )  # fmt: skip


def _alpha(corpus: str, n_components: int, threads: int) -> Cell | None:
    """Alpha learnt, against tomotopy's every ten sweeps."""
    if n_components != 100 or corpus == "debian":
        return None
    learn = {"learn": ("alpha",)}
    return Cell(
        "alpha", corpus, n_components, threads,
        (peers.tomotopy_lda("tomotopy, alpha every 10", learn_alpha=10),),
        (tools.ours("discan, default, alpha learnt", **learn),),
        1.0, 120.0, LEARN_ALPHA, repeats=1,
    )  # fmt: skip


def _variational(corpus: str, n_components: int, threads: int) -> Cell | None:
    """MAP and variational, against the variational peers."""
    if n_components > 500 or corpus == "debian":
        return None
    rivals = [
        peers.sklearn_lda("scikit-learn LDA, batch"),
        peers.sklearn_lda("scikit-learn LDA, online", "online"),
        peers.gensim_lda("gensim LdaModel"),
    ]
    if threads > 1:
        rivals.append(peers.sklearn_lda("scikit-learn LDA, batch, 1 process", jobs=1))
        rivals.append(peers.gensim_lda("gensim LdaMulticore", multicore=True))
    return Cell(
        "variational", corpus, n_components, threads, tuple(rivals),
        (
            tools.ours("discan, default"),
            tools.ours("discan, map", algorithm="map"),
            tools.ours("discan, variational", algorithm="variational"),
        ),
        10.0, {20: 30.0, 100: 45.0}.get(n_components, 60.0),
        repeats=1,  # the differences are large
    )  # fmt: skip


def _kl(corpus: str, n_components: int, threads: int) -> Cell | None:
    """Maximum likelihood; the peers use one thread, so we do too."""
    if n_components > 100 or threads > 1 or corpus == "debian":
        return None
    return Cell(
        "kl", corpus, n_components, threads,
        (peers.sklearn_nmf(), peers.enstop_plsa()),
        (
            tools.ours("discan NMF", "NMF", priors=False, tol=0.0),
            tools.ours("discan PLSI", "PLSI", priors=False, tol=0.0),
        ),
        5.0, 25.0 if n_components <= 20 else 45.0, measure="divergence", repeats=1,
    )  # fmt: skip
