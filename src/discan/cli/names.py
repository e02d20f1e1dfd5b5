# SPDX-License-Identifier: BSD-3-Clause
"""The command that names the components of a model: name."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Annotated, Any

import typer

from discan.cli.options import ModelFile, Printing
from discan.cli.printing import Style, check_writable, emit, emit_record
from discan.cli.reading import load_model
from discan.data.regular import read_text
from discan.errors import DiscanError, InputError

__all__ = ["name"]

log = logging.getLogger("discan")


def name(
    model: ModelFile,
    names: Annotated[
        Path | None,
        typer.Argument(
            help="JSON file of names: an object from numbers (from 1) or present names to names, "
            "or a list. Without it, the present names are printed."
        ),
    ] = None,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Model file to write (default: the model itself)."),
    ] = None,
    printing: Printing,
) -> None:
    """Name the components; the names are kept in the model and used by all commands.

    --json prints the present names in the form that is read: edit that file, and give it back.

    [b]Example:[/b] discan name model/ names.json
    """
    from discan.fitting.modelfile import model_path, rename
    from discan.fitting.naming import words_by_lift

    check_writable(output)
    fit = load_model(model).fit
    if names is not None:
        fit = fit.named(_read(names))
        rename(model, fit.given_names, output)
        n_named = sum(given is not None for given in fit.given_names)
        target = model_path(output or model)
        log.info("%d of %d components have names; written to %s", n_named, fit.n_components, target)
    elif output is not None:
        raise typer.BadParameter("there are no names to write; give a file of names")
    if printing.style is Style.JSON:
        emit_record(Style.JSON, {given: given for given in fit.component_names})
    elif names is None or printing.style is Style.CSV:
        rows = [
            (c.number, c.name, f"{100 * c.size:.1f}%", words_by_lift(c)) for c in fit.summary(3, 0)
        ]
        emit(printing.style, ("number", "name", "size", "words by lift"), rows)


def _read(path: Path) -> Any:
    """Read names from a JSON file."""
    try:
        names = json.loads(read_text(path, "names"))
    except DiscanError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(
            f'{path}: not JSON ({error}); write names as {{"1": "law", "2": "sport"}}'
        ) from None
    if not isinstance(names, (dict, list)):
        raise InputError(f'{path}: holds no names; write them as {{"1": "law", "2": "sport"}}')
    return names
