# SPDX-License-Identifier: BSD-3-Clause
"""Components as features for a classifier: how many words each component generated."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from discan.data.corpus import Corpus
from discan.data.rules import checked
from discan.estimators.dca import DCA
from discan.estimators.meta import MetaEstimator, with_parameters_of_dca
from discan.typing import Array
from discan.validation import FINITE, flag, number

__all__ = ["DCAFeatures"]


@with_parameters_of_dca(words=True, threshold=0.01)
class DCAFeatures(TransformerMixin, MetaEstimator):
    """Turn counts into tf-idf features of components, alone or beside those of the words.

    Each component generates a number of a document's words; the expected number is taken as the
    count of one more word, and weighted as words are (the classification experiments of the paper).
    Each document's words and its components are vectors of length 1: in one vector the few large
    counts of components would drown the words. For text, and a linear classifier on top.

    Parameters
    ----------
    n_components : int, default=10
        Number of components.
    words : bool, default=True
        Give the bag of words too, before the components.
    threshold : float, default=0.01
        A component that generated fewer words than this is taken to be absent, which keeps the
        features sparse.
    model, algorithm, alpha, beta, rho, gamma, learn, hyperprior, groups, init, max_iter, tol, \
n_jobs, random_state, n_chains, callback, progress
        As for ``DCA``.

    Attributes
    ----------
    dca_ : DCA
        The fit to the words.
    idf_ : (J + K,) array, or (K,) without words
        Inverse document frequencies.
    layout_ : Layout
        The columns of X: words and groups.
    n_iter_ : int
        Number of cycles.
    n_features_in_, feature_names_in_ : int, (J,) array of str
        Number of columns of X, and their names if X was a data frame.
    """

    words: bool
    threshold: float

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the components, and learn how common words and components are.

        Parameters
        ----------
        X : (I, J) array, sparse matrix, data frame or Corpus
            Documents.
        y : ignored
            Part of scikit-learn's interface.
        sample_weight : (I,) array, optional
            Weights of the documents for the components, as for ``DCA.fit``.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        number("threshold", self.threshold, "a finite number, at least 0", 0.0, FINITE)
        corpus = self._read(X, reset=True)
        self.dca_ = self._make_dca(groups=None).fit(corpus, sample_weight=sample_weight)
        self.n_iter_ = self.dca_.n_iter_
        tables = self._tables(corpus, self.dca_.component_counts_)
        self._weightings = [_weighting().fit(table) for table in tables]
        self.idf_ = np.concatenate([weighting.idf_ for weighting in self._weightings])
        return self

    def transform(self, X: Any) -> Any:
        """Compute the features of documents.

        Parameters
        ----------
        X : (I, J) counts
            New documents.

        Returns
        -------
        (I, J + K) sparse array
            (I, K) without words.
        """
        check_is_fitted(self, "dca_")
        corpus = self._read(X, reset=False)
        tables = self._tables(corpus, self.dca_.component_counts(corpus))
        weighted = [w.transform(t) for w, t in zip(self._weightings, tables, strict=True)]
        return _with_short_indices(sparse.hstack(weighted, format="csr"))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the features: words, if they are kept, and components.

        Parameters
        ----------
        input_features : (J,) names, optional
            Names of the words, if the data had none.

        Returns
        -------
        (J + K,) or (K,) array of str
        """
        check_is_fitted(self, "dca_")
        components = self.dca_.fit_.component_names
        if not self.words:
            return np.array(components, dtype=object)
        words = self.layout_.word_names if input_features is None else None
        if words is None:
            words = _check_feature_names_in(self, input_features)
        return np.array([*words, *components], dtype=object)

    def _facts(self) -> dict[str, Any]:
        """Return what a file keeps besides the parameters and the DCA."""
        return {**super()._facts(), "idf": self.idf_}

    def _restore(self, dca: DCA, facts: dict[str, Any]) -> None:
        """Become the estimator that was saved; the parameters are set already."""
        super()._restore(dca, facts)
        flag("words", self.words)
        number("threshold", self.threshold, "a finite number, at least 0", 0.0, FINITE)
        sizes = {"n": dca.fit_.n_components + (self.n_features_in_ if self.words else 0)}
        self.idf_ = checked("idf", facts["idf"], sizes, "n", types="f8", low=0)
        parts = np.split(self.idf_, [self.n_features_in_] if self.words else [])
        self._weightings = []
        for idf in parts:
            weighting = _weighting()
            weighting.idf_ = idf
            self._weightings.append(weighting)

    def _tables(self, corpus: Corpus, component_counts: Array) -> list[Any]:
        """Counts of words, if they are given, and of component-generated words."""
        kept = np.where(component_counts < self.threshold, 0.0, component_counts)
        words = [corpus.to_csr().astype(np.float64)] if self.words else []
        return [*words, sparse.csr_array(kept)]


def _weighting() -> Any:
    """Return scikit-learn's weighting by tf-idf, which is loaded only here: it takes a while."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer()


def _with_short_indices(table: Any) -> Any:
    """Use 32-bit indices where they do, as linear support vector machines take no others."""
    if max(table.nnz, *table.shape) > np.iinfo(np.int32).max:
        return sparse.csr_array(table)
    indices, indptr = (a.astype(np.int32, copy=False) for a in (table.indices, table.indptr))
    return sparse.csr_array((table.data, indices, indptr), shape=table.shape)
