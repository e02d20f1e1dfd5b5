# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted estimator says of its components and documents, with their names."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from discan.errors import InputError
from discan.estimators.fitted import Fitted
from discan.estimators.frames import frame
from discan.evaluation.anomalies import find_anomalies
from discan.evaluation.arviz import data_tree
from discan.evaluation.diagnostics import Diagnostic, diagnostics
from discan.evaluation.intervals import Intervals, intervals
from discan.evaluation.quality import quality
from discan.fitting.naming import words_by_lift
from discan.fitting.notebook import fit_html
from discan.fitting.summary import word_labels
from discan.typing import Array
from discan.validation import one_of, whole

__all__ = ["Answers"]


class Answers(Fitted):
    """Names, lists, data frames, quality and intervals of a fitted estimator."""

    # ---- in a notebook ----

    @property
    def _repr_html_(self) -> Any:
        """Show the fit; before a fit, what scikit-learn shows."""
        theirs = super()._repr_html_  # type: ignore[misc]  # an error if plain text is wanted
        ours = self._shown()
        return theirs if ours is None else lambda: ours

    def _repr_mimebundle_(self, **settings: Any) -> dict[str, str]:
        """Return the forms of which a notebook chooses one."""
        forms: dict[str, str] = super()._repr_mimebundle_(**settings)  # type: ignore[misc]
        ours = self._shown()
        if ours is not None and "text/html" in forms:
            forms["text/html"] = ours
        return forms

    def _shown(self) -> str | None:
        fit = getattr(self, "fit_", None)
        if fit is None or fit.documents is None:
            return None
        return fit_html(fit, type(self).__name__)

    # ---- names ----

    def name_components(self, names: Any = words_by_lift) -> Self:
        """Name the components; the names appear in all answers, figures and files.

        Parameters
        ----------
        names : dict, list or callable, optional
            dict: names by number from 1, or by present name; the other components keep theirs.
            list: K names, in the order of ``components_``.
            callable: a function that gets a ``Component`` and returns its name. The component has
            ``number``, ``name``, ``size``, ``words`` (the likeliest), ``distinctive`` (what sets
            it apart; each word has ``name``, ``probability``, ``overall``, ``others``, ``lift``)
            and ``documents`` (typical ones: ``name``, ``share``, and ``text``, the beginning, if
            the data were read with ``excerpt``). A language model may be asked there.
            None or "" instead of a name takes a name away: what is left is a noun and a number,
            "topic 3". A name that is used twice gets a number: "law", "law (2)".
            By default, the three words that set the component apart.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np, discan
        >>> X = np.kron(np.eye(2, dtype=int), np.full((5, 4), 3))
        >>> estimator = discan.LDA(2, random_state=0).fit(X)
        >>> estimator.name_components({1: "law"}).component_names_
        ('law', 'component 2')
        """
        check_is_fitted(self)
        self.fit_ = self.fit_.named(names)
        return self

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the components, which are the columns of ``transform``.

        Parameters
        ----------
        input_features : ignored
            Part of scikit-learn's interface.

        Returns
        -------
        (K,) array of str
        """
        check_is_fitted(self)
        if input_features is not None:
            _check_feature_names_in(self, input_features)
        return np.array(self.fit_.component_names, dtype=object)

    # ---- lists ----

    def top_words(self, n: int = 10, by: str = "probability") -> dict[str, list[str]]:
        """List the first words of each component.

        Parameters
        ----------
        n : int, default=10
            Words per component; if there are several fields of text, per field.
        by : {"probability", "lift"}, default="probability"
            "probability": the likeliest words. "lift": those that set the component apart. Votes,
            answers and alleles are always listed by what sets the component apart, because the
            likeliest answers are often the same in all components.

        Returns
        -------
        dict of str to list of str
            By the name of the component, in the order of ``components_``.
        """
        check_is_fitted(self)
        one_of("by", by, ("probability", "lift"))
        found = self.fit_.summary(whole("n", n, 1), 0)
        found.sort(key=lambda component: component.number)
        return {
            component.name: [
                word.name
                for word in (by == "probability" and component.words) or component.distinctive
            ]
            for component in found
        }

    # ---- quality ----

    def quality(self, X: Any = None, n_words: int = 10, library: str | None = None) -> Any:
        """Measure how good each component is; a data frame with a row per component.

        Parameters
        ----------
        X : (I, J) counts, optional
            Documents in which words are counted for the coherence; without them it is left out.
        n_words : int, default=10
            First words of each component that are looked at.
        library : {"pandas", "polars"}, optional
            As for ``components_frame``.

        Returns
        -------
        data frame
            Columns: size; coherence (``npmi``, ``u_mass``: whether the component's first words
            occur in the same documents); exclusivity; lift; effective number of documents; the
            nearest other component with its Hellinger distance; flags ("dead", "twin"); and, after
            several chains, the stability. See ``discan.evaluation.quality.Quality``.
        """
        check_is_fitted(self, "scores_")
        corpus = None if X is None else self._corpus(X)
        rows = [row.as_dict() for row in quality(self.fit_, corpus, whole("n_words", n_words, 2))]
        names = [row.pop("component") for row in rows]
        kept = [name for name in rows[0] if rows[0][name] is not None]
        columns = {name: np.array([row[name] for row in rows]) for name in kept}
        return frame(library, self.fit_.nouns.component, names, columns)

    def diagnostics(self, library: str | None = None) -> Any:
        """Diagnose whether the draws of one chain or several have mixed; a data frame.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            As for ``components_frame``.

        Returns
        -------
        data frame
            A row per quantity. First those that do not depend on the order of the components:
            log p(W, z), the entropy of the sizes, and the hyperparameters that were learnt. Then
            the sizes of the components, matched between chains. The columns are the mean, the
            standard deviation, the 5 % and 95 % quantiles, rank-normalised split R-hat, and the
            effective sample sizes of the bulk and of the tails (Vehtari and others 2021). R-hat
            above 1.05 means that chains, or the halves of a chain, disagree.
        """
        check_is_fitted(self)
        rows = diagnostics(self.fit_)
        if not rows:
            raise InputError(
                "there are no draws to diagnose, or fewer than 8",
                use={"algorithm": ("collapsed", "gibbs")},
            )
        table = np.array([row[1:] for row in rows])
        columns = dict(zip(Diagnostic._fields[1:], table.T, strict=True))
        return frame(library, "quantity", [row.quantity for row in rows], columns)

    def to_arviz(self) -> Any:
        """Return the draws as an xarray DataTree for ArviZ; needs the extra ``discan[arviz]``.

        Returns
        -------
        xarray.DataTree
            The groups are "posterior" and "sample_stats", with dimensions chain and draw;
            components are matched between chains. The posterior has the sizes of the components and
            the hyperparameters that were learnt. If the sampler kept its draws
            (``keep_draws=True``), it also has "loadings" and "component_counts". The statistic "lp"
            is log p(W, z).
        """
        check_is_fitted(self)
        return data_tree(self.fit_)

    def intervals(self, level: float = 0.9, X: Any = None, n_samples: int = 50) -> Intervals:
        """Compute credible intervals of scores, proportions, components and hyperparameters.

        Samplers and "variational": quantiles of beta or gamma distributions with the posterior
        means and standard deviations; hyperparameters: quantiles of their draws. Point estimates
        ("ml", "map", "cvb0") have None without X. With X, scores have intervals from the
        information in a document's tokens, given the components, and components have bootstrap
        intervals. ``notes`` say what was done.

        Parameters
        ----------
        level : float, default=0.9
            Probability of each interval.
        X : (I, J) counts, optional
            The training documents.
        n_samples : int, default=50
            Samples of the bootstrap.

        Returns
        -------
        Intervals
            ``scores``, ``proportions`` (2, I, K), ``components`` (2, K, J), lower and upper limits;
            ``hyperparameters``, a dict of (2, n) arrays; ``notes``.
        """
        check_is_fitted(self)
        if X is None:
            return intervals(self.fit_, level)
        corpus = self._corpus(X)
        with self._threads() as engine:
            return intervals(self.fit_, level, corpus, n_samples, engine)

    # ---- data frames ----

    def anomalies(
        self, X: Any, n: int | None = None, *, by: str = "tail", n_simulated: int = 199,
        method: Any = "bound", library: str | None = None,
    ) -> Any:  # fmt: skip
        """Return documents as a data frame, the most unlikely under the model first.

        Parameters
        ----------
        X : (I, J) counts
            Documents to judge.
        n : int, optional
            Rows of the frame; all documents by default.
        by : {"tail", "likelihood"}, default="tail"
            Order by the tail probability or by the log-likelihood per token. The former takes the
            length of a document into account.
        n_simulated : int, default=199
            Documents drawn from the model to compare with.
        method : {"bound", "chib", "smc", "ais"}, default="bound"
            How the log-likelihoods are computed; see ``log_likelihood``.
        library : {"pandas", "polars"}, optional
            As for ``components_frame``.

        Returns
        -------
        data frame
            Columns: "number" of the document in X, from 0; "tokens"; "nats per token", the log
            probability of its tokens divided by their number; "tail probability", the share of
            documents drawn from the model that are at most as likely, at least
            1 / (n_simulated + 1); "unlikely words", given the document's mix of components.
        """
        corpus = self._corpus(X)
        with self._threads() as engine:
            found = find_anomalies(self.fit_, corpus, n, by, n_simulated, method, engine)
        fit = self.fit_
        words = word_labels(fit.layout, fit.nouns.word)
        names = corpus.document_names or [str(i) for i in range(corpus.n_documents)]
        unlikely = [", ".join(words[j] for j in row) for row in found.words]
        columns = {
            "number": found.documents,
            "tokens": found.tokens,
            "nats per token": found.per_token,
            "tail probability": found.tail,
            f"unlikely {fit.nouns.words}": np.array(unlikely, dtype=object),
        }
        return frame(library, fit.nouns.document, [names[i] for i in found.documents], columns)

    def components_frame(self, library: str | None = None) -> Any:
        """Return the components as a data frame, a row per word and a column per component.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            By default the one that is installed; pandas, if both are. With pandas the words are the
            index, with polars the first column.

        Returns
        -------
        data frame
            The transpose of ``components_``, with names.
        """
        check_is_fitted(self)
        fit = self.fit_
        names = fit.layout.word_names or word_labels(fit.layout, fit.nouns.word)
        return frame(library, fit.nouns.word, names, self._columns(self.fit_.components.T))

    def scores_frame(self, library: str | None = None) -> Any:
        """Return the scores of the training documents as a data frame, a row per document.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            As for ``components_frame``.

        Returns
        -------
        data frame
            ``scores_`` with names: proportions for "dm", amounts for "gp" and "cgp".
        """
        check_is_fitted(self, "scores_")
        return frame(library, *self._documents(), self._columns(self.fit_.scores))

    def documents_frame(self, library: str | None = None) -> Any:
        """Return all that is known of the training documents as a data frame, a row per document.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            As for ``components_frame``.

        Returns
        -------
        data frame
            Columns: the metadata (label, date, author, ...), the name of the document's largest
            component, its share, and the shares of all components.
        """
        check_is_fitted(self, "scores_")
        fit = self.fit_
        shares = fit.proportions
        names = np.array(fit.component_names, dtype=object)
        columns: dict[str, Array] = {
            f"largest {fit.nouns.component}": names[shares.argmax(axis=1)],
            "largest share": shares.max(axis=1),
            **self._columns(shares),
        }
        metadata = {
            name if name not in columns else f"{name} (metadata)": values
            for name, values in fit.metadata.items()
        }
        return frame(library, *self._documents(), {**metadata, **columns})

    def _documents(self) -> tuple[str, list[str]]:
        """Noun and names of the training documents."""
        fit = self.fit_
        names = fit.document_names or map(str, range(len(fit.scores)))
        return fit.nouns.document, list(names)

    def _columns(self, table: Array) -> dict[str, Array]:
        """Columns of a table (n, K) by the names of the components."""
        return dict(zip(self.fit_.component_names, table.T, strict=True))
