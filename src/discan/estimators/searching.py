# SPDX-License-Identifier: BSD-3-Clause
"""Search with a fitted estimator: documents for a query, similar documents, components of words."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discan.estimators.fitted import Fitted
from discan.models.base import proportions
from discan.search import Hit, Index, Neighbour, build_index, load_index
from discan.search.query import read_query
from discan.search.similar import components_of

__all__ = ["Searching"]


class Searching(Fitted):
    """Queries to a fitted estimator."""

    def search(
        self, query: Any, X: Any = None, n: int = 10, *, mu: float | None = None,
        word_weight: float | None = None,
    ) -> list[Hit]:  # fmt: skip
        """Find documents by the probability of a query, p(query | document).

        The probability is averaged over the posterior of the document's proportions (over the draws
        that were kept, if there are any), and mixed with the words of the document itself.

        Parameters
        ----------
        query : str, list of str, dict or (J,) counts
            A text; or names of words, as a list or with semicolons between them, e.g. of votes
            ("12=yea; 13=nay") or alleles; or counts of words.
        X : (I, J) counts, Index or None
            Documents to search. An index (``search_index``) saves time if there are several
            queries. Without documents, the training documents are searched by components alone,
            because a fit does not hold their words.
        n : int, default=10
            Number of documents to list.
        mu : float, optional
            Weight, in tokens, of the word shares of all documents in those of one; by default the
            mean length of a document.
        word_weight : float, optional
            Weight of the document's own words, from 0 to 1: lambda of Wei and Croft (2006). By
            default 0.7; with several groups of words, 0: who is likely to vote so, not who did.

        Returns
        -------
        list of Hit
            ``document``, ``number``, ``log_probability``, ``held`` (words of the query that the
            document holds) and ``explained`` (share of the query by component), best first.
            ``pandas.DataFrame(hits)`` is a table of them.

        Examples
        --------
        >>> import numpy as np, discan
        >>> X = np.kron(np.eye(2, dtype=int), np.full((5, 4), 3))
        >>> estimator = discan.LDA(2, random_state=0).fit(X)
        >>> [hit.number for hit in estimator.search([0, 0, 0, 0, 0, 1, 0, 0], X, n=3)]
        [5, 6, 7]
        """
        index = self._index(X)
        with self._threads() as engine:
            return index.search(query, n, mu=mu, word_weight=word_weight, engine=engine)

    def similar(
        self, document: Any, X: Any = None, n: int = 10, *, distance: str = "hellinger"
    ) -> list[Neighbour]:
        """Find the documents whose proportions are nearest to those of another.

        Parameters
        ----------
        document : str, int, or (J,) counts
            Name or number (from 0) of a document among those searched, which is not listed itself;
            or the counts of any other.
        X : (I, J) counts, Index or None
            Documents to search; the training documents if not given.
        n : int, default=10
            Number of documents to list.
        distance : {"hellinger", "jensen-shannon"}
            "hellinger": sqrt(1 - sum_k sqrt(p_k q_k)). "jensen-shannon": square root of the
            Jensen-Shannon divergence in bits. Both lie between 0 and 1, and both are exact.

        Returns
        -------
        list of Neighbour
            ``document``, ``number``, ``distance`` and ``shared`` (shares that both have).
        """
        index = self._index(X)
        with self._threads() as engine:
            if not isinstance(document, (str, int, np.integer)):
                row = np.atleast_2d(document) if isinstance(document, (list, tuple)) else document
                row = row[None, :] if isinstance(row, np.ndarray) and row.ndim == 1 else row
                document = proportions(self.fit_.infer(self._corpus(row), engine).scores)[0]
            return index.similar(document, n, distance=distance, engine=engine)

    def search_index(
        self, X: Any = None, *, top: int | None = None, precision: str = "float64",
        words: bool = True, draws: int = 20,
    ) -> Index:  # fmt: skip
        """Make an index of documents, for many queries; ``index.save(path)`` keeps it.

        Parameters
        ----------
        X : (I, J) counts, optional
            Documents to search. By default the training documents, without their words.
        top : int, optional
            Keep only the largest shares of each document, e.g. 20; all by default.
        precision : {"float64", "float32", "float16"}
            Of the shares.
        words : bool, default=True
            Whether to index the documents' words, too.
        draws : int, default=20
            Largest number of kept draws to average over; 0 takes the posterior means.

        Returns
        -------
        Index
        """
        check_is_fitted(self)
        corpus = None if X is None else self._corpus(X)
        with self._threads() as engine:
            return build_index(
                self.fit_, corpus, top=top, precision=precision, words=words, draws=draws,
                engine=engine,
            )  # fmt: skip

    def load_index(self, path: Any) -> Index:
        """Read an index that ``search_index(X).save(path)`` wrote.

        Parameters
        ----------
        path : path
            File of the index; it must be an index of this fit.

        Returns
        -------
        Index
        """
        check_is_fitted(self)
        return load_index(path, self.fit_)

    def components_of(self, words: Any) -> dict[str, float]:
        """Return P(component | words), by the name of the component, the likeliest first.

        It is the posterior of the one component that all of the words come from: the size of the
        component times the probabilities of the words in it, divided by the sum over components.
        (``transform`` gives the mix of a document instead.)

        Parameters
        ----------
        words : str, list of str, dict or (J,) counts
            As the query of ``search``.

        Returns
        -------
        dict of str to float
        """
        check_is_fitted(self)
        chances = components_of(self.fit_, read_query(words, self.fit_))
        order = np.argsort(-chances, kind="stable")
        return {self.fit_.component_names[k]: float(chances[k]) for k in order}

    def _index(self, X: Any) -> Index:
        check_is_fitted(self)
        return X if isinstance(X, Index) else self.search_index(X)
