# SPDX-License-Identifier: BSD-3-Clause
"""How commands fail: in one line, with an exit code."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import typer

from discan.cli.printing import plain
from discan.errors import DiscanError

__all__ = ["one_line", "terminated"]


@contextlib.contextmanager
def one_line() -> Iterator[None]:
    """Turn whatever goes wrong into one line on stderr and an exit code."""
    try:
        yield
    except DiscanError as error:
        _fail(_for_the_shell(str(error)))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing was written\n")
        raise SystemExit(130) from None
    except BrokenPipeError:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except MemoryError:
        _fail("not enough memory; use fewer components, or fewer documents or words")
    except Exception as error:
        if hasattr(error, "exit_code") or isinstance(error, typer.Abort):
            raise  # Typer's own
        if os.environ.get("DISCAN_TRACEBACK"):
            raise
        if isinstance(error, OSError):
            _fail(f"{error.filename or 'output'}: {error.strerror or error}")
        _fail(
            f"unexpected {type(error).__name__}: {error}; a bug in discan, please report it "
            "(DISCAN_TRACEBACK=1 shows where)"
        )


_FLAGS = {
    "format": "--format", "field": "--field", "stop_words": "--stop-words",
    "min_df": "--min-df", "max_df": "--max-df", "max_unpacked": "--max-unpacked",
    "algorithm": "--algorithm", "model": "--model", "n_components": "--components",
    "max_iter": "--iterations", "random_state": "--seed", "n_jobs": "--threads",
}  # fmt: skip
_ARGUMENT = re.compile(r"\b([a-z_]+)=(\.\.\.|'[^']*'|\([^)]*\)|-?[\w.]+)")


def _for_the_shell(message: str) -> str:
    """Say `--format lines` where the library says `format='lines'`."""
    what, separator, rest = message.partition("; ")
    if not separator:
        return message

    def flag(found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        value = "VALUE" if value == "..." else value.strip("'")
        if name in _FLAGS:
            return f"{_FLAGS[name]} {value}"
        return f"--option {name}={value}"

    given = _ARGUMENT.match(what)
    if given and given[1] in _FLAGS:
        what = flag(given) + what[given.end() :]
    return what + separator + _ARGUMENT.sub(flag, rest)


def _fail(message: str) -> None:
    sys.stderr.write(f"error: {plain(' '.join(message.split()))}\n")
    raise SystemExit(1)


def terminated(signum: int, frame: Any) -> None:
    """Exit as a terminated program does."""
    raise SystemExit(143)
