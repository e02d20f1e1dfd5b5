# SPDX-License-Identifier: BSD-3-Clause
"""Report an error in one line on stderr, and set the exit code."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import typer

from discan.cli.printing import plain
from discan.errors import DiscanError, alternatives, python_setting

__all__ = ["one_line", "shell_setting", "shell_wording", "terminated"]

# Arguments of the library that the command line calls something else.
NAMES = {
    "class_of_document": "classes",
    "fixed_components": "fixed",
    "n_chains": "chains",
    "n_components": "components",
    "n_draws": "draws",
    "n_parents": "parents",
    "random_state": "seed",
    "seed_words": "seeds",
    "n_jobs": "threads",
    "checkpoint_every": "every",
}


@contextlib.contextmanager
def one_line(flags: Callable[[], Mapping[str, str]]) -> Iterator[None]:
    """Turn any error into one line on stderr and an exit code.

    ``flags()`` gives the flag of each option by the name of its parameter.
    """
    try:
        yield
    except DiscanError as error:
        _fail(shell_wording(error, flags()))
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
            f"unexpected {type(error).__name__}: {error}; this is a bug in discan, please report "
            "it (DISCAN_TRACEBACK=1 shows where)"
        )


def shell_wording(error: DiscanError, flags: Mapping[str, str]) -> str:
    """Return the message with settings as the shell takes them: ``--format lines``."""
    return error.worded(shell_setting(flags), _text)


def shell_setting(flags: Mapping[str, str]) -> Callable[..., str]:
    """Return a function that words an argument and its values as the shell takes them."""

    def setting(name: str, *values: Any) -> str:
        flag, text = flags.get(NAMES.get(name, name)), alternatives(map(_text, values))
        if flag is not None:
            return f"{flag} {text}"
        if _of_a_reader(name):
            return f"--option {name}={text}"
        return python_setting(name, *values)

    return setting


def terminated(signum: int, frame: Any) -> NoReturn:
    """Exit as a terminated program does."""
    raise SystemExit(143)


def _of_a_reader(name: str) -> bool:
    from discan.readers import READERS

    return any(name in reader.options for reader in READERS.values())


def _text(value: Any) -> str:
    """Word a value as it is typed in a shell."""
    if value is ...:
        return "VALUE"
    text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return shlex.quote(text) if any(c.isspace() for c in text) else text


def _fail(message: str) -> NoReturn:
    sys.stderr.write(f"error: {plain(' '.join(message.split()))}\n")
    raise SystemExit(1)
