# SPDX-License-Identifier: BSD-3-Clause
"""The scikit-learn estimator of every model and algorithm."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from discan.algorithms import Algorithm, choose
from discan.algorithms.auto import learnt_by_default
from discan.algorithms.base import Params, Posterior, without_priors
from discan.algorithms.starts import checked_components
from discan.data.annotated import is_annotated
from discan.data.completing import likeliest_answers
from discan.data.corpus import Corpus
from discan.data.frames import completed, holds_text, is_frame
from discan.data.layout import Layout
from discan.data.locks import locked
from discan.data.rules import Rule, faults_of, taken
from discan.engines import Engine
from discan.engines.dask import Dask
from discan.engines.threads import Threads, n_threads
from discan.errors import InputError
from discan.estimators.answers import Answers
from discan.estimators.callbacks import TakesCallbacks, with_callbacks
from discan.estimators.classes import kept_labels, new_classes, read_classes
from discan.estimators.counting import (
    check_counting,
    is_auto,
    remark_on_count,
    remark_on_limit,
    upper_limit,
)
from discan.estimators.effects import LabelEffects
from discan.estimators.exchange import Exchange
from discan.estimators.input import check_layout, read_corpus, read_seed, weighted
from discan.estimators.remarks import remark_on_data, remark_on_fit
from discan.estimators.searching import Searching
from discan.estimators.seeding import fixed_rows, read_known
from discan.estimators.streaming import Streams
from discan.estimators.trees import Trees
from discan.estimators.writing import Writes
from discan.evaluation.chains import chain_seeds, chains_bytes, gathered, run_chains
from discan.fitting.annotation import annotate
from discan.fitting.checkpoint import RunFolder, restored
from discan.fitting.estimates import Estimate
from discan.fitting.hidden_groups import like, usual_totals
from discan.fitting.memory import check_memory, enough_memory
from discan.fitting.modelfile import encode_settings, write_fit
from discan.fitting.posterior import KnownLoadings
from discan.fitting.result import Fit
from discan.fitting.run import Run, Task
from discan.fitting.starting import begin, needed_bytes
from discan.fitting.trimming import trimmed
from discan.models import MODELS, LoadingsPrior, Model, process_of
from discan.models.base import proportions
from discan.models.classes import Classed
from discan.models.hyperparameters import Hyperprior
from discan.models.levels import with_parents
from discan.typing import Array
from discan.validation import number, whole

__all__ = ["DCA"]


class FromFit:
    """An attribute of an estimator that is read from its ``fit_``."""

    def __init__(self, read: Callable[[Fit], Any]) -> None:
        self.read = read

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember the attribute's name."""
        self.name = name

    def __get__(self, estimator: Any, owner: type) -> Any:
        """Read the attribute; before a fit there is none."""
        if estimator is None:
            return self
        if "fit_" not in estimator.__dict__:
            raise AttributeError(f"this {owner.__name__} is not fitted, so it has no {self.name}")
        try:
            return self.read(estimator.fit_)
        except InputError as error:
            raise AttributeError(str(error)) from None


class DCA(
    Answers, Searching, Exchange, Trees, LabelEffects, Streams, Writes, TakesCallbacks,
    TransformerMixin, BaseEstimator,
):  # fmt: skip
    """Discrete component analysis of a table of counts, documents by words.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Number of components, K. "auto" learns it: the model gets a prior under which most of many
        components are empty ("dmp", "gpp" or "cgpp"; see ``n_used_``), and a sampler is needed.
    model : {"dm", "gp", "cgp"}, full name or Model, default="dm"
        "dirichlet-multinomial" (LDA, MPCA, PLSI), "gamma-poisson" (GaP, NMF) or
        "conditional-gamma-poisson" (GaP whose components may be truly absent).
    algorithm : {"auto", "ml", "map", "cvb0", "variational", "gibbs", "collapsed"} or Algorithm
        "auto" is the quickest way to the best known model: a collapsed chain that starts from a
        short MAP fit and ends when it has settled. MAP itself is as good if there are at least 30
        tokens per loading (30 J K) and per score (30 I K). Counts that are not whole numbers cannot
        be drawn; they get MAP, "cvb0" if tokens are few, or variational.
        ``settings_["algorithm"]`` records the choice. Give an object to set options, e.g.
        ``Collapsed(burn_in=200, n_draws=100)``.
    alpha, beta, rho : float or (K,) array, optional
        Shape, rate and chance of absence of the scores. By default alpha is the smaller of 0.5 and
        5/K, beta makes the prior's mean document as long as the data's, rho is 0.5. In the
        literature on LDA alpha is the document-topic prior.
    gamma : float or (J,) array, optional
        Dirichlet prior of the loadings; in the literature on LDA, eta or beta. By default 0.5, or
        in a group of more than 10,000 words 5,000 divided by their number. If it is learnt, it
        starts lower where this would weigh more than half of the tokens of a component.
    n_parents : int, optional
        Number of parents of the components, R: a second level. The shapes of a document's scores
        are then a mix of parents, which have scores themselves. For "dm" and "gp", whose forms with
        parents are "dm2" and "gp2"; the algorithm is "gibbs". Alpha, if given, is one number.
    learn : "auto" or tuple of {"alpha", "beta", "rho", "gamma"}, default="auto"
        Hyperparameters to learn from the data. "auto" is all of those that are not given, if the
        algorithm can learn them: the samplers and "variational" can, "cvb0" learns gamma only, "ml"
        and "map" none; with several groups of columns only the samplers learn. Alpha is learnt per
        component. Gamma is learnt per group of columns; groups of fewer than 50 columns share one
        value. ``()`` learns nothing.
    hyperprior : Hyperprior, optional
        Their priors when a sampler learns them.
    groups : (J,) array, optional
        Group of each column; components are distributions inside each group.
    class_of_document : str or (I,) sequence, optional
        Class of each document (party, population, author, year): a column of the metadata, or a
        label per document. Each class has a prior of the scores of its own, which is learnt; see
        the page on classes. Documents without a class have another one.
    seed_words : dict, optional
        Words of some components, by name: ``{"law": ["court", "judge"]}``. They are tokens that the
        component was seen to have beforehand, so they stay in force; see the page on seeds. A
        dict gives the tokens of each word, ``{"law": {"court": 50}}``, an array (J,) those of all.
    seed_strength : int, optional
        Tokens of each seed. By default as many as the word has in the data; but all seeds of a
        component together have at most half of the mean number of tokens of a component.
    fixed_components : fitted model, path, dict or (F, J) array, optional
        Components that stay as they are, within 1 %: background, or those of an earlier model.
    init : {"auto", "random", "documents", "words", "corners", "map"} or (K, J) array
        Where to start: at random; from the words of a few documents per component and one pass
        over all documents; from one anchor word per component, found in one pass; from the
        documents that are farthest apart, by principal components; from documents with ten cycles
        of MAP; or from given components. "auto" is "documents" for "ml", "map" and "cvb0", or
        "corners" where "ml" and "map" make quasi-Newton steps (genotypes, votes); "map" for the
        variational algorithm, which otherwise ends in poor optima; "words" for all these when
        online; and "random" for the samplers unless ``Collapsed(start=...)`` chooses another.
    max_iter : int, optional
        Cycles at most: 200, or for samplers their own ``burn_in + n_draws * thin``.
    tol : float, default=1e-5
        Stop when the objective changes by at most this many nats per token (samplers run on).
    n_jobs : int, optional
        Number of threads; it does not change the answer's bits. None is 1, -1 all cores.
    random_state : int, RandomState or Generator, optional
        Seed. The seed that was used is in ``settings_["seed"]``.
    n_chains : int, default=1
        Chains to run; for algorithms that do not sample, starts. They run on the threads of
        ``n_jobs`` at once and have seeds of their own; the first is the fit with one chain. The
        chain that best predicts one half of each document from the other half is the result; of
        starts, that of the highest objective. ``chains_.report`` says in words whether they agree,
        ``diagnostics()`` whether they have mixed, and ``quality()`` how stable each component is.
    warm_start : bool, default=False
        Continue the last fit where it stopped, if data and settings are the same except
        ``max_iter``, ``tol``, ``n_jobs``, ``callback`` and ``progress``. A run that was stopped
        then ends with the bits of an unbroken one.
    callback : callable, optional
        Called after each cycle with the run (``run.cycle``, ``run.trace``, ``run.params``); a true
        answer stops the fit. Arrays may change with the next cycle: copy those that you keep.
    progress : bool, optional
        Progress bar on stderr; by default only in a terminal.
    max_components : int, optional
        With ``n_components="auto"``, the most components that are tried. By default one per 4
        documents and per 200 tokens, at least 10 and at most 200. It should be well above the
        number that is used.
    checkpoint : path, optional
        Folder to write the run to every ``checkpoint_every`` cycles. After any end, even kill -9,
        ``discan.resume(folder)`` continues from there and ends with the same bits.
    checkpoint_every : int, default=10
        Cycles between two writings of the run.
    engine : Dask, optional
        Where to fit: on the workers of a Dask cluster, ``discan.Dask(client)``, with the bits of
        threads. The data must be a corpus folder. All else is done on ``n_jobs`` threads here.

    Attributes
    ----------
    fit_ : Fit
        The result as a value; the attributes below are read from it.
    components_ : (K, J) array
        Each row sums to 1 inside each group: point estimate or posterior mean. The largest
        component is the first; but the order is yours if you gave the components (``init``) or a
        vector ``alpha``, ``beta`` or ``rho``.
    component_names_ : (K,) tuple of str
        Names by ``name_components``, or else a noun and a number from 1: "topic 1".
    sizes_ : (K,) array
        Fraction of all tokens that each component explains.
    n_used_, n_used_interval_ : int, (int, int)
        Posterior median and 90 % interval of the number of components that hold at least one
        token; for samplers. With ``n_components="auto"``, components that hold tokens in less than
        half of the draws are in no table, and ``components_`` has as many rows as are left.
    n_large_, n_large_interval_ : int, (int, int)
        The same of components that hold at least 0.1 % of all tokens.
    concentration_ : float or None
        Posterior mean of the concentration of a process; None for other models.
    component_counts_ : (I, K) array
        Posterior mean of the tokens of each training document given to each component.
    scores_, proportions_ : (I, K) arrays
        Posterior mean of the scores of the training documents, and the same with rows that sum to
        1. For "dm" they are equal. ``transform`` of the training documents differs from ``scores_``
        because the last cycle may not have converged; for samplers because it holds the components
        at their mean; and for the variational conditional model because a document can converge to
        another optimum. ``fit_transform`` is ``fit`` then ``transform``.
    absent_ : (I, K) array or None
        P(l = 0) of the training documents; None for models without absence.
    parents_ : (R, K) array
        With ``n_parents``: loadings of the parents over the components; rows sum to 1. The largest
        parent is the first.
    parent_scores_, parent_proportions_ : (I, R) arrays
        Posterior mean of the parents' scores of the training documents, and the same with rows that
        sum to 1. ``parent_sizes_`` (R,) is the mean of the proportions over documents.
    components_sd_, component_counts_sd_, scores_sd_ : arrays
        Posterior standard deviations: of the samplers all three, of "variational" the first and
        the last. The other algorithms estimate points; there the attribute is an error that says
        so. For new documents see ``transform_sd``.
    alpha_, beta_, rho_, gamma_ : arrays or None
        Hyperparameters as given, learnt, or averaged over draws; with classes of documents, alpha,
        beta and rho have a row per class, (C, K).
    class_names_ : (C,) tuple of str
        Names of the classes of documents; () if there are none.
    group_totals_ : (G,) array
        Mean count of each group in the documents that have it.
    n_iter_, converged_, stop_reason_ : int, bool, str
        Number of cycles; whether the fit has converged (a chain: whether its objective has stopped
        rising); why it stopped. ``fit_.verdict()`` says it in words, with advice.
    trace_ : Trace
        ``trace_["objective"]``, ``["seconds"]``, ``["tokens_per_second"]``, one value per cycle.
    settings_ : dict
        What was decided before the fit: seed, schedule, names.
    draws_ : Draws or None
        Posterior draws, if the sampler was told to keep them (``keep_draws``).
    chains_ : Chains or None
        What several chains have in common: ``report``, ``agree``, ``chosen``, ``stability``, ...

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
        n_components: int | str = 10,
        *,
        model: str | Model = "dm",
        algorithm: str | Algorithm = "auto",
        alpha: Any = None,
        beta: Any = None,
        rho: Any = None,
        gamma: Any = None,
        n_parents: int | None = None,
        learn: tuple[str, ...] | str = "auto",
        hyperprior: Hyperprior | None = None,
        groups: Any = None,
        class_of_document: Any = None,
        seed_words: Any = None,
        seed_strength: int | None = None,
        fixed_components: Any = None,
        init: Any = "auto",
        max_iter: int | None = None,
        tol: float = 1e-5,
        n_jobs: int | None = None,
        random_state: Any = None,
        n_chains: int = 1,
        warm_start: bool = False,
        callback: Callable[[Run], Any] | None = None,
        progress: bool | None = None,
        checkpoint: Any = None,
        checkpoint_every: int = 10,
        max_components: int | None = None,
        engine: Any = None,
    ) -> None:
        self.n_components = n_components
        self.model = model
        self.algorithm = algorithm
        self.alpha = alpha
        self.beta = beta
        self.rho = rho
        self.gamma = gamma
        self.n_parents = n_parents
        self.learn = learn
        self.hyperprior = hyperprior
        self.groups = groups
        self.class_of_document = class_of_document
        self.seed_words = seed_words
        self.seed_strength = seed_strength
        self.fixed_components = fixed_components
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.n_chains = n_chains
        self.warm_start = warm_start
        self.callback = callback
        self.progress = progress
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.max_components = max_components
        self.engine = engine

    # ---- attributes of the fit ----

    components_ = FromFit(lambda fit: fit.components)
    components_sd_ = FromFit(lambda fit: fit.known_sd("components"))
    component_counts_ = FromFit(lambda fit: fit.component_counts)
    component_counts_sd_ = FromFit(lambda fit: fit.known_sd("component_counts"))
    scores_ = FromFit(lambda fit: fit.scores)
    scores_sd_ = FromFit(lambda fit: fit.known_sd("scores"))
    proportions_ = FromFit(lambda fit: fit.proportions)
    absent_ = FromFit(lambda fit: fit.absent)
    parents_ = FromFit(lambda fit: fit.parents)
    parent_sizes_ = FromFit(lambda fit: fit.parent_sizes)
    parent_scores_ = FromFit(lambda fit: fit.known_parent_scores)
    parent_proportions_ = FromFit(lambda fit: proportions(fit.known_parent_scores))
    sizes_ = FromFit(lambda fit: fit.sizes)
    component_names_ = FromFit(lambda fit: fit.component_names)
    n_used_ = FromFit(lambda fit: fit.n_used)
    n_used_interval_ = FromFit(lambda fit: fit.n_used_interval)
    n_large_ = FromFit(lambda fit: fit.n_large)
    n_large_interval_ = FromFit(lambda fit: fit.n_large_interval)
    concentration_ = FromFit(lambda fit: fit.concentration)
    class_names_ = FromFit(lambda fit: fit.class_names)
    alpha_ = FromFit(lambda fit: fit.hyperparameter("alpha"))
    beta_ = FromFit(lambda fit: fit.hyperparameter("beta"))
    rho_ = FromFit(lambda fit: fit.hyperparameter("rho"))
    gamma_ = FromFit(lambda fit: fit.hyperparameter("gamma"))
    algorithm_ = FromFit(lambda fit: fit.algorithm)
    document_names_ = FromFit(lambda fit: fit.document_names)
    group_totals_ = FromFit(lambda fit: fit.group_totals)
    n_iter_ = FromFit(lambda fit: fit.n_cycles)
    trace_ = FromFit(lambda fit: fit.trace)
    converged_ = FromFit(lambda fit: fit.converged)
    stop_reason_ = FromFit(lambda fit: fit.reason)
    settings_ = FromFit(lambda fit: fit.settings)
    draws_ = FromFit(lambda fit: fit.draws)
    chains_ = FromFit(lambda fit: fit.chains)

    # ---- fitting ----

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to a table of counts.

        Parameters
        ----------
        X : (I, J) array, sparse matrix, data frame, Corpus, AnnData, MuData or path
            A data frame with columns that are no numbers is a table of answers: one column per
            question, missing values allowed (pandas, polars, Arrow, DuckDB). Modalities of a MuData
            are groups. A path names a corpus folder, whose documents are read block by block, or
            a corpus file; ``discan convert`` writes both.
        y : ignored
        sample_weight : (I,) array, optional
            Weights of the documents: the counts of a document are multiplied by its weight, as if
            each of its tokens had been seen so many times. (Of models of amounts, "gp" and "cgp",
            the exposures are multiplied too, so that the amounts stay.) This is one longer document
            and not several equal ones: only for maximum likelihood are the two the same. A weight
            of 0 leaves a document out of the fit, but not out of ``scores_``, where it gets the
            prior mean. The samplers need weights that make whole counts.
        """
        plain = read_corpus(self, X, self.groups, reset=True)
        if plain.on_disk and self._n_chains() > 1:
            raise InputError(
                "several chains choose by their documents, which must be in memory",
                use={"n_chains": 1},
            )
        limit = upper_limit(plain, self.n_components, self.max_components)
        if is_auto(self.n_components):
            remark_on_limit(limit, self.max_components)
        remark_on_data(plain, limit)
        corpus = weighted(plain, sample_weight, MODELS.find(self.model).normalised)
        corpus = self._classed(corpus)
        # a document's usual number of tokens is that without weights
        totals = {} if corpus is plain else {"group_totals": usual_totals(plain)}
        self._limits()
        with self._engine() as engine, self._run_folder() as folder:
            seed = read_seed(self.random_state)
            if folder is not None:
                header, arrays = self._header(seed, corpus.layout)
                folder.begin(header, arrays | totals, corpus)
            if self._n_chains() > 1:
                return self._fit_chains(corpus, seed, folder, totals)
            run = self._last_run_of(corpus)
            if run is None:
                place = None if folder is None else folder.place
                run = begin(self._task(corpus, seed), self._init, engine, place)
            return self._finish(run, corpus, engine, folder, totals)

    def estimate(self, X: Any) -> Estimate:
        """Estimate the memory, disk and time of a fit to X, which is not begun.

        Parameters
        ----------
        X : as for ``fit``
        """
        corpus = read_corpus(self, X, self.groups, reset=False)
        task = self._task(corpus, read_seed(self.random_state))
        task.check()
        schedule = task.plan().limited(self._limits()[0])
        n_workers = n_threads(self.n_jobs)
        needed = needed_bytes(task, schedule, self._init, n_workers)
        return Estimate.of(task, schedule, self._init, needed, n_workers)

    def resume(self) -> Self:
        """Finish the run of the folder ``checkpoint``, which was begun with these settings."""
        with self._engine() as engine, self._run_folder() as folder:
            if folder is None:
                raise InputError("there is no run to resume: checkpoint names no folder")
            corpus = self._classed(read_corpus(self, folder.corpus(), self.groups, reset=True))
            seed, kept = read_seed(self.random_state), folder.settings()[1]
            rule = Rule(("G",), "f8", low=0, optional=True)
            with faults_of(folder.path / "settings.discan"):
                totals = taken({"group_totals": rule}, kept, {"G": corpus.n_groups})
            if self._n_chains() > 1:
                return self._fit_chains(corpus, seed, folder, totals)
            task = self._task(corpus, seed)
            if folder.has_state:
                run = restored(folder, task, engine)
            else:
                run = begin(task, self._init, engine, folder.place)
            return self._finish(run, corpus, engine, folder, totals)

    def _finish(
        self, run: Run, corpus: Corpus, engine: Engine, folder: RunFolder | None,
        changes: dict[str, Any],
    ) -> Self:  # fmt: skip
        """Advance a run to its end and take its result, with changes of some properties."""
        run.engine = engine
        with enough_memory("this fit", run.task.needed_bytes(run.schedule, engine.n_workers)):
            max_iter, tol = self._limits()
            n_cycles = max_iter or run.schedule.cycles
            with self._cycle_tasks(run, corpus, n_cycles) as after:
                run.advance(max_iter, tol, after, self.progress, folder)
            result = run.result(by_size=not self._keeps_order())
        self._take(replace(result, **changes))
        run.engine = Threads(1)
        keep = (self.warm_start or run.reason == "interrupted") and not run.on_disk
        self._last = (run, self._key(corpus)) if keep else None
        return self

    def _fit_chains(
        self, corpus: Corpus, seed: int, folder: RunFolder | None, changes: dict[str, Any]
    ) -> Self:
        """Run several chains, or continue them, and take the best one as the result."""
        if self._has_callbacks:
            raise InputError("scikit-learn's callbacks follow one chain", use={"n_chains": 1})
        seeds = chain_seeds(seed, self._n_chains())
        folders = [None if folder is None else folder.of_chain(n) for n in range(len(seeds))]
        tasks = [self._task(corpus, each) for each in seeds]
        threads = n_threads(self.n_jobs)
        needed = chains_bytes(tasks[0], self._init, len(seeds), threads)
        remedy = "use fewer chains, or fewer at once (n_jobs), or fewer components"
        check_memory(needed, "this fit of several chains", remedy)
        calls = threading.Lock()

        def start(n: int, engine: Engine) -> Run:
            own = folders[n]
            if own is not None and own.has_state:
                return restored(own, tasks[n], engine)
            return begin(tasks[n], self._init, engine)

        def advance(n: int, run: Run, asked: Callable[[Run], Any], progress: bool | None) -> None:
            def after(run: Run) -> bool:
                with calls:  # one at a time, as with one chain
                    stop = self.callback is not None and self.callback(run)
                return bool(stop) or asked(run)

            run.advance(*self._limits(), after, progress, folders[n])

        with enough_memory("this fit of several chains", needed):
            fits = run_chains(start, len(seeds), threads, advance, self.progress)
            fits = [replace(fit, **changes) for fit in fits]
            with self._threads() as engine:
                self._take(gathered(fits, corpus, self._keeps_order(), engine))
        self._last = None
        return self

    def _take(self, fit: Fit) -> None:
        """Keep the result, and say what is remarkable about it."""
        self._stream = None
        if is_auto(self.n_components):
            self.fit_ = trimmed(fit)
            remark_on_count(self.fit_)
            return
        self.fit_ = fit
        remark_on_fit(fit)

    @property
    def _init(self) -> Any:
        """Where to start: components to be counted begin as too many, and are merged."""
        auto = is_auto(self.n_components) and isinstance(self.init, str) and self.init == "auto"
        return "merged" if auto else self.init

    def _classed(self, corpus: Corpus) -> Corpus:
        """Give the documents their classes, if there are any."""
        self._class_names: tuple[str, ...] = ()
        if self.class_of_document is None:
            return corpus
        corpus, self._class_names = read_classes(corpus, self.class_of_document)
        return corpus

    def _n_chains(self) -> int:
        """Check and return the number of chains."""
        n = whole("n_chains", self.n_chains, 1)
        if n > 1 and self.warm_start:
            raise InputError(
                "warm_start continues one chain",
                remedy="leave it out; checkpoint=... can continue several",
            )
        return n

    def _keeps_order(self) -> bool:
        """Whether the user says which component is which, so that their order stays."""
        given = (self.alpha, self.beta, self.rho)
        return not isinstance(self.init, str) or any(np.ndim(value) > 0 for value in given)

    def save(self, path: Any) -> None:
        """Write the fitted estimator to a file, all or nothing; ``discan.load`` reads it."""
        check_is_fitted(self)
        with enough_memory("the tables of the model file"):
            write_fit(path, self.fit_, *self.file_header())

    @classmethod
    def from_components(cls, components: Any, *, groups: Any = None, **params: Any) -> Self:
        """Make a fitted estimator from known components.

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
        prior = LoadingsPrior.of(estimator.gamma, blank.layout)
        loadings = checked_components(matrix, prior)
        model = estimator._model()
        algorithm = choose(estimator.algorithm, model)
        model = model.prepare(matrix.shape[0], None if algorithm.uses_prior else blank)
        refusal = algorithm.refusal(model, frozenset())
        if refusal:
            raise refusal
        if not algorithm.uses_prior:
            model, prior = without_priors(model, prior)
        estimator.n_features_in_ = blank.n_words
        estimator.fit_ = Fit(
            algorithm=algorithm,
            params=Params.of(model, prior, blank.exposure_levels, loadings=loadings),
            layout=blank.layout,
            loadings=KnownLoadings(loadings),
            settings={"seed": read_seed(estimator.random_state)},
            group_totals=np.ones(blank.n_groups),
        )
        return estimator

    # ---- new documents ----

    def transform(self, X: Any, fold_in: str | None = None, class_of_document: Any = None) -> Array:
        """Posterior mean of each document's scores given the components, (I, K).

        "dm": proportions, rows sum to 1. "gp", "cgp": scores. Each document is computed on its own,
        so its answer is the same alone and in any batch; an empty document gets the prior mean.

        Parameters
        ----------
        X : (I, J) counts
        fold_in : {"fast", "gibbs"}, optional
            Only for the fits of samplers: another fold-in than the algorithm's own, which is "fast"
            unless it was chosen, e.g. ``Collapsed(fold_in="gibbs")``. "gibbs" is exact in the limit
            of many draws, and about a hundred times slower.
        class_of_document : str or (I,) sequence, optional
            Only for fits with classes: those of the new documents. By default they come from the
            column of the metadata that gave the classes of the fit. Documents without a class, or
            of a class that the fit did not have, get the prior of unknown classes.
        """
        return self._infer(X, fold_in, class_of_document).scores

    def transform_parents(self, X: Any, fold_in: str | None = None) -> Array:
        """Posterior mean of the parents' scores of each document given the components, (I, R).

        For fits with ``n_parents``. ``fold_in`` as for ``transform``.
        """
        corpus = self._corpus(X)
        with self._threads() as engine:
            return self.fit_.folding_in(fold_in).infer_parents(corpus, engine)

    def component_counts(self, X: Any, fold_in: str | None = None) -> Array:
        """Posterior mean of the tokens that each document gives to each component, (I, K).

        ``fold_in`` as for ``transform``.
        """
        return self._infer(X, fold_in).component_counts

    def prob_absent(self, X: Any, fold_in: str | None = None) -> Array:
        """P(l = 0 | w) of each document and component, (I, K); for the conditional model.

        ``fold_in`` as for ``transform``: the fast answer is an approximation.
        """
        check_is_fitted(self)
        if self.rho_ is None:
            raise InputError(
                "only the conditional model can tell that a component is absent; fit with "
                "model='cgp'"
            )
        return self._infer(X, fold_in).absent

    def score(self, X: Any, y: Any = None, given: Any = None) -> float:
        """Held-out log-likelihood per token, in nats.

        The perplexity is ``exp(-score)``.

        Parameters
        ----------
        X : (I, J) counts
            Without ``given``, new documents: a fixed half of each document's tokens gives its
            proportions, and the other half is scored.
        y : ignored
        given : (I, J) counts, optional
            Another part of the same documents, in the same order: it gives the proportions, and all
            tokens of X are scored. ``train, test = discan.split_entries(X)``, a fit to ``train``,
            and ``score(test, given=train)`` tell how well single votes, answers or alleles are
            predicted. (``score(test)`` would predict a half of them from the other half alone.)
        """
        return self.score_with_error(X, given)[0]

    def inverse_transform(self, X: Any) -> Array:
        """Expected counts of documents with these scores (I, K), at exposure 1: (I, J).

        For "dm" the scores are proportions: each group's row then sums to 1, the expected fraction
        of its tokens.
        """
        check_is_fitted(self)
        scores = check_array(X, ensure_min_samples=0)
        n_components = self.fit_.n_components
        if scores.shape[1] != n_components:
            raise InputError(
                f"X has {scores.shape[1]} columns; there are {n_components} components"
            )
        return np.asarray(scores @ self.components_)

    # ---- hidden groups ----

    def predict_group(self, X: Any, group: Any) -> Array:
        """Most probable word of a group in each document, given its other groups, (I,).

        A label, a vote, an answer: see ``predict_group_proba``. The result has names of columns if
        there are any, else their numbers.
        """
        chances = self.predict_group_proba(X, group)
        return np.asarray(self.group_words(group)[chances.argmax(axis=1)])

    def predict_group_proba(self, X: Any, group: Any) -> Array:
        """Probability of each word of a group, for one token of it in each document, (I, J_g).

        The group's own counts are ignored. Columns are those of ``group_words(group)``.

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
        corpus = self._corpus(X)
        with self._threads() as engine:
            return self.fit_.predict_group(corpus, group, engine)

    def group_words(self, group: Any) -> Array:
        """Names of a group's columns, or their numbers if they have none, (J_g,)."""
        check_is_fitted(self)
        return self.fit_.group_words(group)

    def impute(self, X: Any, totals: Any = None) -> Any:
        """Fill every empty group of every document with its expected counts.

        A group is empty, that is missing, if it has no counts ("dm") or exposure 0 ("gp", "cgp", in
        a ``Corpus``). All other counts stay.

        Parameters
        ----------
        X : (I, J) counts
        totals : float or (G,) array, optional
            "dm": sum of a filled group. By default ``group_totals_``, e.g. 1 for votes and 2 for
            diploid genotypes. "gp" and "cgp" expect an amount of their own, at exposure 1.

        Returns
        -------
        (I, J) of float
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

    # ---- single cells ----

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
        """
        check_is_fitted(self)
        annotate(self.fit_, data, self._infer(data).scores, key, list(self.fit_.component_names))
        return data

    # ---- inside ----

    def _corpus(self, X: Any) -> Corpus:
        """Make a checked corpus of new documents."""
        check_is_fitted(self)
        corpus = read_corpus(self, X, self.groups, reset=False, fit=self.fit_)
        return check_layout(self, corpus, self.fit_.layout)

    def _infer(self, X: Any, fold_in: str | None = None, classes: Any = None) -> Posterior:
        corpus = self._corpus(X)
        if classes is not None:
            if not self.class_names_:
                raise InputError("the model has no classes of documents; leave them out")
            corpus = corpus.with_classes(new_classes(corpus, classes, self.class_names_))
        with self._threads() as engine:
            return self.fit_.folding_in(fold_in).infer(corpus, engine)

    def _model(self) -> Model:
        """Build the model of the constructor's arguments."""
        model = MODELS.find(self.model)
        for name in ("alpha", "beta", "rho"):
            value = getattr(self, name)
            if value is None:
                continue
            if name not in model.hyperparameters:
                has = ", ".join(model.hyperparameters)
                raise InputError(
                    f"{{}}: the {model.name} model has no {name}; it has {has}",
                    argument=name, value=value,
                )  # fmt: skip
            model = replace(model, **{name: value})  # type: ignore[type-var]
        return model if self.n_parents is None else with_parents(model, self.n_parents)

    def _task(self, corpus: Corpus, seed: int) -> Task:
        """Check the arguments and say what is to be fitted."""
        n_components = upper_limit(corpus, self.n_components, self.max_components)
        if self.hyperprior is not None and not isinstance(self.hyperprior, Hyperprior):
            raise InputError(
                "{}; give a discan.Hyperprior", argument="hyperprior", value=self.hyperprior
            )
        model, learn = self._model(), self._learn()
        classes = getattr(self, "_class_names", ())
        wanted = frozenset({"alpha"}) if classes and learn is None else learn or frozenset()
        if classes and (is_auto(self.n_components) or self.n_parents is not None):
            raise InputError(
                "classes of documents have priors of their own, so the number of components must "
                "be given, and there are no parents"
            )
        if is_auto(self.n_components):
            model = process_of(model)
            learn = None if learn is None else learn | model.drawn_alone
            wanted = learn or frozenset()
        algorithm = choose(self.algorithm, model, wanted, corpus, n_components)
        if is_auto(self.n_components):
            check_counting(algorithm, {"alpha": self.alpha}, self.init)
        if learn is None:
            names = ("alpha", "beta", "rho", "gamma")
            given = frozenset(name for name in names if getattr(self, name) is not None)
            learn = learnt_by_default(algorithm, model, given, corpus)
            if classes and not algorithm.refusal(model, wanted, corpus):
                learn |= wanted
        prior = LoadingsPrior.of(self.gamma, corpus.layout)
        if self.gamma is None and "gamma" in learn:
            prior = prior.lighter(corpus.word_totals, n_components)
        known = read_known(
            corpus, n_components, self.seed_words, self.seed_strength, self.fixed_components
        )
        if classes and "alpha" not in learn:
            raise InputError(
                "classes of documents have priors of their own only if alpha is learnt",
                use={"algorithm": ("collapsed", "gibbs", "variational")},
            )
        prepared = model.prepare(n_components, corpus)
        column = self.class_of_document if isinstance(self.class_of_document, str) else None
        about = {} if column is None else {"class_column": column}
        return Task(
            corpus,
            Classed.of(prepared, classes) if classes else prepared,
            algorithm,
            replace(prior, seeds=known.seeds),
            learn=learn,
            hyperprior=self.hyperprior,
            seed=seed,
            names=known.names,
            about=about,
        )

    def _learn(self) -> frozenset[str] | None:
        """Check and return the hyperparameters to learn; None leaves the choice to us."""
        learn = (self.learn,) if isinstance(self.learn, str) else self.learn
        if not isinstance(learn, (tuple, list, set, frozenset)):
            raise InputError(
                "{}; give 'auto' or a tuple of names, e.g. ('alpha',)",
                argument="learn", value=learn,
            )  # fmt: skip
        return None if self.learn == "auto" else frozenset(learn)

    def _limits(self) -> tuple[int | None, float]:
        """Check and return the largest number of cycles and the tolerance."""
        max_iter = None if self.max_iter is None else whole("max_iter", self.max_iter, 1)
        return max_iter, number("tol", self.tol, "a number, at least 0", 0.0, np.inf)

    def _last_run_of(self, corpus: Corpus) -> Run | None:
        """Return the last run, if a warm start asks for it and nothing has changed."""
        last = getattr(self, "_last", None)
        if self.warm_start and last is not None and last[1] == self._key(corpus):
            run: Run = last[0]
            return run
        return None

    def _key(self, corpus: Corpus) -> tuple[str, str]:
        """Name the data and the settings of a fit, to see whether another is the same."""
        free = ("max_iter", "tol", "n_jobs", "warm_start", "callback", "progress", "engine")
        return corpus.digest, self._settings(free)

    def _settings(self, free: tuple[str, ...]) -> str:
        """Name the settings that are not free to change."""
        settings = self.get_params(deep=False).items()
        return repr({name: _exact(value) for name, value in settings if name not in free})

    def _header(self, seed: Any, layout: Layout) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the class and settings as a header, and the arrays among the settings."""
        arrays: dict[str, Array] = {}
        settings = {**self.get_params(deep=False), "random_state": seed}
        settings["fixed_components"] = fixed_rows(self.fixed_components, layout)
        settings["class_of_document"] = kept_labels(self.class_of_document)
        return {
            "class": type(self).__name__,
            "settings": encode_settings("settings", settings, arrays),
            "feature_names": [str(name) for name in getattr(self, "feature_names_in_", [])],
        }, arrays

    def file_header(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return what this estimator adds to a model file: its class and settings."""
        header, arrays = self._header(self.settings_.get("seed"), self.fit_.layout)
        return {**header, **self.stream_header(arrays)}, arrays

    @contextmanager
    def _run_folder(self) -> Iterator[RunFolder | None]:
        """Lock the run folder for this process, if there is one."""
        if self.checkpoint is None:
            yield None
            return
        path = Path(self.checkpoint)
        every = whole("checkpoint_every", self.checkpoint_every, 1)
        with locked(path):
            yield RunFolder(path, every)

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        """Return where a fit runs: the engine that was given, or threads made for it."""
        if self.engine is None:
            with self._threads() as threads:
                yield threads
            return
        if not isinstance(self.engine, Dask):
            raise InputError("{}; give discan.Dask(client)", argument="engine", value=self.engine)
        with enough_memory("this"):
            yield self.engine

    @contextmanager
    def _threads(self) -> Iterator[Threads]:
        """Make threads for some work, and say it clearly if there is too little memory for it."""
        with enough_memory("this"), Threads(n_threads(self.n_jobs)) as engine:
            yield engine

    def __getstate__(self) -> Any:
        """Leave a run that could be continued out of pickles and copies."""
        state = dict(super().__getstate__())
        state.pop("_last", None)
        return state

    def __sklearn_tags__(self) -> Any:
        """Counts, sparse or dense, never negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def _exact(value: Any) -> Any:
    """Arrays in full, for comparison; other values unchanged."""
    if isinstance(value, dict):
        return {name: _exact(item) for name, item in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value
