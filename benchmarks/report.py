# SPDX-License-Identifier: BSD-3-Clause
"""Write the report from the measurements: tables in Markdown, and charts."""

from __future__ import annotations

import math
import re
from pathlib import Path

import final_tables
from charts import Line, chart
from curves import best_value
from store import Results
from verdicts import RACES, SECTIONS, Verdict, curves_of, growth_points, targets_of, verdicts

__all__ = ["markdown", "write"]

BUSY = 1.5  # times the number of cores

METHOD = """
A ratio is the peer's time to a given quality divided by ours, or our rate divided by the peer's:
above 1 we are faster. Where the floor is an upper limit, the ratio is our value divided by the
reference. Seconds are of training only: medians over repeats, with tools in turn. The evaluation of
the quality is not counted, and a small fit has compiled the kernels and started the threads before.
Our seconds begin with the call of `fit`, so they include reading the matrix and the start. For
tomotopy and gensim the transfer of the documents is not counted; for scikit-learn's LDA and for
enstop the checks of convergence are not counted. scikit-learn's NMF is restarted every five passes;
the divergence that it computes each time is counted. If our first snapshot is already below a
target, its time is an upper limit. All tools have the same documents, alpha and gamma (but for the
race to the final quality, where discan learns its own), and their components are evaluated by the
same function (`judge.py`). Between two snapshots the logarithm of the time is interpolated linearly
in the quality. "at least": no peer reached the target in its time. If no targets are set, they are
the best peer's quality after half of its time and after all of it. Seconds are valid for this
machine and date; only ratios can be compared with others.
""".strip()


FINAL = """
Each tool runs until it is done: tomotopy and MALLET for 1,000 iterations, the others for a number
of passes or a minute, discan as its plain default, which learns alpha and gamma and stops when it
has settled. The target is the lowest perplexity at the end of a peer; the ratio is the time of the
fastest peer to that target divided by ours. A table with one number per cell gives the worst of the
three judges: completion, left-to-right and Gibbs completion. Every model is judged with its own
alpha.
""".strip()


def write(results: Results, folder: Path) -> None:
    """Write report.md and the charts into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    plots = _plots(results)
    for name, drawing in plots.items():
        (folder / name).write_text(drawing, "utf-8")
    (folder / "report.md").write_text(markdown(results, list(plots)), "utf-8")


def markdown(results: Results, plots: list[str]) -> str:
    """Return the report as text."""
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
        if section == "final" and results.good(section):
            parts += _finals(results)
    if results.left_out:
        listed = "\n".join(f"- {name}" for name in results.left_out)
        parts.append(f"## Not measured: the time was over\n\n{listed}")
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
            "Short form: few documents, one repeat, no enstop (its import takes too long). The "
            "floors are set for the\nfull form: at these sizes fixed costs and chance matter more."
        )
    if about["missing"]:
        lines.append(f"Not installed, so left out: {', '.join(about['missing'])}.")
    loads = [row["load"] for row in results.rows if row.get("load") is not None]
    if loads:
        lines.append(f"Load average while measuring: {min(loads):.1f} to {max(loads):.1f}.")
        if max(loads) > BUSY * about["cores"]:
            lines.append("**The machine was busy with other work: the ratios are rough.**")
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
    open_ended = row.bound and not math.isnan(row.ratio)  # the ratio may be larger
    word = "met" if row.met else "**not shown**" if open_ended else "**not met**"
    return f"{word}; {row.note}" if row.note else word


def _failure(row: Verdict) -> str:
    title = SECTIONS[row.section][0]
    return f"{title}: {row.what}: {_ratio(row)}, floor {row.sign} {row.floor:g}"


def _ends(results: Results, section: str) -> str:
    """Tabulate the end of each curve: seconds, passes, tokens per second, and quality."""
    lines = [
        "| | tool | seconds | passes | M tokens/s | reached |",
        "|---|---|---|---|---|---|",
    ]
    for cell in results.cells(section):
        rows = results.good(section, cell=cell)
        for tool, curves in curves_of(rows).items():
            last = sorted(points[-1] for points in curves)[len(curves) // 2]
            rate = rows[0]["tokens"] * last[1] / last[0] / 1e6
            lines.append(
                f"| {cell} | {tool} | {last[0]:.1f} | {last[1]:.4g} | {rate:.2f} "
                f"| {best_value(curves):.4g} |"
            )
    return "\n".join(lines)


def _finals(results: Results) -> list[str]:
    """Return the tables of the race to the end."""
    short = [
        f"The worst of the three judges, by {title}:\n\n{final_tables.summary(results, clock)}"
        for clock, title in final_tables.CLOCKS.items()
    ]
    return [FINAL, *short, final_tables.finish(results), final_tables.ends(results)]


def _plots(results: Results) -> dict[str, str]:
    """Return the charts by file name."""
    drawn = {}
    for section in RACES:
        for cell in results.cells(section):
            rows = results.good(section, cell=cell)
            peers = {row["tool"] for row in rows if row["peer"]}
            lines = []
            for tool, curves in curves_of(rows).items():
                ordered = sorted(curves, key=lambda points: points[-1][2])
                middle = ordered[len(ordered) // 2]
                points = [(seconds, value) for seconds, _, value in middle]
                lines.append(Line(tool, points, dashed=tool in peers))
            lines.sort(key=lambda line: line.dashed)  # ours first: the same colours in all charts
            if lines:
                up = "KL divergence per token" if section == "kl" else "held-out perplexity"
                drawn[f"{section}-{_file_name(cell)}.svg"] = chart(
                    cell, "seconds of training", up, lines, targets_of(rows),
                    "Lower and further left is better; dashed: peers; dotted: targets",
                )  # fmt: skip
    for name, drawing in final_tables.charts(results).items():
        drawn[f"final-{_file_name(name)}.svg"] = drawing
    for cell in ("tokens", "components"):
        points = growth_points(results, cell)
        if len(points) > 1:
            first = points[0]
            even = [first, (points[-1][0], first[1] * points[-1][0] / first[0])]
            lines = [Line("collapsed", points, dots=True), Line("linear", even, dashed=True)]
            drawn[f"growth-{cell}.svg"] = chart(
                f"Seconds per sweep against {cell}", cell, "seconds per sweep", lines,
                subtitle=f"Dashed: proportional to the number of {cell}",
            )  # fmt: skip
    return drawn


def _file_name(cell: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", cell.lower()).strip("-")
