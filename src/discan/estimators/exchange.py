# SPDX-License-Identifier: BSD-3-Clause
"""Give a fit to other programs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discan.errors import InputError
from discan.estimators.fitted import Fitted
from discan.fitting.summary import word_labels

__all__ = ["Exchange"]


class Exchange(Fitted):
    """A fitted estimator in the forms that other programs take."""

    def to_pyldavis(self, X: Any = None) -> dict[str, Any]:
        """Return the arguments of ``pyLDAvis.prepare``, as a dictionary.

        ``pyLDAvis.prepare(**estimator.to_pyldavis())`` makes its page; pyLDAvis must be installed
        for that, but not for this. With several groups of words, the probabilities of each group
        are weighted by its usual number of tokens, so that all words of a component sum to 1.

        Parameters
        ----------
        X : (I, J) counts, optional
            The training documents, to count the words. Without them, the expected counts are given.

        Returns
        -------
        dict
            ``topic_term_dists`` (K, J), ``doc_topic_dists`` (I, K), ``doc_lengths`` (I,), ``vocab``
            (J,) and ``term_frequency`` (J,). Words that never occur are left out.
        """
        check_is_fitted(self)
        fit = self.fit_
        if fit.documents is None:
            raise InputError("the model has no training documents, which pyLDAvis needs")
        shares = fit.group_totals / fit.group_totals.sum()
        terms = fit.components * shares[fit.layout.group_of_word]
        if X is None:
            lengths = fit.component_counts.sum(axis=1)
            totals = fit.component_counts.sum(axis=0) @ terms
        else:
            corpus = self._corpus(X)
            if corpus.n_documents != len(fit.proportions):
                raise InputError(
                    f"X has {corpus.n_documents} documents; the model was fitted to "
                    f"{len(fit.proportions)}"
                )
            lengths, totals = corpus.lengths, corpus.word_totals
        # pyLDAvis divides by these
        words, documents = np.flatnonzero(totals > 0), np.flatnonzero(lengths > 0)
        names = word_labels(fit.layout, fit.nouns.word)
        terms = terms[:, words]
        return {
            "topic_term_dists": terms / terms.sum(axis=1, keepdims=True),
            "doc_topic_dists": fit.proportions[documents],
            "doc_lengths": lengths[documents],
            "vocab": [names[int(j)] for j in words],
            "term_frequency": totals[words],
        }
