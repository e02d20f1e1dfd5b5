# SPDX-License-Identifier: BSD-3-Clause
"""The commands about data: convert, datasets, formats and demo."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from discan.cli.options import (
    FORMATS,
    Data,
    Listing,
    Printing,
    TextReading,
    Threads,
    bytes_of,
    one_of,
    size_option,
)
from discan.cli.printing import Style, check_writable, emit, emit_record
from discan.cli.reading import find_data, options_of, read_data, read_found

__all__ = ["DEMOS", "convert", "datasets", "demo", "formats"]

log = logging.getLogger("discan")

DEMOS = {
    "senate": "voting blocs of the US Senate in 2005",
    "text": "topics of Python's documentation",
    "digits": "parts of handwritten digits",
}


def convert(
    data: Data,
    output: Annotated[
        str,
        typer.Argument(
            help="Corpus file to write, e.g. corpus.discan; a folder if the name ends in /, e.g. "
            "big/, for data larger than memory."
        ),
    ],
    *,
    threads: Threads = -1,
    chunk: Annotated[
        str, size_option("Folder: text that is counted together. It does not change the result.")
    ] = "32MB",
    reading: TextReading,
    printing: Printing,
) -> None:
    """Read data of any format and write a corpus file, which loads quickly, or a corpus folder.

    The name of a folder ends in /. A folder may be larger than memory: text is read and written in
    pieces. If the conversion is interrupted, the same command continues it.

    [b]Example:[/b] discan convert 20news/ news.discan, or discan convert texts/ big/
    """
    from discan.data.store import save_corpus
    from discan.fitting.summary import describe_corpus

    if output.endswith("/"):
        _convert_to_folder(data, output, threads, bytes_of(chunk), reading, printing)
        return
    check_writable(Path(output))
    corpus = read_data(data, reading)
    save_corpus(corpus, output)
    if printing.style is not Style.TABLE:
        emit_record(printing.style, {"file": str(output), **describe_corpus(corpus)})
    log.info("written to %s; fit it with: discan fit %s -o model/", output, output)


def _convert_to_folder(
    data: str, output: str, threads: int, chunk: int, reading: TextReading, printing: Printing
) -> None:
    """Convert data to a corpus folder, and report its size and the time."""
    from discan.readers import convert

    found = find_data(data, reading)
    began = time.perf_counter()
    with _status(printing.progress) as progress:
        given: dict[str, Any] = {"threads": threads or 1, "chunk": chunk, "progress": progress}
        if found.source is None:
            manifest = convert(read_found(found, reading), output, unit=reading.unit, **given)
        else:
            given |= options_of(found, reading)
            manifest = convert(found.source, output, found.format, unit=reading.unit, **given)
    seconds = time.perf_counter() - began
    log.info("%s, converted in %.1f s", manifest.description, seconds)
    if printing.style is not Style.TABLE:
        emit_record(printing.style, {"folder": output, **manifest.describe()})
    log.info("written to %s; fit it with: discan fit %s -o model/", output, output)


@contextlib.contextmanager
def _status(wanted: bool | None) -> Iterator[Callable[[str], None] | None]:
    """Give a function that shows in a terminal how far a conversion is."""
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("reading") as status:
        yield status.update


def datasets(style: Listing) -> None:
    """List the data sets that can be loaded by name.

    Those that are not included are looked for in the folder $DISCAN_DATA, or in the place that
    --option path=FILE names.

    [b]Example:[/b] discan fit dataset:senate2005 -k 5 -o senate/
    """
    from discan.readers.datasets import DATASETS

    rows = [(name, entry.summary) for name, entry in DATASETS.items()]
    emit(style.style, ("name", "what it is"), rows)


def formats(
    name: Annotated[
        str | None, typer.Argument(help="List the options of this format.", **FORMATS)
    ] = None,
    *,
    style: Listing,
) -> None:
    """List the file formats that can be read, or the options of one format.

    [b]Example:[/b] discan formats jsonl
    """
    from discan.readers import READERS

    if name is None:
        listed = [(r.name, r.summary, " ".join(r.endings)) for r in READERS.values()]
        emit(style.style, ("format", "what it is", "endings"), listed)
        return
    options = READERS[name].options.values()
    if style.style is Style.TABLE and not options:
        sys.stdout.write(f"{name} has no options\n")
        return
    if style.style is Style.TABLE:
        described = [(option.name, _described(option.help, option.default)) for option in options]
        emit(style.style, ("option", "what it is"), described)
        return
    rows = [(option.name, _shown_default(option.default), option.help) for option in options]
    emit(style.style, ("option", "default", "what it is"), rows)


def demo(
    which: Annotated[str, typer.Argument(**one_of(lambda: DEMOS))] = "senate",
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="senate: HTML page to write.")
    ] = None,
) -> None:
    """Run a demo on bundled data.

    [b]Example:[/b] discan demo text
    """
    settings: dict[str, Any] = {}
    if output is not None:
        if which != "senate":
            raise typer.BadParameter("only the demo senate writes a page", param_hint="--output")
        check_writable(output)
        settings["out"] = output
    from discan import demos

    getattr(demos, which)(**settings)


def _described(text: str, default: Any) -> str:
    """Return the help of an option with its default at the end, as one would type it."""
    if isinstance(default, tuple):
        default = ",".join(filter(None, map(str, default))) or None
    shown = _shown_default(default)
    return f"{text} Default: {shown}" if shown else text


def _shown_default(value: Any) -> str:
    return "" if value is None or isinstance(value, type) else str(value)
