# SPDX-License-Identifier: BSD-3-Clause
"""Maximum likelihood (NMF-KL, PLSI, tempered PLSI) and MAP in the log basis (spec 4.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import digamma, xlogy

from discan.algorithms.acceleration import Accelerated
from discan.algorithms.base import ALGORITHMS, Clock, Params, Start, Stats
from discan.algorithms.expectation import Expectation, ScoreState
from discan.data.corpus import Block, Corpus
from discan.data.splits import split_tokens
from discan.engines import Engine
from discan.errors import InputError, shown
from discan.kernels.variational import log_peaks
from discan.models import LoadingsPrior, Model, ScoreTable
from discan.models.hyperparameters import FLAT, AugmentedScores, Mode, expected_tables
from discan.typing import Array
from discan.validation import number

__all__ = ["MAP", "MaximumLikelihood"]


@ALGORITHMS.register
@dataclass(frozen=True)
class MAP(Expectation):
    """Maximum a posteriori in the log (softmax) basis: the fastest way to a good model.

    Objective: log-likelihood + sum alpha log l - beta l + sum gamma log theta. Hyperparameters are
    learnt from the expected counts (spec 5.2), each step raising p(c | alpha); the objective itself
    may then fall.
    """

    name = "maximum-a-posteriori"
    short = "map"
    summary = "maximum a posteriori, the fastest"
    atoms = " that a point estimate ignores"

    def refusal(self, model: Model, learn: frozenset[str]) -> str | None:
        """Refuse a model whose scores can be exactly zero."""
        if model.flat() is not None:
            return None
        return (
            f"{self.name} makes no sense for the {model.name} model: its scores have an atom at "
            f"zero{self.atoms}; use algorithm='variational', 'gibbs' or 'collapsed', or "
            "model='gamma-poisson'"
        )

    def score_sums(
        self, params: Params, table: ScoreTable, block: Block, state: ScoreState
    ) -> AugmentedScores:
        """Expected auxiliary variables given the expected counts."""
        rows = table.rows(block.levels)
        counts = state.score_shape - rows.shape
        total = rows.shape.sum(axis=1)
        active = np.bincount(block.levels, minlength=len(table.shape))[:, None]
        return AugmentedScores(
            self.tables(counts, block.levels, table.shape).sum(axis=0),
            np.repeat(active, params.n_components, axis=1),
            (state.score_shape / rows.rate).sum(axis=0),
            float((digamma(total) - digamma(counts.sum(axis=1) + total)).sum()),
            len(counts),
            params.notes["exposure_levels"],
        )

    def tables(self, counts: Array, levels: Array, concentration: Array) -> Array:
        """Mean of CRT(c, a) for expected counts (n, K), a from the rows ``levels`` (n,)."""
        return expected_tables(counts, concentration[levels])

    def init_params(self, params: Params, corpus: Corpus, start: Start, clock: Clock) -> Params:
        """Remember the exposure levels, for the hyperparameters."""
        params = replace(params, notes={"exposure_levels": corpus.exposure_levels})
        return super().init_params(params, corpus, start, clock)

    def finish(self, params: Params, stats: Stats, clock: Clock) -> Params:
        """One ascent step of the hyperparameters given the expected counts."""
        if isinstance(stats.scores, AugmentedScores):
            model = params.model.resample(params.learn, stats.scores, FLAT, Mode())
            params = replace(params, model=model)
        if "gamma" in params.learn:
            prior, counts = params.prior, np.asarray(params.loading_counts)
            totals = prior.layout.group_sums(counts)
            log_beta = digamma(prior.totals)[:, None] - digamma(prior.totals[:, None] + totals)
            gamma = np.repeat(prior.gamma[:, None], counts.shape[1], axis=1)
            tables = self.tables(counts, np.arange(len(gamma)), gamma).sum(axis=1)
            prior = prior.resample(tables, log_beta.sum(axis=1), FLAT.gamma, Mode())
            params = replace(params, prior=prior)
        return params

    def objective(
        self, before: Params, after: Params, stats: Stats, corpus: Corpus, engine: Engine
    ) -> float:
        """Log-likelihood and log priors in the log basis, where the cycle began."""
        constants = before.model.log_peak_constant(corpus.lengths) + before.model.log_bag(corpus)
        loading_term = float(log_peaks(before.loadings, before.prior.gamma))
        return stats.objective + float(constants.sum()) + loading_term


@ALGORITHMS.register
@dataclass(frozen=True)
class MaximumLikelihood(Accelerated, MAP):
    """Maximum likelihood: NMF with the KL divergence (gamma-poisson), PLSI (dirichlet-multinomial).

    Parameters
    ----------
    tau : float or "auto"
        Exponent of the responsibilities of tempered PLSI, in (0, 1]. With "auto", a tenth of the
        documents is held out: tau starts at 1 and is multiplied by ``eta`` whenever their
        perplexity stops falling, until that no longer helps. They are folded in at the end.
    eta : float
    accelerate : bool
        Take long strides where EM crawls: the same optima in about half the passes. Never with
        ``tau="auto"``.
    """

    tau: float | str = 1.0
    eta: float = 0.93
    accelerate: bool = True

    name = "maximum-likelihood"
    short = "ml"
    summary = "maximum likelihood, without priors"
    uses_prior = False

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        if not isinstance(self.tau, str) or self.tau != "auto":
            number("tau", self.tau, "a number above 0 and at most 1, or 'auto'", 1e-300, 1.0)
        number("eta", self.eta, "a number above 0 and below 1", 1e-300, np.nextafter(1.0, 0))
        if not isinstance(self.accelerate, (bool, np.bool_)):
            raise InputError(f"accelerate={shown(self.accelerate)}; use True or False")

    def refusal(self, model: Model, learn: frozenset[str]) -> str | None:
        """There is no prior to learn, and tempering is for proportions only."""
        if learn:
            return (
                "maximum likelihood has no hyperparameters to learn; use algorithm='map', "
                "'variational', 'gibbs' or 'collapsed'"
            )
        if self.tau != 1.0 and not model.normalised:
            return "tempering (tau) is for PLSI: use it with model='dirichlet-multinomial'"
        return super().refusal(model, learn)

    def check(self, corpus: Corpus) -> None:
        """The temperature is chosen on held-out tokens."""
        if self.tau != "auto":
            return
        if not corpus.integral:
            raise InputError("tau='auto' holds out tokens and needs whole counts; give a number")
        if corpus.n_documents < 10:
            raise InputError("tau='auto' holds out a tenth of the documents and needs 10 or more")

    def prepare(self, model: Model, prior: LoadingsPrior) -> tuple[Model, LoadingsPrior]:
        """Drop the priors."""
        flat = model.flat()
        assert flat is not None
        return flat, replace(prior, gamma=np.zeros_like(prior.gamma))

    def accelerates(self, params: Params) -> bool:
        """If asked to, and the temperature stays."""
        return self.accelerate and self.tau != "auto" and not self.online

    def power(self, params: Params) -> float:
        """The temperature."""
        return float(params.notes.get("tau", 1.0))

    def training_documents(self, corpus: Corpus, seed: np.uint64) -> Array | None:
        """Nine in ten documents when the temperature is to be found."""
        if self.tau != "auto":
            return None
        rng = np.random.default_rng(int(seed))
        order = rng.permutation(corpus.n_documents)
        return np.sort(order[corpus.n_documents // 10 :])

    def init_params(self, params: Params, corpus: Corpus, start: Start, clock: Clock) -> Params:
        """Begin at the given temperature, or at 1."""
        params = super().init_params(params, corpus, start, clock)
        tau = 1.0 if self.tau == "auto" else float(self.tau)
        return replace(params, notes={**params.notes, "tau": tau})

    @property
    def stops_itself(self) -> bool:
        """The search for the temperature decides."""
        return self.tau == "auto"

    def watch(self, params: Params, held_out: Corpus) -> Params:
        """Keep the held-out documents, halved into observed and scored tokens."""
        return replace(params, notes={**params.notes, "halves": split_tokens(held_out, rng=0)})

    def finish(self, params: Params, stats: Stats, clock: Clock) -> Params:
        """Every few cycles, lower the temperature if held-out documents stopped gaining."""
        if self.tau != "auto" or clock.cycle % 5 != 4:
            return params
        notes = dict(params.notes)
        score = self._held_out_score(params)
        if score > notes.get("best", -np.inf):
            notes.update(best=score, gained=True, best_loadings=params.loadings)
        elif notes.get("gained", True):
            notes.update(tau=notes["tau"] * self.eta, gained=False)
        else:
            notes["over"] = "held-out perplexity no longer falls at lower temperatures"
            return replace(params, loadings=notes["best_loadings"], notes=notes)
        return replace(params, notes=notes)

    def finished(self, params: Params) -> str | None:
        """Lowering the temperature no longer helps."""
        return params.notes.get("over")

    def _held_out_score(self, params: Params) -> float:
        """Log-likelihood of the scored halves, proportions from the observed halves."""
        observed, scored = params.notes["halves"]
        table = params.model.score_table(observed.exposure_levels)
        total = 0.0
        assert params.loadings is not None
        for block in observed.blocks:
            proportions = self.infer(params, table, block, np.uint64(0)).scores
            part = scored.select(slice(block.start, block.stop))
            rows = np.repeat(np.arange(part.n_documents), np.diff(part.indptr))
            chances = np.einsum("tk,tk->t", proportions[rows], params.loadings[part.words])
            total += float(xlogy(part.counts, np.maximum(chances, 1e-12)).sum())
        return total

    def pass_params(self, params: Params) -> Params:
        """As MAP, with tempered loadings."""
        return self._powered(super().pass_params(params))

    def infer(self, params: Params, table: ScoreTable, block: Block, seed: np.uint64) -> Any:
        """As MAP, with tempered loadings."""
        return super().infer(self._powered(params), table, block, seed)

    def _powered(self, params: Params) -> Params:
        tau = self.power(params)
        assert params.loadings is not None
        return params if tau == 1.0 else replace(params, loadings=params.loadings**tau)
