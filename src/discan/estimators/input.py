# SPDX-License-Identifier: BSD-3-Clause
"""Read the arguments of estimators: tables of counts and seeds."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from discan.data.align import align
from discan.data.annotated import is_annotated, read_annotated
from discan.data.corpus import Corpus
from discan.data.folders.aligned import AlignedFolder
from discan.data.folders.corpus import FolderCorpus, open_corpus
from discan.data.frames import holds_text, is_frame, read_frame
from discan.data.layout import Layout
from discan.errors import InputError, LimitError
from discan.validation import LARGEST, LEAST, whole

__all__ = ["check_layout", "read_corpus", "read_seed", "weighted"]

LOOKED_AT = 100  # texts, of which some may be missing


def read_corpus(estimator: Any, X: Any, groups: Any, reset: bool, fit: Any = None) -> Corpus:
    """Make a checked corpus of X; with ``reset``, the estimator remembers its columns.

    Frames of answers, AnnData and MuData are read as the data of ``fit`` were, if it is given.
    """
    _refuse_texts(X)
    if is_annotated(X) or (is_frame(X) and holds_text(X)):
        corpus = read_annotated(X, fit) if is_annotated(X) else read_frame(X, fit)
        if fit is not None:
            corpus = align(corpus, fit.layout, left_out=fit.left_out)
        elif groups is not None:
            corpus = _regrouped(corpus, groups)
        if reset:
            estimator.__dict__.pop("feature_names_in_", None)
    elif isinstance(X, (str, os.PathLike)):
        return read_corpus(estimator, open_corpus(X), groups, reset, fit)
    elif isinstance(X, Corpus):
        corpus = Corpus.of(X, groups=groups)
        names = None if fit is None else fit.layout.word_names
        if names is not None and X.layout.word_names not in (None, names):
            if isinstance(corpus, FolderCorpus):
                corpus = AlignedFolder(corpus.path, fit.layout, left_out=fit.left_out)
            else:
                corpus = align(corpus, fit.layout, left_out=fit.left_out)
        if reset:
            estimator.__dict__.pop("feature_names_in_", None)
    elif sparse.issparse(X) or hasattr(type(X), "columns"):
        corpus = Corpus(X, groups=groups)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    else:
        X = validate_data(estimator, X, reset=reset, ensure_all_finite=False)
        corpus = Corpus(X, groups=groups)
    if reset:
        estimator.n_features_in_ = corpus.n_words
    return corpus


def _refuse_texts(X: Any) -> None:
    """Refuse a list or a column of texts with a word on how to count them."""
    first: Any = X[:LOOKED_AT] if isinstance(X, list | tuple | np.ndarray) else None
    if hasattr(X, "head") and len(getattr(X, "shape", ())) == 1:  # a series of pandas or polars
        first = X.head(LOOKED_AT).to_list()
    if first is not None and any(isinstance(text, str) for text in first):
        raise InputError(
            "X holds texts; count their words first, e.g. by discan.read(texts), or by "
            "scikit-learn's CountVectorizer().fit_transform(texts)"
        )


def _regrouped(corpus: Corpus, groups: Any) -> Corpus:
    if corpus.n_groups > 1:
        raise InputError("questions and modalities are the groups of such data; leave out groups")
    names = corpus.layout.word_names
    return Corpus(corpus.to_csr(), groups=groups, word_names=names, **corpus.about)


def weighted(corpus: Corpus, sample_weight: Any, normalised: bool) -> Corpus:
    """Multiply the counts of each document by its weight.

    For models of amounts the exposures are multiplied too, so that the amounts stay the same.

    Parameters
    ----------
    corpus : Corpus
    sample_weight : (I,) array-like or None
    normalised : bool
        Whether the model is one of proportions.
    """
    if sample_weight is None:
        return corpus
    if corpus.on_disk:
        raise InputError(
            "sample_weight changes the counts, and those of a corpus folder stay as they are",
            remedy="convert the weighted counts, or leave it out",
        )
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight is not an array of numbers") from None
    if weights.shape != (corpus.n_documents,):
        raise InputError(
            f"sample_weight has shape {weights.shape}, expected ({corpus.n_documents},): one "
            "weight per document"
        )
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InputError(
            f"sample_weight[{at}] = {weights[at]:g}; weights are finite and at least 0"
        )
    if not weights.any():
        raise InputError("every sample_weight is zero; give at least one document a weight")
    counts = corpus.counts * np.repeat(weights, np.diff(corpus.indptr))
    if ((counts > 0) & (counts < LEAST)).any() or counts.max(initial=0.0) > LARGEST:
        raise LimitError(
            f"sample_weight makes counts that are not from {LEAST:g} to {LARGEST:g}; rescale it"
        )
    exposures = corpus.exposures
    if not normalised:
        exposures = corpus.known_exposures * weights[:, None]
    return corpus.with_counts(counts, exposures)


def check_layout(estimator: Any, corpus: Corpus, layout: Layout) -> Corpus:
    """Return the corpus if its columns are those that the estimator was fitted to."""
    if corpus.n_words != layout.n_words:
        raise InputError(
            f"X has {corpus.n_words} features, but {type(estimator).__name__} is expecting "
            f"{layout.n_words} features as input"
        )
    if not np.array_equal(corpus.layout.group_of_word, layout.group_of_word):
        raise InputError("the groups of X differ from those of the fit")
    return corpus


def read_seed(random_state: Any) -> int:
    """Turn scikit-learn's ``random_state`` into a seed that can be recorded."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    seed = whole("random_state", random_state, 0)
    if seed >= 2**64:
        raise InputError("{}; it must be less than 2**64", argument="random_state", value=seed)
    return int(seed)
