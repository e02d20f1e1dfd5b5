# SPDX-License-Identifier: BSD-3-Clause
"""Predict or fill groups of words that a document lacks: labels, votes, answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discan.data.annotated import is_annotated
from discan.data.completing import likeliest_answers
from discan.data.frames import completed, holds_text, is_frame
from discan.estimators.fitted import Fitted
from discan.fitting.hidden_groups import like
from discan.typing import Array

__all__ = ["HiddenGroups"]


class HiddenGroups(Fitted):
    """Predictions of groups of words, given the others."""

    def predict_group(self, X: Any, group: Any) -> Array:
        """Predict the most probable word of a group in each document, given its other groups.

        The word is a label, a vote or an answer; ``predict_group_proba`` gives its probability.

        Parameters
        ----------
        X : (I, J) counts
            With all columns; those of the group may be empty.
        group : int or str
            Its number, or its name.

        Returns
        -------
        (I,) array
            Names of columns if there are any, else their numbers.
        """
        chances = self.predict_group_proba(X, group)
        return np.asarray(self.group_words(group)[chances.argmax(axis=1)])

    def predict_group_proba(self, X: Any, group: Any) -> Array:
        """Return the probability of each word of a group, for one token of it in each document.

        The group's own counts are ignored.

        Parameters
        ----------
        X : (I, J) counts
            With all columns; those of the group may be empty.
        group : int or str
            Its number, or its name.

        Returns
        -------
        (I, J_g) array
            The columns are those of ``group_words(group)``.

        Notes
        -----
        "dm": sum_k theta_yk E[m_k | w], exact given the components. "gp", "cgp": given that exactly
        one token is seen at the document's exposure to the group (at 1 if that is 0).
        """
        corpus = self._corpus(X)
        with self._threads() as engine:
            return self.fit_.predict_group(corpus, group, engine)

    def group_words(self, group: Any) -> Array:
        """Return the names of a group's columns, or their numbers if they have none.

        Parameters
        ----------
        group : int or str
            Its number, or its name.

        Returns
        -------
        (J_g,) array
        """
        check_is_fitted(self)
        return self.fit_.group_words(group)

    def impute(self, X: Any, totals: Any = None) -> Any:
        """Fill every empty group of every document with its expected counts.

        A group is empty, that is missing, if it has no counts ("dm") or exposure 0 ("gp", "cgp", in
        a ``Corpus``). All other counts stay.

        Parameters
        ----------
        X : (I, J) counts
            Documents with missing groups.
        totals : float or (G,) array, optional
            "dm": sum of a filled group. By default ``group_totals_``, e.g. 1 for votes and 2 for
            diploid genotypes. "gp" and "cgp" expect an amount of their own, at exposure 1.

        Returns
        -------
        (I, J) array, sparse array or data frame
            In the form of X: sparse (CSR) for sparse, Corpus and AnnData, dense for dense, a data
            frame for a data frame. A frame of answers has its missing cells filled by the likeliest
            answers.
        """
        corpus = self._corpus(X)
        with self._threads() as engine:
            filled = self.fit_.fill(corpus, totals, engine)
        if is_frame(X) and holds_text(X):
            usual = self.fit_.group_totals
            return completed(X, corpus, likeliest_answers(*filled, corpus.layout, usual))
        return like(corpus if is_annotated(X) else X, corpus, filled)
