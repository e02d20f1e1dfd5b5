# SPDX-License-Identifier: BSD-3-Clause
"""Log p(w | components) of single documents, scores integrated out (theory 6.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from discan.algorithms import Variational
from discan.algorithms.base import Params
from discan.algorithms.sampling import check_tokens
from discan.data.blocks import Block
from discan.data.corpus import Corpus
from discan.engines import Engine, Threads
from discan.errors import InputError
from discan.evaluation.averages import log_mean
from discan.fitting.infer import divided, enumerated, short_documents
from discan.fitting.parents import refuse_parents
from discan.fitting.result import Fit
from discan.kernels.evidence import chib
from discan.kernels.particles import anneal_documents, left_to_right
from discan.typing import Array
from discan.validation import whole

__all__ = [
    "METHODS", "Annealing", "Bound", "Chib", "DocumentLikelihood", "LeftToRight", "Method",
    "document_likelihood", "estimate_documents",
]  # fmt: skip

CHIB_WORK = 1_000_000  # token x component updates of a document by Chib's method
N_RUNS = 8  # independent runs that give a Monte-Carlo error
UNBIASED = "unbiased for p, so its logarithm is low on average"
LOWER_BOUND = "lower bound on log p"


class Method(Protocol):
    """A way to estimate log p of documents up to the model's constant.

    ``random`` says whether runs differ; ``exact_if_short`` whether a short document is summed
    instead.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    kind: ClassVar[str]
    random: ClassVar[bool]
    exact_if_short: ClassVar[bool]

    def logs(self, params: Params, block: Block, seed: np.uint64, run: int) -> Array:
        """Estimate the documents of a block, (n,)."""
        ...


@dataclass(frozen=True)
class Chib:
    """Chib's method in the form of Murray and Salakhutdinov.

    Parameters
    ----------
    n_sweeps : int, optional
        Sweeps per document, S. By default 1,000,000 / (tokens x components), from 100 to 20,000.
    """

    n_sweeps: int | None = None

    name: ClassVar[str] = "chib"
    summary: ClassVar[str] = "Chib's method by Murray and Salakhutdinov; short documents exactly"
    kind: ClassVar[str] = UNBIASED
    random: ClassVar[bool] = True
    exact_if_short: ClassVar[bool] = True

    def logs(self, params: Params, block: Block, seed: np.uint64, run: int) -> Array:
        """Estimate the documents of a block, (n,)."""
        work = np.maximum(_lengths(block) * params.n_components, 1)
        n_sweeps = np.clip(CHIB_WORK // work, 100, 20_000)
        if self.n_sweeps is not None:
            n_sweeps = np.full_like(n_sweeps, whole("n_sweeps", self.n_sweeps, 1))
        return _by(chib, params, block, n_sweeps, seed, run)


@dataclass(frozen=True)
class LeftToRight:
    """Sequential Monte Carlo over the tokens, from left to right.

    Parameters
    ----------
    n_particles : int
    n_moves : int
        Earlier tokens that a particle redraws at each token, at most.
    """

    n_particles: int = 20
    n_moves: int = 64

    name: ClassVar[str] = "smc"
    summary: ClassVar[str] = "left to right by particles with resampling (sequential Monte Carlo)"
    kind: ClassVar[str] = UNBIASED
    random: ClassVar[bool] = True
    exact_if_short: ClassVar[bool] = False

    def logs(self, params: Params, block: Block, seed: np.uint64, run: int) -> Array:
        """Estimate the documents of a block, (n,)."""
        options = (whole("n_particles", self.n_particles, 1), whole("n_moves", self.n_moves, 0))
        return _by(left_to_right, params, block, *options, seed, run)


@dataclass(frozen=True)
class Annealing:
    """Annealed importance sampling from the prior of the tokens' components to their posterior.

    Parameters
    ----------
    n_temperatures : int
        A sweep is made at each of them; they are the cubes of equal steps from 0 to 1.
    """

    n_temperatures: int = 1000

    name: ClassVar[str] = "ais"
    summary: ClassVar[str] = "annealed importance sampling"
    kind: ClassVar[str] = UNBIASED
    random: ClassVar[bool] = True
    exact_if_short: ClassVar[bool] = False

    def logs(self, params: Params, block: Block, seed: np.uint64, run: int) -> Array:
        """Estimate the documents of a block, (n,)."""
        ladder = np.linspace(0.0, 1.0, whole("n_temperatures", self.n_temperatures, 1) + 1) ** 3
        return _by(anneal_documents, params, block, ladder, seed, run)


@dataclass(frozen=True)
class Bound:
    """The variational lower bound; it needs no whole counts."""

    name: ClassVar[str] = "bound"
    summary: ClassVar[str] = "variational lower bound, without random numbers"
    kind: ClassVar[str] = LOWER_BOUND
    random: ClassVar[bool] = False
    exact_if_short: ClassVar[bool] = False

    def logs(self, params: Params, block: Block, seed: np.uint64, run: int) -> Array:
        """Return the bound of the documents of a block, (n,)."""
        return Variational(loadings="point").document_objective(params, block)


METHODS: dict[str, type[Method]] = {
    method.name: method for method in (Chib, LeftToRight, Annealing, Bound)
}


@dataclass(frozen=True, eq=False)
class DocumentLikelihood:
    """Log p(w | components) of documents, and how sure it is.

    Attributes
    ----------
    log_likelihood : (I,) array
        In bag form, in nats; -inf if a document is impossible.
    error : (I,) array
        Monte-Carlo standard error: 0 where the answer is exact or a bound, NaN for a single run.
    tokens : (I,) array
        Tokens of the documents.
    log_orderings : (I,) array
        Log of the factor between bag and sequence form: the number of orderings of the tokens.
    exact : (I,) bool array
        Documents that were summed exactly.
    method : str
    kind : str
        What the estimate is: unbiased for p, or a lower bound on log p.
    n_runs, n_draws : int
        Independent runs; draws of the components that were averaged over, 1 for their mean.
    """

    log_likelihood: Array
    error: Array
    tokens: Array
    log_orderings: Array
    exact: Array
    method: str
    kind: str
    n_runs: int
    n_draws: int

    @property
    def total(self) -> tuple[float, float]:
        """Sum over documents and its Monte-Carlo standard error."""
        return float(self.log_likelihood.sum()), float(np.sqrt(np.sum(self.error**2)))

    @property
    def per_token(self) -> Array:
        """Log probability of the tokens in a given order, by their number, (I,).

        NaN for an empty document.
        """
        tokens = np.where(self.tokens > 0, self.tokens, np.nan)
        return np.asarray((self.log_likelihood - self.log_orderings) / tokens)

    def __repr__(self) -> str:
        """Describe the estimate in one line."""
        total, error = self.total
        return (
            f"<{len(self.tokens):,} documents, log p {total:.6g}, Monte-Carlo error {error:.2g}; "
            f"{self.method}: {self.kind}>"
        )


def document_likelihood(
    fit: Fit,
    corpus: Corpus,
    method: str | Method = "chib",
    n_runs: int | None = None,
    over_draws: bool = False,
    engine: Engine | None = None,
) -> DocumentLikelihood:
    """Estimate log p(w | components) of each document, scores integrated out, bag form.

    Parameters
    ----------
    fit : Fit
    corpus : Corpus
    method : {"chib", "smc", "ais", "bound"} or Method
        An object sets options, e.g. ``Chib(n_sweeps=150)``.
    n_runs : int, optional
        Independent runs, whose spread is the Monte-Carlo error. By default 8, or with
        ``over_draws`` one per draw.
    over_draws : bool
        Average p over the draws that were kept, instead of taking the mean of the components.
    engine : Engine, optional
    """
    how = _method(method)
    draws = fit.kept_draws() if over_draws else [(fit.params, fit.mean_loadings)]
    if not draws:
        raise InputError(
            "over_draws=True needs draws of the components, and this fit kept none",
            remedy="fit with algorithm=Collapsed(keep_draws=True)",
        )
    if n_runs is None:
        n_runs = 1 if over_draws else N_RUNS
    n_runs = whole("n_runs", n_runs, 1)
    _check(fit, corpus, how)
    return estimate_documents(draws, corpus, how, n_runs, engine or Threads(1), fit.seed)


def estimate_documents(
    draws: Sequence[tuple[Params, Array]],
    corpus: Corpus,
    how: Method,
    n_runs: int,
    engine: Engine,
    seed: np.uint64,
) -> DocumentLikelihood:
    """Estimate log p of each document, p averaged over ``draws`` of parameters and loadings."""
    repeats = range(n_runs if how.random else 1)
    logs, model = [], draws[0][0].model
    short = short_documents(corpus, draws[0][0].n_components) if how.exact_if_short else None
    for params, loadings in draws:
        point = replace(params, loadings=loadings, loading_shape=None)
        constants = params.model.log_constants(corpus) + params.model.log_bag(corpus)
        impossible = corpus.to_csr() @ (loadings.sum(axis=1) == 0.0) > 0
        for run in repeats:
            found = _logs(how, point, corpus, short, engine, seed, run)
            logs.append(np.where(impossible, -np.inf, found + constants))
    mean, error = log_mean(np.array(logs))
    exact = np.zeros(corpus.n_documents, dtype=bool) if short is None else short
    if len(draws) == 1:
        error = np.where(exact | (not how.random), 0.0, error)
    return DocumentLikelihood(
        mean, error, corpus.lengths, model.log_bag(corpus), exact & (len(draws) == 1), how.name,
        how.kind, len(repeats), len(draws),
    )  # fmt: skip


def _method(method: Any) -> Any:
    if isinstance(method, str):
        if method not in METHODS:
            raise InputError("{}", argument="method", value=method, use={"method": tuple(METHODS)})
        return METHODS[method]()
    if not hasattr(method, "logs"):
        raise InputError("{}", argument="method", value=method, use={"method": tuple(METHODS)})
    return method


def _check(fit: Fit, corpus: Corpus, how: Method) -> None:
    refuse_parents(fit.params.model, "probability of a document")
    if not np.all(np.asarray(fit.params.model.alpha) > 0):
        raise InputError(
            "maximum likelihood has no prior of the scores, so a document has no probability",
            remedy="use score(X)", use={"algorithm": ("map", "variational")},
        )  # fmt: skip
    if how.random and not corpus.integral:
        raise InputError(f"method={how.name!r} needs whole counts", use={"method": "bound"})


def _logs(
    how: Method, params: Params, corpus: Corpus, short: Array | None, engine: Engine,
    seed: np.uint64, run: int,
) -> Array:  # fmt: skip
    """Estimate log p of all documents up to the constants, (I,)."""

    def estimate(block: Block, here: Params) -> tuple[Array]:
        return (how.logs(here, block, seed, run),)

    def whole_sum(block: Block, here: Params) -> tuple[Array]:
        return (enumerated(block, here.table, here.loadings)[0],)

    return divided(corpus, params, short, whole_sum, estimate, engine)[0]


def _by(kernel: Callable[..., None], params: Params, block: Block, *options: Any) -> Array:
    """Call a kernel that visits the tokens of each document in turn."""
    check_tokens(block, {"method": "bound"})
    out = np.empty(block.stop - block.start)
    kernel(
        block.indptr, block.words, block.counts, block.levels, *params.table, params.loadings,
        out, *options,
    )  # fmt: skip
    return out


def _lengths(block: Block) -> Array:
    """Tokens of the documents of a block, (n,)."""
    ends = np.concatenate(([0], np.cumsum(block.counts[block.indptr[0] : block.indptr[-1]])))
    return np.asarray(np.diff(ends[block.indptr - block.indptr[0]]), dtype=np.int64)
