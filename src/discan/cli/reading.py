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
    from discan.data.corpus import Corpus
    from discan.fitting.result import Fit
    from discan.readers import Option, Source

__all__ = [
    "Found", "Model", "find_data", "load_model", "model_and_data", "options_of", "read_data",
    "read_found",
]  # fmt: skip

log = logging.getLogger("discan")


class Model(NamedTuple):
    """The fit of a model file, and the class of the estimator that wrote it."""

    fit: Fit
    owner: str

    def describe(self) -> dict[str, Any]:
        """Describe the model in a few properties."""
        facts = {"metadata": list(self.fit.metadata)} if self.fit.metadata else {}
        return {"holds": "a model", "class": self.owner, **self.fit.describe(), **facts}


class Found(NamedTuple):
    """Data to read: a file or folder and its format, or the name of a data set."""

    source: Source | None
    format: str | None
    dataset: str = ""


def find_data(data: str, reading: Reading, like: Any = None) -> Found:
    """Open data and tell their format, which is guessed if it is not given.

    ``like`` is a fit: its data had the same format, if that can be.
    """
    from discan.readers import MAX_UNPACKED, Source, guess

    if data.startswith(DATASET):
        if reading.format is not None:
            raise typer.BadParameter("a data set has no format", param_hint="--format")
        return Found(None, None, data.removeprefix(DATASET))
    source = Source(data, reading.max_bytes or MAX_UNPACKED)
    if reading.format is not None:
        return Found(source, reading.format)
    format = guess(source, reading.settings, like)
    log.info("%s: read as %s", data, format)
    return Found(source, format)


def read_found(found: Found, reading: Reading, like: Any = None, unknown: bool = False) -> Corpus:
    """Read what was found; options that are text become what the reader takes."""
    from discan.data.align import align
    from discan.data.nouns import Nouns
    from discan.readers import read

    how: dict[str, Any] = {}
    if like is not None:
        how["unknown"] = unknown
        how["max_unseen"] = reading.max_unseen if isinstance(reading, NewData) else 1.0
    if found.source is None or found.format is None:
        corpus = _load_dataset(found.dataset, reading.settings)
        return corpus if like is None else align(corpus, like.layout, left_out=like.left_out, **how)
    corpus = read(found.source, found.format, like=like, **how, **options_of(found, reading))
    unit = getattr(reading, "unit", None)
    return corpus if unit is None else corpus.described(nouns=Nouns.of(unit, corpus.nouns))


def options_of(found: Found, reading: Reading) -> dict[str, Any]:
    """Return the options of the reader that were given, as values."""
    from discan.readers import READERS

    return _parsed(reading.settings, READERS[found.format or ""].options)


def read_data(
    data: str, reading: Reading, like: Any = None, unknown: bool = False, on_disk: bool = False
) -> Corpus:
    """Read data, and report their size; with ``like``, a fit, as its data were read.

    ``on_disk`` tells whether the documents of a corpus folder may stay there.
    """
    began = time.perf_counter()
    corpus = _open_folder(data, reading) if on_disk else None
    if corpus is None:
        found = find_data(data, reading, like)
        began = time.perf_counter()
        corpus = read_found(found, reading, like, unknown)
    log.info("%s, read in %.1f s", corpus.description, time.perf_counter() - began)
    lengths, sizes = corpus.length_table
    n_empty = int(sizes[lengths == 0].sum())
    if n_empty and like is None:
        nouns = corpus.nouns
        remark = "%s of %s %s hold no %s and tell nothing"
        log.info(remark, f"{n_empty:,}", f"{corpus.n_documents:,}", nouns.documents, nouns.word)
    if corpus.layout.word_names is None:
        log.info("the words have no names and are numbered from 0 (see --option vocabulary=...)")
    return corpus


def _open_folder(data: str, reading: Reading) -> Corpus | None:
    """Open a corpus folder, which stays on disk; None if the data are something else."""
    from discan.data.folders.format import is_corpus_folder

    if data.startswith(DATASET) or not is_corpus_folder(data):
        return None
    from discan.data.folders.corpus import FolderCorpus
    from discan.data.nouns import Nouns

    if reading.format is not None or reading.settings:
        raise InputError(
            f"{data}: a corpus folder was read when it was converted; leave out the options of "
            "reading, or give them to discan convert"
        )
    corpus = FolderCorpus(data)
    log.info("%s: a corpus folder, whose documents stay on disk", data)
    unit = getattr(reading, "unit", None)
    return corpus if unit is None else corpus.described(nouns=Nouns.of(unit, corpus.nouns))


def model_and_data(
    model: Path, data: str, reading: NewData, unknown: bool = False
) -> tuple[Model, Corpus]:
    """Load a model, and data read as its own were and arranged in its columns."""
    found = load_model(model)
    found = found._replace(fit=found.fit.folding_in(reading.fold_in))
    folder = _corpus_folder(data, reading, found.fit, unknown)
    if folder is not None:
        return found, folder
    return found, read_data(data, reading, found.fit, unknown)


def _corpus_folder(data: str, reading: NewData, fit: Fit, unknown: bool) -> Corpus | None:
    """Open a corpus folder in the columns of a model; its documents are read block by block."""
    from discan.data.folders.format import is_corpus_folder

    if data.startswith(DATASET) or reading.format is not None or not is_corpus_folder(data):
        return None
    from discan.data.folders.aligned import AlignedFolder

    corpus = AlignedFolder(data, fit.layout, reading.max_unseen, fit.left_out, unknown)
    log.info("%s: a corpus folder, read block by block: %s", data, corpus.description)
    return corpus


def load_model(path: Path) -> Model:
    """Load a model without its estimator: importing scikit-learn would take longer than the rest.

    Of an estimator that wraps a DCA, such as a classifier, this is the DCA.
    """
    from discan.fitting.modelfile import load_fit

    return Model(*load_fit(path))


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
