# SPDX-License-Identifier: BSD-3-Clause
"""The result of a fit: a value with the verbs that work on fitted components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from discan.algorithms import Algorithm
from discan.algorithms.base import Params, Posterior
from discan.data.corpus import Corpus
from discan.data.folders.corpus import FolderCorpus
from discan.data.layout import Layout
from discan.data.left_out import NOTHING
from discan.data.metadata import EXCERPT
from discan.data.nouns import Nouns
from discan.engines import Engine, Threads
from discan.errors import DiscanError, InputError, LimitError
from discan.fitting import hidden_groups
from discan.fitting.by_block import in_order
from discan.fitting.chains import Chains, Record
from discan.fitting.classes import classified
from discan.fitting.convergence import verdict
from discan.fitting.hidden_groups import Filled
from discan.fitting.infer import (
    completion,
    infer,
    prediction,
    score_and_error,
    unigram_completion,
    unigram_prediction,
)
from discan.fitting.memory import check_memory
from discan.fitting.naming import Given, default_names, read_names, words_by_lift
from discan.fitting.parents import (
    Parent,
    describe_parents,
    infer_parents,
    parent_share,
    reordered,
    two_levels_of,
)
from discan.fitting.posterior import (
    Documents,
    Draws,
    KnownDocuments,
    Loadings,
    StoredDocuments,
    size_order,
)
from discan.fitting.recommending import Recommended, recommend
from discan.fitting.summary import Component, summarise
from discan.fitting.trace import Trace
from discan.fitting.uncertainty import no_deviations, score_deviations
from discan.models.base import Model, proportions
from discan.models.classes import Classed
from discan.typing import Array
from discan.validation import whole

__all__ = ["Fit"]

Answer = TypeVar("Answer")

SCORED_DRAWS = 20  # kept draws that a score averages over, at most


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A fitted model.

    Attributes
    ----------
    algorithm : Algorithm
    params : Params
        For inference on new documents: hyperparameters, and loadings unless they are those below.
    layout : Layout
        The columns of the table that was fitted.
    loadings : Loadings
        Means and variances of the loadings.
    documents : Documents or None
        Tables of the training documents; None if components were given.
    trace, reason, converged, n_cycles, settings
        The record of the fit: why it stopped, and what was decided before it began.
    draws : Draws or None
        Draws that were kept.
    record : Record or None
        A few numbers of every draw that was averaged; None without draws.
    chains : Chains or None
        What several chains, or starts, have in common; None if there was one.
    document_names : tuple of str or None
    metadata : dict of str to (I,) array
        Columns that describe the training documents, e.g. party or date.
    nouns : Nouns
        What documents, words and components are called.
    reading : dict
        How the training documents were read.
    left_out : (n,) uint32 array
        Checksums of words that were left out then, as too rare or too frequent.
    group_totals : (G,) array
        Mean count of each group in the documents that have it.
    given_names : (K,) tuple of str and None
        Names of the components that were given; () if none was.
    unused : dict of str to (n,) array
        Hyperparameters of components that hold nothing and are in no table; empty if all are.
    """

    algorithm: Algorithm
    params: Params
    layout: Layout
    loadings: Loadings
    settings: dict[str, Any]
    group_totals: Array
    documents: Documents | None = None
    document_names: tuple[str, ...] | None = None
    metadata: dict[str, Array] = field(default_factory=dict)
    nouns: Nouns = field(default_factory=Nouns)
    reading: dict[str, Any] = field(default_factory=dict)
    left_out: Array = field(default_factory=lambda: NOTHING)
    draws: Draws | None = None
    record: Record | None = None
    chains: Chains | None = None
    trace: Trace = field(default_factory=Trace)
    reason: str = ""
    converged: bool = False
    n_cycles: int = 0
    given_names: Given = ()
    unused: dict[str, Array] = field(default_factory=dict)

    # ---- components ----

    @cached_property
    def components(self) -> Array:
        """Point estimate or posterior mean of the components, (K, J)."""
        mean, order = self.loadings.stored
        if mean.dtype == np.float32:
            return self.params.prior.widen(mean, order, "F").T
        return mean.T.copy() if order is None else mean.T[order]

    @cached_property
    def components_sd(self) -> Array | None:
        """Posterior standard deviation of the components, (K, J); None for point estimates."""
        if self.documents is None:
            raise AttributeError("the components were given, so how sure they are is not known")
        sd = self.loadings.sd
        return None if sd is None else np.ascontiguousarray(sd.T)

    @cached_property
    def mean_loadings(self) -> Array:
        """Loadings in double precision, (J, K)."""
        mean, order = self.loadings.stored
        if mean.dtype == np.float32:
            return self.params.prior.widen(mean, order)
        return np.ascontiguousarray(mean if order is None else mean[:, order])

    @property
    def inference(self) -> Params:
        """Parameters for new documents; a sampler's loadings are the means over draws."""
        if self.params.loadings is not None:
            return self.params
        return replace(self.params, loadings=self.mean_loadings)

    @property
    def n_components(self) -> int:
        """Number of components, K."""
        return self.params.n_components

    @property
    def whole_model(self) -> Model:
        """The model with the unused components, which its evidence needs."""
        model: Any = self.params.model
        if self.unused:
            values = {k: np.append(v, self.unused[k]) for k, v in model.values().items()}
            model = replace(model, **values)
        fixed: Model = model.fixed()
        return fixed

    # ---- how many are used ----

    @property
    def n_used(self) -> int:
        """Posterior median of the number of components that hold at least one token."""
        return int(np.median(self._counted("used")))

    @property
    def n_used_interval(self) -> tuple[int, int]:
        """Its 90 % interval."""
        return _interval(self._counted("used"))

    @property
    def n_large(self) -> int:
        """Posterior median of the number of components with at least 0.1 % of all tokens."""
        return int(np.median(self._counted("large")))

    @property
    def n_large_interval(self) -> tuple[int, int]:
        """Its 90 % interval."""
        return _interval(self._counted("large"))

    @property
    def concentration(self) -> float | None:
        """Concentration of a process; None for other models."""
        values = self.hyperparameter("concentration")
        return None if values is None else float(values[0])

    def _counted(self, what: str) -> Array:
        """Numbers of components of each draw, (D,)."""
        if self.record is None or not self.record.n_draws:
            raise InputError(
                "the number of used components is counted in draws, and this fit has none",
                use={"algorithm": ("collapsed", "gibbs")},
            )
        return np.asarray(getattr(self.record.counted(), what))

    # ---- sizes and names ----

    @cached_property
    def sizes(self) -> Array:
        """Fraction of all tokens that each component explains, (K,)."""
        if self.documents is None:
            raise AttributeError("the components were given, so there are no training documents")
        totals = self.documents.totals
        return np.asarray(totals / max(totals.sum(), 1e-300))

    def by_size(self) -> Fit:
        """Return the same fit with its components in order of size, the largest first."""
        if self.documents is None:
            return self
        found = self.permuted(size_order(self.documents.totals))
        return found if found.parent_scores is None else found._with_parents_by_size()

    def _with_parents_by_size(self) -> Fit:
        order = size_order(parent_share(np.asarray(self.parent_scores)))
        documents: Any = self.documents
        return replace(
            self,
            params=reordered(self.params, order),
            documents=documents.with_parents_in(order),
            draws=None if self.draws is None else self.draws.with_parents_in(order),
        )

    def permuted(self, order: Array) -> Fit:
        """Return the same fit with its components in another order (K,)."""
        return replace(
            self,
            params=self.params.permuted(order),
            loadings=self.loadings.permuted(order),
            documents=None if self.documents is None else self.documents.permuted(order),
            draws=None if self.draws is None else self.draws.permuted(order),
            record=None if self.record is None else self.record.permuted(order),
            chains=None if self.chains is None else self.chains.permuted(order),
            given_names=tuple(self.given_names[k] for k in order) if self.given_names else (),
        )

    @property
    def component_names(self) -> tuple[str, ...]:
        """Names of the components, (K,): those given, else a noun and a number from 1."""
        defaults = default_names(self.nouns.component, self.n_components)
        given = self.given_names or (None,) * self.n_components
        return tuple(name or default for name, default in zip(given, defaults, strict=True))

    def named(self, names: Any = words_by_lift) -> Fit:
        """Return the same fit with other names of its components.

        Parameters
        ----------
        names : mapping, sequence or callable
            Names by number from 1 or by present name, where the other components keep theirs; K
            names in order; or a function of a ``Component`` (its words, their lift, its typical
            documents) that returns a name. None and "" take a name away. By default, the words
            that set the component apart.
        """
        defaults = default_names(self.nouns.component, self.n_components)
        given = self.given_names or (None,) * self.n_components
        return replace(self, given_names=read_names(names, given, defaults, self._in_order))

    def _in_order(self) -> list[Component]:
        """Describe every component, in the order of the components."""
        return sorted(self.summary(), key=lambda component: component.number)

    # ---- training documents ----

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
        check_memory(needed, "the tables of all documents", "use transform, which writes a file")
        corpus = FolderCorpus(stored.path)
        if corpus.digest != stored.digest:
            raise InputError(f"{stored.path}: holds other documents than those of the fit")
        found = [self.infer(part) for part in corpus.parts()]
        return KnownDocuments(
            np.concatenate([part.component_counts for part in found]),
            np.concatenate([part.scores for part in found]),
            None,
            np.concatenate([part.absent for part in found]),
        )

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

    # ---- parents ----

    @property
    def parents(self) -> Array:
        """Loadings of the parents over the components, (R, K); rows sum to one."""
        return np.ascontiguousarray(two_levels_of(self.params).parents.T)

    @cached_property
    def parent_scores(self) -> Array | None:
        """Posterior means of the parents' scores, (I, R); None if components have no parents."""
        return getattr(self.documents, "parent_scores", None)

    @property
    def known_parent_scores(self) -> Array:
        """The same; an error if components have no parents."""
        two_levels_of(self.params)
        documents: Any = self._known
        return np.asarray(documents.parent_scores)

    @property
    def parent_sizes(self) -> Array:
        """Mean share of each parent over the training documents, (R,)."""
        return parent_share(self.known_parent_scores)

    def infer_parents(self, corpus: Corpus, engine: Engine | None = None) -> Array:
        """Posterior means of the parents' scores of new documents, (I, R)."""
        two_levels_of(self.params)
        self._check_counts(corpus)
        return infer_parents(
            self.algorithm, self.inference, corpus, engine or Threads(1), self.seed
        )

    def describe_parents(self, n_components: int = 8, n_words: int = 10) -> list[Parent]:
        """Describe every parent by its components and words, largest first."""
        return describe_parents(
            self.parents, self.parent_sizes, self.component_names, self.components,
            self.sizes @ self.components, self.layout.word_names, n_components, n_words,
        )  # fmt: skip

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

    def hyperparameter(self, name: str) -> Array | None:
        """Return alpha, beta, rho or gamma; None if the model has no such hyperparameter.

        With classes of documents, those of the scores have a row per class, (C, K).
        """
        model = self.params.model
        if isinstance(model, Classed) and name != "gamma":
            return model.by_class(name)
        return {**self.params.model.values(), "gamma": self.params.prior.gamma}.get(name)

    @property
    def learnt(self) -> str:
        """The priors that were learnt and their values, in words; empty if there are none."""
        parts = []
        for name in self.settings.get("learnt", ()):
            values = np.asarray(self.hyperparameter(name))
            low, high = float(values.min()), float(values.max())
            span = f"{low:.2g}" if high - low < 1e-9 * high else f"{low:.2g} to {high:.2g}"
            total = ""
            if name == "alpha":
                sums = values.sum(axis=-1) if values.ndim > 1 else values.sum()
                told = " to ".join(f"{x:.3g}" for x in dict.fromkeys([np.min(sums), np.max(sums)]))
                total = f" (sum {told}{self._spread(name)})"
            parts.append(f"{name} {span}{total or self._spread(name)}")
        return ", ".join(parts)

    def _spread(self, name: str) -> str:
        """Say how sure a hyperparameter is, if it was drawn; of alpha, its sum."""
        draws = {} if self.record is None else self.record.hyperparameters
        if name not in draws or len(draws[name]) < 20:
            return ""
        values = draws[name].sum(axis=1) if name == "alpha" else draws[name].mean(axis=1)
        low, high = np.quantile(values, (0.05, 0.95))
        told = f"90 % interval {low:.3g} to {high:.3g}"
        several = name not in ("gamma", "concentration")
        return f", {told}" if name == "alpha" else f" ({told}{' of the mean' * several})"

    @property
    def draw_objectives(self) -> Array:
        """Objective of the trace at the draws that are averaged; empty without draws."""
        n, thin = self.settings.get("draws", 0), self.settings.get("thin", 0)
        if not n or not thin:
            return np.zeros(0)
        cycles = np.arange(self.settings["burn_in"] + thin, self.n_cycles + 1, thin)
        return np.asarray(self.trace["objective"][cycles[-n:] - 1])

    # ---- new documents ----

    def folding_in(self, how: str | None) -> Fit:
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

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes of documents, (C,); () if there are none."""
        model = self.params.model
        return model.names if isinstance(model, Classed) else ()

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

    def kept_draws(self, most: int | None = None) -> list[tuple[Params, Array]]:
        """Parameters for inference and loadings (J, K) of the kept draws, evenly chosen.

        ``most`` limits their number; the list is empty if no draws were kept.
        """
        if self.draws is None:
            return []
        n_draws = len(self.draws.loadings)
        chosen = np.unique(np.linspace(0, n_draws - 1, min(n_draws, most or n_draws)).astype(int))
        found = []
        for n in chosen:
            hyper = dict(self.draws.hyperparameters[n])
            prior = replace(self.params.prior, gamma=hyper.pop("gamma"))
            model = self.params.model
            loadings = np.ascontiguousarray(self.draws.loadings[n], dtype=np.float64)
            params = replace(self.params.with_model(model.replaced(hyper)), prior=prior)
            found.append((replace(params, loadings=loadings), loadings))
        return found

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

    # ---- description ----

    def summary(
        self, n_words: int = 10, n_documents: int = 5, sd: bool = False
    ) -> list[Component]:  # fmt: skip
        """Describe every component by its words and documents, largest first.

        With ``sd``, standard deviations are added, if the algorithm has them.
        """
        if self.documents is None:
            raise InputError("the model has no training documents to summarise; fit it to data")
        if isinstance(self.documents, StoredDocuments):  # typical documents are not known
            no_shares = np.zeros((1, self.n_components))
            return summarise(
                self.components, self.documents.totals[None], no_shares, self.layout,
                self.group_totals, self.component_names, None, self.nouns, n_words, 0,
                self.components_sd if sd else None,
            )  # fmt: skip
        # the scores of the other models are amounts, whose deviations are not those of shares
        shares_sd = self.scores_sd if sd and self.params.model.normalised else None
        return summarise(
            self.components, self.component_counts, self.proportions, self.layout,
            self.group_totals, self.component_names, self.document_names, self.nouns, n_words,
            n_documents, self.components_sd if sd else None, shares_sd, self.metadata.get(EXCERPT),
        )  # fmt: skip

    def verdict(self) -> DiscanError:
        """Say whether the fit has converged, and what to do if it has not; see ``verdict``."""
        if self.documents is None:
            return InputError("the components were given, so nothing was fitted")
        n_tokens = float(self.settings.get("tokens", self.documents.totals.sum()))
        burn_in = self.settings.get("burn_in") if self.algorithm.whole_counts else None
        return verdict(self.converged, self.reason, self.trace["objective"], n_tokens, burn_in)

    def describe(self) -> dict[str, Any]:
        """Return what the fit is, in a few properties."""
        seconds = self.trace.last("seconds") if len(self.trace) else None
        return {
            "model": self.params.model.name,
            "algorithm": self.algorithm.name,
            "components": self.n_components,
            **({"parents": len(self.parents)} if self.params.model.levels > 1 else {}),
            **self._process(),
            "documents": self.n_documents,
            "words": self.layout.n_words,
            "groups": self.layout.n_groups,
            **({"classes": len(self.class_names)} if self.class_names else {}),
            "cycles": self.n_cycles,
            "seconds": None if seconds is None else round(seconds, 3),
            "converged": self.converged,
            "stopped": self.reason,
            "seed": str(self.settings.get("seed", "")),
        }

    @property
    def counted(self) -> str:
        """How many components are used and how sure that is, in words; "" if it was not learnt."""
        if not self._process():
            return ""
        (low, high), (least, most) = self.n_used_interval, self.n_large_interval
        return (
            f"{self.n_used} {self.nouns.components} are used (90 % interval {low} to {high}); "
            f"{self.n_large} have at least 0.1 % of all counts ({least} to {most})"
        )

    def _process(self) -> dict[str, Any]:
        """How many components are used, where that was learnt."""
        if self.concentration is None or self.record is None or not self.record.n_draws:
            return {}
        return {
            "used components": self.n_used,
            "used, 90 % interval": list(self.n_used_interval),
            "large components": self.n_large,
            "large, 90 % interval": list(self.n_large_interval),
            "most components": self.n_components + len(self.unused.get("alpha", ())),
            "concentration": self.concentration,
        }

    def __repr__(self) -> str:
        """Describe the fit in one line."""
        of = f"{self.n_components} components of {self.layout.n_words:,} words"
        how = f"{self.params.model.name} by {self.algorithm.name}"
        return f"<Fit: {of}, {how}, {self.n_cycles} cycles>"

    def _check_counts(self, corpus: Corpus) -> None:
        """Refuse counts that are not whole if tokens are to be drawn."""
        if self.algorithm.whole_counts:
            refusal = self.algorithm.refusal(self.params.model, frozenset(), corpus)
            if refusal is not None:
                raise refusal

    @property
    def seed(self) -> np.uint64:
        """The seed of the fit, which names the random streams of inference, too."""
        return np.uint64(self.settings["seed"])


def _interval(numbers: Array) -> tuple[int, int]:
    """Limits between which nine tenths of some whole numbers lie."""
    low, high = np.quantile(numbers, (0.05, 0.95), method="inverted_cdf")
    return int(low), int(high)
