# SPDX-License-Identifier: BSD-3-Clause
"""The scikit-learn estimator of every model and algorithm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from discan.algorithms import Algorithm, choose
from discan.algorithms.base import Params, without_priors
from discan.algorithms.starts import checked_components
from discan.data.corpus import Corpus
from discan.errors import InputError
from discan.estimators.answers import Answers
from discan.estimators.effects import LabelEffects
from discan.estimators.exchange import Exchange
from discan.estimators.fitting import Fits
from discan.estimators.hidden_groups import HiddenGroups
from discan.estimators.input import read_seed
from discan.estimators.new_documents import NewDocuments
from discan.estimators.saving import Saves
from discan.estimators.searching import Searching
from discan.estimators.tasks import model_of
from discan.estimators.trees import Trees
from discan.estimators.writing import Writes
from discan.fitting.posterior import KnownLoadings
from discan.fitting.result import Fit
from discan.fitting.run import Run
from discan.models import LoadingsPrior, Model
from discan.models.hyperparameters import Hyperprior

__all__ = ["DCA"]


class DCA(
    Fits, Saves, NewDocuments, HiddenGroups, Answers, Searching, Exchange, Trees, LabelEffects,
    Writes, BaseEstimator,
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
    init : {"auto", "random", "documents", "words", "corners", "map", "joined"} or (K, J) array
        Where to start: at random; from the words of a few documents per component and one pass
        over all documents; from one anchor word per component, found in one pass; from the
        documents that are farthest apart, by principal components; from documents with ten cycles
        of MAP; from 30 sweeps of a chain with 1.4 times as many components, of which those that are
        most alike are joined; or from given components. "auto" is "documents" for "ml", "map" and
        "cvb0", or "corners" where "ml" and "map" make quasi-Newton steps (genotypes, votes); "map"
        for the variational algorithm, which otherwise ends in poor optima; "words" for all these
        when online; and "random" for the samplers unless ``Collapsed(start=...)`` chooses another.
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
    checkpoint : path, optional
        Folder to write the run to every ``checkpoint_every`` cycles. After any end, even kill -9,
        ``discan.resume(folder)`` continues from there and ends with the same bits.
    checkpoint_every : int, default=10
        Cycles between two writings of the run.
    max_components : int, optional
        With ``n_components="auto"``, the most components that are tried. By default one per 4
        documents and per 200 tokens, beyond 200 one per 1,000 tokens, at least 10 and at most
        1,000. It should be well above the number that is used.
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
        sum to 1. ``parent_sizes_`` (R,) is the posterior mean of the proportions, over documents.
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
    n_features_in_, feature_names_in_ : int, (J,) array of str
        Number of columns of X, and their names if X was a data frame.
    document_names_ : (I,) tuple of str or None
        Names of the training documents, if they have any.
    algorithm_ : Algorithm
        The algorithm that was used, with all its options.
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

    @classmethod
    def from_components(cls, components: Any, *, groups: Any = None, **params: Any) -> Self:
        """Make a fitted estimator from known components.

        Parameters
        ----------
        components : (K, J) array-like
            Non-negative; rows are normalised inside each group.
        groups : (J,) array, optional
            Group of each column.
        **params
            Constructor arguments: model, alpha, beta, rho, algorithm, ...

        Returns
        -------
        estimator
            Fitted, without training documents.

        Examples
        --------
        >>> import discan
        >>> estimator = discan.LDA.from_components([[3, 1, 0], [0, 1, 3]])
        >>> estimator.transform([[6, 2, 0]]).argmax(axis=1)
        array([0])
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
        model = model_of(estimator)
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

    def __sklearn_tags__(self) -> Any:
        """Counts, sparse or dense, never negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags
