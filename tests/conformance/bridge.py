# SPDX-License-Identifier: BSD-3-Clause
"""From a problem of the oracle to the package, and exact sums made of the package's own terms."""

import numpy as np
import oracle
from scipy.special import gammaln, logsumexp, xlogy

from discan import DCA, Corpus
from discan.kernels.objective import log_loadings
from discan.models import MODELS, LoadingsPrior


def parameters(prior):
    """Hyperparameters of an oracle prior by name, those that it has."""
    named = {"alpha": prior.alpha, "beta": prior.beta, "rho": prior.rho}
    return {name: np.array(value) for name, value in named.items() if value is not None}


def model_of(prior):
    """The package's model of an oracle prior."""
    return type(MODELS.find(prior.model))(**parameters(prior)).prepare(prior.K)


def estimator(prior, theta, groups=None, algorithm="collapsed", seed=7):
    """An estimator with these loadings."""
    return DCA.from_components(
        np.transpose(theta), groups=groups, model=prior.model, algorithm=algorithm,
        random_state=seed, **parameters(prior),
    )  # fmt: skip


def averaged(method, prior, theta, groups, X, algorithm="collapsed", n_seeds=12):
    """Mean over seeds of what ``method`` says of the first document, and its standard error."""
    answers = np.array(
        [
            getattr(estimator(prior, theta, groups, algorithm, seed), method)(X)[0]
            for seed in range(n_seeds)
        ]
    )
    return answers.mean(0), answers.std(0, ddof=1) / np.sqrt(n_seeds)


def table_of(W, groups=None, exposures=None):
    """A corpus, from one document (J,) or several (I, J)."""
    W = np.atleast_2d(W)
    return Corpus(W, groups, None if exposures is None else np.atleast_2d(exposures))


def log_weights_of(model, corpus, i, V):
    """Log of F_i(c) times the orderings of each split V (S, J, K): all but the loadings."""
    exposure = np.full(len(V), corpus.total_exposures[i])
    orderings = corpus.log_count_factorials[i] - gammaln(V + 1).sum((1, 2))
    return model.log_marginal(V.sum(1), exposure) + model.log_bag(corpus)[i] + orderings


def exact_document(prior, w, theta, groups=None, exposures=None):
    """As oracle.document, with every probability and every moment taken from the package."""
    model, corpus = model_of(prior), table_of(w, groups, exposures)
    V = oracle.splits(w, prior.K)
    log_weights = log_weights_of(model, corpus, 0, V) + xlogy(V, theta).sum((1, 2))
    p = np.exp(log_weights - logsumexp(log_weights))
    moments = model.moments(V.sum(1), model.score_table(corpus.total_exposures))
    return {
        "logp": logsumexp(log_weights),
        "E_V": np.einsum("s,sjk->jk", p, V),
        "E_c": p @ V.sum(1),
        "E_scores": p @ moments.mean,
        "P_zero": p @ moments.absent,
    }


def exact_corpus(prior, W, gamma, groups=None, exposures=None):
    """As oracle.corpus, with every probability and every moment taken from the package."""
    model, corpus = model_of(prior), table_of(W, groups, exposures)
    loadings = LoadingsPrior.of(gamma, corpus.layout)
    states = [oracle.splits(w, prior.K) for w in np.asarray(W)]
    log_weights, n, c = np.zeros(()), np.zeros((corpus.n_words, prior.K), int), []
    for i, V in enumerate(states):
        log_weights = log_weights[..., None] + log_weights_of(model, corpus, i, V)
        n = n[..., None, :, :] + V
    flat = log_weights.ravel()
    tables = n.reshape(-1, *n.shape[-2:])
    totals = [corpus.layout.group_sums(x) for x in tables]
    flat = flat + [
        log_loadings(x, t, loadings.gamma, loadings.totals)
        for x, t in zip(tables, totals, strict=True)
    ]
    p = np.exp(flat - logsumexp(flat))
    joint = p.reshape(log_weights.shape)
    out = {
        "logp": logsumexp(flat),
        "E_n": np.einsum("s,sjk->jk", p, tables),
        "E_theta": np.einsum("s,sjk->jk", p, [loadings.mean(x) for x in tables]),
        "E_theta_sq": np.einsum("s,sjk->jk", p, [loadings.mean_square(x) for x in tables]),
        "E_c": [], "E_scores": [], "P_zero": [],
    }  # fmt: skip
    for i, V in enumerate(states):
        own = joint.sum(tuple(h for h in range(len(states)) if h != i))
        c = V.sum(1)
        moments = model.moments(c, model.score_table(corpus.total_exposures[i : i + 1]))
        out["E_c"].append(own @ c)
        out["E_scores"].append(own @ moments.mean)
        out["P_zero"].append(own @ moments.absent)
    return out


def batch_error(draws, n_batches=50):
    """Standard error of the mean of a chain by batch means."""
    draws = np.asarray(draws, float)
    length = len(draws) // n_batches
    means = draws[: length * n_batches].reshape(n_batches, length, *draws.shape[1:]).mean(1)
    return means.std(0, ddof=1) / np.sqrt(n_batches)
