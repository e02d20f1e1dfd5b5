# SPDX-License-Identifier: BSD-3-Clause
"""Classify documents: the label is a group of its own, empty in the documents to predict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from discan.data.corpus import Corpus
from discan.data.layout import Layout
from discan.errors import InputError, shown
from discan.estimators.dca import DCA
from discan.estimators.meta import MetaEstimator, with_parameters_of_dca
from discan.models import MODELS
from discan.typing import Array
from discan.validation import LARGEST, number, whole

__all__ = ["DCAClassifier"]


@with_parameters_of_dca(weight=1, learn=())
class DCAClassifier(ClassifierMixin, MetaEstimator):
    """Classify documents by a discrete component analysis of their words and labels.

    The label of a training document is counted in a group of its own beside the words; a new
    document leaves that group empty, and its components predict it. Components explain words and
    labels together, so they are not made to tell the classes apart: where only the label matters,
    a classifier on top of ``DCAFeatures`` is often better; where the words are to be explained as
    well, the labels cost nothing more.

    Parameters
    ----------
    n_components : int, default=10
        Several per class are fine.
    weight : int, default=1
        How many tokens the label counts as. One token has little effect beside a long document;
        with more, the components follow the classes.
    model, algorithm, alpha, beta, rho, gamma, learn, hyperprior, groups, init, max_iter, tol, \
n_jobs, random_state, n_chains, callback, progress
        As for ``DCA``; ``groups``, ``init`` and vectors ``gamma`` are for the columns of X. By
        default no hyperparameters are learnt: a label of some weight is all that a document needs
        to seem of one component, and an alpha learnt from that predicts labels worse.

    Attributes
    ----------
    classes_ : (C,) array
        The labels, in order.
    components_ : (K, J) array
        Words of each component.
    label_components_ : (K, C) array
        Classes of each component; rows sum to 1.
    dca_ : DCA
        The fit to words and labels, the latter as last columns and last group, "label".
    layout_ : Layout
        The columns of X: words and groups.
    n_iter_ : int
        Number of cycles.
    n_features_in_, feature_names_in_ : int, (J,) array of str
        Number of columns of X, and their names if X was a data frame.

    Notes
    -----
    "gp", "cgp": the label's exposure is such that documents of the training data's mean length are
    expected to have ``weight`` labels, so that the label does not change the model of their length.

    Examples
    --------
    >>> import numpy as np, discan
    >>> X = np.kron(np.eye(2, dtype=int), np.full((5, 4), 3))
    >>> classifier = discan.DCAClassifier(2, random_state=0).fit(X, ["a"] * 5 + ["b"] * 5)
    >>> classifier.predict(X[[0, 9]])
    array(['a', 'b'], dtype='<U1')
    """

    weight: int
    model: Any
    gamma: Any
    init: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to counts and their labels.

        Parameters
        ----------
        X : (I, J) array, sparse matrix, data frame or Corpus
            Documents.
        y : (I,) labels
            The class of each document.
        sample_weight : (I,) array, optional
            Weights of the documents, words and labels alike, as for ``DCA.fit``.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        labels = _read_labels(type(self).__name__, y)
        corpus = self._read(X, reset=True)
        weight = whole("weight", self.weight, 1)
        if len(labels) != corpus.n_documents:
            raise InputError(
                f"X has {corpus.n_documents} rows and y has {len(labels)}; give a label for each"
            )
        self.classes_, codes = np.unique(labels, return_inverse=True)
        layout = _with_label_group(corpus.layout, self.classes_)
        self._exposure = self._label_exposure(corpus)
        # each label stands after its document's words
        indptr = corpus.indptr + np.arange(corpus.n_documents + 1)
        words = np.insert(corpus.words, corpus.indptr[1:], corpus.n_words + codes)
        counts = np.insert(corpus.counts, corpus.indptr[1:], weight)
        labelled = Corpus.assemble(
            indptr, words, counts, layout, self._exposures(corpus, weight), **corpus.about
        )
        dca = self._make_dca(groups=None, gamma=self._gamma(), init=self._init())
        self.dca_ = dca.fit(labelled, sample_weight=sample_weight)
        self._set_components()
        self.n_iter_ = self.dca_.n_iter_
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class for each document.

        Parameters
        ----------
        X : (I, J) counts
            New documents.

        Returns
        -------
        (I, C) array
            The columns are those of ``classes_``; rows sum to 1.
        """
        check_is_fitted(self, "dca_")
        corpus = self._read(X, reset=False)
        layout = self.dca_.fit_.layout
        unlabelled = Corpus.assemble(
            corpus.indptr, corpus.words, corpus.counts, layout, self._exposures(corpus, 1),
            **corpus.about,
        )  # fmt: skip
        return self.dca_.predict_group_proba(unlabelled, layout.n_groups - 1)

    def predict(self, X: Any) -> Array:
        """Predict the class of each document.

        Parameters
        ----------
        X : (I, J) counts
            New documents.

        Returns
        -------
        (I,) array
            The likeliest classes.
        """
        chances = self.predict_proba(X)
        return np.asarray(self.classes_[chances.argmax(axis=1)])

    def __sklearn_tags__(self) -> Any:
        """Counts are classified by proportions, which does not suit points in a plane."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    # ---- inside ----

    def _set_components(self) -> None:
        self.components_ = self.dca_.components_[:, : self.n_features_in_]
        self.label_components_ = self.dca_.components_[:, self.n_features_in_ :]

    def _facts(self) -> dict[str, Any]:
        """Return what a file keeps besides the parameters and the DCA."""
        classes = self.classes_.tolist()
        text = all(isinstance(c, str) for c in classes)
        if not text and self.classes_.dtype.kind not in "biuf":
            raise InputError("only labels that are text or numbers can be saved; relabel y")
        return {
            **super()._facts(),
            "classes": classes,
            "classes_dtype": self.classes_.dtype.str,
            "exposure": self._exposure,
        }

    def _restore(self, dca: DCA, facts: dict[str, Any]) -> None:
        """Become the estimator that was saved; the parameters are set already."""
        self.classes_ = _saved_classes(facts["classes"], facts["classes_dtype"])
        sizes = dca.fit_.layout.group_sizes
        last = dca.fit_.layout.group_of_word[-len(self.classes_) :]
        if len(sizes) < 2 or sizes[-1] != len(self.classes_) or (last != len(sizes) - 1).any():
            raise InputError("the classes are not the words of the last group")
        self._exposure = number("exposure", facts["exposure"], "a number", 0.0, LARGEST)
        super()._restore(dca, facts)
        self._set_components()

    def _layout_of_words(self) -> Layout:
        """Return the columns of X among those of the DCA."""
        layout = super()._layout_of_words()
        n_words = layout.n_words - len(self.classes_)
        names, groups = layout.word_names, layout.group_names
        return Layout(
            n_words, layout.group_of_word[:n_words], layout.n_groups - 1,
            None if names is None else names[:n_words], None if groups is None else groups[:-1],
        )  # fmt: skip

    def _label_exposure(self, corpus: Corpus) -> float:
        """Exposure at which a document of mean length is expected to have one label."""
        mean = corpus.total_exposures.sum() / max(float(corpus.n_tokens), 1e-300)
        return float(min(mean, LARGEST))

    def _exposures(self, corpus: Corpus, weight: int) -> Array | None:
        """Exposures of the words and, last, of the label; None for models that need none."""
        if MODELS.find(self.model).normalised:
            return None
        shape = (corpus.n_documents, corpus.n_groups)
        own = np.ones(shape) if corpus.exposures is None else corpus.exposures
        return np.column_stack([own, np.full(shape[0], weight * self._exposure)])

    def _gamma(self) -> Any:
        """Jeffreys' 1/2 for labels where each word has a number of its own."""
        if self.gamma is None or np.ndim(self.gamma) == 0:
            return self.gamma
        return np.append(self.gamma, np.full(len(self.classes_), 0.5))

    def _init(self) -> Any:
        """Labels start even where components are given."""
        if isinstance(self.init, str) or np.ndim(self.init) != 2:
            return self.init
        labels = np.full((len(self.init), len(self.classes_)), 1.0 / len(self.classes_))
        return np.hstack([self.init, labels])


def _read_labels(name: str, y: Any) -> Array:
    if y is None:
        raise InputError(f"{name} requires y to be passed, but the target y is None")
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InputError("y contains NaN or inf; every document needs a label")
    if labels.dtype == object:
        _check_objects(labels)
    check_classification_targets(labels)
    return np.asarray(labels)


def _check_objects(labels: Array) -> None:
    """Refuse labels that are missing, or that cannot be put in order."""
    missing = [label is None or bool(label != label) for label in map(_plain, labels)]
    if any(missing):
        raise InputError(
            f"y has no label in row {missing.index(True)}; leave out the documents without one"
        )
    if len({isinstance(label, str) for label in labels}) > 1:
        raise InputError("y holds text and numbers; make all labels text, or all numbers")


def _plain(label: Any) -> Any:
    """Pandas' NA compares as neither true nor false: take it for None."""
    return None if type(label).__name__ == "NAType" else label


def _saved_classes(classes: Any, dtype: Any) -> Array:
    """Return the classes of a file, text or numbers, in the type that they had."""
    kind = np.dtype(dtype).kind
    if kind in "UO" and isinstance(classes, tuple):
        found = np.array(classes, dtype=object if kind == "O" else str)
    elif kind in "biuf" and isinstance(classes, np.ndarray) and classes.ndim == 1:
        found = classes.astype(dtype)
    else:
        raise InputError(f"classes of type {shown(dtype)} are not known")
    if len(found) == 0 or not np.array_equal(np.unique(found), found):
        raise InputError("the classes are not in order")
    return found


def _with_label_group(layout: Layout, classes: Array) -> Layout:
    """Add a last group, "label", with a word for each class."""
    names = layout.word_names
    groups = layout.group_names or tuple(str(g) for g in range(layout.n_groups))
    labels = np.full(len(classes), layout.n_groups, dtype=layout.group_of_word.dtype)
    return replace(
        layout,
        n_words=layout.n_words + len(classes),
        group_of_word=np.concatenate([layout.group_of_word, labels]),
        n_groups=layout.n_groups + 1,
        word_names=None if names is None else (*names, *(str(c) for c in classes)),
        group_names=(*groups, "label"),
    )
