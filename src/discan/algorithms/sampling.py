# SPDX-License-Identifier: BSD-3-Clause
"""Base of the two Gibbs samplers: draws, moves of the hyperparameters, fold-in of documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from discan.algorithms.base import Algorithm, Clock, Cycle, Params, Posterior, levels_refusal
from discan.algorithms.fold_in import TOLERANCE, fold_in_others
from discan.algorithms.schedule import Schedule
from discan.algorithms.statistics import Stats
from discan.data.blocks import Block
from discan.data.corpus import Corpus
from discan.engines import Engine, pieces
from discan.errors import DiscanError, InputError, LimitError
from discan.kernels.evidence import fold_in
from discan.kernels.gibbs import augment_loadings, augment_scores, draw_scores
from discan.kernels.objective import log_loadings
from discan.models import LoadingsPrior, Model
from discan.models.hyperparameters import AugmentedScores
from discan.typing import Array
from discan.validation import FINITE, flag, number, one_of, whole

__all__ = ["Sampler", "check_tokens", "even_loadings"]

# A chain that may end by itself makes at least 100 sweeps. A small corpus gets more, up to 1000, as
# long as they draw no more than this many tokens.
LEAST_SWEEPS, MOST_LEAST_SWEEPS, CHEAP_DRAWS = 100, 1000, 100_000_000
SMOOTH_SHARE = 0.25  # of the first default of gamma, while a chain is smooth
FOLD_IN_BURN_IN = 50
FOLD_IN_WORK = 2_000_000  # token x component updates per document
FEW_COUNTS = 2**18  # of words and components: too few for several threads
LONGEST = 10_000_000  # tokens of a document that is folded in token by token


@dataclass(frozen=True)
class Sampler(Algorithm):
    """A chain; ``Gibbs`` describes its options."""

    burn_in: int = 200
    n_draws: int = 100
    thin: int = 1
    keep_draws: bool = False
    forget: bool = False
    learn_every: int = 1
    smooth: int = 0
    settle: float = 0.0
    fold_in: str = "fast"

    formerly: ClassVar[dict[str, Any]] = {"fold_in": "gibbs"}
    whole_counts = True
    monotone = False

    def __post_init__(self) -> None:
        """Check the options."""
        whole("burn_in", self.burn_in, 0)
        whole("n_draws", self.n_draws, 1)
        whole("thin", self.thin, 1)
        whole("learn_every", self.learn_every, 1)
        whole("smooth", self.smooth, 0)
        number("settle", self.settle, "a finite number, at least 0", 0.0, FINITE)
        one_of("fold_in", self.fold_in, ("fast", "gibbs"))
        flag("keep_draws", self.keep_draws)
        flag("forget", self.forget)

    # ---- before a fit ----

    def refusal(
        self, model: Model, learn: frozenset[str], corpus: Corpus | None = None
    ) -> DiscanError | None:
        """Refuse counts that are not 32-bit whole numbers, and what the model cannot learn."""
        if (refusal := levels_refusal(self, model)) is not None:
            return refusal
        if corpus is None or corpus.count_type.kind == "i":
            return model.learning_refusal(learn)
        instead = {"algorithm": "variational"}
        if corpus.integral:
            return LimitError("a count above 2,147,483,647 is too large for a sampler", use=instead)
        return InputError(
            f"{_first_fraction(corpus)} is not a whole number, and {self.name} draws whole tokens",
            remedy="round the counts", use=instead,
        )  # fmt: skip

    @property
    def n_averages(self) -> int:
        """Number of averages over draws at once: over all, and over those that are to stay."""
        return 2 if self.forget else 1

    def chain(self, corpus: Corpus) -> dict[str, Any]:
        """Return the fields of a schedule that the options of a chain decide."""
        affordable = CHEAP_DRAWS // max(int(corpus.n_tokens), 1)
        return {
            "cycles": self.burn_in + self.n_draws * self.thin,
            "burn_in": self.burn_in,
            "thin": self.thin,
            "keep_draws": self.keep_draws,
            "forget": self.forget,
            "settle": self.settle,
            # quarters as long as the smooth sweeps: after these the chain rises slowly for a while
            "least": max(LEAST_SWEEPS, 4 * self.smooth, min(MOST_LEAST_SWEEPS, affordable)),
        }

    # ---- a cycle ----

    def moves(self, clock: Clock) -> bool:
        """Whether hyperparameters move in this cycle; it does not depend on the state."""
        return clock.cycle < self.burn_in or clock.cycle % self.learn_every == 0

    def augment(
        self, params: Params, block: Block, component_counts: Array, clock: Clock, lane: Stats
    ) -> None:
        """Draw what the moves of alpha, beta and rho need, given the counts of the block."""
        table, model, levels = params.table, params.model, params.exposure_levels
        classes = model.class_of_level(levels)
        shape = (model.n_classes, params.n_components)
        tables = np.zeros(shape, dtype=np.int64)
        active = np.zeros(table.shape.shape, dtype=np.int64)
        shapes, log_beta = np.zeros(table.shape.shape), np.zeros(model.n_classes)
        augment_scores(
            component_counts, block.levels, classes, table.shape, table.present, tables, active,
            shapes, log_beta, *clock, block.start,
        )  # fmt: skip
        lane.add_scores(
            AugmentedScores(
                tables, active, np.zeros(shape), log_beta,
                np.bincount(classes[block.levels], minlength=model.n_classes),
                model.exposure_of_level(levels), class_of_level=classes, shapes=shapes,
            )
        )  # fmt: skip

    def finish(
        self, before: Params, params: Params, stats: Stats, clock: Clock, schedule: Schedule,
        engine: Engine,
    ) -> Cycle:  # fmt: skip
        """Report log p(W, z), scores and loadings integrated out, and draw the hyperparameters.

        The draws are exact (theory 5.3), except that gamma is kept from falling while the chain is
        smooth.
        """
        constants = before.model.total_log_constant(schedule.corpus)
        objective = stats.objective + constants + _log_loadings(params, engine)
        if not params.learn or not self.moves(clock):
            return Cycle(params, objective)
        rng = np.random.Generator(
            np.random.Philox(key=int(clock.seed), counter=[0, 0, 0, clock.cycle + 1])
        )
        if stats.scores is not None:
            sums = _with_scores(params, stats.scores, clock)
            params = params.with_model(
                params.model.resample(params.learn, sums, params.hyperprior, rng)
            )
        if "gamma" in params.learn:
            prior = _drawn_prior(params, clock, rng)
            if clock.cycle < self.smooth:
                prior = prior.at_least(_smooth_gamma(schedule.corpus, params.n_components))
            params = replace(params, prior=prior)
        return Cycle(params, objective)

    # ---- answers ----

    def read(self, params: Params, block: Block, state: Any) -> Posterior:
        """Return the counts and the conditional means of the scores given them."""
        counts = state.counts(block, params.n_components)
        return Posterior(counts, *params.model.moments(counts, params.table.rows(block.levels)))

    def infer(self, params: Params, block: Block, seed: np.uint64) -> Posterior:
        """Split or sample a document's tokens, scores integrated out and loadings fixed.

        Means over splits or draws say nothing of second moments, which are NaN.
        """
        if self.fold_in == "fast":
            counts, empty = fold_in_others(params, block, TOLERANCE)
        else:
            counts, empty = _drawn(params, block, seed)
        rows = params.table.rows(block.levels)
        absent = empty * (1.0 - rows.present)
        return Posterior(counts, *params.model.mixed_moments(counts, rows, absent))


def _with_scores(params: Params, sums: AugmentedScores, clock: Clock) -> AugmentedScores:
    """Draw the scores, which only moves of beta need, and return the sums in the model's form."""
    if sums.shapes is None:
        return sums
    if "beta" in params.learn:
        scores = np.zeros_like(sums.scores)
        draw_scores(sums.shapes, params.table.rate, sums.class_of_level, scores, *clock)
        sums = replace(sums, scores=scores)
    return params.model.sums_by_class(sums)


def _first_fraction(corpus: Corpus) -> str:
    """Name the first count that is not a whole number."""
    before = 0
    for part in corpus.parts():
        fractions = np.rint(part.counts) != part.counts
        if fractions.any():
            at = int(np.argmax(fractions))
            row = before + int(np.searchsorted(part.indptr, at, side="right")) - 1
            return f"count {part.counts[at]:g} at row {row}, column {part.words[at]}"
        before += part.n_documents
    raise AssertionError("all counts are whole numbers")


def even_loadings(
    prior: LoadingsPrior, corpus: Corpus, n_components: int, dtype: Any = np.float64
) -> Array:
    """Loadings (J, K) of a start by chance: all are equal, but seeds favour their components.

    A word that was seen beforehand as often as it occurs in the data, or more often, begins with
    about half of its tokens in the component of its seeds.
    """
    loadings = np.ones((corpus.n_words, n_components), dtype=dtype)
    seeds = prior.seeds
    if seeds is not None:
        totals = np.maximum(corpus.word_totals[seeds.words], 1.0)
        weights = n_components * np.minimum(seeds.tokens / totals, 1.0)
        loadings[seeds.words, seeds.components] += weights.astype(dtype)
    return loadings


def _drawn(params: Params, block: Block, seed: np.uint64) -> tuple[Array, Array]:
    """Posterior means of c and of 1(c = 0) by Gibbs over the tokens of each document, (n, K)."""
    check_tokens(block, {"fold_in": "fast"})
    counts, empty = np.zeros((2, block.stop - block.start, params.n_components))
    fold_in(
        block.indptr, block.words, block.counts, block.levels, *params.table, params.loadings,
        counts, empty, FOLD_IN_BURN_IN, FOLD_IN_WORK // counts.shape[1], seed,
    )  # fmt: skip
    return counts, empty


def check_tokens(block: Block, instead: dict[str, str]) -> None:
    """Refuse documents too long, or counts too large, to be worked through token by token."""
    whole = block.counts.dtype.kind == "i"
    if not whole or _lengths(block).max(initial=0) > LONGEST:
        raise LimitError(
            f"a document has more than {LONGEST:,} tokens or a count above 2,147,483,647, too many "
            "to draw one by one",
            use=instead,
        )


def _lengths(block: Block) -> Array:
    """Tokens of each of the block's documents, (n,) int64."""
    counts = block.counts[block.indptr[0] : block.indptr[-1]]
    ends = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    return np.diff(ends[block.indptr - block.indptr[0]])


def _log_loadings(params: Params, engine: Engine) -> float:
    """Log probability of the loading counts, loadings integrated out (theory 2.4)."""
    prior = params.prior
    counts, totals = np.asarray(params.loading_counts), np.asarray(params.totals)

    def term(piece: tuple[int, int]) -> float:
        words = slice(*piece)
        per_group = totals[:0] if words.start else totals  # counted once, with the first words
        return float(log_loadings(counts[words], per_group, prior.gamma[words], prior.totals))

    terms = engine.run(term, pieces(len(counts), 1 if counts.size < FEW_COUNTS else 8))
    return sum(terms) - prior.log_seeds


def _smooth_gamma(corpus: Corpus, n_components: int) -> Array:
    """Least gamma of a chain that is smooth, (J,); it depends on the data and on K alone."""
    first = LoadingsPrior.of(None, corpus.layout).lighter(corpus.word_totals, n_components)
    return np.asarray(SMOOTH_SHARE * first.gamma)


def _drawn_prior(params: Params, clock: Clock, rng: np.random.Generator) -> LoadingsPrior:
    """Draw gamma given the loading counts; seeds tell nothing about it."""
    prior, seeds = params.prior, params.prior.seeds
    counts, totals = np.asarray(params.loading_counts), np.asarray(params.totals)
    tables = np.zeros(len(prior.gamma), dtype=np.int64)
    log_beta = np.zeros(len(prior.totals))
    others, other_totals = counts, totals
    if seeds is not None:
        before = prior.seed_totals(params.n_components)
        others, other_totals = seeds.left_out(counts), np.where(before > 0, 0, totals)
    augment_loadings(others, other_totals, prior.gamma, prior.totals, tables, log_beta, *clock)
    if seeds is not None:
        np.add.at(tables, seeds.words, seeds.drawn_tables(counts, prior.gamma, rng))
        g, k = np.nonzero((before > 0) & (totals > before))
        chances = rng.beta(prior.totals[g] + before[g, k], (totals - before)[g, k])
        np.add.at(log_beta, g, np.log(np.maximum(chances, 1e-300)))
    return prior.resample(tables, log_beta, params.hyperprior.gamma, rng)
