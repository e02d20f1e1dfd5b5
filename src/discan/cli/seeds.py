# SPDX-License-Identifier: BSD-3-Clause
"""Options of a fit that say what is known of components beforehand: seeds, fixed components."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from discan.cli.options import fitting
from discan.data.regular import read_text
from discan.errors import InputError

if TYPE_CHECKING:
    from discan.data.corpus import Corpus

__all__ = ["Seeding", "class_labels", "read_seeds"]

FORM = "write a line per component, e.g. 'law: court judge trial', or JSON"


@dataclass(frozen=True, kw_only=True)
class Seeding:
    """What is known of components beforehand."""

    seeds: Annotated[
        Path | None,
        fitting(
            "File of seed words, a line per component: [b]law: court judge trial[/b]; or JSON.",
            metavar="FILE",
        ),
    ] = None
    seed_strength: Annotated[
        int | None,
        fitting("Tokens of each seed (default: as many as the word has in the data).", min=1),
    ] = None
    seed_labels: Annotated[
        str | None,
        fitting(
            "Column that describes the documents, or file with a label per line: documents that "
            "have a label seed a component of that name with their words.",
            metavar="COLUMN",
        ),
    ] = None
    fixed: Annotated[
        Path | None,
        fitting("Model whose components stay as they are, beside new ones.", metavar="MODEL"),
    ] = None

    def words(self) -> dict[str, Any]:
        """Read the seed words, and look for the model; before the data, which take longer."""
        if self.fixed is not None:
            from discan.fitting.modelfile import model_path

            if not model_path(self.fixed).is_file():
                raise InputError(f"--fixed {self.fixed}: no such model file")
        return {} if self.seeds is None else read_seeds(self.seeds)

    def settings(self, words: dict[str, Any], corpus: Corpus) -> dict[str, Any]:
        """Return the arguments of the estimator; ``words`` are those that were read."""
        if self.seed_labels is not None:
            from discan.cli.plot import label_column
            from discan.estimators.seeding import label_seeds

            labels = label_column(self.seed_labels, corpus.metadata, "seed-labels")
            words = words | label_seeds(corpus, labels)
        return {
            "seed_words": words or None,
            "seed_strength": self.seed_strength,
            "fixed_components": None if self.fixed is None else str(self.fixed),
        }


def class_labels(name: str | None, corpus: Corpus) -> Any:
    """Return the name of a column, or the lines of a file; None if there is no name."""
    if name is None:
        return None
    from discan.cli.plot import label_column
    from discan.fitting.classes import metadata_columns

    return label_column(name, metadata_columns(corpus), "classes")


def read_seeds(path: Path) -> dict[str, Any]:
    """Read the seeds of components from a text file or a JSON file.

    A line of text is the name of a component, a colon, and words, separated by commas if there is
    one, else by spaces. JSON is an object from names to lists of words, or to objects from words to
    numbers of tokens. Empty lines and those that begin with # are skipped.
    """
    text = read_text(path, "seeds")
    found = _from_json(path, text) if text.lstrip().startswith("{") else _from_lines(path, text)
    if not found:
        raise InputError(f"{path}: holds no seeds; {FORM}")
    return found


def _from_json(path: Path, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}); {FORM}") from None
    for name, words in found.items():
        if not isinstance(words, (list, dict)) or not all(isinstance(word, str) for word in words):
            raise InputError(f"{path}: {name!r} has no list of words; {FORM}")
    return dict(found)


def _from_lines(path: Path, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, colon, rest = line.partition(":")
        words = rest.split(",") if "," in rest else rest.split()
        words = [word.strip() for word in words if word.strip()]
        if not colon or not name.strip() or not words:
            raise InputError(f"{path}, line {number}: no name and words; {FORM}")
        if name.strip() in found:
            raise InputError(
                f"{path}, line {number}: {name.strip()!r} has seeds already; write all of "
                "them in one line"
            )
        found[name.strip()] = words
    return found
