# SPDX-License-Identifier: BSD-3-Clause
"""Run discan and its peers in turn and report the ratios.

    python benchmarks/run.py                      the full form, five hours
    python benchmarks/run.py --short              three minutes
    python benchmarks/run.py --only quality --components 100 --threads 1
    python benchmarks/run.py --only final --corpora ap kos
    python benchmarks/run.py --resume             continue today's results, skip what they hold
    python benchmarks/run.py --report             write the report again, measure nothing

Tools run in turn and medians are taken, so that other load on the machine affects all alike. Every
measurement is written to results.json at once; the report is made from that file.
"""

from __future__ import annotations

import argparse
import datetime
import time
from dataclasses import replace
from pathlib import Path

import answers
import corpora
import finals
import footprint
import races
import rates
import report
import scale
import tools
from store import Results, machine
from verdicts import RACES

RATES = ("sampler", "threads", "schedule", "models", "gibbs", "growth")
# The longest sections come last: the time limit may cut them off.
SECTIONS = ("warm-up", "memory", "sampler", "models", "gibbs", "threads", "transform", "growth",
            "scale", "quality", "kl", "variational", "schedule", "online", "alpha",
            "final")  # fmt: skip
SHORT_SECTIONS = ("quality", "kl", "variational", "sampler", "transform", "growth", "models",
                  "gibbs", "memory", "threads", "warm-up", "schedule", "online",
                  "scale")  # fmt: skip
SHORT_DOCUMENTS = 3000
CLOCKS = {"wall": time.perf_counter, "process": time.process_time}
MINUTES = {"full": 300.0, "short": 2.6}


def main() -> None:
    """Measure the selected sections, and write the report."""
    options = _options()
    folder = options.output
    path = folder / "results.json"
    if options.report:
        report.write(Results.read(path), folder)
        return
    form = "short" if options.short else "full"
    about = {
        **machine(), "form": form, "clock": options.clock, "versions": tools.versions(),
        "missing": tools.missing(),
    }  # fmt: skip
    minutes = options.minutes or MINUTES[form]
    results = Results(path, about, options.resume, 60.0 * minutes)
    for section in SHORT_SECTIONS if options.short else SECTIONS:
        if section in options.only:
            _run(section, options, results)
            report.write(results, folder)
    results.write()
    report.write(results, folder)
    print(f"Report: {folder / 'report.md'}")


def _run(section: str, options: argparse.Namespace, results: Results) -> None:
    if section in RACES:
        few = options.short and section in ("kl", "variational")
        components = options.components[:1] if few else options.components
        for cell in races.cells(
            section, options.corpora, components, options.threads, not options.short
        ):
            cell = replace(cell, repeats=options.repeats or cell.repeats)
            races.run(cell, _corpus(cell.corpus, options), results, CLOCKS[options.clock])
    elif section == "final":
        _run_final(options, results)
    elif section in RATES:
        sizes = replace(
            rates.SHORT if options.short else rates.FULL,
            components=tuple(options.components),
            threads=tuple(options.threads),
        )
        chains = [
            replace(rate, repeats=options.repeats or rate.repeats)
            for rate in rates.plan(section, sizes)
        ]
        rates.run(chains, _corpus(options.corpora[0], options), results, CLOCKS[options.clock])
    else:
        _run_other(section, options, results)


def _run_final(options: argparse.Namespace, results: Results) -> None:
    names = options.chosen or finals.CORPORA
    components = options.few or finals.COMPONENTS
    for name, n_components in finals.cells(names, components):
        corpus, threads = _corpus(name, options), max(options.threads)
        repeats = options.repeats or 1
        finals.run(name, corpus, n_components, threads, repeats, results, options.peers)


def _run_other(section: str, options: argparse.Namespace, results: Results) -> None:
    short, first = options.short, options.corpora[0]
    repeats = options.repeats or (1 if short else 3)
    if section == "warm-up":
        algorithms = ("default",) if short else ("default", "collapsed", "blocked", "gibbs")
        footprint.measure_warm_up(results, algorithms, repeats)
    elif section == "memory":
        documents = SHORT_DOCUMENTS if short else 0
        components = [100] if short else [20, 100, 1000]
        footprint.measure_memory(results, first, components, documents)
    elif section == "transform":
        components = [20] if short else [20, 100]
        clock = CLOCKS[options.clock]
        answers.measure_transform(results, _corpus(first, options), components, repeats, clock)
    elif section == "scale":
        scale.measure_scale(results, short)
    elif section == "online":
        size = (20, 5000, 5.0) if short else (100, 100_000, 40.0)
        answers.measure_online(results, _corpus(first, options), *size)


def _corpus(name: str, options: argparse.Namespace) -> corpora.Counts:
    if name not in options.loaded:
        whole = corpora.load(name)
        options.loaded[name] = whole.first(SHORT_DOCUMENTS) if options.short else whole
        print(options.loaded[name], flush=True)
    return options.loaded[name]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="small corpus, few cells")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS)
    parser.add_argument("--components", nargs="+", type=int)
    parser.add_argument("--threads", nargs="+", type=int)
    parser.add_argument("--corpora", nargs="+", choices=(*corpora.SOURCES, "docstrings"))
    parser.add_argument(
        "--peers", nargs="+", choices=tools.PEERS, default=tools.PEERS,
        help="packages to compare with in the section 'final'",
    )  # fmt: skip
    parser.add_argument("--repeats", type=int, help="repeats of each measurement")
    parser.add_argument(
        "--clock", choices=sorted(CLOCKS), default="wall",
        help="'process' for a busy machine; one thread only",
    )  # fmt: skip
    parser.add_argument("--minutes", type=float, help="start no measurement after this time")
    parser.add_argument("--output", type=Path, help="folder for results and report")
    parser.add_argument("--resume", action="store_true", help="keep the measurements of the folder")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    options = parser.parse_args()
    options.few, options.chosen = options.components, options.corpora  # None if not given
    options.components = options.components or (
        [20, 100] if options.short else [20, 100, 500, 1000]
    )
    options.threads = options.threads or ([1] if options.short else [1, 2])
    if options.clock == "process" and options.threads != [1]:
        parser.error("--clock process adds up all threads; give --threads 1 with it")
    if options.repeats is not None and options.repeats < 1:
        parser.error("--repeats must be at least 1")
    wanted = options.corpora or (["newsgroups"] if options.short else ["newsgroups", "debian"])
    options.corpora = list(dict.fromkeys(corpora.available(name) for name in wanted))
    if options.output is None:
        today = datetime.date.today().isoformat()
        form = "-short" if options.short else ""
        options.output = Path(__file__).parent / "results" / f"{today}{form}"
    options.loaded = {}
    return options


if __name__ == "__main__":
    main()
