# SPDX-License-Identifier: BSD-3-Clause
"""Run the blocks of code of a page, and keep what they print and draw.

A block is marked by its language:

- ``python`` runs, in order and in one namespace; a block ``output`` below it is what it prints;
- ``console`` runs too on the pages of `RUN_COMMANDS`: its lines ``$ discan ...``;
- everything else is not run.

A comment on the line above a block says what it needs: ``<!-- needs: gensim -->`` names modules,
and ``<!-- not run: reason -->`` says why a block cannot run in a test.

    python docs/_site/blocks.py docs/tutorials/votes.md    # write output and figures into the page
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Block", "blocks", "figures", "refresh", "run", "same"]

DOCS = Path(__file__).parents[1]
RUN_COMMANDS = ("tutorials", "coming-from")  # folders whose pages have commands that run
_FENCE = re.compile(
    r"(?:^<!-- (?P<mark>needs|not run): (?P<what>.+?) -->\n)?"
    r"^```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^```$"
    r"(?:\n+^```output\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
_NUMBER = re.compile(r"(-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?)(%?)")
_SECONDS = re.compile(r"\d[\d.,]* s\b")


@dataclass(frozen=True)
class Block:
    """One block of a page: where it is, what it holds, what it should print, why it may not run."""

    language: str
    code: str
    line: int  # lines of the page before the code
    output: str | None
    needs: tuple[str, ...]
    refused: str
    start: int
    end: int

    @property
    def missing(self) -> str:
        """Why the block cannot run here; "" if it can."""
        absent = [name for name in self.needs if importlib.util.find_spec(name) is None]
        return self.refused or (f"needs {', '.join(absent)}" if absent else "")


def blocks(text: str, path: Path) -> Iterator[Block]:
    """Iterate over the blocks of a page that are code."""
    languages = {"python"} | ({"console"} if path.parent.name in RUN_COMMANDS else set())
    for found in _FENCE.finditer(text):
        if found["language"] not in languages:
            continue
        mark, what = found["mark"], found["what"] or ""
        yield Block(
            found["language"], found["code"], text.count("\n", 0, found.start("code")),
            found["output"], tuple(what.split(", ")) if mark == "needs" else (),
            what if mark == "not run" else "", found.start("language") - 3, found.end(),
        )  # fmt: skip


def run(path: Path) -> tuple[dict[str, Any], list[tuple[Block, str | None]]]:
    """Run the blocks of a page in the present folder.

    Returns
    -------
    the names that the blocks define, and each block with what it printed (None: it did not run)
    """
    namespace: dict[str, Any] = {}
    printed: list[tuple[Block, str | None]] = []
    for block in blocks(path.read_text("utf-8"), path):
        if block.missing:
            printed.append((block, None))
        elif block.language == "console":
            printed.append((block, _commands(block.code)))
        else:
            # blank lines in front, so that an error names the line of the page
            code = compile("\n" * block.line + block.code, str(path), "exec")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, namespace)  # noqa: S102
            printed.append((block, out.getvalue()))
    return namespace, printed


def _commands(code: str) -> str:
    """Run the commands of a block, and return the block with what they print."""
    from typer.testing import CliRunner

    from discan.cli import app

    lines = []
    for line in code.splitlines():
        if not line.startswith("$ "):
            continue
        lines.append(line)
        program, *arguments = shlex.split(line[2:], comments=True)
        if program == "cat":
            lines += Path(arguments[0]).read_text("utf-8").splitlines()
            continue
        if program != "discan":
            raise ValueError(f"only discan and cat run here, not {program}")
        done = CliRunner().invoke(app, arguments, prog_name="discan", env={"COLUMNS": "100"})
        if done.exit_code:
            raise RuntimeError(f"{line}: {done.output}") from done.exception
        lines += done.output.rstrip().splitlines()
    return "\n".join(lines) + "\n"


def same(expected: str, found: str) -> bool:
    """Tell whether two outputs agree: the same words, numbers that are near, any seconds.

    A chain that ends one cycle later prints nearly the same, not the same.
    """
    expected, found = (_SECONDS.sub("_ s", text) for text in (expected, found))
    if _NUMBER.sub("0", expected).split() != _NUMBER.sub("0", found).split():
        return False
    pairs = zip(_NUMBER.findall(expected), _NUMBER.findall(found), strict=True)
    return all(
        abs(_value(one) - _value(other)) <= max(1.0 if percent else 0.02, 0.03 * abs(_value(one)))
        for (one, percent), (other, _) in pairs
    )


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def figures(text: str) -> list[str]:
    """Return the files in the folder of figures that a page shows."""
    return re.findall(r"\]\((?:\.\./)?figures/([\w.-]+)\)", text)


def refresh(path: Path) -> None:
    """Write what the blocks of a page print and draw into the page and the folder of figures."""
    text = path.read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        _, printed = run(path)
        for name in figures(text):
            shutil.copy(name, DOCS / "figures" / name)
    for block, out in reversed(printed):
        if out is None:
            continue
        if block.language == "console":
            whole = f"```console\n{out}```"
        else:
            whole = f"```python\n{block.code}```"
            whole += f"\n\n```output\n{out.rstrip()}\n```" if out.strip() else ""
        text = text[: block.start] + whole + text[block.end :]
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    for name in sys.argv[1:]:
        refresh(Path(name).resolve())
