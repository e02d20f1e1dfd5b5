# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn estimators: DCA, and the presets that carry well-known names."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from discan.algorithms import Algorithm, choose
from discan.algorithms.base import Params, Posterior
from discan.algorithms.starts import checked_components
from discan.data.corpus import Corpus, Layout
from discan.data.storage import locked
from discan.engines.threads import Threads, n_threads
from discan.errors import InputError, shown
from discan.estimators.frames import frame
from discan.fitting.checkpoint import RunFolder, restore_from
from discan.fitting.hidden_groups import (
    Filled,
    columns_of,
    fill,
    find_group,
    hide_group,
    like,
    predict,
    usual_totals,
    why_nothing,
)
from discan.fitting.infer import completion, infer, log_likelihood
from discan.fitting.modelfile import save
from discan.fitting.result import KnownLoadings, Loadings
from discan.fitting.run import Run
from discan.models import MODELS, LoadingsPrior, Model
from discan.models.hyperparameters import Hyperprior
from discan.typing import Array
from discan.validation import number, vector, whole

__all__ = ["DCA", "LDA", "MPCA", "NMF", "PLSI", "ConditionalGaP", "GaP"]

# Attributes that are worked out when first read.
_TABLES = (
    "components_", "components_sd_", "component_counts_", "component_counts_sd_", "scores_",
    "scores_sd_", "proportions_", "absent_",
)  # fmt: skip


class DCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Discrete component analysis of a table of counts, documents by words.

    Parameters
    ----------
    n_components : int, default=10
        Number of components, K.
    model : {"dm", "gp", "cgp"}, full name or Model, default="dm"
        "dirichlet-multinomial" (LDA, MPCA, PLSI), "gamma-poisson" (GaP, NMF) or
        "conditional-gamma-poisson" (GaP whose components may be truly absent).
    algorithm : {"auto", "ml", "map", "cvb0", "variational", "gibbs", "collapsed"} or Algorithm
        "auto" is the quickest to a good model: MAP; or, if there are fewer tokens than loadings
        (J K) or than three for each score (3 I K), or anything is to be learnt, "cvb0" (collapsed
        variational) or, below 200,000 tokens, a short collapsed chain from documents; variational
        for the conditional model, and to learn from few counts that are not whole.
        ``settings_["algorithm"]`` says which. Give an object to set options, e.g.
        ``Collapsed(burn_in=200, n_draws=100)``.
    alpha, beta, rho : float or (K,) array, optional
        Shape, rate and chance of absence of the scores. By default alpha is the smaller of 0.5 and
        5/K, beta makes the prior's mean document as long as the data's, rho is 0.5. In the
        literature on LDA alpha is the document-topic prior.
    gamma : float or (J,) array, default=0.5
        Dirichlet prior of the loadings; in the literature on LDA, eta or beta.
    learn : tuple of {"alpha", "beta", "rho", "gamma"}, default=()
        Hyperparameters to learn from the data.
    hyperprior : Hyperprior, optional
        Their priors when a sampler learns them.
    groups : (J,) array, optional
        Group of each column; components are distributions inside each group.
    init : {"auto", "random", "documents", "words", "map"} or (K, J) array, default="auto"
        Where to start: at random; from the words of a few documents for each component and one
        pass over all; from words that stand for a component each, found in one pass; from
        documents with ten cycles of MAP; or from given components. "auto" is "documents" for "ml",
        "map" and "cvb0", "map" for the variational algorithm, which else ends in poor optima,
        "words" for all these when online, and "random" for the samplers unless
        ``Collapsed(start=...)`` says otherwise.
    max_iter : int, optional
        Cycles at most: 200, or for samplers their own ``burn_in + n_draws * thin``.
    tol : float, default=1e-5
        Stop when the objective changes by at most this many nats a token (samplers run on).
    n_jobs : int, optional
        Threads; the answer has the same bits for any number of them. None is 1, -1 all cores.
    random_state : int, RandomState or Generator, optional
        Seed. The one that was used is in ``settings_["seed"]``.
    warm_start : bool, default=False
        Take up the last fit where it stopped, if data and settings are the same but for
        ``max_iter``, ``tol``, ``n_jobs``, ``callback`` and ``progress``. A run that was stopped
        then ends with the bits of an unbroken one.
    callback : callable, optional
        Called after each cycle with the run (``run.cycle``, ``run.trace``, ``run.params``); a true
        answer stops the fit. Arrays may change with the next cycle: copy what is to be kept.
    progress : bool, optional
        Progress bar on stderr; by default only in a terminal.
    checkpoint : path, optional
        Folder to write the run to every ``checkpoint_every`` cycles; after any end, even kill -9,
        ``discan.resume(folder)`` goes on from there and ends with the same bits.
    checkpoint_every : int, default=10

    Attributes
    ----------
    components_ : (K, J) array
        Each row sums to 1 inside each group: point estimate or posterior mean.
    component_counts_ : (I, K) array
        Posterior mean of the tokens of each training document given to each component.
    scores_, proportions_ : (I, K) arrays
        Posterior mean of the scores of the training documents, and the same with rows that sum to
        1. For "dm" they are equal. ``transform`` of the training documents differs from ``scores_``
        by what the last cycle had not yet settled; for samplers because it holds the components
        at their mean; and for the variational conditional model because a document can settle in
        another optimum. ``fit_transform`` is ``fit`` then ``transform``.
    absent_ : (I, K) array or None
        P(l = 0) of the training documents; None for models without absence.
    components_sd_, component_counts_sd_, scores_sd_ : arrays or None
        Posterior standard deviations; None for point estimates.
    alpha_, beta_, rho_, gamma_ : arrays or None
        Hyperparameters as given, learnt, or averaged over draws.
    group_totals_ : (G,) array
        Mean count of each group in the documents that have it.
    n_iter_, converged_, stop_reason_ : int, bool, str
    trace_ : Trace
        ``trace_["objective"]``, ``["seconds"]``, ``["tokens_per_second"]``, a value a cycle.
    settings_ : dict
        What was decided on the way: seed, schedule, names.
    draws_ : Draws or None
        Posterior draws, if the sampler was told to keep them.

    Examples
    --------
    >>> import numpy as np, discan
    >>> X = np.kron(np.eye(2, dtype=int), np.full((5, 4), 3))
    >>> estimator = discan.DCA(2, random_state=0).fit(X)
    >>> estimator.components_.shape
    (2, 8)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        model: str | Model = "dm",
        algorithm: str | Algorithm = "auto",
        alpha: Any = None,
        beta: Any = None,
        rho: Any = None,
        gamma: Any = 0.5,
        learn: tuple[str, ...] = (),
        hyperprior: Hyperprior | None = None,
        groups: Any = None,
        init: Any = "auto",
        max_iter: int | None = None,
        tol: float = 1e-5,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        callback: Callable[[Run], Any] | None = None,
        progress: bool | None = None,
        checkpoint: Any = None,
        checkpoint_every: int = 10,
    ) -> None:
        self.n_components = n_components
        self.model = model
        self.algorithm = algorithm
        self.alpha = alpha
        self.beta = beta
        self.rho = rho
        self.gamma = gamma
        self.learn = learn
        self.hyperprior = hyperprior
        self.groups = groups
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.callback = callback
        self.progress = progress
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    # ---- fitting ----

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to a table of counts.

        Parameters
        ----------
        X : (I, J) array, sparse matrix, data frame or Corpus
        y : ignored
        """
        corpus = self._corpus(X, reset=True)
        max_iter = None if self.max_iter is None else whole("max_iter", self.max_iter, 1)
        tol = number("tol", self.tol, "a number, at least 0", 0.0, np.inf)
        with self._threads() as engine, self._run_folder() as folder:
            resuming = getattr(self, "_resuming", False)
            seed = _seed(self.random_state)
            if folder is not None and not resuming:
                folder.begin(self, corpus, seed)
            run = self._run(corpus, engine, seed)
            if folder is not None and resuming:
                restore_from(folder, run)
            run.advance(max_iter, tol, self.callback, self.progress, folder)
            fit = run.result()
        run.engine = Threads(1)
        keep = self.warm_start or run.reason == "interrupted"
        self._last_run = run if keep else None
        self._last_task = self._task(corpus) if keep else None
        self._set_params(fit.params, fit.tables, corpus.layout)
        self.algorithm_ = fit.algorithm
        self.document_names_ = corpus.document_names
        self.group_totals_ = usual_totals(corpus)
        for name in _TABLES:  # of an earlier fit
            self.__dict__.pop(name, None)
        self._documents, self._spread = fit.documents, fit.tables
        self.n_iter_ = fit.n_cycles
        self.trace_ = fit.trace
        self.converged_ = fit.converged
        self.stop_reason_ = fit.reason
        self.settings_ = fit.settings
        self.draws_ = fit.draws
        return self

    def save(self, path: Any) -> None:
        """Write the fitted estimator to a file, all or nothing; ``discan.load`` reads it."""
        check_is_fitted(self, "_params")
        save(self, path)

    @classmethod
    def from_components(cls, components: Any, *, groups: Any = None, **params: Any) -> Self:
        """Make a ready estimator from known components.

        Parameters
        ----------
        components : (K, J) array-like
            Non-negative; rows are normalised inside each group.
        groups : (J,) array, optional
        **params
            Constructor arguments: model, alpha, beta, rho, algorithm, ...
        """
        try:
            matrix = np.asarray(components)
        except ValueError:
            raise InputError("components must be rows of equal length, (K, J)") from None
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise InputError(f"components have shape {matrix.shape}; expected (K, J)")
        estimator = cls(n_components=matrix.shape[0], groups=groups, **params)
        blank = Corpus(np.ones((1, matrix.shape[1])), groups=groups)
        layout = blank.layout
        estimator._layout = layout
        estimator.group_totals_ = np.ones(layout.n_groups)
        estimator.n_features_in_ = layout.n_words
        estimator.algorithm_ = choose(estimator.algorithm, estimator._model())
        used = estimator.algorithm_.uses_prior
        model = estimator._model().prepare(matrix.shape[0], None if used else blank)
        refusal = estimator.algorithm_.refusal(model, frozenset())
        if refusal:
            raise InputError(refusal)
        prior = LoadingsPrior.of(estimator.gamma, layout)
        loadings = checked_components(matrix, prior)
        model, prior = estimator.algorithm_.prepare(model, prior)
        fixed = Params(model, prior, loadings=loadings)
        estimator._set_params(fixed, KnownLoadings(loadings), layout)
        estimator.settings_ = {"seed": _seed(estimator.random_state)}
        return estimator

    # ---- tables, worked out when first read ----

    @cached_property
    def components_(self) -> Array:  # noqa: D102
        mean = self._tables.mean
        single = mean.dtype == np.float32
        return self._params.prior.widen(mean, order="F").T if single else mean.T.copy()

    @cached_property
    def component_counts_(self) -> Array:  # noqa: D102
        return self._documents.component_counts

    @cached_property
    def component_counts_sd_(self) -> Array | None:  # noqa: D102
        return self._documents.component_counts_sd

    @cached_property
    def scores_(self) -> Array:  # noqa: D102
        return self._documents.scores

    @cached_property
    def scores_sd_(self) -> Array | None:  # noqa: D102
        return self._documents.scores_sd

    @cached_property
    def proportions_(self) -> Array:  # noqa: D102
        return _proportions(self.scores_)

    @cached_property
    def absent_(self) -> Array | None:  # noqa: D102
        documents = self._documents
        return documents.absent if self.rho_ is not None else None

    @cached_property
    def components_sd_(self) -> Array | None:  # noqa: D102
        variance = self._spread.variance  # not known if components were given
        return None if variance is None else np.sqrt(variance.T, dtype=np.float64, order="C")

    # ---- new documents ----

    def transform(self, X: Any) -> Array:
        """Posterior mean of each document's scores given the components, (I, K).

        "dm": proportions, rows sum to 1. "gp", "cgp": scores. Each document is worked out by
        itself, so it gets the same answer alone and in any batch; an empty one gets the prior mean.
        """
        return self._infer(X).scores

    def component_counts(self, X: Any) -> Array:
        """Posterior mean of the tokens that each document gives to each component, (I, K)."""
        return self._infer(X).component_counts

    def prob_absent(self, X: Any) -> Array:
        """P(l = 0 | w) of each document and component, (I, K); for the conditional model."""
        check_is_fitted(self, "_params")
        if self.rho_ is None:
            raise InputError(
                "only the conditional model can tell that a component is absent; fit with "
                "model='cgp'"
            )
        return self._infer(X).absent

    def log_likelihood(self, X: Any, method: str = "chib") -> Array:
        """Log p(w | components) of each document, scores integrated out, bag form, (I,).

        Parameters
        ----------
        X : (I, J) counts
        method : {"chib", "bound"}
            "chib": the estimator of Chib as corrected by Murray and Salakhutdinov, unbiased for p;
            short documents, with few ways to split their tokens, are summed exactly.
            "bound": the variational lower bound, deterministic, never above the true value.
        """
        check_is_fitted(self, "_params")
        if not np.all(np.asarray(self.alpha_) > 0):
            raise InputError(
                "maximum likelihood has no prior of the scores, so a document has no probability; "
                "use score(X), or fit with algorithm='map' or 'variational'"
            )
        with self._threads() as engine:
            return log_likelihood(
                method, self._params, self._loadings, self._corpus(X, reset=False), engine,
                self._inference_seed(),
            )  # fmt: skip

    def score(self, X: Any, y: Any = None) -> float:
        """Held-out log-likelihood a token by document completion, in nats.

        A fixed half of each document's tokens gives its proportions; the other half is scored. The
        perplexity is ``exp(-score)``.
        """
        check_is_fitted(self, "_params")
        corpus = self._countable(X)
        with self._threads() as engine:
            total, tokens = completion(
                self.algorithm_, self._inference, self._loadings, corpus, engine,
                self._inference_seed(),
            ).sum(axis=1)  # fmt: skip
        return float(total / tokens)

    def inverse_transform(self, X: Any) -> Array:
        """Expected counts of documents with these scores (I, K), at exposure 1: (I, J).

        For "dm" the scores are proportions: each group's row then sums to 1, the expected share of
        its tokens.
        """
        check_is_fitted(self, "_params")
        scores = check_array(X, ensure_min_samples=0)
        n_components = self._params.n_components
        if scores.shape[1] != n_components:
            raise InputError(
                f"X has {scores.shape[1]} columns; there are {n_components} components"
            )
        return np.asarray(scores @ self.components_)

    # ---- hidden groups ----

    def predict_group(self, X: Any, group: Any) -> Array:
        """Likeliest word of a group in each document, given the document's other groups, (I,).

        A label, a vote, an answer: see ``predict_group_proba``. Names of columns if they have any,
        else their numbers.
        """
        chances = self.predict_group_proba(X, group)
        return np.asarray(self.group_words(group)[chances.argmax(axis=1)])

    def predict_group_proba(self, X: Any, group: Any) -> Array:
        """Probability of each word of a group, for one token of it in each document, (I, J_g).

        The group's own counts are not looked at. Columns are those of ``group_words(group)``.

        Parameters
        ----------
        X : (I, J) counts
            With all columns; those of the group may be empty.
        group : int or str
            Its number, or its name.

        Notes
        -----
        "dm": sum_k theta_yk E[m_k | w], exact given the components. "gp", "cgp": given that exactly
        one token is seen at the document's exposure to the group (at 1 if that is 0).
        """
        corpus = self._countable_when_fitted(X)
        number = find_group(self._layout, group)
        scores = self._posterior(hide_group(corpus, number)).scores
        return predict(scores, self._loadings[columns_of(self._layout, number)])

    def group_words(self, group: Any) -> Array:
        """Names of a group's columns, or their numbers if they have none, (J_g,)."""
        check_is_fitted(self, "_params")
        columns = columns_of(self._layout, find_group(self._layout, group))
        names = self._layout.word_names
        return columns if names is None else np.array([names[j] for j in columns], dtype=object)

    def impute(self, X: Any, totals: Any = None) -> Any:
        """Fill every empty group of every document with its expected counts.

        Empty, that is missing, is a group without counts ("dm") or of exposure 0 ("gp", "cgp", in
        a ``Corpus``). All else stays as it is.

        Parameters
        ----------
        X : (I, J) counts
        totals : float or (G,) array, optional
            "dm": what a filled group adds up to. By default ``group_totals_``, e.g. 1 for votes and
            2 for diploid genotypes. "gp" and "cgp" expect an amount of their own, at exposure 1.

        Returns
        -------
        (I, J) of float
            In the form of X: sparse (CSR) for sparse and Corpus, dense for dense, a data frame for
            a data frame.
        """
        corpus = self._countable_when_fitted(X)
        return like(X, corpus, self._fill(corpus, totals))

    # ---- tables ----

    def components_frame(self, library: str = "pandas") -> Any:
        """The components as a data frame, a row a word and a column a component."""
        check_is_fitted(self, "_params")
        return frame(
            library, self.components_.T, self.get_feature_names_out(),
            "word", self._layout.word_names,
        )  # fmt: skip

    def scores_frame(self, library: str = "pandas") -> Any:
        """The scores of the training documents as a data frame, a row a document."""
        check_is_fitted(self, "scores_")
        return frame(
            library, self.scores_, self.get_feature_names_out(), "document", self.document_names_
        )

    # ---- inside ----

    def _corpus(self, X: Any, reset: bool) -> Corpus:
        """Make a checked corpus of X, and compare it with what was fitted."""
        if isinstance(X, Corpus):
            corpus = Corpus.of(X, groups=self.groups)
            if reset:
                self.__dict__.pop("feature_names_in_", None)
        elif sparse.issparse(X) or hasattr(type(X), "columns"):
            corpus = Corpus(X, groups=self.groups)
            validate_data(self, X, reset=reset, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=reset, ensure_all_finite=False)
            corpus = Corpus(X, groups=self.groups)
        if reset:
            self.n_features_in_ = corpus.n_words
            self._layout = corpus.layout
        elif corpus.n_words != self.n_features_in_:
            raise InputError(
                f"X has {corpus.n_words} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        elif not np.array_equal(corpus.layout.group_of_word, self._layout.group_of_word):
            raise InputError("the groups of X differ from those of the fit")
        return corpus

    def _model(self) -> Model:
        """Build the model of the constructor's arguments."""
        model = MODELS.find(self.model)
        for name in ("alpha", "beta", "rho"):
            value = getattr(self, name)
            if value is None:
                continue
            if name not in model.hyperparameters:
                has = ", ".join(model.hyperparameters)
                raise InputError(f"the {model.name} model has no {name}; it has {has}")
            model = replace(model, **{name: value})  # type: ignore[type-var]
        return model

    def _run(self, corpus: Corpus, engine: Threads, seed: int) -> Run:
        """Begin a run, or take up the last one."""
        last: Run | None = getattr(self, "_last_run", None)
        if self.warm_start and last is not None and self._last_task == self._task(corpus):
            last.engine = engine
            return last
        n_components = whole("n_components", self.n_components, 1)
        learn = (self.learn,) if isinstance(self.learn, str) else self.learn
        if not isinstance(learn, (tuple, list, set, frozenset)):
            raise InputError(f"learn={shown(learn)}; give a tuple of names, e.g. ('alpha',)")
        if self.hyperprior is not None and not isinstance(self.hyperprior, Hyperprior):
            raise InputError(f"hyperprior={shown(self.hyperprior)}; give a discan.Hyperprior")
        model = self._model()
        return Run(
            corpus,
            model.prepare(n_components, corpus),
            choose(self.algorithm, model, frozenset(learn), corpus, n_components),
            LoadingsPrior.of(self.gamma, corpus.layout),
            learn=tuple(learn),
            hyperprior=self.hyperprior,
            init=self.init,
            seed=seed,
            engine=engine,
        )

    def _task(self, corpus: Corpus) -> tuple[str, str]:
        """Name the data and the settings of a fit, to see whether another is the same."""
        settings = self.get_params(deep=False)
        for name in ("max_iter", "tol", "n_jobs", "warm_start", "callback", "progress"):
            settings.pop(name)
        return corpus.digest, repr({name: _exact(value) for name, value in settings.items()})

    def _set_params(self, params: Params, tables: Loadings, layout: Layout) -> None:
        self._params, self._tables = params, tables
        self.__dict__.pop("_loadings", None)  # of an earlier fit
        self._layout = layout
        values = params.model.values()
        self.alpha_ = values.get("alpha")
        self.beta_ = values.get("beta")
        self.rho_ = values.get("rho")
        self.gamma_ = params.prior.gamma

    @cached_property
    def _loadings(self) -> Array:
        """Loadings in double precision, (J, K); many means of a chain are kept in single."""
        mean = self._tables.mean
        single = mean.dtype == np.float32
        return self._params.prior.widen(mean) if single else np.ascontiguousarray(mean)

    @property
    def _inference(self) -> Params:
        """Parameters as inference reads them; a sampler's loadings are those of the result."""
        sampled = self.algorithm_.whole_counts
        return replace(self._params, loadings=self._loadings) if sampled else self._params

    def _infer(self, X: Any) -> Posterior:
        return self._posterior(self._countable_when_fitted(X))

    def _posterior(self, corpus: Corpus) -> Posterior:
        with self._threads() as engine:
            return infer(self.algorithm_, self._inference, corpus, engine, self._inference_seed())

    def _fill(self, corpus: Corpus, totals: Any = None) -> Filled:
        normalised = self._params.model.normalised
        if totals is None:
            totals = self.group_totals_
        elif normalised:
            n_groups = corpus.n_groups
            wanted = "a finite number, at least 0"
            given = vector("totals", totals, n_groups, "groups", wanted, np.inf, open_low=False)
            totals = np.broadcast_to(given, (n_groups,))
        else:
            raise InputError(
                f"the {self._params.model.name} model expects amounts of its own; leave out totals"
            )
        filled = fill(
            corpus, normalised, totals, self._loadings, lambda part: self._posterior(part).scores
        )
        if filled.values.size == 0:
            reason = why_nothing(corpus, normalised)
            if reason:
                logging.getLogger("discan").warning("nothing is filled in: %s", reason)
        return filled

    def _countable_when_fitted(self, X: Any) -> Corpus:
        check_is_fitted(self, "_params")
        return self._countable(X)

    def _countable(self, X: Any) -> Corpus:
        """Make a corpus of new data, of whole counts if tokens are to be drawn."""
        corpus = self._corpus(X, reset=False)
        if self.algorithm_.whole_counts:
            self.algorithm_.check(corpus)
        return corpus

    @contextmanager
    def _run_folder(self) -> Iterator[RunFolder | None]:
        """Hold the run folder for this process, if there is one."""
        if self.checkpoint is None:
            yield None
            return
        path = Path(self.checkpoint)
        every = whole("checkpoint_every", self.checkpoint_every, 1)
        with locked(path):
            yield RunFolder(path, every)

    def _threads(self) -> Threads:
        return Threads(n_threads(self.n_jobs))

    def _inference_seed(self) -> np.uint64:
        return np.uint64(self.settings_["seed"])

    @property
    def _n_features_out(self) -> int:
        return self._params.n_components

    def __getstate__(self) -> Any:
        """Leave a run that could be taken up again out of pickles and copies."""
        state = dict(super().__getstate__())
        state.pop("_last_run", None)
        state.pop("_last_task", None)
        return state

    def __sklearn_tags__(self) -> Any:
        """Counts, sparse or dense, never negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def _preset(model: str, algorithm: str) -> Callable[[type[DCA]], type[DCA]]:
    """Fix the model of DCA and set its default algorithm."""

    def decorate(cls: type[DCA]) -> type[DCA]:
        def __init__(self: DCA, n_components: int = 10, **params: Any) -> None:
            DCA.__init__(self, n_components, model=model, **{"algorithm": algorithm, **params})

        inherited = inspect.signature(DCA.__init__).parameters.values()
        __init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                p.replace(default=algorithm) if p.name == "algorithm" else p
                for p in inherited
                if p.name != "model"
            ]
        )
        __init__.__doc__ = "Store the parameters; see DCA."
        cls.__init__ = __init__  # type: ignore[method-assign]
        return cls

    return decorate


@_preset("gp", "ml")
class NMF(DCA):
    """Non-negative matrix factorisation with the Kullback-Leibler divergence."""


@_preset("dm", "ml")
class PLSI(DCA):
    """Probabilistic latent semantic indexing; ``algorithm=MaximumLikelihood(tau=...)`` tempers."""


@_preset("dm", "auto")
class LDA(DCA):
    """Latent Dirichlet allocation."""


@_preset("dm", "auto")
class MPCA(DCA):
    """Multinomial PCA: the same model as LDA, under the name it has for grouped columns."""


@_preset("gp", "auto")
class GaP(DCA):
    """Gamma-Poisson: independent scores, and document lengths that matter."""


@_preset("cgp", "auto")
class ConditionalGaP(DCA):
    """Conditional Gamma-Poisson: sparse, components may be truly absent from a document."""


def _proportions(scores: Array) -> Array:
    totals = scores.sum(axis=1, keepdims=True)
    even = 1.0 / scores.shape[1]
    return np.where(totals > 0, scores / np.where(totals > 0, totals, 1.0), even)


def _exact(value: Any) -> Any:
    """Arrays in full, for comparison; anything else as it is."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def _seed(random_state: Any) -> int:
    """Turn scikit-learn's ``random_state`` into a seed that can be written down."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    seed = whole("random_state", random_state, 0)
    if seed >= 2**64:
        raise InputError(f"random_state={seed}; it must be less than 2**64")
    return int(seed)
