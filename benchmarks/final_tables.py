# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the race to the end: how much sooner our default is, and how much better it ends."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from charts import Line, chart
from curves import Point, Race, race
from judges import JUDGES
from store import Results, Row

__all__ = ["CLOCKS", "Outcome", "charts", "ends", "finish", "outcomes", "summary", "worst"]

CLOCKS = {"seconds": "wall clock", "processor": "processor time"}


@dataclass(frozen=True)
class Outcome:
    """What one judge says of a cell.

    Attributes
    ----------
    target : float
        The lowest perplexity at the end of a peer, medians over repeats.
    peer : str
        That peer.
    ours : float
        Perplexity at the end of our default.
    races : dict
        For each clock the fastest peer to the target against our default.
    whole : float
        Seconds of that peer's whole run over ours to its quality; nan if we did not reach it.
    """

    cell: str
    judge: str
    target: float
    peer: str
    ours: float
    races: dict[str, Race]
    whole: float

    @property
    def better(self) -> float:
        """By how many per cent our perplexity at the end is lower; below 0 it is higher."""
        return 100.0 * (1.0 - self.ours / self.target)


def outcomes(results: Results, cell: str) -> list[Outcome]:
    """Return what each judge says of a cell; nothing if either side was not measured."""
    rows = results.good("final", cell=cell)
    peers, ours = _by_tool(rows, True), _by_tool(rows, False)
    if not peers or not ours:
        return []
    found = []
    for judge in JUDGES:
        last = {tool: _last(runs, judge) for tool, runs in peers.items()}
        best = min(last, key=lambda tool: last[tool])
        contests = {
            clock: race(_curves(peers, judge, clock), _curves(ours, judge, clock), last[best])
            for clock in CLOCKS
        }
        wall = contests["seconds"]
        whole = _last(peers[best], "seconds") / wall.our_seconds if wall.ours else math.nan
        own = min(_last(runs, judge) for runs in ours.values())
        found.append(Outcome(cell, judge, last[best], best, own, contests, whole))
    return found


def worst(found: Sequence[Outcome], clock: str) -> tuple[float, float]:
    """Return the lowest ratio and the lowest gain in per cent of all judges; nan: not reached."""
    ratios = [outcome.races[clock].ratio for outcome in found]
    lowest = math.nan if any(math.isnan(ratio) for ratio in ratios) else min(ratios)
    return lowest, min(outcome.better for outcome in found)


def summary(results: Results, clock: str = "seconds") -> str:
    """Tabulate the worst of all judges for each corpus and K: one number per cell."""
    rows = results.good("final")
    sizes = sorted({row["components"] for row in rows})
    lines = [
        "| | " + " | ".join(f"K = {k}: times sooner | better by" for k in sizes) + " |",
        "|---" * (1 + 2 * len(sizes)) + "|",
    ]
    titles: dict[str, dict[int, str]] = {}
    for row in rows:
        titles.setdefault(row["corpus"], {})[row["components"]] = row["cell"]
    for cells in titles.values():
        figures = []
        for k in sizes:
            found = outcomes(results, cells[k]) if k in cells else []
            sooner, better = worst(found, clock) if found else (math.nan, math.nan)
            figures += [
                f"{sooner:.1f}" if found and not math.isnan(sooner) else _gap(found),
                f"{better:.1f} %" if found else "-",
            ]
        name = next(iter(cells.values())).partition(", K=")[0]
        lines.append(f"| {name} | {' | '.join(figures)} |")
    return "\n".join(lines)


def finish(results: Results) -> str:
    """Tabulate each judge's verdict: the target, the seconds of both sides, the ratios."""
    lines = [
        "| | judge | target (best peer's end) | fastest peer, s | ours, s | times sooner "
        "| by processor time | than the best peer's whole run | better at the end |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for cell in results.cells("final"):
        for found in outcomes(results, cell):
            wall, processor = found.races["seconds"], found.races["processor"]
            lines.append(
                f"| {cell} | {found.judge} | {found.target:.4g} ({found.peer}) "
                f"| {wall.peer_seconds:.2f} ({wall.peer}) | {_seconds(wall)} | {_times(wall)} "
                f"| {_times(processor)} | {_number(found.whole)} | {found.better:.1f} % |"
            )
    return "\n".join(lines)


def ends(results: Results) -> str:
    """Tabulate the end of each tool: time, passes, perplexity by each judge, sum of alpha."""
    lines = [
        f"| | tool | s | processor s | passes | {' | '.join(JUDGES)} | sum of alpha |",
        "|---" * (6 + len(JUDGES)) + "|",
    ]
    for cell in results.cells("final"):
        rows = results.good("final", cell=cell)
        for tool, runs in {**_by_tool(rows, False), **_by_tool(rows, True)}.items():
            known = all(run[-1]["processor"] is not None for run in runs)
            processor = f"{_last(runs, 'processor'):.1f}" if known else "-"
            values = " | ".join(f"{_last(runs, judge):.4g}" for judge in JUDGES)
            lines.append(
                f"| {cell} | {tool} | {_last(runs, 'seconds'):.1f} | {processor} "
                f"| {_last(runs, 'passes'):.4g} | {values} | {_last(runs, 'alpha'):.3g} |"
            )
    return "\n".join(lines)


def charts(results: Results) -> dict[str, str]:
    """Draw the curves to the end, by "cell, judge"."""
    drawn = {}
    for cell in results.cells("final"):
        rows = results.good("final", cell=cell)
        sides = {**_by_tool(rows, False), **_by_tool(rows, True)}
        ours = set(_by_tool(rows, False))
        targets = {found.judge: [found.target] for found in outcomes(results, cell)}
        for judge in JUDGES:
            lines = [
                Line(tool, [(seconds, value) for seconds, _, value in curves[0]], tool not in ours)
                for tool, curves in _curves(sides, judge, "seconds").items()
            ]
            drawn[f"{cell}, {judge}"] = chart(
                f"{cell}, {judge}", "seconds of training", "held-out perplexity", lines,
                targets.get(judge, ()),
                "Lower and further left is better; dashed: peers; dotted: the best peer's end",
            )  # fmt: skip
    return drawn


def _by_tool(rows: Sequence[Row], peer: bool) -> dict[str, list[list[Row]]]:
    """Return the snapshots of each tool, one list per repeat."""
    tools: dict[str, list[list[Row]]] = {}
    for row in rows:
        if row["peer"] is peer and row["snapshots"]:
            tools.setdefault(row["tool"], []).append(row["snapshots"])
    return tools


def _curves(
    tools: dict[str, list[list[Row]]], judge: str, clock: str
) -> dict[str, list[list[Point]]]:
    """Return time, passes and perplexity of the tools whose time is known by this clock."""
    return {
        tool: [[(one[clock], one["passes"], one[judge]) for one in run] for run in runs]
        for tool, runs in tools.items()
        if all(run[-1][clock] is not None for run in runs)
    }


def _last(runs: Sequence[Sequence[Row]], key: str) -> float:
    """Return the median over repeats of a figure at the end."""
    return statistics.median(run[-1][key] for run in runs)


def _seconds(contest: Race) -> str:
    return f"{contest.our_seconds:.2f}" if contest.ours else "not reached"


def _times(contest: Race) -> str:
    if contest.ours is None:
        return "not reached"
    return f"{'at least ' if contest.at_least else ''}{_number(contest.ratio)}"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.1f}"


def _gap(found: Sequence[Outcome]) -> str:
    return "not reached" if found else "-"
