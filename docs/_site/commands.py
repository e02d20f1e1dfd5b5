# SPDX-License-Identifier: BSD-3-Clause
"""Write the reference of the command line, from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

__all__ = ["commands_page"]

_EXAMPLE = re.compile(r"\[b\]Examples?:\[/b\]\s*(.+)", re.DOTALL)


def commands_page() -> str:
    """Return the page as Markdown: a section per command, in the order of ``discan --help``."""
    import typer

    from discan.cli import app

    root = typer.main.get_command(app)
    commands = root.commands  # type: ignore[attr-defined]
    parts = [
        "# Commands",
        "Made from the commands themselves: what `discan NAME --help` prints. "
        "[Command line](../cli.md) is the guide, with examples and their output.",
        _listed(commands),
    ]
    for name, command in commands.items():
        parts += _section(name, command)
    return "\n\n".join(parts) + "\n"


def _listed(commands: dict[str, Any]) -> str:
    rows = [
        f"| [`{name}`](#{_anchor(name)}) | {_cell(_sentence(command))} |"
        for name, command in commands.items()
    ]
    return "\n".join(["| command | what it does |", "|---|---|", *rows])


def _section(name: str, command: Any) -> Iterator[str]:
    """Iterate over the paragraphs of a command: usage, help, example, arguments, options."""
    shown = [param for param in command.params if not getattr(param, "hidden", False)]
    arguments = [param for param in shown if param.param_type_name == "argument"]
    options = [param for param in shown if param.param_type_name == "option"]
    usage = " ".join(["discan", name, *map(_placeholder, arguments), *map(_needed, options)])
    yield f"## discan {name}"
    yield f"```console\n$ {re.sub(' +', ' ', usage).strip()} [OPTIONS]\n```"
    text, example = _help(command)
    yield text
    if example:
        yield f"Example:\n\n```console\n$ {example}\n```"
    if arguments:
        rows = [f"| `{_placeholder(param)}` | {_cell(_described(param))} |" for param in arguments]
        yield "\n".join(["| argument | what it is |", "|---|---|", *rows])
    panels: dict[str, list[Any]] = {}
    for param in options:
        panels.setdefault(getattr(param, "rich_help_panel", None) or "Options", []).append(param)
    for title, listed in panels.items():
        rows = [f"| {_flags(param)} | {_cell(_described(param))} |" for param in listed]
        yield "\n".join([f"| {title} | what it does |", "|---|---|", *rows])


def _help(command: Any) -> tuple[str, str]:
    """Return the help of a command in Markdown, and its example."""
    text = command.help or ""
    found = _EXAMPLE.search(text)
    example = _plain(found[1]).strip() if found else ""
    return _marked(_EXAMPLE.sub("", text).strip()), re.sub(r"\s+", " ", example)


def _sentence(command: Any) -> str:
    """Return the first paragraph of a command's help."""
    return _marked((command.help or "").split("\n\n")[0])


def _described(param: Any) -> str:
    """Return what an argument or option is, and its default."""
    text = _marked(getattr(param, "help", None) or "")
    if getattr(param, "required", False) and param.param_type_name == "option":
        return f"{text} **Required.**"
    default = getattr(param, "default", None)
    if default is None or default is False or default == "" or callable(default):
        return text
    if repr(default).startswith("Sentinel"):
        return text
    given = "on" if default is True else default
    space = "\n\n" if "\n\n" in text else " "  # below a list of choices
    return f"{text}{space}Default: `{given}`."


def _flags(param: Any) -> str:
    """Return the flags of an option, the long one first, with what it takes."""
    flags = sorted(param.opts, key=lambda flag: not flag.startswith("--"))
    takes = "" if _switch(param) else f" {_metavar(param)}"
    off = [f"`{flag}`" for flag in getattr(param, "secondary_opts", ())]
    return ", ".join([f"`{flags[0]}{takes}`", *(f"`{flag}`" for flag in flags[1:]), *off])


def _needed(param: Any) -> str:
    """Return how a required option is written in a usage line; nothing for the others."""
    if not getattr(param, "required", False):
        return ""
    short = min(param.opts, key=len)
    return short if _switch(param) else f"{short} {_metavar(param)}"


def _switch(param: Any) -> bool:
    return bool(getattr(param, "is_flag", False))


def _placeholder(param: Any) -> str:
    """Return an argument as a usage line shows it."""
    name = (param.metavar or param.name).upper()
    many = "..." if getattr(param, "nargs", 1) == -1 else ""
    return f"{name}{many}" if getattr(param, "required", True) else f"[{name}]{many}"


def _metavar(param: Any) -> str:
    """Return what an option takes: its own word, or the kind of its value."""
    if param.metavar:
        return str(param.metavar)
    described = getattr(param, "type_descriptor", None)  # newer versions of Typer
    kind = str(getattr(described, "annotation", "")) or str(getattr(param, "type", ""))
    for part, word in (("int", "INTEGER"), ("float", "NUMBER"), ("Path", "PATH")):
        if part.lower() in kind.lower():
            return word
    return "TEXT"


def _marked(text: str) -> str:
    """Turn the markup of the help into Markdown: what is bold there is code here."""
    return re.sub(r"\[b\](.*?)\[/b\]", r"`\1`", _escaped(text))


def _plain(text: str) -> str:
    return re.sub(r"\[/?b\]", "", text)


def _escaped(text: str) -> str:
    return text.replace("\\[", "[").replace("<", "&lt;").replace("*", r"\*")


def _cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return re.sub(r"\s*\n\s*\n\s*", "<br>", text).replace("\n", " ").replace("|", r"\|")


def _anchor(name: str) -> str:
    return f"discan-{name}"
