# SPDX-License-Identifier: BSD-3-Clause
"""Arguments and options that commands share, each declared once."""

from __future__ import annotations

import functools
import inspect
import logging
import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_type_hints

import typer

from discan.cli.printing import Style

__all__ = [
    "DATASET",
    "FORMATS",
    "Data",
    "Listing",
    "ModelFile",
    "NewData",
    "Printing",
    "Quiet",
    "Reading",
    "Saving",
    "TextReading",
    "Threads",
    "Writing",
    "bytes_of",
    "fitting",
    "one_of",
    "printing",
    "running",
    "size_option",
    "with_groups",
]  # fmt: skip

DATASET = "dataset:"  # what the name of a data set begins with


# ---- how to declare one ----


def _panel(title: str) -> Callable[..., Any]:
    """Return a function that declares an option in a panel of the help."""
    return lambda help, *flags, **settings: typer.Option(
        *flags, help=help, rich_help_panel=title, **settings
    )


reading, fitting = _panel("How to read the data"), _panel("What to fit")
running, printing = _panel("How to run"), _panel("What to print")


def choices(
    listed: Callable[[], Mapping[str, str]], others: Callable[[], Container[str]] = tuple
) -> dict[str, Any]:
    """Return the settings of an option that takes one of some names.

    ``listed()`` gives the names to complete, each with its summary; ``others()`` are accepted too.
    """

    def complete() -> list[tuple[str, str]]:
        return list(listed().items())

    def check(ctx: typer.Context, value: str | None) -> str | None:
        if value is None or ctx.resilient_parsing or value.lower() in others():
            return value
        if value not in listed():
            raise typer.BadParameter(f"{value!r}; use one of {', '.join(listed())}")
        return value

    return {"autocompletion": complete, "callback": check}


def one_of(
    listed: Callable[[], Mapping[str, str]], others: Callable[[], Container[str]] = tuple
) -> dict[str, Any]:
    """Return the settings of an option that takes one of a few names, which its help describes."""
    help = "\n\n".join(f"[b]{name}[/b]: {summary}" for name, summary in listed().items())
    return {"help": help, **choices(listed, others)}


def _valid(parse: Callable[[Any], Any], wanted: str) -> Callable[..., Any]:
    """Return a check that an option, if given, can be parsed."""

    def check(text: Any) -> Any:
        try:
            if text is not None:
                parse(text)
        except ValueError:
            raise typer.BadParameter(f"{text!r} is not {wanted}") from None
        return text

    return check


def bytes_of(text: str) -> int:
    """Return the number of bytes that a text such as 4G stands for."""
    found = re.fullmatch(r"(\d{1,12}(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if found is None:
        raise ValueError(text)
    return int(float(found[1]) * 2 ** (10 * " kmgt".index(found[2] or " ")))


def _pairs(items: list[str]) -> dict[str, str]:
    pairs = (item.split("=", 1) for item in items)
    return {name.replace("-", "_"): value for name, value in pairs}


def _silence(quiet: bool) -> bool:
    if quiet:
        logging.getLogger("discan").setLevel(logging.CRITICAL)
    return quiet


def _formats() -> dict[str, str]:
    from discan.readers import READERS

    return {reader.name: reader.summary for reader in READERS.values()}


def _datasets(incomplete: str) -> list[tuple[str, str]]:
    """Complete the names of data sets; a shell completes the names of files by itself."""
    if not incomplete.startswith(DATASET):
        return []
    from discan.readers.datasets import DATASETS

    return [(f"{DATASET}{name}", entry.summary) for name, entry in DATASETS.items()]


# ---- single arguments and options ----

FORMATS = choices(_formats)
FOLD_INS = one_of(
    lambda: {
        "fast": "Models fitted by sampling: split the words of a document by expected counts. The "
        "default.",
        "gibbs": "Draw the component of each word many times: more exact, a hundred times slower.",
    }
)
_number, _size = _valid(float, "a number"), _valid(bytes_of, "a size, e.g. 4G")


def size_option(help: str) -> Any:
    """Declare an option that takes a size."""
    return typer.Option(help=help, metavar="SIZE", callback=_size)


Data = Annotated[
    str,
    typer.Argument(
        help="File or folder to read, or [b]dataset:NAME[/b] (see [b]discan datasets[/b]).",
        autocompletion=_datasets,
    ),
]
ModelFile = Annotated[Path, typer.Argument(help="Model file, or the folder that holds it.")]
Quiet = Annotated[bool, printing("No progress, no remarks.", "--quiet", "-q", callback=_silence)]
Threads = Annotated[
    int, running("Number of threads; -1 is all cores. The result does not depend on it.", min=-1)
]


# ---- groups of options ----


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to read data."""

    format: Annotated[
        str | None, reading("Format (see [b]discan formats[/b]); guessed if not given.", **FORMATS)
    ] = None
    field: Annotated[
        str | None, reading("Tables and JSON lines: the column or field that holds the text.")
    ] = None
    max_unpacked: Annotated[
        str | None,
        reading("Largest size of an unpacked file, e.g. 4G (default: 1G).", callback=_size),
    ] = None
    option: Annotated[
        list[str] | None,
        reading(
            "Any other option of the format; [b]discan formats NAME[/b] lists them.",
            metavar="KEY=VALUE",
            callback=_valid(_pairs, "KEY=VALUE"),
        ),
    ] = None
    of_readers: ClassVar[tuple[str, ...]] = ("field",)

    @property
    def max_bytes(self) -> int | None:
        """The largest size once unpacked, in bytes."""
        return None if self.max_unpacked is None else bytes_of(self.max_unpacked)

    @property
    def settings(self) -> dict[str, str]:
        """The reader's options that were given, as text."""
        given = {name: getattr(self, name) for name in self.of_readers}
        given = {name: value for name, value in given.items() if value is not None}
        return given | _pairs(self.option or [])


@dataclass(frozen=True, kw_only=True)
class TextReading(Reading):
    """How to read data whose words are chosen as they are read."""

    stop_words: Annotated[
        str | None,
        reading("Text: words to leave out: english (the default), none, or a file of words."),
    ] = None
    min_df: Annotated[
        str | None,
        reading("Text: leave out words in fewer documents (number or share).", callback=_number),
    ] = None
    max_df: Annotated[
        str | None,
        reading("Text: leave out words in more documents (number or share).", callback=_number),
    ] = None
    answers: Annotated[
        str | None,
        reading("Tables: columns to count, e.g. 'q1,q2' or 'q*'; the others describe the rows."),
    ] = None
    metadata: Annotated[
        str | None,
        reading("Tables: columns that describe the rows, e.g. 'party,state'; not counted."),
    ] = None
    bins: Annotated[
        str | None,
        reading("Tables: cut numbers into so many intervals, e.g. '5' or 'age=5,income=4'."),
    ] = None
    unit: Annotated[
        str | None,
        reading("What rows, columns and components are called, e.g. 'senator,vote,bloc'."),
    ] = None
    of_readers: ClassVar[tuple[str, ...]] = (
        "field", "stop_words", "min_df", "max_df", "answers", "metadata", "bins",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class NewData(Reading):
    """How to read new documents for a model, and how to run the model."""

    max_unseen: Annotated[
        float,
        reading("Fail if the model does not know a larger share of the tokens.", min=0.0, max=1.0),
    ] = 1.0
    fold_in: Annotated[str | None, running(**FOLD_INS)] = None
    threads: Threads = -1


@dataclass(frozen=True, kw_only=True)
class Listing:
    """How to print."""

    json: Annotated[bool, printing("Print JSON.", "--json")] = False
    csv: Annotated[bool, printing("Print CSV.", "--csv")] = False

    def __post_init__(self) -> None:
        """Refuse both flags together."""
        if self.json and self.csv:
            raise typer.BadParameter("choose one of --json and --csv")

    @property
    def style(self) -> Style:
        """The style that a flag asks for; a table without a flag."""
        return Style.JSON if self.json else Style.CSV if self.csv else Style.TABLE


@dataclass(frozen=True, kw_only=True)
class Printing(Listing):
    """How to print, and whether to report progress."""

    quiet: Quiet = False

    @property
    def progress(self) -> bool | None:
        """Whether to show a progress bar; None shows one in a terminal."""
        return False if self.quiet else None


@dataclass(frozen=True, kw_only=True)
class Writing(Printing):
    """How and where to print a table for programs."""

    output: Annotated[
        Path | None,
        printing("File to write: JSON, Parquet or CSV, by its ending.", "--output", "-o"),
    ] = None

    @property
    def style(self) -> Style:
        """The style that a flag or else the file's ending asks for; CSV without either."""
        as_json = self.output is not None and self.output.suffix.lower() == ".json"
        return Style.JSON if self.json or (as_json and not self.csv) else Style.CSV


@dataclass(frozen=True, kw_only=True)
class Saving(Writing):
    """The same for a table that is printed for people if there is no file."""

    @property
    def style(self) -> Style:
        """The style that a flag or the file's ending asks for; a table without any of them."""
        plain = self.output is None and not (self.json or self.csv)
        return Style.TABLE if plain else super().style


def with_groups(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function: a parameter whose type is a group becomes its options."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    def parameters() -> Iterator[inspect.Parameter]:
        for own in inspect.signature(function).parameters.values():
            if own.name not in groups:
                yield own.replace(annotation=hints[own.name], kind=own.KEYWORD_ONLY)
                continue
            options = get_type_hints(groups[own.name], include_extras=True)
            for f in fields(groups[own.name]):
                yield own.replace(name=f.name, default=f.default, annotation=options[f.name])

    @functools.wraps(function)
    def command(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{f.name: given.pop(f.name) for f in fields(group)})
        function(**given)

    command.__signature__ = inspect.Signature(list(parameters()))  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters()}
    return command
