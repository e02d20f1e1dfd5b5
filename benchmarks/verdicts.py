# SPDX-License-Identifier: BSD-3-Clause
"""Compare the measurements with the floors of each section."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from curves import Race, best_value, race
from final_tables import outcomes
from footprint import allowed_bytes
from rates import FLOORS
from store import Results, Row

__all__ = ["SECTIONS", "Verdict", "curves_of", "growth_points", "slope", "targets_of", "verdicts"]

# Section: its title, and the unit of its two columns of figures.
SECTIONS = {
    "final": ("To the peers' final quality, priors learnt", "s to the best peer's end"),
    "quality": ("Time to quality, fixed hyperparameters", "s to perplexity"),
    "alpha": ("Alpha learnt", "s to perplexity"),
    "sampler": ("Collapsed sampler alone", "M tokens/s [perplexity]"),
    "threads": ("Two threads against one", "M tokens/s"),
    "schedule": ("Blocked schedule against the exact one", "perplexity"),
    "models": ("Cost of the models, collapsed", "s per sweep"),
    "variational": ("MAP and variational", "s to perplexity"),
    "transform": ("New documents", "s to L1 distance"),
    "online": ("Online against batch", "perplexity"),
    "kl": ("Maximum likelihood", "s to KL per token"),
    "gibbs": ("Direct Gibbs against collapsed", "s per sweep"),
    "memory": ("Memory above the corpus", "MB"),
    "warm-up": ("Warm-up", "s"),
    "growth": ("Growth of a sweep", "exponent"),
    "scale": ("Data on disk", "at the smaller size, or one thread or worker"),
}
FIRST_CYCLE, COMPILING = 1.5, 5.0  # seconds
PER_MODEL, PER_GIBBS, TWO_THREADS, BLOCKED, ONLINE, MEMORY = 1.2, 2.0, 1.8, 1.005, 1.0, 1.3
# Time per token and memory at the larger size, and what two threads or workers gain.
PER_TOKEN, FLAT, TWO_WORKERS = 1.15, 1.10, 1.5
LINEAR = 1.05  # largest exponent of growth that counts as linear
# Times sooner than the fastest peer at the best peer's end, for K below and from 500.
FINAL, FINAL_LARGE, LARGE = 10.0, 6.0, 500
RACES = ("quality", "alpha", "variational", "kl")


@dataclass(frozen=True)
class Verdict:
    """A line of the report: what was compared, the ratio, the floor.

    ``sign`` is ">=" if the floor is a lower limit of the ratio, "<=" if it is an upper limit.
    """

    section: str
    what: str
    theirs: str
    ours: str
    ratio: float
    floor: float
    sign: str = ">="
    bound: bool = False
    note: str = ""

    @property
    def met(self) -> bool:
        """Whether the floor was reached."""
        if math.isnan(self.ratio):
            return False
        return self.ratio >= self.floor if self.sign == ">=" else self.ratio <= self.floor


def verdicts(results: Results, section: str) -> list[Verdict]:
    """Return all lines of a section."""
    if section in RACES:
        return list(_races(results, section))
    lines = {
        "sampler": _sampler, "threads": _threads, "schedule": _schedule, "models": _models,
        "transform": _transform, "online": _online, "gibbs": _gibbs, "memory": _memory,
        "warm-up": _warm_up, "growth": _growth, "final": _final, "scale": _scale,
    }  # fmt: skip
    return list(lines[section](results))


def curves_of(rows: Sequence[Row]) -> dict[str, list[list[Sequence[float]]]]:
    """Return the curves of each tool, one per repeat."""
    tools: dict[str, list[list[Sequence[float]]]] = {}
    for row in rows:
        if row["points"]:
            tools.setdefault(row["tool"], []).append(row["points"])
    return tools


def targets_of(rows: Sequence[Row]) -> list[float]:
    """Return the targets of a cell: as set, or the best peer's value at half and all its time."""
    given = list(rows[0]["targets"])
    if given:
        return given
    peers = curves_of([row for row in rows if row["peer"]]).values()
    return (
        [min(best_value(curves, share) for curves in peers) for share in (0.5, 1.0)]
        if peers
        else []
    )


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the exponent b of y = a x^b by least squares of logarithms."""
    x = [math.log(point[0]) for point in points]
    y = [math.log(point[1]) for point in points]
    return statistics.linear_regression(x, y).slope


# ---- races ----


def _races(results: Results, section: str) -> Iterator[Verdict]:
    for cell in results.cells(section):
        rows = results.good(section, cell=cell)
        peers = curves_of([row for row in rows if row["peer"]])
        ours = curves_of([row for row in rows if not row["peer"]])
        default = curves_of([row for row in rows if row["default"]])
        if not peers or not default:  # not measured, or not installed
            continue
        for target in targets_of(rows):
            mine, best = race(peers, default, target), race(peers, ours, target)
            chosen = best if section == "kl" else mine
            what = f"{cell}, {target:.4g}"
            yield Verdict(
                section, what, _time(chosen.peer, chosen.peer_seconds),
                _time(chosen.ours, chosen.our_seconds), chosen.ratio, rows[0]["floor"],
                bound=chosen.at_least, note="" if best.ours == chosen.ours else _best(best),
            )  # fmt: skip


def _time(tool: str | None, seconds: float) -> str:
    if math.isnan(seconds):
        return "not measured"
    return f"{seconds:.2f} ({tool})" if tool else f"not in {seconds:.0f} s"


def _best(outcome: Race) -> str:
    if outcome.ours is None:
        return "none of ours reached it"
    sign = "at least " if outcome.at_least else ""
    return f"best of ours: {outcome.ours} {outcome.our_seconds:.2f} s, {sign}{outcome.ratio:.1f}x"


def _final(results: Results) -> Iterator[Verdict]:
    for cell in results.cells("final"):
        size = results.good("final", cell=cell)[0]["components"]
        for found in outcomes(results, cell):
            contest = found.races["seconds"]
            yield Verdict(
                "final", f"{cell}, {found.judge}, {found.target:.4g}",
                _time(contest.peer, contest.peer_seconds),
                _time(contest.ours, contest.our_seconds), contest.ratio,
                FINAL_LARGE if size >= LARGE else FINAL, bound=contest.at_least,
            )  # fmt: skip
            yield Verdict(
                "final", f"{cell}, {found.judge}, perplexity at the end, ours / best peer's",
                f"{found.target:.4g} ({found.peer})", f"{found.ours:.4g}",
                found.ours / found.target, 1.0, "<=",
            )  # fmt: skip


# ---- rates ----


def _median(rows: Sequence[Row], key: str) -> float:
    values = [row[key] for row in rows if key in row]
    return statistics.median(values) if values else math.nan


def _sampler(results: Results) -> Iterator[Verdict]:
    for cell in results.cells("sampler"):
        theirs = results.good("sampler", cell=cell, tool="tomotopy")
        own = results.good("sampler", cell=cell, tool="discan")
        if not own or not theirs:
            continue
        floor = FLOORS.get(own[0]["components"], 1.0)
        ratio = _median(own, "rate") / _median(theirs, "rate")
        note = f"after {own[0]['sweeps'] + 1} sweeps from a random start"
        yield Verdict("sampler", cell, _rate(theirs), _rate(own), ratio, floor, note=note)


def _rate(rows: Sequence[Row]) -> str:
    rate, quality = _median(rows, "rate") / 1e6, _median(rows, "perplexity")
    if math.isnan(rate):
        return "not measured"
    return f"{rate:.2f}" + ("" if math.isnan(quality) else f" [{quality:.0f}]")


def _threads(results: Results) -> Iterator[Verdict]:
    yield from _pairs(results, "threads", "rate", "1 threads", ["2 threads"], TWO_THREADS, ">=")


def _schedule(results: Results) -> Iterator[Verdict]:
    yield from _pairs(results, "schedule", "perplexity", "exact", ["blocked"], BLOCKED, "<=")


def _models(results: Results) -> Iterator[Verdict]:
    yield from _pairs(results, "models", "seconds", "dm", ["gp", "cgp"], PER_MODEL, "<=")


def _gibbs(results: Results) -> Iterator[Verdict]:
    yield from _pairs(results, "gibbs", "seconds", "collapsed", ["gibbs"], PER_GIBBS, "<=")


def _pairs(
    results: Results, section: str, key: str, base: str, others: list[str], floor: float, sign: str
) -> Iterator[Verdict]:
    """Compare the median of one figure of each tool with that of the first."""
    for cell in results.cells(section):
        first = _median(results.good(section, cell=cell, tool=base), key)
        for tool in others:
            value = _median(results.good(section, cell=cell, tool=tool), key)
            if math.isnan(value / first):  # not measured
                continue
            scale = 1e6 if key == "rate" else 1.0
            yield Verdict(
                section, f"{cell}: {tool} / {base}", f"{first / scale:.4g}",
                f"{value / scale:.4g}", value / first, floor, sign,
            )  # fmt: skip


def growth_points(results: Results, cell: str) -> list[tuple[float, float]]:
    """Return sizes and median seconds per sweep, ascending."""
    seconds: dict[float, list[float]] = {}
    for row in results.good("growth", cell=cell):
        seconds.setdefault(float(row["tool"]), []).append(row["seconds"])
    return [(size, statistics.median(seconds[size])) for size in sorted(seconds)]


def _growth(results: Results) -> Iterator[Verdict]:
    for cell, floor in (("tokens", LINEAR), ("components", 1.0)):
        points = growth_points(results, cell)
        if len(points) > 1:
            span = f"{points[0][0]:,.0f} to {points[-1][0]:,.0f}"
            note = "at most 1.05 counts as linear" if cell == "tokens" else "below 1 is sub-linear"
            yield Verdict(
                "growth", f"{cell}, {span}", f"{points[0][1]:.3g} s", f"{points[-1][1]:.3g} s",
                slope(points), floor, "<=", note=note,
            )  # fmt: skip


def _scale(results: Results) -> Iterator[Verdict]:
    """Compare two sizes of data on disk, and one thread or worker with two."""
    passes = results.good("scale", cell="pass")
    if len(passes) == 2:
        small, large = sorted(passes, key=lambda row: row["tokens"])
        span = f"{small['tokens']:,} to {large['tokens']:,} tokens"
        each = [1e9 * row["processor_seconds"] / row["tokens"] for row in (small, large)]
        yield Verdict(
            "scale", f"time per token and pass, {span}", f"{each[0]:.3g} ns", f"{each[1]:.3g} ns",
            each[1] / each[0], PER_TOKEN, "<=", note="processor time",
        )  # fmt: skip
        peaks = [row["peak_bytes"] / 1e6 for row in (small, large)]
        yield Verdict(
            "scale", f"private memory, {span}", f"{peaks[0]:.4g} MB", f"{peaks[1]:.4g} MB",
            peaks[1] / peaks[0], FLAT, "<=",
        )  # fmt: skip
    rows = {row["tool"]: row for row in results.good("scale", cell="speed-up")}
    for kind, key, note in (
        ("threads", "wall_seconds", "on the clock, of a machine that may have other work"),
        ("workers", "wall_seconds", "on the clock, of a machine that may have other work"),
        ("workers", "path_seconds", "processor time of the coordinator and the busiest worker"),
    ):
        one, two = (rows.get(f"{n} {kind}", {}).get(key) for n in (1, 2))
        if one is not None and two is not None:
            yield Verdict(
                "scale", f"two {kind} against one", f"{one:.3g} s", f"{two:.3g} s", one / two,
                TWO_WORKERS, note=note,
            )  # fmt: skip


# ---- the rest ----


def _transform(results: Results) -> Iterator[Verdict]:
    for cell in results.cells("transform"):
        peers = _logs(curves_of(results.good("transform", cell=cell, peer=True)))
        ours = _logs(curves_of(results.good("transform", cell=cell, peer=False)))
        if not peers or not ours:
            continue
        outcome = race(peers, ours, max(points[-1][2] for points in ours["discan"]))
        yield Verdict(
            "transform", f"{cell}, {10**outcome.target:.1e}",
            _time(outcome.peer, outcome.peer_seconds), _time(outcome.ours, outcome.our_seconds),
            outcome.ratio, 5.0, bound=outcome.at_least,
        )  # fmt: skip


def _logs(tools: dict[str, list[list[Sequence[float]]]]) -> dict[str, list[list[Sequence[float]]]]:
    """Take logarithms of the distances, which shrink by factors."""
    return {
        tool: [
            [(seconds, n, math.log10(value)) for seconds, n, value in points] for points in curves
        ]
        for tool, curves in tools.items()
    }


def _online(results: Results) -> Iterator[Verdict]:
    for cell in results.cells("online"):
        curves = curves_of(results.good("online", cell=cell))
        names = [tool.removeprefix("online, ") for tool in curves if tool.startswith("online, ")]
        for name in names:
            theirs, ours = curves.get(f"batch, {name}"), curves[f"online, {name}"]
            if theirs is None:
                continue
            batch, online = best_value(theirs), ours[0][-1][2]
            yield Verdict(
                "online", f"{cell}, synthetic, {name}",
                f"{batch:.0f} ({theirs[0][-1][1]:.0f} passes, {theirs[0][-1][0]:.0f} s)",
                f"{online:.0f} (2 passes, {ours[0][-1][0]:.0f} s)", online / batch, ONLINE, "<=",
            )  # fmt: skip


def _memory(results: Results) -> Iterator[Verdict]:
    for row in results.good("memory", tool="discan, collapsed"):
        allowed = allowed_bytes(row)
        others = [
            f"{other['tool']} {other['bytes'] / 1e6:.0f}"
            for other in results.good("memory", cell=row["cell"])
            if other is not row
        ]
        yield Verdict(
            "memory", f"{row['cell']}, collapsed / formula", f"{allowed / 1e6:.1f}",
            f"{row['bytes'] / 1e6:.1f}", row["bytes"] / allowed, MEMORY, "<=",
            note="; ".join(others),
        )  # fmt: skip


def _warm_up(results: Results) -> Iterator[Verdict]:
    for algorithm in results.cells("warm-up"):
        warm = results.good("warm-up", cell=algorithm, tool="warm")
        cold = results.good("warm-up", cell=algorithm, tool="cold")
        if not warm:
            continue
        first, used = _median(warm, "first_cycle"), _median(warm, "first_use")
        note = f"import itself {_median(warm, 'import'):.3f} s"
        yield Verdict(
            "warm-up", f"{algorithm}: import to first cycle, cached", "", f"{first:.2f}", first,
            FIRST_CYCLE, "<=", note=note,
        )  # fmt: skip
        if not cold:
            continue
        extra = _median(cold, "first_use") - used
        yield Verdict(
            "warm-up", f"{algorithm}: compiling its kernels", "", f"{extra:.2f}", extra, COMPILING,
            "<=",
        )  # fmt: skip
