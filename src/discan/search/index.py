# SPDX-License-Identifier: BSD-3-Clause
"""An index of documents for searching: their shares of the components, and their words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discan.data.corpus import Corpus
from discan.data.nouns import Nouns
from discan.engines import Engine, Threads
from discan.errors import InputError, shown
from discan.fitting.result import Fit
from discan.search.files import read_index, write_index
from discan.search.likelihood import log_probability
from discan.search.own_words import OwnWords
from discan.search.query import read_query
from discan.search.ranking import Hit, first
from discan.search.shares import AllShares, Shares, by_pieces
from discan.search.similar import Neighbour, nearest
from discan.search.views import View, make_views
from discan.typing import Array
from discan.validation import number, one_of, whole

__all__ = ["Index", "build_index", "load_index"]

WORD_WEIGHT = 0.7
"""Weight of the documents' own words in texts (Wei and Croft, 2006)."""
LISTED = 5  # components that explain a hit
MOST_DRAWS = 20
PRECISIONS = ("float64", "float32", "float16")


@dataclass(frozen=True, eq=False)
class Index:
    """Documents that can be searched; see ``build_index``.

    Attributes
    ----------
    fit : Fit
    views : tuple of View
        Probabilities are averaged over them.
    words : OwnWords or None
        Needed to mix in the documents' own words.
    document_names : tuple of str or None
    """

    fit: Fit
    views: tuple[View, ...]
    words: OwnWords | None = None
    document_names: tuple[str, ...] | None = None

    @property
    def n_documents(self) -> int:
        """Number of documents, I."""
        return self.views[0].shares.shape[0]

    @property
    def nouns(self) -> Nouns:
        """What documents, words and components are called."""
        return self.fit.nouns

    # ---- queries ----

    def search(
        self, query: Any, n: int = 10, *, mu: float | None = None,
        word_weight: float | None = None, engine: Engine | None = None,
    ) -> list[Hit]:  # fmt: skip
        """Rank the documents by the probability of a query.

        Parameters
        ----------
        query : str, list of str, dict or counts
            See ``read_query``.
        n : int, default=10
            Number of documents to list.
        mu : float, optional
            Weight, in tokens, of the word shares of all documents in those of one document; by
            default the mean length of a document.
        word_weight : float, optional
            Weight of the document's own words, from 0 (components alone) to 1 (words alone): the
            lambda of Wei and Croft. By default 0.7 for one group of words. With several groups
            (votes, answers, alleles) and without an index of words, 0.
        engine : Engine, optional
            Where to work; one thread by default.

        Returns
        -------
        list of Hit
            The most probable first.
        """
        n, engine = whole("n", n, 1), engine or Threads(1)
        words = read_query(query, self.fit)
        own, weight = self._own(words, mu, word_weight)
        rough = self._log_probability(words, own, weight, engine, self._precision)

        def again(documents: Array) -> Array:
            part = self._select(documents)
            some = None if own is None else own[documents]
            return part._log_probability(words, some, weight, engine, np.float64)

        chosen = first(rough, n, again)
        return list(self._hits(words, chosen, again(chosen), own, weight))

    def log_probability(
        self, query: Any, *, mu: float | None = None, word_weight: float | None = None,
        engine: Engine | None = None,
    ) -> Array:  # fmt: skip
        """Return log p(query | document) of every document, in double precision.

        Parameters
        ----------
        query, mu, word_weight, engine
            As for ``search``.

        Returns
        -------
        (I,) array
        """
        words = read_query(query, self.fit)
        own, weight = self._own(words, mu, word_weight)
        return self._log_probability(words, own, weight, engine or Threads(1), np.float64)

    def _log_probability(
        self, words: Array, own: Array | None, weight: float, engine: Engine, dtype: Any
    ) -> Array:
        n_documents, n_tokens = self.n_documents, len(words)
        mixed = np.zeros((1, n_tokens)) if own is None else weight * own
        if weight == 1.0:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(mixed).sum(axis=1))
        found = []
        for view in self.views:
            loadings = self.fit.mean_loadings if view.loadings is None else view.loadings
            chances = ((1.0 - weight) * loadings[words]).astype(dtype)

            def work(rows: slice, view: View = view, chances: Array = chances) -> Array:
                part = np.zeros((rows.stop - rows.start, n_tokens)) if own is None else mixed[rows]
                return log_probability(view.shares, view.inverse_weight, chances, part, rows)

            found.append(by_pieces(n_documents, work, engine))
        if len(found) == 1:
            return found[0]
        return np.asarray(np.logaddexp.reduce(found, axis=0) - np.log(len(found)))

    def _own(
        self, words: Array, mu: float | None, word_weight: float | None
    ) -> tuple[Array | None, float]:
        """Return the probabilities of the tokens by the documents' own words, and their weight."""
        if mu is not None:
            mu = number("mu", mu, "a number above 0", 1e-9, 1e15)
        if word_weight is None:
            mixes = self.words is not None and self.fit.layout.n_groups == 1
            weight = WORD_WEIGHT if mixes else 0.0
        else:
            weight = number("word_weight", word_weight, "a number from 0 to 1", 0.0, 1.0)
        if weight == 0.0:
            return None, 0.0
        if self.words is None:
            raise InputError(
                "the index holds no words of the documents, so it cannot mix them in",
                use={"word_weight": 0.0},
            )
        return self.words.chances(words, mu), weight

    def _hits(
        self, words: Array, documents: Array, values: Array, own: Array | None, weight: float
    ) -> Iterator[Hit]:
        names = self.fit.component_names
        held = None if self.words is None else self.words.held(words, documents)
        explained = np.zeros((len(documents), len(names)))
        for view in self.views:
            loadings = self.fit.mean_loadings if view.loadings is None else view.loadings
            shares = view.shares.rows(documents)
            for t, word in enumerate(words):
                parts = (1.0 - weight) * shares * loadings[word]
                total = parts.sum(axis=1) + (0.0 if own is None else weight * own[documents, t])
                explained += parts / np.where(total > 0, total, 1.0)[:, None]
        explained /= len(words) * len(self.views)
        for row, i in enumerate(documents):
            most = first(explained[row], LISTED)
            yield Hit(
                self.name_of(int(i)), int(i), float(values[row]),
                None if held is None else int(held[row]),
                {names[k]: float(explained[row, k]) for k in most if explained[row, k] > 0.005},
            )  # fmt: skip

    @property
    def _precision(self) -> Any:
        """Double precision if the shares are kept in it; else single."""
        shares: Any = self.views[0].shares
        return np.float64 if shares.values.dtype == np.float64 else np.float32

    def _select(self, documents: Array) -> Index:
        """Return the index of some documents, whole shares in double precision."""
        views = tuple(
            View(AllShares(v.shares.rows(documents)), v.inverse_weight[documents], v.loadings)
            for v in self.views
        )
        return Index(self.fit, views)

    # ---- similar documents ----

    def similar(
        self, document: Any, n: int = 10, *, distance: str = "hellinger",
        engine: Engine | None = None,
    ) -> list[Neighbour]:  # fmt: skip
        """List the documents whose shares of the components are nearest to those of another.

        Parameters
        ----------
        document : str, int or (K,) array
            Name or number (from 0) of a document of the index, which is not listed itself; or the
            shares of any document.
        n : int, default=10
            Number of documents to list.
        distance : {"hellinger", "jensen-shannon"}
            See ``distances_from``. If there are several draws, of the mean shares.
        engine : Engine, optional
            Where to work; one thread by default.

        Returns
        -------
        list of Neighbour
            The nearest first.
        """
        n = whole("n", n, 1)
        shares = self.mean_shares
        if isinstance(document, np.ndarray) and document.ndim == 1:
            target, without = _checked_shares(document, shares.shape[1]), None
        else:
            without = self.number_of(document)
            target = shares.rows([without])[0]
        chosen, found = nearest(shares, target, n, distance, engine or Threads(1), without)
        names = self.fit.component_names
        both = np.minimum(shares.rows(chosen), target)
        return [
            Neighbour(
                self.name_of(int(i)), int(i), float(value),
                {names[k]: float(row[k]) for k in first(row, LISTED) if row[k] > 0.005},
            )
            for i, value, row in zip(chosen, found, both, strict=True)
        ]  # fmt: skip

    @property
    def mean_shares(self) -> Shares:
        """Shares of the documents, averaged over draws."""
        if len(self.views) == 1:
            return self.views[0].shares
        everything = slice(0, self.n_documents)
        return AllShares(np.mean([v.shares.rows(everything) for v in self.views], axis=0))

    # ---- names ----

    def name_of(self, document: int) -> str:
        """Return the name of a document, or its number as text if it has none.

        Parameters
        ----------
        document : int
            Its number, from 0.

        Returns
        -------
        str
        """
        return str(document) if self.document_names is None else self.document_names[document]

    def number_of(self, document: Any) -> int:
        """Return the number of a document that is given by name or number.

        Parameters
        ----------
        document : str or int
            Its name, or its number from 0.

        Returns
        -------
        int
        """
        noun, names = self.nouns.document, self.document_names or ()
        if isinstance(document, str):
            if document in names:
                if names.count(document) > 1:
                    raise InputError(f"several {self.nouns.documents} are called {shown(document)}",
                                     remedy="give the number")  # fmt: skip
                return names.index(document)
            near = [name for name in names if document.casefold() in name.casefold()]
            if len(near) == 1:
                return names.index(near[0])
            if not (document.isdecimal() and int(document) < self.n_documents):
                hint = f"; did you mean {', '.join(map(shown, near[:3]))}?" if near else ""
                raise InputError(f"there is no {noun} {shown(document)}{hint}")
            document = int(document)
        found = whole("document", document, 0)
        if found >= self.n_documents:
            raise InputError(f"there is no {noun} {found}; they are numbered from 0 to "
                             f"{self.n_documents - 1}")  # fmt: skip
        return found

    # ---- files ----

    def save(self, path: Any) -> None:
        """Write the index to a file, all or nothing; ``load_index`` reads it.

        Parameters
        ----------
        path : path that ends in .index
            File to write.
        """
        write_index(path, self.fit, self.views, self.words, self.document_names)


def build_index(
    fit: Fit, corpus: Corpus | None = None, *, top: int | None = None,
    precision: str = "float64", words: bool = True, draws: int = MOST_DRAWS,
    engine: Engine | None = None,
) -> Index:  # fmt: skip
    """Make an index of documents.

    Parameters
    ----------
    fit : Fit
        Its components explain the documents.
    corpus : Corpus, optional
        Documents in the columns of the fit. Without it, the training documents, of which the fit
        does not know the words.
    top : int, optional
        Keep only the largest shares of each document; all by default.
    precision : {"float64", "float32", "float16"}
        Of the shares that are kept.
    words : bool, default=True
        Whether to index the words of the documents, too.
    draws : int, default=20
        Largest number of kept draws to average over; 0 takes the posterior means instead.
    engine : Engine, optional
        Where to work; one thread by default.

    Returns
    -------
    Index
    """
    one_of("precision", precision, PRECISIONS)
    n_top = None if top is None else whole("top", top, 1)
    most, engine = whole("draws", draws, 0), engine or Threads(1)
    found = make_views(fit, corpus, n_top, np.dtype(precision), most, engine)
    if corpus is None:
        return Index(fit, found, None, fit.document_names)
    own = OwnWords.of(corpus) if words else None
    return Index(fit, found, own, corpus.document_names)


def load_index(path: Any, fit: Fit) -> Index:
    """Read an index from a file; it must be one of this fit.

    Parameters
    ----------
    path : path
        File that ``Index.save`` wrote.
    fit : Fit
        The fit that the index was made with.

    Returns
    -------
    Index
    """
    return Index(fit, *read_index(path, fit))


def _checked_shares(shares: Array, n_components: int) -> Array:
    values = np.asarray(shares, dtype=np.float64)
    good = values.shape == (n_components,) and np.isfinite(values).all() and values.min() >= 0
    if not good or not values.sum() > 0:
        raise InputError(f"the shares of a document are {n_components} numbers from 0 to 1")
    return np.asarray(values / values.sum())
