# SPDX-License-Identifier: BSD-3-Clause
"""Read data and models."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from discan.cli.options import DATASET, NewData, Reading
from discan.errors import InputError

if TYPE_CHECKING:
    from discan.data.corpus import Corpus, Layout
    from discan.fitting.result import Fit
    from discan.readers import Option, Source

__all__ = [
    "Found", "Model", "find_data", "load_model", "model_and_data", "read_data", "read_found",
]  # fmt: skip

log = logging.getLogger("discan")


class Model(NamedTuple):
    """The fit of a model file, and the class of the estimator that wrote it."""

    fit: Fit
    owner: str

    @property
    def component_names(self) -> list[str]:
        """Names of the components, (K,), as scikit-learn has them."""
        return [f"{self.owner.lower()}{k}" for k in range(self.fit.n_components)]

    def describe(self) -> dict[str, Any]:
        """Describe the model in a few properties."""
        return {"holds": "a model", "class": self.owner, **self.fit.describe()}


class Found(NamedTuple):
    """Data to read: a file or folder and its format, or the name of a data set."""

    source: Source | None
    format: str | None
    dataset: str = ""


def find_data(data: str, reading: Reading) -> Found:
    """Open data and tell their format, which is guessed if it is not given."""
    from discan.readers import MAX_UNPACKED, Source, guess

    if data.startswith(DATASET):
        if reading.format is not None:
            raise typer.BadParameter("a data set has no format", param_hint="--format")
        return Found(None, None, data.removeprefix(DATASET))
    source = Source(data, reading.max_bytes or MAX_UNPACKED)
    if reading.format is not None:
        return Found(source, reading.format)
    format = guess(source)
    log.info("%s: read as %s", data, format)
    return Found(source, format)


def read_found(found: Found, settings: Mapping[str, Any]) -> Corpus:
    """Read what was found; options that are text become what the reader takes."""
    if found.source is None or found.format is None:
        return _load_dataset(found.dataset, settings)
    from discan.readers import READERS, read

    return read(found.source, found.format, **_parsed(settings, READERS[found.format].options))


def read_data(data: str, reading: Reading, layout: Layout | None = None) -> Corpus:
    """Read data, and report their size; text is counted by the words of ``layout``, if given."""
    found = find_data(data, reading)
    settings = _as_fitted(found, reading, layout) | reading.settings
    began = time.perf_counter()
    corpus = read_found(found, settings)
    log.info("%s, read in %.1f s", corpus.description, time.perf_counter() - began)
    if corpus.layout.word_names is None:
        log.info("the words have no names and are numbered from 0 (see --option vocabulary=...)")
    return corpus


def model_and_data(model: Path, data: str, reading: NewData) -> tuple[Model, Corpus]:
    """Load a model, and data arranged in the model's columns."""
    from discan.data.align import align

    found = load_model(model)
    layout = found.fit.layout
    return found, align(read_data(data, reading, layout), layout, reading.max_unseen)


def load_model(path: Path) -> Model:
    """Load a model without its estimator: importing scikit-learn would take longer than the rest.

    Of an estimator that wraps a DCA, such as a classifier, this is the DCA.
    """
    from discan.fitting.modelfile import load_fit

    return Model(*load_fit(path))


def _as_fitted(found: Found, reading: Reading, layout: Layout | None) -> dict[str, Any]:
    """Return the options that count new text by a model's own words."""
    from discan.readers import READERS

    words = None if layout is None else layout.word_names
    if words is None or found.format is None or not READERS[found.format].is_text:
        return {}
    longest = max((word.count(" ") for word in words), default=0) + 1
    capitals = any(word != word.lower() for word in words)
    options = {"ngrams": (1, longest), "lowercase": not capitals}
    if isinstance(reading, NewData) and reading.max_unseen < 1:
        return options | {"min_df": 1, "max_df": 1.0}  # unknown words must be counted too
    return options | {"vocabulary": list(words)}


def _load_dataset(name: str, settings: Mapping[str, Any]) -> Corpus:
    from discan.readers.datasets import DATASETS

    if name not in DATASETS:
        raise typer.BadParameter(f"{name!r}; use one of {', '.join(DATASETS)}", param_hint="DATA")
    known = DATASETS[name].options
    for option in settings:
        if option not in known:
            has = ", ".join(known) or "none"
            raise InputError(f"{DATASET}{name} has no option {option!r}; it has {has}")
    return DATASETS[name].loader(**_parsed(settings, known)).corpus


def _parsed(settings: Mapping[str, Any], options: Mapping[str, Option]) -> dict[str, Any]:
    """Turn options that are text into the types that a reader declares."""
    return {
        name: options[name].parse(value) if name in options else value
        for name, value in settings.items()
    }
