# SPDX-License-Identifier: BSD-3-Clause
"""Write the report: tables in Markdown and plots, all from the measurements."""

from __future__ import annotations

import math
import re
from pathlib import Path

from curves import best_value
from store import Results
from svg import Line, chart
from verdicts import RACES, SECTIONS, Verdict, curves_of, growth_points, targets_of, verdicts

__all__ = ["markdown", "write"]

BUSY = 1.5  # times the number of cores

METHOD = """
A ratio is the peer's time divided by ours to the same quality, or our rate divided by the peer's:
above 1 we are faster. Where a floor is an upper limit, the ratio is ours to the reference's.
Seconds are of training alone, medians over repeats, tools taking turns; judging is outside the
clock, and kernels were compiled and pools started by a small fit beforehand. Our seconds begin when
`fit` is called, so they hold the reading of the matrix and the start; handing documents to tomotopy
and gensim is not counted, nor are the checks of convergence of scikit-learn's LDA and of enstop.
scikit-learn's NMF is taken up again every five passes and pays for a divergence each time, which is
counted. Where our first snapshot is already below a target, its time is an upper limit. All tools
have the same documents, alpha and gamma, and their components the same judge (`judge.py`). Between
two snapshots the logarithm of the time is taken as linear in the quality. "at least": no peer got
there in its time. Targets that are not given are the best peer's quality after half of its time and
after all of it. Seconds belong to this machine and date; only ratios mean anything elsewhere.
""".strip()


def write(results: Results, folder: Path) -> None:
    """Write report.md and the plots into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    plots = _plots(results)
    for name, drawing in plots.items():
        (folder / name).write_text(drawing, "utf-8")
    (folder / "report.md").write_text(markdown(results, list(plots)), "utf-8")


def markdown(results: Results, plots: list[str]) -> str:
    """The report as text."""
    parts = ["# Benchmark", _about(results), METHOD]
    found = {section: verdicts(results, section) for section in SECTIONS}
    lines = [line for section in found.values() for line in section]
    failed = [line for line in lines if not line.met]
    parts.append(f"**{len(lines) - len(failed)} of {len(lines)} floors reached.**")
    if failed:
        parts.append("\n".join(["Not reached:", "", *(f"- {_failure(line)}" for line in failed)]))
    for section, rows in found.items():
        errors = [row for row in results.select(section) if "error" in row]
        pictures = [plot for plot in plots if plot.startswith(section + "-")]
        if not rows and not errors and not pictures:
            continue
        title, unit = SECTIONS[section]
        parts.append(f"## {title}")
        if rows:
            parts.append(_table(rows, unit))
        parts += [f"- {row['cell']}, {row['tool']} failed: {row['error']}" for row in errors]
        parts += [f"![{plot}]({plot})" for plot in pictures]
        if section in RACES and results.good(section):
            parts.append(_ends(results, section))
    if results.left_out:
        listed = "\n".join(f"- {name}" for name in results.left_out)
        parts.append(f"## Left out for want of time\n\n{listed}")
    return "\n\n".join(parts) + "\n"


def _about(results: Results) -> str:
    about = results.about
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    lines = [
        f"{about['date']}, {about['processor']}, {about['cores']} cores, {about['system']}, "
        f"Python {about['python']}; {about['form']} form, {about['clock']} clock.",
        f"{versions}.",
    ]
    if about["form"] == "short":
        lines.append(
            "Short form: few documents, one repeat; enstop takes too long to import. The floors "
            "are meant for the\nfull form: here they are held against sizes at which fixed costs "
            "and chance weigh more."
        )
    if about["missing"]:
        lines.append(f"Not installed, so left out: {', '.join(about['missing'])}.")
    loads = [row["load"] for row in results.rows if row.get("load") is not None]
    if loads:
        lines.append(f"Load average while measuring: {min(loads):.1f} to {max(loads):.1f}.")
        if max(loads) > BUSY * about["cores"]:
            lines.append("**The machine was busy with other work: trust ratios only roughly.**")
    return "\n".join(lines)


def _table(rows: list[Verdict], unit: str) -> str:
    head = [
        f"| | reference: {unit} | ours | ratio | floor | |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join(
        [
            *head,
            *(
                f"| {row.what} | {row.theirs} | {row.ours} | {_ratio(row)} "
                f"| {row.sign} {row.floor:g} | {_met(row)} |"
                for row in rows
            ),
        ]
    )


def _ratio(row: Verdict) -> str:
    if math.isnan(row.ratio):
        return "-"
    return f"{'at least ' if row.bound else ''}{row.ratio:.3g}"


def _met(row: Verdict) -> str:
    open_ended = row.bound and not math.isnan(row.ratio)  # the peer might take longer still
    word = "met" if row.met else "**not shown**" if open_ended else "**not met**"
    return f"{word}; {row.note}" if row.note else word


def _failure(row: Verdict) -> str:
    title = SECTIONS[row.section][0]
    return f"{title}: {row.what}: {_ratio(row)}, floor {row.sign} {row.floor:g}"


def _ends(results: Results, section: str) -> str:
    """Where each curve ended: seconds, passes and quality, tokens a second."""
    lines = [
        "| | tool | seconds | passes | M tokens/s | reached |",
        "|---|---|---|---|---|---|",
    ]
    for cell in dict.fromkeys(row["cell"] for row in results.good(section)):
        rows = results.good(section, cell=cell)
        for tool, curves in curves_of(rows).items():
            last = sorted(points[-1] for points in curves)[len(curves) // 2]
            rate = rows[0]["tokens"] * last[1] / last[0] / 1e6
            lines.append(
                f"| {cell} | {tool} | {last[0]:.1f} | {last[1]:.4g} | {rate:.2f} "
                f"| {best_value(curves):.4g} |"
            )
    return "\n".join(lines)


def _plots(results: Results) -> dict[str, str]:
    """Drawings by file name."""
    drawn = {}
    for section in RACES:
        for cell in dict.fromkeys(row["cell"] for row in results.good(section)):
            rows = results.good(section, cell=cell)
            peers = {row["tool"] for row in rows if row["peer"]}
            lines = []
            for tool, curves in curves_of(rows).items():
                ordered = sorted(curves, key=lambda points: points[-1][2])
                middle = ordered[len(ordered) // 2]
                points = [(seconds, value) for seconds, _, value in middle]
                lines.append(Line(tool, points, dashed=tool in peers))
            lines.sort(key=lambda line: line.dashed)  # ours first, in the same colours everywhere
            if lines:
                up = "KL divergence a token" if section == "kl" else "held-out perplexity"
                name = f"{section}-{_file_name(cell)}.svg"
                levels = targets_of(rows)
                drawn[name] = chart(cell, "seconds of training", up, lines, levels)
    for cell in ("tokens", "components"):
        points = growth_points(results, cell)
        if len(points) > 1:
            first = points[0]
            even = [first, (points[-1][0], first[1] * points[-1][0] / first[0])]
            lines = [Line("collapsed", points, dots=True), Line("linear", even, dashed=True)]
            drawn[f"growth-{cell}.svg"] = chart(
                f"Seconds a sweep against {cell}", cell, "seconds a sweep", lines
            )
    return drawn


def _file_name(cell: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", cell.lower()).strip("-")
