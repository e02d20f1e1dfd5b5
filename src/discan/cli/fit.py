# SPDX-License-Identifier: BSD-3-Clause
"""The commands that fit a model: fit and resume."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from discan.cli.engines import Place
from discan.cli.options import Data, Printing, TextReading, Threads, fitting, one_of, running
from discan.cli.printing import Style, emit_record
from discan.cli.reading import Model, read_data
from discan.cli.seeds import Seeding, class_labels
from discan.errors import InputError, ModelFileError, StorageError
from discan.registry import entries

__all__ = ["STARTS", "algorithm_of", "fit", "names_to_learn", "registered", "resume"]

log = logging.getLogger("discan")

LONGEST_PATH = 2**14  # bytes
STARTS = {
    "auto": "the usual start of the algorithm",
    "random": "start from random components",
    "documents": "start each component from a few documents",
    "words": "start each component from an anchor word",
    "corners": "start from the documents that are farthest apart",
    "map": "start from a short MAP fit",
    "joined": "start from a short chain with more components, then joined",
    "merged": "start from a short MAP fit whose components are merged",
}


def _size(text: str) -> str:
    """Check a number of components."""
    if text != "auto" and not (text.isdecimal() and int(text) >= 1):
        raise typer.BadParameter(f"{text!r} is not a whole number, at least 1, or auto")
    return text


def fit(
    data: Data,
    *,
    output: Annotated[
        str,  # a Path would lose the slash
        typer.Option("--output", "-o", help="Model file to write; NAME/ writes NAME/model.discan."),
    ],
    components: Annotated[
        str,
        fitting(
            "Number of components; [b]auto[/b] learns it from the data.",
            "--components",
            "-k",
            metavar="INTEGER|auto",
            callback=_size,
        ),
    ] = "10",
    max_components: Annotated[
        int | None,
        fitting("With -k auto: the most components to try (default: from the data).", min=1),
    ] = None,
    model: Annotated[str, fitting(**registered("discan.models"))] = "dm",
    parents: Annotated[
        int | None,
        fitting("Number of parents: groups of components that occur together (dm, gp).", min=1),
    ] = None,
    algorithm: Annotated[
        str,
        fitting(**registered("discan.algorithms", auto="chosen by the model and the data")),
    ] = "auto",
    alpha: Annotated[
        float | None,
        fitting("Prior shape of a document's mix; a small shape makes few components large."),
    ] = None,
    beta: Annotated[
        float | None, fitting("Prior rate of a document's amounts (gp and cgp).")
    ] = None,
    rho: Annotated[
        float | None, fitting("Prior probability that a component is absent (cgp).")
    ] = None,
    gamma: Annotated[
        float | None,
        fitting("Prior shape of a component's words; a small shape makes few words likely."),
    ] = None,
    learn: Annotated[
        str,
        fitting(
            "Priors to learn from the data, e.g. alpha,gamma, or none; auto: all that are not "
            "given, if the algorithm can learn them."
        ),
    ] = "auto",
    classes: Annotated[
        str | None,
        fitting(
            "Column that describes the documents (party, population, year), or file with a label "
            "per line: each class has a prior of its own, which is learnt.",
            metavar="COLUMN",
        ),
    ] = None,
    init: Annotated[
        str,
        running(**one_of(lambda: STARTS) | {"callback": None}),  # the library checks it
    ] = "auto",
    max_iter: Annotated[
        int | None,
        running("Largest number of cycles through the data.", "--max-iter", "--iterations", min=1),
    ] = None,
    tol: Annotated[
        float, running("Stop when the objective changes by less, in nats per token.", min=0.0)
    ] = 1e-5,
    burn_in: Annotated[
        int | None, running("Sampling only: cycles before the first draw (default: 200).", min=0)
    ] = None,
    draws: Annotated[
        int | None, running("Sampling only: draws to average, one per cycle (default: 100).", min=1)
    ] = None,
    seed: Annotated[
        int, running("Seed of all random numbers; the same seed gives the same bits.", min=0)
    ] = 0,
    chains: Annotated[
        int,
        running(
            "Chains to run, or starts of an algorithm that does not sample; the best is kept, and "
            "whether they agree is reported.",
            min=1,
        ),
    ] = 1,
    keep_draws: Annotated[
        bool, running("Sampling only: keep every draw in the model file.", "--keep-draws")
    ] = False,
    threads: Threads = -1,
    checkpoint: Annotated[
        Path | None,
        running(
            "Folder to save the run to while it goes on; [b]discan resume[/b] continues it after "
            "any interruption, even kill -9."
        ),
    ] = None,
    every: Annotated[
        int | None, running("Cycles between checkpoints (default: 10).", min=1)
    ] = None,
    dry_run: Annotated[
        bool,
        running("Print how much memory, disk and time the fit takes; fit nothing.", "--dry-run"),
    ] = False,
    place: Place,
    seeding: Seeding,
    reading: TextReading,
    printing: Printing,
) -> None:
    """Fit a model to data and write it to a file.

    Data may be a corpus folder, as discan convert writes it: its documents stay on disk.

    Ctrl-C stops after the current cycle and keeps the results so far.

    [b]Example:[/b] discan fit reviews.jsonl -k 20 --algorithm collapsed -o model/
    """
    if every is not None and checkpoint is None:
        raise typer.BadParameter("it needs --checkpoint", param_hint="--every")
    chosen, words = algorithm_of(algorithm, burn_in, draws, keep_draws), seeding.words()
    from discan.estimators import DCA

    estimator = DCA(
        components if components == "auto" else int(components),
        max_components=max_components, model=model, algorithm=chosen, alpha=alpha, beta=beta,
        rho=rho, gamma=gamma, n_parents=parents, learn=names_to_learn(learn), init=init,
        max_iter=max_iter, tol=tol, n_jobs=threads, random_state=seed, n_chains=chains,
        progress=printing.progress, checkpoint=checkpoint, checkpoint_every=every or 10,
    )  # fmt: skip
    if dry_run:
        _print_estimate(estimator.estimate(read_data(data, reading, on_disk=True)), printing.style)
        return
    with _output_target(output) as target, place.opened(threads) as engine:
        if checkpoint is not None:
            _prepare_run_folder(checkpoint, target)
        corpus = read_data(data, reading, on_disk=True)
        estimator = estimator.set_params(
            class_of_document=class_labels(classes, corpus),
            engine=engine,
            **seeding.settings(words, corpus),
        )
        _finish(lambda: estimator.fit(corpus), target, checkpoint, printing.style)


def resume(
    folder: Annotated[Path, typer.Argument(help="Folder given to fit --checkpoint.")],
    *,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Model file (default: model.discan in the folder)."),
    ] = None,
    threads: Threads = -1,
    place: Place,
    printing: Printing,
) -> None:
    """Continue a fit that was stopped or killed; the result is the same, bit for bit.

    [b]Example:[/b] discan resume run/ -o model/
    """
    if not (folder / "settings.discan").is_file():
        raise InputError(
            f"{folder}: holds no run; name the folder given to fit --checkpoint (a fit that was "
            "stopped before its first cycle left nothing to resume: start it again)"
        )
    from discan.estimators import resume as resumed

    def work() -> Any:
        with place.opened(threads) as engine:
            return resumed(folder, n_jobs=threads, progress=printing.progress, engine=engine)

    inside = folder / "model.discan"
    noted = _noted_target(folder)
    if output is None and noted not in (None, str(inside.resolve())):
        # a folder from elsewhere must not choose a file of yours to be written to
        log.info("the model is written to %s; fit was to write it to %s (see -o)", inside, noted)
    with _output_target(output or str(inside), follow=output is not None) as target:
        _finish(work, target, folder, printing.style)


def _print_estimate(estimate: Any, style: Style) -> None:
    """Print what a fit takes."""
    if style is Style.TABLE:
        sys.stdout.write("".join(f"{line}\n" for line in estimate.lines))
    else:
        emit_record(style, dataclasses.asdict(estimate))


def names_to_learn(learn: str) -> str | tuple[str, ...]:
    """Return the hyperparameters to learn as the estimator takes them."""
    if learn in ("auto", "none"):
        return "auto" if learn == "auto" else ()
    return tuple(name.strip() for name in learn.split(",") if name.strip())


def registered(package: str, **more: str) -> dict[str, Any]:
    """Return the settings of an option that names a registered class, or one of ``more``."""

    def listed() -> dict[str, str]:
        found = sorted(entries(package), key=lambda entry: entry.shown)
        return more | {entry.shown: entry.summary for entry in found}

    def accepted() -> set[str]:
        return set(more) | {name for entry in entries(package) for name in entry[:2]}

    return one_of(listed, accepted)


def algorithm_of(
    name: str, burn_in: int | None, draws: int | None, keep_draws: bool = False
) -> Any:
    """Return the algorithm's name, or an object if options of the algorithm were given."""
    given = {"burn_in": burn_in, "n_draws": draws, "keep_draws": keep_draws or None}
    given = {key: value for key, value in given.items() if value is not None}
    if not given:
        return name
    from discan.algorithms import ALGORITHMS

    chosen = None if name.lower() == "auto" else ALGORITHMS.find(name)
    if chosen is None or not hasattr(chosen, "burn_in"):
        samplers = [ALGORITHMS.entry(cls).shown for cls in ALGORITHMS if hasattr(cls, "burn_in")]
        flags = {"burn_in": "--burn-in", "n_draws": "--draws", "keep_draws": "--keep-draws"}
        flag = flags[next(iter(given))]
        raise typer.BadParameter(f"{flag} applies only to {' and '.join(samplers)}")
    return dataclasses.replace(chosen, **given)  # type: ignore[type-var]


@contextlib.contextmanager
def _output_target(output: str, follow: bool = True) -> Iterator[Path]:
    """Yield the path of the model, after a trial; a failure leaves no empty folder behind."""
    from discan.data.storage import probe
    from discan.fitting.modelfile import model_path

    if not output:
        raise typer.BadParameter("the name is empty", param_hint="--output")
    target = model_path(output)
    made = not target.parent.exists()
    probe(target, follow=follow)
    try:
        yield target
    except BaseException:
        if made:
            with contextlib.suppress(OSError):
                target.parent.rmdir()
        raise


def _prepare_run_folder(folder: Path, target: Path) -> None:
    """Note in the run folder where the model goes; fail if it cannot be written or is taken."""
    from discan.data.storage import write_whole

    if (folder / "state.discan").exists():
        raise InputError(
            f"{folder}: already holds a run",
            remedy=f"continue it with: discan resume {folder}, or choose another folder",
        )
    write_whole(folder / "output", str(target.resolve()), follow=False)


def _noted_target(folder: Path) -> str | None:
    """Return the output path given to fit, if it was noted."""
    note = folder / "output"
    try:
        small = note.is_file() and note.stat().st_size <= LONGEST_PATH
        return note.read_text(encoding="utf-8") if small else None
    except (OSError, UnicodeDecodeError):
        return None


def _finish(work: Callable[[], Any], target: Path, run_folder: Path | None, style: Style) -> None:
    """Fit, write the model, and report."""
    began = time.perf_counter()
    try:
        estimator = work()
    except (SystemExit, StorageError, ModelFileError) as error:
        if run_folder is not None and (run_folder / "state.discan").exists():
            stopped = (
                "stopped" if isinstance(error, SystemExit) else "the run is kept; mend this, and"
            )
            log.info("%s; continue with: discan resume %s -o %s", stopped, run_folder, target)
        raise
    replaced = " (replaced the one there)" if target.is_file() else ""
    estimator.save(target)
    seconds = time.perf_counter() - began
    reason = estimator.stop_reason_
    if style is not Style.TABLE:
        objective = estimator.trace_.last("objective")
        found = Model(estimator.fit_, type(estimator).__name__)
        record = {"file": str(target), **found.describe(), "objective": objective}
        emit_record(style, {**record, "seconds": round(seconds, 3)})
        sys.stdout.flush()
    fit = estimator.fit_
    log.info("%d cycles in %.1f s; %s", fit.n_cycles, seconds, fit.verdict())
    if fit.learnt:
        log.info("learnt from the data: %s", fit.learnt)
    log.info("model written to %s%s; look at it with: discan show %s", target, replaced, target)
    if reason == "interrupted":
        if run_folder is not None:
            log.info("continue with: discan resume %s -o %s", run_folder, target)
        raise SystemExit(130)
