# SPDX-License-Identifier: BSD-3-Clause
"""The command line: parse, one library call, print."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from typer.core import TyperGroup

from discan import __version__
from discan.errors import DiscanError, InputError, StorageError
from discan.output import Style, emit, emit_record, listing, plain, terminal_width, to_csv, to_json

__all__ = ["app", "main"]

log = logging.getLogger("discan")


class _Commands(TyperGroup):
    """All commands; whatever goes wrong in one is said in one line."""

    def invoke(self, ctx: Any) -> Any:
        with _one_line():
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result


app = typer.Typer(
    name="discan",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# ---- arguments and options that commands share ----

_MODELS = {
    "dm": "Dirichlet-multinomial: LDA, PLSI, multinomial PCA",
    "gp": "Gamma-Poisson: GaP, NMF",
    "cgp": "conditional Gamma-Poisson: components may be absent",
}
_ALGORITHMS = {
    "variational": "variational Bayes, the default",
    "collapsed": "collapsed Gibbs sampling",
    "gibbs": "Gibbs sampling",
    "map": "maximum a posteriori",
    "ml": "maximum likelihood",
}


def _model_names() -> list[tuple[str, str]]:
    return list(_MODELS.items())


def _algorithm_names() -> list[tuple[str, str]]:
    return list(_ALGORITHMS.items())


def _format_names() -> list[tuple[str, str]]:
    from discan.data.readers import READERS

    return [(reader.name, reader.summary) for reader in READERS.values()]


READING, MODEL, RUNNING, OUTPUT = (
    "How to read the data", "What to fit", "How to run", "What to print",
)  # fmt: skip
Data = Annotated[
    str,
    typer.Argument(
        help="File or folder to read, or [b]dataset:NAME[/b] (see [b]discan datasets[/b])."
    ),
]
Model = Annotated[Path, typer.Argument(help="Model file, or the folder that holds it.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel=OUTPUT)]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV.", rich_help_panel=OUTPUT)]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No progress, no remarks.", rich_help_panel=OUTPUT),
]
Threads = Annotated[
    int,
    typer.Option(
        "--threads", min=-1, rich_help_panel=RUNNING,
        help="Threads; -1 is all cores. The answer has the same bits for any number.",
    ),
]  # fmt: skip
Format = Annotated[
    str | None,
    typer.Option(
        "--format", rich_help_panel=READING, autocompletion=_format_names,
        help="Format of the data (see [b]discan formats[/b]); guessed if not given.",
    ),
]  # fmt: skip
StopWords = Annotated[
    str | None,
    typer.Option(
        "--stop-words", rich_help_panel=READING,
        help="Text: words to leave out: english (the default), none, or a file of words.",
    ),
]  # fmt: skip
MinDf = Annotated[
    str | None,
    typer.Option(
        "--min-df", rich_help_panel=READING,
        help="Text: leave out words in fewer documents: a number, or a share like 0.01.",
    ),
]  # fmt: skip
MaxDf = Annotated[
    str | None,
    typer.Option(
        "--max-df", rich_help_panel=READING,
        help="Text: leave out words in more documents: a number, or a share like 0.5.",
    ),
]  # fmt: skip
Field = Annotated[
    str | None,
    typer.Option(
        "--field", rich_help_panel=READING, help="JSON lines: the field that holds the text."
    ),
]
MaxUnpacked = Annotated[
    str | None,
    typer.Option(
        "--max-unpacked", rich_help_panel=READING,
        help="Largest size of a compressed file once unpacked, e.g. 4G. Default 1G.",
    ),
]  # fmt: skip
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option", metavar="KEY=VALUE", rich_help_panel=READING,
        help="Any other option of the format; [b]discan formats NAME[/b] lists them.",
    ),
]  # fmt: skip
MaxUnseen = Annotated[
    float,
    typer.Option(
        "--max-unseen", min=0.0, max=1.0, rich_help_panel=READING,
        help="Fail if a larger share of the data are words that the model does not know.",
    ),
]  # fmt: skip
Output = Annotated[
    str,  # a Path would lose the slash
    typer.Option(
        "--output", "-o",
        help="Where to write the model: a file, or a folder (name it with a slash at the end).",
    ),
]  # fmt: skip


@app.callback(invoke_without_command=True)
def _all(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Discrete component analysis: explain a table of counts by a few components.

    Data are [b]documents[/b] (texts, people, cells, voters), each with counts of [b]words[/b]
    (words, answers, genes, votes). A [b]component[/b] is a set of words that go together, with
    their probabilities; each document is a mix of components.

    [b]Example:[/b] discan fit reviews/ -k 20 -o model/, then discan show model/
    """
    _set_up_remarks()
    if version:
        sys.stdout.write(f"discan {__version__}\n")
        raise typer.Exit


@app.command()
def fit(
    data: Data,
    output: Output,
    components: Annotated[
        int,
        typer.Option(
            "--components", "-k", min=1, help="Number of components.", rich_help_panel=MODEL
        ),
    ] = 10,
    model: Annotated[
        str,
        typer.Option(
            help="[b]dm[/b]: shares of each document, as LDA, PLSI and multinomial PCA do; "
            "[b]gp[/b]: amounts, as GaP and NMF do; [b]cgp[/b]: amounts that may be truly zero.",
            autocompletion=_model_names, rich_help_panel=MODEL,
        ),
    ] = "dm",
    algorithm: Annotated[
        str,
        typer.Option(
            help="[b]variational[/b], [b]map[/b] and [b]ml[/b] (maximum likelihood) optimise; "
            "[b]gibbs[/b] and [b]collapsed[/b] sample: slower, with uncertainty.",
            autocompletion=_algorithm_names, rich_help_panel=MODEL,
        ),
    ] = "variational",
    alpha: Annotated[
        float | None,
        typer.Option(help="Prior shape of a document's mix; small is sparse.",
                     rich_help_panel=MODEL),
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(help="Prior rate of a document's amounts (gp, cgp).", rich_help_panel=MODEL),
    ] = None,
    rho: Annotated[
        float | None,
        typer.Option(help="Prior chance that a component is absent (cgp).", rich_help_panel=MODEL),
    ] = None,
    gamma: Annotated[
        float,
        typer.Option(help="Prior of a component's words; small is sparse.", rich_help_panel=MODEL),
    ] = 0.5,
    learn: Annotated[
        str,
        typer.Option(help="Priors to learn from the data, e.g. alpha,gamma.",
                     rich_help_panel=MODEL),
    ] = "",
    init: Annotated[
        str,
        typer.Option(help="Where to start: auto, random, or map (a short MAP fit).",
                     rich_help_panel=RUNNING),
    ] = "auto",
    iterations: Annotated[
        int | None,
        typer.Option(min=1, help="Cycles through the data at most.", rich_help_panel=RUNNING),
    ] = None,
    tol: Annotated[
        float,
        typer.Option(
            min=0.0, rich_help_panel=RUNNING,
            help="Stop when the objective changes by less, in nats a token.",
        ),
    ] = 1e-5,
    burn_in: Annotated[
        int | None,
        typer.Option(min=0, rich_help_panel=RUNNING,
                     help="gibbs, collapsed: cycles before the first draw. Default 200."),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(min=1, rich_help_panel=RUNNING,
                     help="gibbs, collapsed: draws to average, a cycle each. Default 100."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Same seed, same bits.", rich_help_panel=RUNNING)
    ] = 0,
    threads: Threads = -1,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Folder to write the run to as it goes on; after any end, even kill -9, "
            "[b]discan resume[/b] finishes it.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    every: Annotated[
        int, typer.Option(min=1, help="Cycles between checkpoints.", rich_help_panel=RUNNING)
    ] = 10,
    format: Format = None,
    stop_words: StopWords = None,
    min_df: MinDf = None,
    max_df: MaxDf = None,
    field: Field = None,
    max_unpacked: MaxUnpacked = None,
    option: Options = None,
    quiet: Quiet = False,
    json: Json = False,
    csv: Csv = False,
) -> None:  # fmt: skip
    """Fit a model to data and write it to a file.

    Ctrl-C stops at the end of a cycle and keeps what there is.

    [b]Example:[/b] discan fit reviews.jsonl -k 20 --algorithm collapsed -o model/
    """
    _begin(quiet)
    settings = _settings(stop_words, min_df, max_df, field, max_unpacked, option)
    chosen = _algorithm(algorithm, burn_in, draws)
    _check_model(model)
    from discan.estimators import DCA

    with _target(output) as target:
        if checkpoint is not None:
            _check_run_folder(checkpoint)
        corpus = _read(data, format, quiet, settings)
        estimator = DCA(
            components, model=model, algorithm=chosen, alpha=alpha, beta=beta, rho=rho,
            gamma=gamma, learn=tuple(name for name in learn.split(",") if name), init=init,
            max_iter=iterations, tol=tol, n_jobs=threads, random_state=seed,
            progress=False if quiet else None, checkpoint=checkpoint, checkpoint_every=every,
        )  # fmt: skip
        _finish(lambda: estimator.fit(corpus), target, checkpoint, quiet, _style(json, csv))


@app.command()
def resume(
    folder: Annotated[Path, typer.Argument(help="Folder given to fit --checkpoint.")],
    output: Output,
    threads: Threads = -1,
    quiet: Quiet = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Take up a fit that was stopped or killed; the result has the bits of an unbroken one.

    [b]Example:[/b] discan resume run/ -o model/
    """
    _begin(quiet)
    if not (folder / "settings.discan").is_file():
        raise InputError(
            f"{folder}: holds no run; name the folder given to fit --checkpoint (a fit that was "
            "stopped before its first cycle left nothing to resume: start it again)"
        )
    from discan.checkpoint import resume as take_up

    progress = False if quiet else None
    with _target(output) as target:
        work: Callable[[], Any] = lambda: take_up(folder, n_jobs=threads, progress=progress)  # noqa: E731
        _finish(work, target, folder, quiet, _style(json, csv))


@app.command()
def show(
    model: Model,
    words: Annotated[
        int, typer.Option(min=0, help="Words a component.", rich_help_panel=OUTPUT)
    ] = 8,
    documents: Annotated[
        int, typer.Option(min=0, help="Typical documents a component.", rich_help_panel=OUTPUT)
    ] = 3,
    quiet: Quiet = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Show the components: their sizes, words and most typical documents, largest first.

    Words are listed by probability, and by lift: how many times likelier they are than in all
    the data, which tells what sets a component apart.

    [b]Example:[/b] discan show model/ --words 12
    """
    _begin(quiet)
    from discan.modelfile import load
    from discan.summary import summarise

    estimator = load(model)
    found = summarise(estimator, words, documents)
    style = _style(json, csv)
    if style is Style.JSON:
        sys.stdout.write(to_json([component.as_dict() for component in found]))
    elif style is Style.CSV:
        columns = ("component", "size", "list", "rank", "name", "value")
        emit(style, columns, (row for component in found for row in _flat(component)))
    else:
        width = terminal_width()
        grouped = estimator._layout.n_groups > 1
        blocks = [_block(component, grouped, width) for component in found]
        sys.stdout.write("\n".join(blocks))


@app.command()
def transform(
    model: Model,
    data: Data,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write to, not stdout.",
                     rich_help_panel=OUTPUT),
    ] = None,
    counts: Annotated[
        bool,
        typer.Option("--counts", help="Expected tokens of each component instead.",
                     rich_help_panel=OUTPUT),
    ] = False,
    threads: Threads = -1,
    format: Format = None,
    field: Field = None,
    max_unpacked: MaxUnpacked = None,
    max_unseen: MaxUnseen = 1.0,
    option: Options = None,
    quiet: Quiet = False,
    json: Json = False,
    csv: Csv = False,
) -> None:  # fmt: skip
    """Explain new documents: the share (dm) or amount (gp, cgp) of each component, as CSV.

    [b]Example:[/b] discan transform model/ new.jsonl -o scores.csv
    """
    _begin(quiet)
    if output is not None:
        _check_writable(output)
    settings = _settings(None, None, None, field, max_unpacked, option)
    estimator, corpus = _model_and_data(model, data, format, settings, quiet, threads, max_unseen)
    values = estimator.component_counts(corpus) if counts else estimator.transform(corpus)
    names = corpus.document_names or [str(i) for i in range(corpus.n_documents)]
    columns = ["document", *map(str, estimator.get_feature_names_out())]
    rows = [[name, *map(float, row)] for name, row in zip(names, values, strict=True)]
    if output is None:
        emit(Style.JSON if json else Style.CSV, columns, rows)
        return
    records = (dict(zip(columns, row, strict=True)) for row in rows)
    _write_text(output, to_json(list(records)) if json else to_csv(columns, rows))
    _say(quiet, f"{len(rows):,} documents written to {output}")


@app.command()
def score(
    model: Model,
    data: Data,
    threads: Threads = -1,
    format: Format = None,
    field: Field = None,
    max_unpacked: MaxUnpacked = None,
    max_unseen: MaxUnseen = 1.0,
    option: Options = None,
    quiet: Quiet = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Say how well the model predicts new documents: the other half of each one's words.

    Half of a document's words tell its mix, the other half are predicted. For comparison, the
    unigram gives every document the word shares of the training data. Perplexity is the number
    of equally likely words that would be as hard to guess: lower is better.

    [b]Example:[/b] discan score model/ test.jsonl
    """
    _begin(quiet)
    settings = _settings(None, None, None, field, max_unpacked, option)
    estimator, corpus = _model_and_data(model, data, format, settings, quiet, threads, max_unseen)
    rows = [
        (name, nats, float(np.exp(-nats)))
        for name, nats in (
            ("model", estimator.score(corpus)),
            ("unigram", _unigram(estimator, corpus)),
        )
    ]
    emit(_style(json, csv), ("predictor", "nats a token", "perplexity"), rows)


@app.command()
def info(
    path: Annotated[str, typer.Argument(help="Model, run folder, or any data that can be read.")],
    format: Format = None,
    max_unpacked: MaxUnpacked = None,
    option: Options = None,
    quiet: Quiet = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Say what a model file, a run folder or data hold.

    [b]Example:[/b] discan info model/
    """
    _begin(quiet)
    settings = _settings(None, None, None, None, max_unpacked, option)
    emit_record(_style(json, csv), _describe(path, format, settings))


@app.command()
def convert(
    data: Data,
    output: Annotated[Path, typer.Argument(help="Corpus file to write, e.g. corpus.discan.")],
    format: Format = None,
    stop_words: StopWords = None,
    min_df: MinDf = None,
    max_df: MaxDf = None,
    field: Field = None,
    max_unpacked: MaxUnpacked = None,
    option: Options = None,
    quiet: Quiet = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Read data of any format once and keep them as a corpus file, which loads at once.

    [b]Example:[/b] discan convert 20news/ news.discan
    """
    _begin(quiet)
    from discan.data.store import save_corpus
    from discan.storage import probe
    from discan.summary import describe_corpus

    probe(output)
    settings = _settings(stop_words, min_df, max_df, field, max_unpacked, option)
    corpus = _read(data, format, quiet, settings)
    save_corpus(corpus, output)
    if json or csv:
        emit_record(_style(json, csv), {"file": str(output), **describe_corpus(corpus)})
    _say(quiet, f"written to {output}; fit it with: discan fit {output} -o model/")


@app.command()
def datasets(json: Json = False, csv: Csv = False) -> None:
    """List the data sets that come along or can be loaded by name.

    A local copy is looked for in $DISCAN_DATA, or named with --option path=FILE.

    [b]Example:[/b] discan fit dataset:senate2005 -k 5 -o senate/
    """
    from discan.data.datasets import DATASETS

    rows = [(name, entry.summary) for name, entry in DATASETS.items()]
    emit(_style(json, csv), ("name", "what it is"), rows)


@app.command()
def formats(
    name: Annotated[
        str | None,
        typer.Argument(help="List the options of this format.", autocompletion=_format_names),
    ] = None,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """List the formats of files that can be read, or the options of one.

    [b]Example:[/b] discan formats jsonl
    """
    from discan.data.readers import READERS

    style = _style(json, csv)
    if name is None:
        rows = [(r.name, r.summary, " ".join(r.endings)) for r in READERS.values()]
        emit(style, ("format", "what it is", "endings"), rows)
        return
    options = READERS[_checked("NAME", name, list(READERS))].options.values()
    if style is Style.TABLE and not options:
        sys.stdout.write(f"{name} has no options\n")
        return
    emit(style, ("option", "default", "what it is"),
         [(o.name, _shown_default(o.default), o.help) for o in options])  # fmt: skip


@app.command()
def demo(
    which: Annotated[str, typer.Argument(help="senate, text or digits.")] = "senate",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="senate: HTML file to write."),
    ] = None,
) -> None:
    """Show what it is about, on data that come along: the Senate of 2005, text, or digits.

    [b]Example:[/b] discan demo text
    """
    _checked("WHICH", which, ["senate", "text", "digits"])
    if output is not None and which != "senate":
        raise typer.BadParameter("only the demo senate writes a page", param_hint="--output")
    from discan import demos

    if which == "senate":
        if output is not None:
            _check_writable(output)
        demos.senate(out=output)
    else:
        others: dict[str, Callable[[], Any]] = {"text": demos.text, "digits": demos.digits}
        others[which]()


# Typer would keep the line breaks of the docstrings.
for _command in (_all, *(command.callback for command in app.registered_commands)):
    if _command is not None and _command.__doc__:
        _command.__doc__ = re.sub(r"(?<=\S)\n +(?=\S)", " ", _command.__doc__)


def main() -> None:
    """Run the command line; no traceback reaches the user."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _terminated)
    app(prog_name="discan")


# ---- fitting ----


def _algorithm(name: str, burn_in: int | None, draws: int | None) -> Any:
    """Return the algorithm's name, or an object if options of it were given."""
    from discan.algorithms import ALGORITHMS

    _registered("--algorithm", ALGORITHMS, name, _ALGORITHMS)
    given = {"burn_in": burn_in, "n_draws": draws}
    given = {key: value for key, value in given.items() if value is not None}
    if not given:
        return name
    chosen = ALGORITHMS.find(name)
    if not hasattr(chosen, "burn_in"):
        hint = "--burn-in" if burn_in is not None else "--draws"
        raise typer.BadParameter(
            f"{name} takes no draws; it is for gibbs and collapsed", param_hint=hint
        )
    return dataclasses.replace(chosen, **given)  # type: ignore[type-var]


def _check_model(name: str) -> None:
    from discan.models import MODELS

    _registered("--model", MODELS, name, _MODELS)


def _registered(option: str, registry: Any, name: str, known: Any) -> None:
    try:
        registry.find(name)
    except InputError:
        _checked(option, name, list(known))


def _checked(option: str, name: str, known: list[str]) -> str:
    if name not in known:
        raise typer.BadParameter(f"{name!r}; use one of {', '.join(known)}", param_hint=option)
    return name


@contextlib.contextmanager
def _target(output: str) -> Iterator[Path]:
    """Where the model goes, tried out first; no empty folder is left behind by a failure."""
    from discan.modelfile import model_path
    from discan.storage import probe

    if not output:
        raise typer.BadParameter("the name is empty", param_hint="--output")
    target = model_path(output)
    made = not target.parent.exists()
    probe(target)
    try:
        yield target
    except BaseException:
        if made:
            with contextlib.suppress(OSError):
                target.parent.rmdir()
        raise


def _check_run_folder(folder: Path) -> None:
    """Fail before the data are read if a run cannot be written here."""
    from discan.storage import probe

    if (folder / "state.discan").exists():
        raise InputError(
            f"{folder}: holds a run already; go on with: discan resume {folder} -o MODEL, or "
            "choose another folder"
        )
    probe(folder / "state.discan")


def _finish(
    work: Callable[[], Any], target: Path, run_folder: Path | None, quiet: bool, style: Style
) -> None:
    """Fit, write the model, say how it went."""
    from discan.summary import describe_model

    began = time.perf_counter()
    try:
        estimator = work()
    except SystemExit:
        if run_folder is not None and (run_folder / "state.discan").exists():
            _say(quiet, f"stopped; go on with: discan resume {run_folder} -o {target}")
        raise
    estimator.save(target)
    seconds = time.perf_counter() - began
    reason = estimator.stop_reason_
    objective = estimator.trace_.last("objective")
    if style is not Style.TABLE:
        record = {"file": str(target), **describe_model(estimator), "objective": objective}
        emit_record(style, {**record, "seconds": round(seconds, 3)})
        sys.stdout.flush()
    _say(quiet, f"{estimator.n_iter_} cycles in {seconds:.1f} s: {reason}")
    _say(quiet, f"model written to {target}; look at it with: discan show {target}")
    if reason == "interrupted":
        if run_folder is not None:
            _say(quiet, f"go on with: discan resume {run_folder} -o {target}")
        raise SystemExit(130)


# ---- reading ----


def _read(data: str, format: str | None, quiet: bool, settings: dict[str, Any]) -> Any:
    """Read data; options come as text, and what they are depends on the format."""
    began = time.perf_counter()
    if data.startswith("dataset:"):
        corpus = _load_dataset(data.removeprefix("dataset:"), settings)
    else:
        from discan.data.readers import READERS, read

        if format is None:
            format = _guess(data, settings)
            log.info("%s: read as %s", data, format)
        options = READERS[_checked("--format", format, list(READERS))].options
        values = {
            name: _value(value, options[name].type if name in options else "Any")
            for name, value in settings.items()
        }
        if "max_unpacked" in settings:
            values["max_unpacked"] = settings["max_unpacked"]
        corpus = read(data, format, **values)
    _say(quiet, f"{str(corpus)[9:-1]}, read in {time.perf_counter() - began:.1f} s")
    if corpus.layout.word_names is None:
        _say(quiet, "the words have no names and are numbered from 0 (see --option vocabulary=...)")
    return corpus


def _load_dataset(name: str, settings: dict[str, Any]) -> Any:
    import inspect

    from discan.data.datasets import DATASETS

    loader = DATASETS[_checked("DATA", name, list(DATASETS))].loader
    known = inspect.signature(loader).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in known.values())
    for option in settings:
        if option not in known and not takes_any:
            has = ", ".join(known) or "none"
            raise InputError(f"dataset:{name} has no option {option!r}; it has {has}")
    values = {
        option: _value(value, str(known[option].annotation) if option in known else "Any")
        for option, value in settings.items()
    }
    return loader(**values).corpus


def _guess(data: str, settings: dict[str, Any]) -> str:
    from discan.data.readers.base import MAX_UNPACKED, Source, guess

    return guess(Source(data, settings.get("max_unpacked", MAX_UNPACKED)))


def _model_and_data(
    model: Path, data: str, format: str | None, settings: dict[str, Any], quiet: bool,
    threads: int, max_unseen: float,
) -> tuple[Any, Any]:  # fmt: skip
    from discan.data.align import align
    from discan.data.readers import READERS
    from discan.modelfile import load

    estimator = load(model)
    estimator.set_params(n_jobs=threads, groups=None)
    layout = estimator._layout
    if not data.startswith("dataset:") and layout.word_names is not None:
        if format is None:
            format = _guess(data, settings)
            log.info("%s: read as %s", data, format)
        if format in READERS and READERS[format].is_text:
            settings = _as_fitted(layout.word_names, max_unseen) | settings
    corpus = _read(data, format, quiet, settings)
    return estimator, align(corpus, layout, max_unseen)


def _as_fitted(words: tuple[str, ...], max_unseen: float) -> dict[str, Any]:
    """Text is counted by the model's own words, whatever their number in the new documents."""
    longest = max((word.count(" ") for word in words), default=0) + 1
    capitals = any(word != word.lower() for word in words)
    options = {"ngrams": (1, longest), "lowercase": not capitals}
    if max_unseen < 1:  # all words are needed, to tell the share of the unknown
        return options | {"min_df": 1, "max_df": 1.0}
    return options | {"vocabulary": list(words)}


def _settings(
    stop_words: str | None, min_df: str | None, max_df: str | None, field: str | None,
    max_unpacked: str | None, option: list[str] | None,
) -> dict[str, Any]:  # fmt: skip
    """Collect the reader's options; those not given are left to the reader."""
    given = {
        "stop_words": stop_words,
        "min_df": None if min_df is None else _number("--min-df", min_df),
        "max_df": None if max_df is None else _number("--max-df", max_df),
        "field": field,
        "max_unpacked": None if max_unpacked is None else _size(max_unpacked),
    }
    result = {name: value for name, value in given.items() if value is not None}
    for item in option or []:
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{item!r} is not KEY=VALUE", param_hint="--option")
        result[name.replace("-", "_")] = value
    return result


def _number(name: str, text: str) -> int | float:
    value = _scalar(text)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise typer.BadParameter(f"{text!r} is not a number", param_hint=name)
    return value


def _size(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if found is None or float(found[1]) > 2**40:
        raise typer.BadParameter(f"{text!r} is not a size, e.g. 4G", param_hint="--max-unpacked")
    return int(float(found[1]) * 2 ** (10 * " kmgt".index(found[2] or " ")))


def _value(text: Any, kind: str) -> Any:
    """Turn the text of an option into what the reader's signature says."""
    if not isinstance(text, str):
        return text
    text = text.replace("\\t", "\t")
    names = set(re.findall(r"\w+", kind)) - {"None", "Path", "StrPath", "PathLike", "os"}
    if "Iterable" in names:
        many = "," in text or kind == "Iterable[str]"
        return tuple(text.split(",")) if many else text
    if names <= {"str"}:
        return text
    if "," in text and len(text) > 1:
        return tuple(_scalar(part) for part in text.split(","))
    return _scalar(text)


def _scalar(text: str) -> Any:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return {"true": True, "false": False}.get(text.lower(), text)


# ---- saying ----


def _describe(path: str, format: str | None, settings: dict[str, Any]) -> dict[str, Any]:
    from discan.modelfile import load, model_path
    from discan.storage import read_file
    from discan.summary import describe_corpus, describe_model

    if not path.startswith("dataset:"):
        folder, file = Path(path), model_path(path)
        if (folder / "settings.discan").is_file() and not file.is_file():
            header, _ = read_file(folder / "settings.discan", "settings")
            state = folder / "state.discan"
            cycles = read_file(state, "state")[0]["cycle"] if state.is_file() else 0
            settings = header["settings"]
            algorithm = settings.get("algorithm")
            if isinstance(algorithm, dict):
                algorithm = algorithm["object"]
            return {
                "holds": "a run", "class": header["class"], "cycles": cycles,
                "components": settings.get("n_components"), "model": settings.get("model"),
                "algorithm": algorithm, "seed": str(settings.get("random_state")),
            }  # fmt: skip
        if _is_model(file):
            return describe_model(load(file))
        if format is None:
            format = _guess(path, settings)
    record = describe_corpus(_read(path, format, True, settings))
    return {"format": format, **record} if format else record


def _is_model(file: Path) -> bool:
    """Tell a file of discan's that is not a corpus; a damaged one is told by its name."""
    try:
        with file.open("rb") as stream:
            head = stream.read(2**16)
    except OSError:
        return False
    if rb"\"kind\": \"corpus\"" in head:
        return False
    return head[8:24] == b'{"__metadata__":' or file.name.endswith(".discan")


def _block(component: Any, grouped: bool, width: int | None) -> str:
    """One component as a paragraph."""

    def lift(word: Any) -> str:
        if not grouped:
            return str(word.name)
        return f"{word.name} ({_percent(word.probability)}, all {_percent(word.overall)})"

    entries = {
        "by probability": [word.name for word in component.words],
        "by lift": [lift(word) for word in component.distinctive],
        "typical": [name for name, _ in component.documents],
    }
    title = f"{component.name}: {100 * component.size:.1f} % of the tokens"
    return listing(title, entries, width)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"  # no space, where a line could break


def _flat(component: Any) -> Iterator[tuple[Any, ...]]:
    """One component as rows of a table."""
    lists = {
        "probability": [(word.name, word.probability) for word in component.words],
        "lift": [(word.name, word.lift) for word in component.distinctive],
        "documents": component.documents,
    }
    for kind, items in lists.items():
        for rank, (name, value) in enumerate(items, start=1):
            yield component.name, component.size, kind, rank, name, value


def _unigram(estimator: Any, corpus: Any) -> float:
    """Log-likelihood a token of one component for all: the training data's word shares."""
    from discan.estimators import DCA

    sizes = estimator.component_counts_.sum(axis=0)
    overall = (sizes / sizes.sum()) @ estimator.components_
    groups = estimator._layout.group_of_word
    single = DCA.from_components(
        overall[None, :], groups=groups, algorithm="map", alpha=1.0, random_state=0
    )
    return single.score(corpus)


def _shown_default(value: Any) -> str:
    return "" if value is None or isinstance(value, type) else str(value)


def _style(json: bool, csv: bool) -> Style:
    if json and csv:
        raise typer.BadParameter("choose one of --json and --csv")
    return Style.JSON if json else Style.CSV if csv else Style.TABLE


def _check_writable(path: Path) -> None:
    from discan.storage import probe

    if path.exists() and not path.is_file() and not path.is_dir():
        return  # a device or a pipe
    probe(path)


def _write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; a device or a pipe is written to as it is."""
    data = text.encode("utf-8", "backslashreplace")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(name, 0o666 & ~umask)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from None


class _Remarks(logging.Handler):
    """Remarks of the library, a line each on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(plain(record.getMessage()) + "\n")


def _set_up_remarks() -> None:
    if not any(isinstance(handler, _Remarks) for handler in log.handlers):
        log.addHandler(_Remarks())
    log.propagate = False


def _begin(quiet: bool) -> None:
    log.setLevel(logging.CRITICAL if quiet else logging.INFO)


def _say(quiet: bool, text: str) -> None:
    if not quiet:
        sys.stderr.write(plain(text) + "\n")


# ---- failing ----


@contextlib.contextmanager
def _one_line() -> Iterator[None]:
    """Turn whatever goes wrong into one line on stderr and an exit code."""
    try:
        yield
    except DiscanError as error:
        _fail(_for_the_shell(str(error)))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing was written\n")
        raise SystemExit(130) from None
    except BrokenPipeError:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except MemoryError:
        _fail("not enough memory; use fewer components, or fewer documents or words")
    except Exception as error:
        if hasattr(error, "exit_code") or isinstance(error, typer.Abort):
            raise  # Typer's own
        if os.environ.get("DISCAN_TRACEBACK"):
            raise
        if isinstance(error, OSError):
            _fail(f"{error.filename or 'output'}: {error.strerror or error}")
        _fail(
            f"unexpected {type(error).__name__}: {error}; a bug in discan, please report it "
            "(DISCAN_TRACEBACK=1 shows where)"
        )


_FLAGS = {
    "format": "--format", "field": "--field", "stop_words": "--stop-words",
    "min_df": "--min-df", "max_df": "--max-df", "max_unpacked": "--max-unpacked",
    "algorithm": "--algorithm", "model": "--model", "n_components": "--components",
    "max_iter": "--iterations", "random_state": "--seed", "n_jobs": "--threads",
}  # fmt: skip
_ARGUMENT = re.compile(r"\b([a-z_]+)=(\.\.\.|'[^']*'|\([^)]*\)|-?[\w.]+)")


def _for_the_shell(message: str) -> str:
    """Say `--format lines` where the library says `format='lines'`."""
    advice, separator, rest = message.partition("; ")
    if not separator:
        return message

    def flag(found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        value = "VALUE" if value == "..." else value.strip("'")
        if name in _FLAGS:
            return f"{_FLAGS[name]} {value}"
        return f"--option {name}={value}"

    return advice + separator + _ARGUMENT.sub(flag, rest)


def _fail(message: str) -> None:
    sys.stderr.write(f"error: {plain(' '.join(message.split()))}\n")
    raise SystemExit(1)


def _terminated(signum: int, frame: Any) -> None:
    raise SystemExit(143)


if __name__ == "__main__":
    main()
