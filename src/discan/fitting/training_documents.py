# SPDX-License-Identifier: BSD-3-Clause
"""What a fit says of the documents that it was fitted to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from discan.data.corpus import Corpus
from discan.data.folders.corpus import FolderCorpus
from discan.errors import InputError, LimitError
from discan.fitting.infer import score_and_error, unigram_completion, unigram_prediction
from discan.fitting.memory import check_memory
from discan.fitting.new_documents import NewDocuments
from discan.fitting.parents import parent_share, two_levels_of
from discan.fitting.posterior import Documents, KnownDocuments, StoredDocuments
from discan.fitting.uncertainty import no_deviations
from discan.models.base import proportions
from discan.typing import Array

__all__ = ["TrainingDocuments"]


class TrainingDocuments(NewDocuments):
    """Tables of the training documents; if these are in a folder, tables are inferred."""

    @property
    def n_documents(self) -> int:
        """Number of training documents; 0 if the components were given."""
        if self.documents is None:
            return 0
        if isinstance(self.documents, StoredDocuments):
            return self.documents.n_documents
        return len(self.scores)

    @cached_property
    def component_counts(self) -> Array:
        """Posterior means of the documents' component counts, (I, K)."""
        return self._known.component_counts

    @cached_property
    def component_counts_sd(self) -> Array | None:
        """Their posterior standard deviations; None for point estimates."""
        return self._known.component_counts_sd

    @cached_property
    def scores(self) -> Array:
        """Posterior means of the documents' scores, (I, K)."""
        return self._known.scores

    @cached_property
    def scores_sd(self) -> Array | None:
        """Their posterior standard deviations; None for point estimates."""
        return self._known.scores_sd

    @cached_property
    def proportions(self) -> Array:
        """Scores divided by their sum over components, (I, K)."""
        return proportions(self.scores)

    @cached_property
    def absent(self) -> Array | None:
        """P(l = 0), (I, K); None for models without absence."""
        return self._known.absent if self.hyperparameter("rho") is not None else None

    def known_sd(self, of: str) -> Array:
        """Standard deviations of "components", "scores" or "component_counts".

        If the algorithm has none, the error says so, and which algorithms have.
        """
        value: Array | None = getattr(self, f"{of}_sd")
        if value is None and of != "components" and isinstance(self.documents, StoredDocuments):
            raise LimitError(
                "a fit to a folder keeps no standard deviations of its documents",
                remedy="use transform_sd",
            )
        if value is None and "merged" in self.settings:
            raise InputError("merged components have no standard deviations; those of the fit do")
        if value is None:
            samplers = ("collapsed", "gibbs")
            instead = samplers if of == "component_counts" else ("variational", *samplers)
            raise no_deviations(self.algorithm, of.replace("_", " "), instead)
        return value

    # ---- parents ----

    @cached_property
    def parent_scores(self) -> Array | None:
        """Posterior means of the parents' scores, (I, R); None if components have no parents."""
        return getattr(self.documents, "parent_scores", None)

    @property
    def known_parent_scores(self) -> Array:
        """The same; an error if components have no parents."""
        two_levels_of(self.params)
        stored = self.documents
        if isinstance(stored, StoredDocuments):
            parts = self._parts_of(stored, 8 * stored.n_documents * self.parents.shape[0])
            return np.concatenate([self.infer_parents(part) for part in parts])
        documents: Any = self._known
        return np.asarray(documents.parent_scores)

    @property
    def parent_sizes(self) -> Array:
        """Mean share of each parent over the training documents and draws, (R,)."""
        two_levels_of(self.params)
        found: Array | None = getattr(self.documents, "parent_sizes", None)
        # models of version 1.0 have the scores alone
        return parent_share(self.known_parent_scores) if found is None else found

    # ---- word shares ----

    def unigram_score(self, corpus: Corpus) -> float:
        """Score of the training data's word shares, the same for every document, in nats."""
        return self.unigram_with_error(corpus)[0]

    def unigram_with_error(self, corpus: Corpus, whole: bool = False) -> tuple[float, float]:
        """The same with its standard error over documents; of ``whole`` documents if asked for."""
        stored = isinstance(self.documents, StoredDocuments)
        sizes = self.sizes if stored else self.component_counts.sum(axis=0)
        overall = (sizes / sizes.sum()) @ self.components
        if whole:
            return score_and_error(unigram_prediction(overall, corpus))
        return score_and_error(unigram_completion(overall, corpus, self.params.model.normalised))

    # ---- inside ----

    @property
    def _known(self) -> Documents:
        if self.documents is None:
            raise AttributeError("the components were given, so there are no training documents")
        return self._inferred if isinstance(self.documents, StoredDocuments) else self.documents

    @cached_property
    def _inferred(self) -> KnownDocuments:
        """Tables of documents that are in a folder, as ``infer`` gives them, if they fit."""
        stored = self.documents
        assert isinstance(stored, StoredDocuments)
        needed = 8 * stored.n_documents * self.n_components * 3
        found = [self.infer(part) for part in self._parts_of(stored, needed)]
        return KnownDocuments(
            np.concatenate([part.component_counts for part in found]),
            np.concatenate([part.scores for part in found]),
            None,
            np.concatenate([part.absent for part in found]),
        )

    def _parts_of(self, stored: StoredDocuments, needed: int) -> Iterator[Corpus]:
        """Iterate over documents that are in a folder, if tables of so many bytes fit."""
        check_memory(needed, "the tables of all documents", "use transform, which writes a file")
        corpus = FolderCorpus(stored.path)
        if corpus.digest != stored.digest:
            raise InputError(f"{stored.path}: holds other documents than those of the fit")
        return corpus.parts()
