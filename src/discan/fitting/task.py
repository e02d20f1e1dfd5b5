# SPDX-License-Identifier: BSD-3-Clause
"""What is to be fitted, and how; what cannot be is refused here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discan.algorithms import Algorithm
from discan.algorithms.base import Params, without_priors
from discan.algorithms.footprint import used_pairs
from discan.algorithms.levels import of_levels
from discan.algorithms.schedule import Schedule
from discan.data.corpus import Corpus
from discan.errors import InputError, LimitError
from discan.fitting.naming import Given
from discan.models import LoadingsPrior, Model
from discan.models.hyperparameters import Hyperprior

__all__ = ["Task"]

# Bytes per score of a block while hyperparameters are learnt from it, and per word of a seed.
LEARNING, LEARNING_CHAIN, SEED = 40, 12, 40
MOST_LEVELS = 2**16  # of the exposures of documents on disk


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be fitted, and how.

    Attributes
    ----------
    corpus : Corpus
    model, algorithm : Model, Algorithm
        The model with its hyperparameters set (``Model.prepare``).
    prior : LoadingsPrior
    learn : frozenset of str
        Hyperparameters to learn.
    hyperprior : Hyperprior, optional
        Their priors for the samplers; the model's own by default.
    seed : int
        Names all random streams.
    names : (K,) tuple of str and None
        Names of the components that are known beforehand; () if none is.
    about : dict
        What else the settings of the result record.
    """

    corpus: Corpus
    model: Model
    algorithm: Algorithm
    prior: LoadingsPrior
    learn: frozenset[str] = frozenset()
    hyperprior: Hyperprior | None = None
    seed: int = 0
    names: Given = ()
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take the algorithm in the form that suits the levels of the model."""
        object.__setattr__(self, "algorithm", of_levels(self.algorithm, self.model))

    def check(self) -> None:
        """Refuse what cannot be fitted; a run that was begun was accepted then."""
        model, algorithm = self.model, self.algorithm
        known = {*model.hyperparameters, "gamma"}
        if not self.learn <= known:
            raise InputError(
                f"{{}}: the {model.name} model has {', '.join(sorted(known))}",
                argument="learn", value=sorted(map(str, self.learn - known)),
            )  # fmt: skip
        refusal = algorithm.refusal(model, self.learn, self.corpus)
        if self.hyperprior is not None:
            refusal = refusal or model.hyperprior_refusal(self.hyperprior)
        if refusal is not None:
            raise refusal
        n_levels = len(self.corpus.exposure_levels) if self.corpus.on_disk else 0
        if n_levels > MOST_LEVELS:  # each has a row of K numbers in the tables of the model
            raise LimitError(
                f"the documents have {n_levels:,} distinct total exposures, above {MOST_LEVELS:,}",
                remedy="round them before the data are converted",
            )
        if self.prior.seeds is not None and not algorithm.uses_prior:
            raise InputError(
                f"{algorithm.name} has no priors, so seeds and fixed components would do nothing",
                use={"algorithm": ("map", "variational", "collapsed")},
            )

    def plan(self) -> Schedule:
        """Return the schedule."""
        n_components = len(self.model.alpha)
        schedule = self.algorithm.plan(self.corpus, n_components, np.uint64(self.seed))
        if self.hyperprior is not None and not schedule.thin:
            raise InputError("hyperprior applies only to the samplers; leave it out")
        return schedule

    def needed_bytes(self, schedule: Schedule, n_workers: int) -> int:
        """Estimate the memory of the fit, its start aside, on ``n_workers`` threads."""
        n_components = len(self.model.alpha)
        needed = float(schedule.needs(n_workers))
        scores = 0 if schedule.corpus.on_disk else n_components * schedule.corpus.n_documents
        # with two levels, what is learnt from is summed over draws in any case
        learns = bool(self.learn & set(self.model.hyperparameters)) and self.model.levels == 1
        visits = float(schedule.visits_need(n_workers))
        if "gamma" in self.learn and not schedule.thin:  # a table of its derivatives
            needed = max(needed, visits + 8.0 * n_components * schedule.corpus.n_words)
        if learns:
            block = n_components * max(block.stop - block.start for block in schedule.blocks)
            more = LEARNING_CHAIN if schedule.thin else LEARNING
            needed = max(needed, visits + n_workers * more * block)
        if self.prior.seeds is not None:
            needed += SEED * len(self.prior.seeds.words) + schedule.seeded_bytes
        if schedule.corpus.classes is not None and not schedule.thin:
            needed += 16.0 * scores  # scores by the prior of each class
        absence = self.model.can_be_absent(self.learn)
        if schedule.thin and (learns or absence) and not schedule.corpus.on_disk:
            # one more sum, or moments of the scores that do not follow from the counts
            n_draws = schedule.cycles // schedule.thin
            pairs = used_pairs(schedule.corpus.lengths, n_components, n_draws)
            needed += (24 if learns else 4) * pairs * (2 if schedule.forget else 1)
        # once as drawn, and once with the largest component first
        needed += 2.0 * self.draws_bytes(schedule)
        if not schedule.thin and absence:
            needed += 24 * scores  # probabilities of absence, and counts that they damp
        return int(needed)

    def draws_bytes(self, schedule: Schedule) -> float:
        """Memory of the draws that are kept."""
        if not schedule.keep_draws:
            return 0.0
        corpus = schedule.corpus
        n_rows = corpus.n_words + (0 if corpus.on_disk else corpus.n_documents)
        each = 8.0 * len(self.model.alpha) * n_rows
        return each * (schedule.cycles - schedule.burn_in) / schedule.thin

    def first_params(self, schedule: Schedule) -> Params:
        """Return parameters without loadings; algorithms without priors get flat ones."""
        model, prior = self.model, self.prior
        if not self.algorithm.uses_prior:
            model, prior = without_priors(model, prior)
        hyperprior = self.hyperprior or model.hyperprior
        levels = schedule.corpus.exposure_levels
        return Params.of(model, prior, levels, learn=self.learn, hyperprior=hyperprior)
