# SPDX-License-Identifier: BSD-3-Clause
"""The application: its commands, its help, and how it starts."""

from __future__ import annotations

import os
import re
import signal
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from discan import __version__
from discan.cli.anomalies import anomalies
from discan.cli.chains import chains
from discan.cli.compare import compare, quality
from discan.cli.data import convert, datasets, demo, formats
from discan.cli.documents import impute, predict, recommend, score
from discan.cli.effects import effects
from discan.cli.errors import one_line, shell_setting, terminated
from discan.cli.evidence import evidence
from discan.cli.explore import explore
from discan.cli.export import export
from discan.cli.fit import fit, resume
from discan.cli.names import name
from discan.cli.options import with_groups
from discan.cli.plot import plot
from discan.cli.printing import set_up_remarks
from discan.cli.report import report
from discan.cli.search import index, search, similar
from discan.cli.select import compare_models, select
from discan.cli.show import info, show
from discan.cli.transform import transform
from discan.cli.tree import tree

__all__ = ["app", "main"]

COMMANDS = (
    fit,
    resume,
    select,
    compare_models,
    show,
    name,
    plot,
    report,
    explore,
    quality,
    chains,
    compare,
    tree,
    effects,
    transform,
    predict,
    impute,
    recommend,
    score,
    anomalies,
    evidence,
    search,
    similar,
    index,
    info,
    export,
    convert,
    datasets,
    formats,
    demo,
)


class _Commands(TyperGroup):
    """All commands; an error in any of them becomes one line."""

    def invoke(self, ctx: Any) -> Any:
        with one_line(lambda: _flags(self.commands, ctx.invoked_subcommand)):
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result


def _flags(commands: Any, invoked: str) -> dict[str, str]:
    """Return the flag of every option: of the command that runs, or else of ``fit``."""
    return {
        option.name: next(flag for flag in option.opts if flag.startswith("--"))
        for name in dict.fromkeys(("fit", invoked))
        for option in commands[name].params
        if option.param_type_name == "option"
    }


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
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Discrete component analysis: explain a table of counts by a few components.

    Data are [b]documents[/b] (texts, people, cells, voters), each with counts of [b]words[/b]
    (words, answers, genes, votes). A [b]component[/b] is a set of words that occur together,
    with their probabilities; each document is a mix of components.

    [b]Example:[/b] discan fit reviews/ -k 20 -o model/, then discan show model/
    """
    commands = getattr(ctx.command, "commands", {})

    def setting(name: str, *values: Any) -> str:
        return shell_setting(_flags(commands, ctx.invoked_subcommand or "fit"))(name, *values)

    set_up_remarks(setting)
    if version:
        sys.stdout.write(f"discan {__version__}\n")
        raise typer.Exit


# Typer would keep the line breaks of the docstrings.
for _function in (_all, *COMMANDS):
    _function.__doc__ = re.sub(r"(?<=\S)\n +(?=\S)", " ", _function.__doc__ or "")
for _function in COMMANDS:
    app.command()(with_groups(_function))


def main() -> None:
    """Run the command line; no traceback reaches the user."""
    for output in ("stdout", "stderr"):
        if getattr(sys, output) is None:  # closed by the shell: >&-
            setattr(sys, output, open(os.devnull, "w", encoding="utf-8"))
        stream = getattr(sys, output)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, terminated)
    with one_line(dict):  # help is printed before a command is invoked
        app(prog_name="discan")
