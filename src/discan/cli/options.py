# SPDX-License-Identifier: BSD-3-Clause
"""Arguments and options that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "ALGORITHM_NAMES",
    "MODEL",
    "MODEL_NAMES",
    "OUTPUT",
    "RUNNING",
    "Csv",
    "Data",
    "Field",
    "Format",
    "Json",
    "MaxDf",
    "MaxUnpacked",
    "MaxUnseen",
    "MinDf",
    "Model",
    "Options",
    "Output",
    "Quiet",
    "StopWords",
    "Threads",
    "algorithm_names",
    "checked",
    "format_names",
    "model_names",
]


MODEL_NAMES = {
    "dm": "Dirichlet-multinomial: LDA, PLSI, multinomial PCA",
    "gp": "Gamma-Poisson: GaP, NMF",
    "cgp": "conditional Gamma-Poisson: components may be absent",
}
ALGORITHM_NAMES = {
    "auto": "the quickest to a good model, the default",
    "variational": "variational Bayes",
    "collapsed": "collapsed Gibbs sampling",
    "gibbs": "Gibbs sampling",
    "map": "maximum a posteriori",
    "ml": "maximum likelihood",
}


def model_names() -> list[tuple[str, str]]:
    """Names to complete --model with."""
    return list(MODEL_NAMES.items())


def algorithm_names() -> list[tuple[str, str]]:
    """Names to complete --algorithm with."""
    return list(ALGORITHM_NAMES.items())


def format_names() -> list[tuple[str, str]]:
    """Names to complete --format with."""
    from discan.readers import READERS

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
        "--format", rich_help_panel=READING, autocompletion=format_names,
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


def checked(option: str, name: str, known: list[str]) -> str:
    """Return a name that is known; anything else is a usage error."""
    if name not in known:
        raise typer.BadParameter(f"{name!r}; use one of {', '.join(known)}", param_hint=option)
    return name
