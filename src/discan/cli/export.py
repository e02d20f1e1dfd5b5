# SPDX-License-Identifier: BSD-3-Clause
"""The command that writes a model for other tools: export."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from discan.cli.options import ModelFile, Quiet
from discan.cli.printing import check_writable
from discan.cli.reading import load_model
from discan.errors import InputError

__all__ = ["export"]

log = logging.getLogger("discan")


def export(
    model: ModelFile,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="File to write: NAME.Q or NAME.P; NAME alone writes NAME.K.Q and NAME.K.P.",
        ),
    ],
    quiet: Quiet = False,
) -> None:
    """Write shares and frequencies for tools of population genetics (ADMIXTURE's Q and P files).

    Q has a row per document and a column per component: its shares. P has a row per locus of two
    alleles, with the frequency of the second allele; a locus of more alleles has a row per allele.
    Numbers are separated by spaces, without names, in the order of the data.

    [b]Example:[/b] discan export model/ -o ancestry
    """  # fmt: skip
    from discan.data.storage import write_whole
    from discan.evaluation.ancestry import frequencies, table_text

    fit = load_model(model).fit
    kind = output.suffix
    if kind in (".Q", ".P"):
        files = {kind: output}
    else:
        k = fit.n_components
        files = {end: output.with_name(f"{output.name}.{k}{end}") for end in (".Q", ".P")}
    for file in files.values():
        check_writable(file)
    if ".Q" in files and fit.documents is None:
        raise InputError("the components were given, so there are no documents to write")
    for end, file in files.items():
        table = fit.proportions if end == ".Q" else frequencies(fit)
        write_whole(file, table_text(table).encode("ascii"))
        log.info("%d rows, %d columns written to %s", *table.shape, file)
