# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted estimator says of new documents: scores, likelihoods, recommendations."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from discan.algorithms.base import Posterior
from discan.errors import InputError
from discan.estimators.classes import new_classes
from discan.estimators.fitted import Fitted
from discan.evaluation.document_likelihood import DocumentLikelihood, document_likelihood
from discan.evaluation.intervals import score_intervals
from discan.fitting.annotation import annotate
from discan.fitting.recommending import Recommended
from discan.typing import Array
from discan.validation import number

__all__ = ["NewDocuments"]


class NewDocuments(Fitted, TransformerMixin):
    """Inference of new documents, given the components.

    scikit-learn's ``set_output`` wraps ``transform`` only where a ``TransformerMixin`` defines it.
    """

    # ---- scores ----

    def transform(self, X: Any, fold_in: str | None = None, class_of_document: Any = None) -> Array:
        """Return the posterior mean of each document's scores, given the components.

        Each document is computed on its own, so its scores are the same alone and in any batch. An
        empty document gets the prior mean.

        Parameters
        ----------
        X : (I, J) counts
            New documents.
        fold_in : {"fast", "gibbs"}, optional
            Only for the fits of samplers: another fold-in than the algorithm's own, which is "fast"
            unless it was chosen, e.g. ``Collapsed(fold_in="gibbs")``. "gibbs" is exact in the limit
            of many draws, and about a hundred times slower.
        class_of_document : str or (I,) sequence, optional
            Only for fits with classes: those of the new documents. By default they come from the
            column of the metadata that gave the classes of the fit. Documents without a class, or
            of a class that the fit did not have, get the prior of unknown classes.

        Returns
        -------
        (I, K) array
            "dm": proportions, whose rows sum to 1. "gp", "cgp": amounts.
        """
        return self._infer(X, fold_in, class_of_document).scores

    def transform_parents(self, X: Any, fold_in: str | None = None) -> Array:
        """Return the posterior mean of the parents' scores of each document, given the components.

        Parameters
        ----------
        X : (I, J) counts
            New documents; the fit must have ``n_parents``.
        fold_in : {"fast", "gibbs"}, optional
            As for ``transform``.

        Returns
        -------
        (I, R) array
        """
        corpus = self._corpus(X)
        with self._threads() as engine:
            return self.fit_.folding_in(fold_in).infer_parents(corpus, engine)

    def component_counts(self, X: Any, fold_in: str | None = None) -> Array:
        """Return the posterior mean of the tokens that each component explains in each document.

        Parameters
        ----------
        X : (I, J) counts
            New documents.
        fold_in : {"fast", "gibbs"}, optional
            As for ``transform``.

        Returns
        -------
        (I, K) array
        """
        return self._infer(X, fold_in).component_counts

    def prob_absent(self, X: Any, fold_in: str | None = None) -> Array:
        """Return the probability P(l = 0 | w) that a component is absent from a document.

        Parameters
        ----------
        X : (I, J) counts
            New documents; the fit must be of the conditional model.
        fold_in : {"fast", "gibbs"}, optional
            As for ``transform``; the fast one is an approximation.

        Returns
        -------
        (I, K) array
        """
        check_is_fitted(self)
        if self.rho_ is None:
            raise InputError(
                "only the conditional model can tell that a component is absent; fit with "
                "model='cgp'"
            )
        return self._infer(X, fold_in).absent

    def transform_interval(self, X: Any, level: float = 0.9) -> Array:
        """Return lower and upper limits of the scores of new documents.

        They are quantiles of beta or gamma distributions with the means of ``transform`` and the
        standard deviations of ``transform_sd``. The components are taken as known.

        Parameters
        ----------
        X : (I, J) counts
            New documents.
        level : float, default=0.9
            Probability of each interval.

        Returns
        -------
        (2, I, K) array
        """
        level = number("level", level, "a number between 0 and 1", 1e-6, 1 - 1e-6)
        corpus = self._corpus(X)
        with self._threads() as engine:
            found, sd = self.fit_.infer_with_sd(corpus, engine)
        edges = np.array([(1 - level) / 2, (1 + level) / 2])
        return score_intervals(self.fit_, found.scores, sd, found.absent, edges)[0]

    def transform_sd(self, X: Any) -> Array:
        """Return the standard deviations of what ``transform`` returns.

        They say how exactly a document's own tokens determine its scores. The components are taken
        as known. The deviations are approximate: exact ones would need the posterior of every
        document (for training documents and samplers, ``scores_sd_``).

        Parameters
        ----------
        X : (I, J) counts
            New documents.

        Returns
        -------
        (I, K) array
        """
        corpus = self._corpus(X)
        with self._threads() as engine:
            return self.fit_.infer_with_sd(corpus, engine)[1]

    def inverse_transform(self, X: Any) -> Array:
        """Return the expected counts of documents with given scores, at exposure 1.

        Parameters
        ----------
        X : (I, K) array
            Scores. For "dm" they are proportions.

        Returns
        -------
        (I, J) array
            For "dm" the row of each group sums to 1: the expected fraction of its tokens.
        """
        check_is_fitted(self)
        scores = check_array(X, ensure_min_samples=0)
        n_components = self.fit_.n_components
        if scores.shape[1] != n_components:
            raise InputError(
                f"X has {scores.shape[1]} columns; there are {n_components} components"
            )
        return np.asarray(scores @ self.components_)

    def _infer(self, X: Any, fold_in: str | None = None, classes: Any = None) -> Posterior:
        corpus = self._corpus(X)
        if classes is not None:
            if not self.class_names_:
                raise InputError("the model has no classes of documents; leave them out")
            corpus = corpus.with_classes(new_classes(corpus, classes, self.class_names_))
        with self._threads() as engine:
            return self.fit_.folding_in(fold_in).infer(corpus, engine)

    # ---- likelihood ----

    def score(self, X: Any, y: Any = None, given: Any = None) -> float:
        """Return the held-out log-likelihood per token, in nats; the perplexity is ``exp(-score)``.

        Parameters
        ----------
        X : (I, J) counts
            Without ``given``, new documents: a fixed half of each document's tokens gives its
            proportions, and the other half is scored.
        y : ignored
            Part of scikit-learn's interface.
        given : (I, J) counts, optional
            Another part of the same documents, in the same order: it gives the proportions, and all
            tokens of X are scored. ``train, test = discan.split_entries(X)``, a fit to ``train``,
            and ``score(test, given=train)`` tell how well single votes, answers or alleles are
            predicted. By contrast, ``score(test)`` predicts one half of them from the other half.

        Returns
        -------
        float
        """
        return self.score_with_error(X, given)[0]

    def score_with_error(self, X: Any, given: Any = None) -> tuple[float, float]:
        """Return the score of documents, as ``score`` does, and its standard error over documents.

        Parameters
        ----------
        X : (I, J) counts
            New documents.
        given : (I, J) counts, optional
            As for ``score``.

        Returns
        -------
        score, error : float
        """
        corpus = self._corpus(X)
        known = None if given is None else self._corpus(given)
        with self._threads() as engine:
            return self.fit_.score_with_error(corpus, engine, known)

    def perplexity(self, X: Any) -> float:
        """Return the perplexity of documents, ``exp(-score(X))``; lower is better.

        It is the number of equally likely words that would be as hard to guess: a half of each
        document's tokens is predicted from the other half. Unlike a perplexity of the training
        data, it can be compared between models, algorithms and numbers of components.

        Parameters
        ----------
        X : (I, J) counts
            New documents.

        Returns
        -------
        float
        """
        return float(np.exp(-self.score(X)))

    def log_likelihood(self, X: Any, method: Any = "chib") -> Array:
        """Return log p(w | components) of each document, scores integrated out, bag form.

        It is one run of ``document_likelihood``, which also gives the Monte-Carlo error.

        Parameters
        ----------
        X : (I, J) counts
            New documents.
        method : {"chib", "smc", "ais", "bound"}
            "chib": the estimator of Chib as corrected by Murray and Salakhutdinov, unbiased for p;
            short documents, with few ways to split their tokens, are summed exactly.
            "smc": left to right by particles with resampling, unbiased for p.
            "ais": annealed importance sampling, unbiased for p.
            "bound": the variational lower bound, deterministic, never above the true value.

        Returns
        -------
        (I,) array
            In nats.
        """
        corpus = self._corpus(X)
        with self._threads() as engine:
            found = document_likelihood(self.fit_, corpus, method, n_runs=1, engine=engine)
        return found.log_likelihood

    def document_likelihood(
        self, X: Any, method: Any = "chib", n_runs: int | None = None, over_draws: bool = False
    ) -> DocumentLikelihood:
        """Estimate log p(w | components) of each document, with its Monte-Carlo error.

        Parameters
        ----------
        X : (I, J) counts
            New documents.
        method : {"chib", "smc", "ais", "bound"} or object
            As for ``log_likelihood``. The objects ``Chib``, ``LeftToRight`` and ``Annealing`` of
            ``discan.evaluation.document_likelihood`` take options, e.g. ``Chib(n_sweeps=150)``.
        n_runs : int, optional
            Independent runs; their estimates of p are averaged, and their spread is the error. By
            default 8, or with ``over_draws`` one per draw.
        over_draws : bool, default=False
            Average p over the draws that were kept (``Collapsed(keep_draws=True)``) instead of
            taking the mean of the components: the log of the mean, not the mean of the logs.

        Returns
        -------
        DocumentLikelihood
            ``log_likelihood`` and ``error``, both (I,), ``kind``, ``total``, ``per_token``.
        """
        corpus = self._corpus(X)
        with self._threads() as engine:
            return document_likelihood(self.fit_, corpus, method, n_runs, over_draws, engine)

    # ---- other answers ----

    def recommend(self, X: Any, n: int = 10, group: Any = None) -> Recommended:
        """Recommend to each document the likeliest words that it does not have.

        Parameters
        ----------
        X : (I, J) counts
            Users by items, for example.
        n : int, default=10
            Words per document.
        group : int or str, optional
            Number or name of the group to recommend from; needed if there are several.

        Returns
        -------
        words : (I, n) int array
            Columns, the likeliest first; -1 where a document lacks fewer than n words.
        probabilities : (I, n) array
            That the document's next token is this word; NaN beside -1.
        """
        corpus = self._corpus(X)
        with self._threads() as engine:
            return self.fit_.recommend(corpus, n, group, engine)

    def annotate(self, data: Any, key: str = "discan") -> Any:
        """Write the result into an AnnData or a MuData, and return it.

        Parameters
        ----------
        data : AnnData or MuData
            Cells of the fit, or new ones. It gets ``obsm["X_discan"]``, the scores of the cells
            (I, K) as ``transform`` gives them; ``varm["discan"]``, the loadings of the genes
            (J, K), NaN for those that the model does not have; and ``uns["discan"]``, the model
            and its settings.
        key : str, default="discan"
            What the entries are called.

        Returns
        -------
        AnnData or MuData
            The same object as ``data``.
        """
        check_is_fitted(self)
        annotate(self.fit_, data, self._infer(data).scores, key, list(self.fit_.component_names))
        return data
