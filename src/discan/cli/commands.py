# SPDX-License-Identifier: BSD-3-Clause
"""The commands: parse, one library call, print."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from typer.core import TyperGroup

from discan import __version__
from discan.cli.errors import one_line, terminated
from discan.cli.fit import (
    algorithm_of,
    check_model,
    check_run_folder,
    finish_fit,
    output_target,
    remember_target,
    remembered_target,
)
from discan.cli.options import (
    MODEL,
    OUTPUT,
    RUNNING,
    Csv,
    Data,
    Field,
    Format,
    Json,
    MaxDf,
    MaxUnpacked,
    MaxUnseen,
    MinDf,
    Model,
    Options,
    Output,
    Quiet,
    StopWords,
    Threads,
    algorithm_names,
    checked,
    format_names,
    model_names,
)
from discan.cli.plotting import KINDS, draw, plot_kinds
from discan.cli.printing import Style, emit, emit_record, terminal_width, to_csv, to_json
from discan.cli.reading import (
    describe,
    load_dca,
    model_and_data,
    named_group,
    read_data,
    reader_settings,
)
from discan.cli.saying import (
    begin,
    block_of,
    check_writable,
    flat_rows,
    imputed_rows,
    say,
    set_up_remarks,
    shown_default,
    style_of,
    unigram_of,
    write_text,
)
from discan.errors import InputError

__all__ = ["app", "main"]


class _Commands(TyperGroup):
    """All commands; whatever goes wrong in one is said in one line."""

    def invoke(self, ctx: Any) -> Any:
        with one_line():
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
    set_up_remarks()
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
            autocompletion=model_names, rich_help_panel=MODEL,
        ),
    ] = "dm",
    algorithm: Annotated[
        str,
        typer.Option(
            help="[b]map[/b], [b]cvb0[/b] (collapsed variational), [b]variational[/b] and "
            "[b]ml[/b] (maximum likelihood) optimise; [b]gibbs[/b] and [b]collapsed[/b] sample: "
            "slower, with uncertainty.",
            autocompletion=algorithm_names, rich_help_panel=MODEL,
        ),
    ] = "auto",
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
        typer.Option(help="Where to start: auto, random, documents, words, or map (short MAP fit).",
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
    begin(quiet)
    settings = reader_settings(stop_words, min_df, max_df, field, max_unpacked, option)
    chosen = algorithm_of(algorithm, burn_in, draws)
    check_model(model)
    from discan.estimators.dca import DCA

    with output_target(output) as target:
        if checkpoint is not None:
            check_run_folder(checkpoint)
            remember_target(checkpoint, target)
        corpus = read_data(data, format, quiet, settings)
        estimator = DCA(
            components, model=model, algorithm=chosen, alpha=alpha, beta=beta, rho=rho,
            gamma=gamma, learn=tuple(name for name in learn.split(",") if name), init=init,
            max_iter=iterations, tol=tol, n_jobs=threads, random_state=seed,
            progress=False if quiet else None, checkpoint=checkpoint, checkpoint_every=every,
        )  # fmt: skip
        finish_fit(lambda: estimator.fit(corpus), target, checkpoint, quiet, style_of(json, csv))


@app.command()
def resume(
    folder: Annotated[Path, typer.Argument(help="Folder given to fit --checkpoint.")],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Where to write the model; where fit would have."),
    ] = None,
    threads: Threads = -1,
    quiet: Quiet = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Take up a fit that was stopped or killed; the result has the bits of an unbroken one.

    [b]Example:[/b] discan resume run/
    """
    begin(quiet)
    if not (folder / "settings.discan").is_file():
        raise InputError(
            f"{folder}: holds no run; name the folder given to fit --checkpoint (a fit that was "
            "stopped before its first cycle left nothing to resume: start it again)"
        )
    from discan.fitting.checkpoint import resume as take_up

    progress = False if quiet else None
    with output_target(output or remembered_target(folder)) as target:
        work: Callable[[], Any] = lambda: take_up(folder, n_jobs=threads, progress=progress)  # noqa: E731
        finish_fit(work, target, folder, quiet, style_of(json, csv))


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
    begin(quiet)
    from discan.fitting.summary import summarise

    estimator = load_dca(model)
    found = summarise(estimator, words, documents)
    style = style_of(json, csv)
    if style is Style.JSON:
        sys.stdout.write(to_json([component.as_dict() for component in found]))
    elif style is Style.CSV:
        columns = ("component", "size", "list", "rank", "name", "value")
        emit(style, columns, (row for component in found for row in flat_rows(component)))
    else:
        width = terminal_width()
        grouped = estimator._layout.n_groups > 1
        blocks = [block_of(component, grouped, width) for component in found]
        sys.stdout.write("\n".join(blocks))


@app.command()
def plot(
    model: Model,
    kind: Annotated[
        str,
        typer.Argument(
            help="; ".join(f"[b]{name}[/b]: {what}" for name, what in KINDS.items()) + ".",
            autocompletion=plot_kinds,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Figure to write: .html to zoom and point at, .svg, or .png."
        ),
    ],
    labels: Annotated[
        Path | None,
        typer.Option(
            help="Text file with a label for each document, a line each: populations of structure, "
            "rows of squares."
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the figure.")] = None,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Draw a model: its documents, its components, or how it was fitted.

    A .png needs Chrome, Chromium or the package cairosvg; .svg and .html need nothing.

    [b]Example:[/b] discan plot model/ map -o map.svg
    """
    begin(quiet)
    checked("KIND", kind, list(KINDS))
    from discan.fitting.modelfile import load
    from discan.plot import save
    from discan.plot.export import check_ending

    check_ending(output)
    check_writable(output)
    save(draw(load(model), kind, labels, title), output)
    say(quiet, f"figure written to {output}")


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
    begin(quiet)
    if output is not None:
        check_writable(output)
    settings = reader_settings(None, None, None, field, max_unpacked, option)
    estimator, corpus = model_and_data(model, data, format, settings, quiet, threads, max_unseen)
    values = estimator.component_counts(corpus) if counts else estimator.transform(corpus)
    names = corpus.document_names or [str(i) for i in range(corpus.n_documents)]
    columns = ["document", *map(str, estimator.get_feature_names_out())]
    rows = [[name, *map(float, row)] for name, row in zip(names, values, strict=True)]
    if output is None:
        emit(Style.JSON if json else Style.CSV, columns, rows)
        return
    records = (dict(zip(columns, row, strict=True)) for row in rows)
    write_text(output, to_json(list(records)) if json else to_csv(columns, rows))
    say(quiet, f"{len(rows):,} documents written to {output}")


@app.command()
def predict(
    model: Model,
    data: Data,
    group: Annotated[
        str,
        typer.Option("--group", "-g", help="Group to predict, by its name or its number from 0."),
    ],
    probabilities: Annotated[
        bool,
        typer.Option("--probabilities", help="A column for each word of the group, as CSV.",
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
    """Predict a group of words from the others: a vote, an answer, an allele, a label.

    What the data hold of that group is not looked at; it may be missing altogether.

    [b]Example:[/b] discan predict model/ new.csv --group vote
    """
    begin(quiet)
    style = style_of(json, csv)
    settings = reader_settings(None, None, None, field, max_unpacked, option)
    estimator, corpus = model_and_data(model, data, format, settings, quiet, threads, max_unseen)
    chosen = named_group(estimator, group)
    chances = estimator.predict_group_proba(corpus, chosen)
    words = list(map(str, estimator.group_words(chosen)))
    names = corpus.document_names or [str(i) for i in range(corpus.n_documents)]
    if probabilities:
        table = [[name, *map(float, row)] for name, row in zip(names, chances, strict=True)]
        emit(Style.JSON if json else Style.CSV, ["document", *words], table)
        return
    best = chances.argmax(axis=1)
    rows = [(names[i], words[j], float(chances[i, j])) for i, j in enumerate(best)]
    emit(style, ("document", "prediction", "probability"), rows)


@app.command()
def impute(
    model: Model,
    data: Data,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write to, not stdout.",
                     rich_help_panel=OUTPUT),
    ] = None,
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
    """Fill in what is missing: the expected counts of every empty group, as CSV.

    Empty is a group without counts (dm), or one that was not observed (gp, cgp). The expected
    counts of a group add up to what is usual for it: 1 for a vote, 2 for a genotype.

    [b]Example:[/b] discan impute model/ survey.csv -o missing.csv
    """
    begin(quiet)
    if output is not None:
        check_writable(output)
    settings = reader_settings(None, None, None, field, max_unpacked, option)
    estimator, corpus = model_and_data(model, data, format, settings, quiet, threads, max_unseen)
    columns = ("document", "group", "word", "expected")
    rows = list(imputed_rows(estimator, corpus))
    say(quiet, f"{len(rows):,} counts filled in")
    if output is None:
        emit(Style.JSON if json else Style.CSV, columns, rows)
        return
    records = (dict(zip(columns, row, strict=True)) for row in rows)
    write_text(output, to_json(list(records)) if json else to_csv(columns, rows))
    say(quiet, f"written to {output}")


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
    begin(quiet)
    settings = reader_settings(None, None, None, field, max_unpacked, option)
    estimator, corpus = model_and_data(model, data, format, settings, quiet, threads, max_unseen)
    rows = [
        (name, nats, float(np.exp(-nats)))
        for name, nats in (
            ("model", estimator.score(corpus)),
            ("unigram", unigram_of(estimator, corpus)),
        )
    ]
    emit(style_of(json, csv), ("predictor", "nats a token", "perplexity"), rows)


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
    begin(quiet)
    settings = reader_settings(None, None, None, None, max_unpacked, option)
    emit_record(style_of(json, csv), describe(path, format, settings))


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
    begin(quiet)
    from discan.data.storage import probe
    from discan.data.store import save_corpus
    from discan.fitting.summary import describe_corpus

    probe(output)
    settings = reader_settings(stop_words, min_df, max_df, field, max_unpacked, option)
    corpus = read_data(data, format, quiet, settings)
    save_corpus(corpus, output)
    if json or csv:
        emit_record(style_of(json, csv), {"file": str(output), **describe_corpus(corpus)})
    say(quiet, f"written to {output}; fit it with: discan fit {output} -o model/")


@app.command()
def datasets(json: Json = False, csv: Csv = False) -> None:
    """List the data sets that come along or can be loaded by name.

    A local copy is looked for in $DISCAN_DATA, or named with --option path=FILE.

    [b]Example:[/b] discan fit dataset:senate2005 -k 5 -o senate/
    """
    from discan.readers.datasets import DATASETS

    rows = [(name, entry.summary) for name, entry in DATASETS.items()]
    emit(style_of(json, csv), ("name", "what it is"), rows)


@app.command()
def formats(
    name: Annotated[
        str | None,
        typer.Argument(help="List the options of this format.", autocompletion=format_names),
    ] = None,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """List the formats of files that can be read, or the options of one.

    [b]Example:[/b] discan formats jsonl
    """
    from discan.readers import READERS

    style = style_of(json, csv)
    if name is None:
        rows = [(r.name, r.summary, " ".join(r.endings)) for r in READERS.values()]
        emit(style, ("format", "what it is", "endings"), rows)
        return
    options = READERS[checked("NAME", name, list(READERS))].options.values()
    if style is Style.TABLE and not options:
        sys.stdout.write(f"{name} has no options\n")
        return
    emit(style, ("option", "default", "what it is"),
         [(o.name, shown_default(o.default), o.help) for o in options])  # fmt: skip


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
    checked("WHICH", which, ["senate", "text", "digits"])
    if output is not None and which != "senate":
        raise typer.BadParameter("only the demo senate writes a page", param_hint="--output")
    from discan import demos

    if which == "senate":
        if output is not None:
            check_writable(output)
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
    signal.signal(signal.SIGTERM, terminated)
    app(prog_name="discan")
