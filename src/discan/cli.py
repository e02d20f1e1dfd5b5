# SPDX-License-Identifier: BSD-3-Clause
"""The command line: parse, one library call, print."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from discan import __version__
from discan.errors import DiscanError, InputError
from discan.output import Style, emit, plain, to_csv

__all__ = ["app", "main"]

app = typer.Typer(
    name="discan",
    help="Discrete component analysis: explain a table of counts by a few components.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

Data = Annotated[str, typer.Argument(help="File, folder, or [b]dataset:NAME[/b] (see datasets).")]
Model = Annotated[Path, typer.Argument(help="Model file, or the folder that holds it.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks.")]
Threads = Annotated[
    int, typer.Option("--threads", help="Threads; -1 for all cores. Answers do not depend on it.")
]
Format = Annotated[
    str | None, typer.Option("--format", help="Format of DATA; guessed if not given.")
]
StopWords = Annotated[
    str | None, typer.Option("--stop-words", help="Text: english, none, or a file of words.")
]
MinDf = Annotated[
    str | None, typer.Option("--min-df", help="Text: least documents (or share) of a word.")
]
MaxDf = Annotated[
    str | None, typer.Option("--max-df", help="Text: most documents (or share) of a word.")
]
Field = Annotated[str | None, typer.Option("--field", help="JSON lines: the field with the text.")]
Options = Annotated[
    list[str] | None, typer.Option("--option", help="Any other reader option, KEY=VALUE.")
]


@app.command()
def fit(
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the model.")],
    components: Annotated[
        int, typer.Option("--components", "-k", help="Number of components.")
    ] = 10,
    model: Annotated[str, typer.Option(help="dm (LDA), gp (GaP) or cgp (sparse GaP).")] = "dm",
    algorithm: Annotated[
        str, typer.Option(help="ml, map, variational, gibbs or collapsed.")
    ] = "variational",
    alpha: Annotated[float | None, typer.Option(help="Shape of the scores.")] = None,
    beta: Annotated[float | None, typer.Option(help="Rate of the scores (gp, cgp).")] = None,
    rho: Annotated[float | None, typer.Option(help="Chance of absence (cgp).")] = None,
    gamma: Annotated[float, typer.Option(help="Prior of the loadings.")] = 0.5,
    learn: Annotated[str, typer.Option(help="Learn these, e.g. alpha,gamma.")] = "",
    init: Annotated[str, typer.Option(help="Start: random or map.")] = "random",
    iterations: Annotated[int | None, typer.Option(help="Cycles at most.")] = None,
    tol: Annotated[float, typer.Option(help="Stop below this change, nats a token.")] = 1e-5,
    seed: Annotated[int, typer.Option(help="Same seed, same bits.")] = 0,
    threads: Threads = -1,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Write the run to this folder; see resume.")
    ] = None,
    every: Annotated[int, typer.Option(help="Cycles between checkpoints.")] = 10,
    format: Format = None,
    stop_words: StopWords = None,
    min_df: MinDf = None,
    max_df: MaxDf = None,
    field: Field = None,
    option: Options = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Fit a model to data and write it to a file.

    [b]Example:[/b] discan fit reviews.jsonl -k 20 --algorithm collapsed -o model/
    """
    from discan.estimators import DCA
    from discan.modelfile import model_path
    from discan.storage import probe

    target = model_path(f"{output}/" if str(output).endswith("/") or output.is_dir() else output)
    probe(target)
    corpus = _read(data, format, quiet, _options(stop_words, min_df, max_df, field, option))
    estimator = DCA(
        components, model=model, algorithm=algorithm, alpha=alpha, beta=beta, rho=rho, gamma=gamma,
        learn=tuple(name for name in learn.split(",") if name), init=init, max_iter=iterations,
        tol=tol, n_jobs=threads, random_state=seed, progress=False if quiet else None,
        checkpoint=checkpoint, checkpoint_every=every,
    )  # fmt: skip
    _finish(estimator, lambda: estimator.fit(corpus), target, quiet, json)


@app.command()
def resume(
    folder: Annotated[Path, typer.Argument(help="Folder given to fit --checkpoint.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the model.")],
    threads: Threads = -1,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Take up a fit that was stopped or killed, and end with the same bits.

    [b]Example:[/b] discan resume run/ -o model/
    """
    from discan.checkpoint import resume as take_up
    from discan.modelfile import model_path
    from discan.storage import probe

    target = model_path(f"{output}/" if str(output).endswith("/") or output.is_dir() else output)
    probe(target)
    progress = False if quiet else None
    _finish(None, lambda: take_up(folder, n_jobs=threads, progress=progress), target, quiet, json)


@app.command()
def show(
    model: Model,
    words: Annotated[int, typer.Option(help="Words a component.")] = 8,
    documents: Annotated[int, typer.Option(help="Typical documents a component.")] = 3,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Show the components: size, words by probability and by lift, typical documents.

    [b]Example:[/b] discan show model/ --words 12
    """
    from discan.modelfile import load
    from discan.summary import summarise

    rows = [
        (c.name, round(c.size, 4), [w for w, _ in c.words], [w for w, _ in c.distinctive],
         [d for d, _ in c.documents])
        for c in summarise(load(model), words, documents)
    ]  # fmt: skip
    columns = ("component", "size", "by probability", "by lift", "typical documents")
    emit(_style(json, csv), columns, rows)


@app.command()
def transform(
    model: Model,
    data: Data,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="CSV file; else stdout.")
    ] = None,
    counts: Annotated[
        bool, typer.Option("--counts", help="Expected word counts instead of scores.")
    ] = False,
    threads: Threads = -1,
    format: Format = None,
    field: Field = None,
    option: Options = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Explain new documents: proportions (dm) or scores (gp, cgp), a row a document.

    [b]Example:[/b] discan transform model/ new.jsonl -o scores.csv
    """
    estimator, corpus = _model_and_data(model, data, format, field, option, quiet, threads)
    values = estimator.component_counts(corpus) if counts else estimator.transform(corpus)
    names = corpus.document_names or [str(i) for i in range(corpus.n_documents)]
    columns = ["document", *map(str, estimator.get_feature_names_out())]
    rows = [[name, *map(float, row)] for name, row in zip(names, values, strict=True)]
    if output is not None:
        _write_text(output, to_csv(columns, rows))
        _say(quiet, f"{len(rows):,} documents written to {output}")
        return
    emit(_style(json, not json), columns, rows)


@app.command()
def score(
    model: Model,
    data: Data,
    threads: Threads = -1,
    format: Format = None,
    field: Field = None,
    option: Options = None,
    quiet: Quiet = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Score held-out documents: half of each one's words predict the other half.

    [b]Example:[/b] discan score model/ test.jsonl
    """
    estimator, corpus = _model_and_data(model, data, format, field, option, quiet, threads)
    nats = estimator.score(corpus)
    unigram = _unigram(estimator, corpus)
    rows = [("model", nats, float(np.exp(-nats))), ("unigram", unigram, float(np.exp(-unigram)))]
    columns = ("", "log-likelihood a token (nats)", "perplexity")
    emit(_style(json, csv), columns, rows)


@app.command()
def info(
    path: Annotated[str, typer.Argument(help="Model file, corpus or any data that can be read.")],
    format: Format = None,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Say what a model file or a data file holds.

    [b]Example:[/b] discan info model/
    """
    rows = _describe(path, format)
    emit(_style(json, csv), ("what", "value"), rows)


@app.command()
def convert(
    data: Data,
    output: Annotated[Path, typer.Argument(help="Corpus file to write, e.g. corpus.discan.")],
    format: Format = None,
    stop_words: StopWords = None,
    min_df: MinDf = None,
    max_df: MaxDf = None,
    field: Field = None,
    option: Options = None,
    quiet: Quiet = False,
) -> None:
    """Read any format once and keep it as a corpus file that loads at once.

    [b]Example:[/b] discan convert 20news/ news.discan
    """
    from discan.data.store import save_corpus
    from discan.storage import probe

    probe(output)
    corpus = _read(data, format, quiet, _options(stop_words, min_df, max_df, field, option))
    save_corpus(corpus, output)
    _say(quiet, f"written to {output}")


@app.command()
def datasets(json: Json = False, csv: Csv = False) -> None:
    """List the data sets that come along or can be loaded by name.

    [b]Example:[/b] discan fit dataset:senate2005 -k 5 -o senate/
    """
    from discan.data.datasets import DATASETS

    rows = [(name, entry.summary) for name, entry in DATASETS.items()]
    emit(_style(json, csv), ("name", "what it is"), rows)


@app.command()
def formats(json: Json = False, csv: Csv = False) -> None:
    """List the file formats that can be read.

    [b]Example:[/b] discan formats
    """
    from discan.data.readers import READERS

    rows = [(r.name, r.summary, " ".join(r.endings)) for r in READERS.values()]
    emit(_style(json, csv), ("format", "what it is", "endings"), rows)


@app.command()
def demo(
    which: Annotated[str, typer.Argument(help="senate, text or digits.")] = "senate",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="HTML file to write.")
    ] = None,
) -> None:
    """Show what it is about, on data that come along: the Senate of 2005, text, or digits.

    [b]Example:[/b] discan demo text
    """
    from discan import demos

    shows: dict[str, Callable[[], Any]] = {
        "senate": lambda: demos.senate(out=output),
        "text": demos.text,
        "digits": demos.digits,
    }
    if which not in shows:
        raise InputError(f"no demo {which!r}; there are {', '.join(shows)}")
    shows[which]()


@app.callback(invoke_without_command=True)
def _options_of_all(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        sys.stdout.write(f"discan {__version__}\n")
        raise typer.Exit


def main() -> None:
    """Run the command line; no traceback reaches the user."""
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    signal.signal(signal.SIGTERM, _terminated)
    try:
        app()
    except DiscanError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except MemoryError:
        _fail("not enough memory; use fewer components, or fewer documents or words")
    except Exception as error:
        if os.environ.get("DISCAN_TRACEBACK"):
            raise
        _fail(
            f"unexpected {type(error).__name__}: {error}; a bug in discan, please report it "
            "(DISCAN_TRACEBACK=1 shows where)"
        )


# ---- inside ----


def _finish(estimator: Any, work: Any, target: Path, quiet: bool, json: bool) -> None:
    """Fit, write the model, say how it went."""
    began = time.perf_counter()
    estimator = work()
    estimator.save(target)
    seconds = time.perf_counter() - began
    if json:
        row = (str(target), estimator.n_iter_, estimator.converged_, estimator.stop_reason_,
               estimator.trace_.last("objective"), seconds)  # fmt: skip
        names = ("model", "cycles", "converged", "stopped", "objective", "seconds")
        emit(Style.JSON, names, [row])
    _say(quiet, f"{estimator.n_iter_} cycles in {seconds:.1f} s: {estimator.stop_reason_}")
    _say(quiet, f"model written to {target}; look at it with: discan show {target}")
    if estimator.stop_reason_ == "interrupted":
        raise SystemExit(130)


def _read(data: str, format: str | None, quiet: bool, options: dict[str, Any]) -> Any:
    logging.getLogger("discan").setLevel(logging.ERROR if quiet else logging.INFO)
    began = time.perf_counter()
    if data.startswith("dataset:"):
        from discan.data.datasets import DATASETS

        name = data.removeprefix("dataset:")
        if name not in DATASETS:
            raise InputError(f"no data set {name!r}; there are {', '.join(DATASETS)}")
        corpus = DATASETS[name].loader().corpus
    else:
        from discan.data.readers import read

        corpus = read(data, format, **options)
    _say(quiet, f"{str(corpus)[9:-1]}, read in {time.perf_counter() - began:.1f} s")
    return corpus


def _model_and_data(
    model: Path, data: str, format: str | None, field: str | None, option: list[str] | None,
    quiet: bool, threads: int,
) -> tuple[Any, Any]:  # fmt: skip
    from discan.data.align import align
    from discan.modelfile import load

    estimator = load(model)
    estimator.set_params(n_jobs=threads, groups=None)
    words = estimator._layout.word_names
    options = _options(None, None, None, field, option)
    corpus = _read(data, format, quiet, options | _whole_vocabulary(data, format, words))
    return estimator, align(corpus, estimator._layout)


def _whole_vocabulary(data: str, format: str | None, words: Any) -> dict[str, Any]:
    """Text is counted by the model's own words, whatever their number in the new documents."""
    from discan.data.readers import READERS
    from discan.data.readers.base import Source, guess

    if data.startswith("dataset:") or words is None:
        return {}
    found = READERS.get(format or guess(Source(data)))
    return {"vocabulary": list(words)} if found is not None and found.name in _TEXT else {}


_TEXT = ("folder", "lines", "jsonl", "mallet", "archive")


def _options(
    stop_words: str | None, min_df: str | None, max_df: str | None, field: str | None,
    option: list[str] | None,
) -> dict[str, Any]:  # fmt: skip
    """Collect the reader's options; those not given are left to the reader."""
    given = {
        "stop_words": stop_words,
        "min_df": None if min_df is None else _number("--min-df", min_df),
        "max_df": None if max_df is None else _number("--max-df", max_df),
        "field": field,
    }
    result = {name: value for name, value in given.items() if value is not None}
    for item in option or []:
        name, equals, value = item.partition("=")
        if not equals:
            raise typer.BadParameter(f"{item!r} is not KEY=VALUE", param_hint="--option")
        result[name.replace("-", "_")] = _value(value)
    return result


def _number(name: str, text: str) -> int | float:
    value = _value(text)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise typer.BadParameter(f"{text!r} is not a number", param_hint=name)
    return value


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    if text in ("true", "false"):
        return text == "true"
    return tuple(text.split(",")) if "," in text else text


def _describe(path: str, format: str | None) -> list[tuple[str, Any]]:
    from discan.errors import ModelFileError
    from discan.modelfile import load, model_path

    file = model_path(path)
    if file.name.endswith(".discan") and file.exists():
        try:
            estimator = load(file)
        except ModelFileError as error:
            if "holds a corpus" not in str(error):
                raise
        else:
            return [
                ("class", type(estimator).__name__),
                ("model", estimator._params.model.name),
                ("algorithm", estimator.algorithm_.name),
                ("components", len(estimator.components_)),
                ("words", estimator.n_features_in_),
                ("groups", estimator._layout.n_groups),
                ("documents", len(estimator.scores_) if hasattr(estimator, "scores_") else 0),
                ("cycles", getattr(estimator, "n_iter_", 0)),
                ("stopped", getattr(estimator, "stop_reason_", "")),
                ("seed", estimator.settings_.get("seed")),
            ]  # fmt: skip
    corpus = _read(path, format, True, {})
    return [
        ("documents", corpus.n_documents), ("words", corpus.n_words), ("groups", corpus.n_groups),
        ("tokens", corpus.n_tokens), ("non-zeros", corpus.n_entries),
        ("empty documents", int((corpus.lengths == 0).sum())),
        ("exposures", corpus.exposures is not None),
    ]  # fmt: skip


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


def _style(json: bool, csv: bool) -> Style:
    return Style.JSON if json else Style.CSV if csv else Style.TABLE


def _write_text(path: Path, text: str) -> None:
    from discan.errors import StorageError

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from None


def _say(quiet: bool, text: str) -> None:
    if not quiet:
        sys.stderr.write(plain(text) + "\n")


def _fail(message: str) -> None:
    sys.stderr.write(f"error: {plain(' '.join(message.split()))}\n")
    raise SystemExit(1)


def _terminated(signum: int, frame: Any) -> None:
    raise SystemExit(143)


if __name__ == "__main__":
    main()
