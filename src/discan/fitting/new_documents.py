# SPDX-License-Identifier: BSD-3-Clause
"""What a fit says of new documents: scores, likelihoods, and groups that they lack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np

from discan.algorithms.base import Posterior
from discan.data.corpus import Corpus
from discan.engines import Engine, Threads
from discan.errors import InputError
from discan.fitting import hidden_groups
from discan.fitting.by_block import in_order
from discan.fitting.classes import classified
from discan.fitting.hidden_groups import Filled
from discan.fitting.infer import completion, infer, prediction, score_and_error
from discan.fitting.memory import check_memory
from discan.fitting.parents import infer_parents, two_levels_of
from discan.fitting.recommending import Recommended, recommend
from discan.fitting.uncertainty import no_deviations, score_deviations
from discan.fitting.values import Values
from discan.typing import Array
from discan.validation import whole

__all__ = ["NewDocuments"]

Answer = TypeVar("Answer")

SCORED_DRAWS = 20  # kept draws that a score averages over, at most


class NewDocuments(Values):
    """Inference of new documents, given the components."""

    # ---- scores ----

    def folding_in(self, how: str | None) -> Self:
        """Return the fit with another fold-in of new documents: "fast" or "gibbs".

        Only the fit of a sampler has a choice. None changes nothing.
        """
        if how is None:
            return self
        algorithm: Any = self.algorithm
        if not hasattr(algorithm, "fold_in"):
            raise InputError(
                f"fold_in is for the fits of samplers; this one is by {algorithm.name}",
                remedy="leave it out",
            )
        return replace(self, algorithm=replace(algorithm, fold_in=how))

    def infer(self, corpus: Corpus, engine: Engine | None = None) -> Posterior:
        """Posterior means of new documents given the components, each on its own."""
        self._check_counts(corpus)
        engine = engine or Threads(1)
        if corpus.on_disk:
            tables = self._by_block(corpus, self.infer, engine)
            return Posterior(*(np.concatenate(table) for table in zip(*tables, strict=True)))
        corpus = self.classified(corpus)
        return infer(self.algorithm, self.inference, corpus, engine, self.seed)

    def infer_with_sd(
        self, corpus: Corpus, engine: Engine | None = None
    ) -> tuple[Posterior, Array]:  # fmt: skip
        """Posterior means of new documents, and standard deviations of their scores (I, K).

        The deviations are those given the components, and approximate; see ``score_deviations``.
        """
        if not np.all(np.asarray(self.params.model.alpha) > 0):
            raise no_deviations(self.algorithm, "scores", ("map", "variational", "collapsed"))
        if corpus.on_disk:
            pairs = self._by_block(corpus, self.infer_with_sd, engine or Threads(1))
            tables = zip(*(found for found, _ in pairs), strict=True)
            means = Posterior(*(np.concatenate(table) for table in tables))
            return means, np.concatenate([errors for _, errors in pairs])
        corpus = self.classified(corpus)
        found = self.infer(corpus, engine)
        return found, score_deviations(self.params, self.mean_loadings, corpus, found)

    def infer_parents(self, corpus: Corpus, engine: Engine | None = None) -> Array:
        """Posterior means of the parents' scores of new documents, (I, R)."""
        two_levels_of(self.params)
        self._check_counts(corpus)
        if corpus.on_disk:
            return np.concatenate(self._by_block(corpus, self.infer_parents, engine or Threads(1)))
        return infer_parents(
            self.algorithm, self.inference, corpus, engine or Threads(1), self.seed
        )

    def recommend(
        self, corpus: Corpus, n: int = 10, group: Any = None, engine: Engine | None = None
    ) -> Recommended:
        """Find the likeliest words that each document does not have, in one group of words."""
        if group is None and self.layout.n_groups > 1:
            raise InputError(
                f"the words are in {self.layout.n_groups} groups; recommendations come from one",
                use={"group": ...},
            )
        number = 0 if group is None else hidden_groups.find_group(self.layout, group)
        columns = hidden_groups.columns_of(self.layout, number)
        scores = self.infer(corpus, engine).scores
        return recommend(corpus, scores, self.mean_loadings, columns, whole("n", n, 1))

    # ---- likelihood ----

    def score(
        self, corpus: Corpus, engine: Engine | None = None, given: Corpus | None = None
    ) -> float:
        """Held-out log-likelihood per token in nats; see ``completion``."""
        return self.score_with_error(corpus, engine, given)[0]

    def score_with_error(
        self, corpus: Corpus, engine: Engine | None = None, given: Corpus | None = None
    ) -> tuple[float, float]:
        """The score and its standard error over documents; NaN for a single document."""
        return score_and_error(self.completion(corpus, engine, given))

    def completion(
        self, corpus: Corpus, engine: Engine | None = None, given: Corpus | None = None
    ) -> Array:
        """Held-out log-likelihood and number of held-out tokens of each document, (2, I).

        With ``given``, other tokens of the same documents, all tokens of ``corpus`` are scored;
        else a half of each document given the other half. If draws were kept, the probability of a
        token is the mean over up to 20 of them.
        """
        self._check_counts(corpus if given is None else given)
        draws = self.kept_draws(SCORED_DRAWS) or [(self.inference, self.mean_loadings)]
        engine = engine or Threads(1)
        corpus = self.classified(corpus)
        if given is not None:
            given = self.classified(given)
        if given is None:
            return completion(self.algorithm, draws, corpus, engine, self.seed)
        return prediction(self.algorithm, draws, corpus, given, engine, self.seed)

    # ---- hidden groups ----

    def predict_group(self, corpus: Corpus, group: Any, engine: Engine | None = None) -> Array:
        """Probability of each word of a group, given the document's other groups, (I, J_g)."""
        number = hidden_groups.find_group(self.layout, group)
        if corpus.on_disk:
            parts = self._by_block(
                corpus, lambda part, inner: self.predict_group(part, number, inner),
                engine or Threads(1),
            )  # fmt: skip
            return np.concatenate(parts)
        scores = self.infer(hidden_groups.hide_group(corpus, number), engine).scores
        columns = hidden_groups.columns_of(self.layout, number)
        return hidden_groups.predict(scores, self.mean_loadings[columns])

    def group_words(self, group: Any) -> Array:
        """Names of a group's columns, or their numbers if they have none, (J_g,)."""
        columns = hidden_groups.columns_of(
            self.layout, hidden_groups.find_group(self.layout, group)
        )
        names = self.layout.word_names
        return columns if names is None else np.array([names[j] for j in columns], dtype=object)

    def fill(
        self, corpus: Corpus, totals: Any = None, engine: Engine | None = None, quiet: bool = False
    ) -> Filled:
        """Expected counts of every word of every empty group; ``quiet`` leaves out remarks."""
        if corpus.on_disk:
            parts = in_order(
                corpus, lambda first, part, inner: (first, self.fill(part, totals, inner, True)),
                engine or Threads(1),
            )  # fmt: skip
            moved = [(documents + first, *others) for first, (documents, *others) in parts]
            return hidden_groups.Filled(*(np.concatenate(c) for c in zip(*moved, strict=True)))
        self._check_counts(corpus)
        model = self.params.model
        if totals is None:
            totals = self.group_totals
        else:
            totals = hidden_groups.checked_totals(model, totals, self.layout)
        return hidden_groups.fill(
            corpus, model.normalised, totals, self.mean_loadings,
            lambda part: self.infer(part, engine).scores, quiet,
        )  # fmt: skip

    # ---- inside ----

    def _by_block(
        self, corpus: Corpus, answer: Callable[[Corpus, Engine], Answer], engine: Engine
    ) -> list[Answer]:
        """Return answers for all blocks of a corpus folder, if their tables fit into memory."""
        needed = 8 * corpus.n_documents * self.n_components * 4
        check_memory(needed, "the tables of all documents", "use transform_to, which writes a file")
        return list(in_order(corpus, lambda _, part, inner: answer(part, inner), engine))

    def classified(self, corpus: Corpus) -> Corpus:
        """Return new documents with their classes, if the model has classes; see ``classified``."""
        return classified(corpus, self.params.model, self.settings.get("class_column"))

    def _check_counts(self, corpus: Corpus) -> None:
        """Refuse counts that are not whole if tokens are to be drawn."""
        if self.algorithm.whole_counts:
            refusal = self.algorithm.refusal(self.params.model, frozenset(), corpus)
            if refusal is not None:
                raise refusal
