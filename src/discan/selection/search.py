# SPDX-License-Identifier: BSD-3-Clause
"""A search over settings: hold out, fit, predict, measure; what the two questions share."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discan import __version__
from discan.algorithms import Algorithm, choose
from discan.data.corpus import Corpus
from discan.engines.threads import n_threads
from discan.errors import InputError
from discan.estimators import DCA
from discan.estimators.input import read_corpus, read_seed
from discan.evaluation.evidence import EVIDENCE_METHODS
from discan.fitting.infer import unigram_completion, unigram_prediction
from discan.models import MODELS, LoadingsPrior
from discan.selection.evidences import evidences
from discan.selection.folder import opened
from discan.selection.grid import run_jobs
from discan.selection.jobs import Job, Setting
from discan.selection.measures import Measured, measure, stabilities
from discan.selection.protocols import Fold, Protocol
from discan.selection.result import mean
from discan.typing import Array
from discan.validation import one_of, whole

__all__ = ["Plan", "Searched", "corpus_of", "short_chain"]

log = logging.getLogger("discan")

MANY_TOKENS = 500_000  # from which on one fold is the default: a tenth of the data is plenty
FEWEST, MOST, DRAWN = 200, 500, 20_000_000  # sweeps of a chain, and the tokens that they may draw


@dataclass(frozen=True)
class Searched:
    """All measurements: by setting, and by fit.

    ``stable`` is the mean similarity over starts by setting, (S,); ``by_evidence`` says what the
    evidence says, if it was asked for.
    """

    measured: Measured
    rows: list[dict[str, Any]]
    table: list[dict[str, Any]]
    stable: Array
    by_evidence: str


@dataclass(frozen=True)
class Plan:
    """What is to be fitted.

    Attributes
    ----------
    corpus : Corpus
    settings : sequence of Setting
    protocol : Protocol
    seeds : sequence of int
    n_folds : int
    key : str
        Title of what the settings differ in.
    evidence : str or None
        Method to estimate the evidence by.
    """

    corpus: Corpus
    settings: Sequence[Setting]
    protocol: Protocol
    seeds: Sequence[int]
    n_folds: int
    key: str
    evidence: str | None = None

    @classmethod
    def of(
        cls, corpus: Corpus, settings: Sequence[Setting], protocol: Protocol, n_seeds: Any,
        n_folds: Any, random_state: Any, key: str, evidence: str | None,
    ) -> Plan:  # fmt: skip
        """Check the arguments; None for the number of folds leaves it to the size of the data."""
        first = read_seed(random_state)
        seeds = [first + n for n in range(whole("seeds", n_seeds, 1))]
        if n_folds is None:
            n_folds = 5 if corpus.n_tokens < MANY_TOKENS else 1
        if evidence is not None:
            one_of("evidence", evidence, EVIDENCE_METHODS)
        n_folds = whole("folds", n_folds, 1)
        return cls(corpus, settings, protocol, seeds, n_folds, key, evidence)

    def run(self, n_jobs: Any, folder: Any, progress: bool | None) -> Searched:
        """Do all fits, and measure."""
        workers = n_threads(n_jobs)
        # folds do not depend on the seed of the starts, so that more starts can be added
        folds = self.protocol.folds(self.corpus, self.n_folds, 0)
        jobs = [
            Job(setting, seed, n)
            for setting in self.settings
            for seed in self.seeds
            for n in range(self.n_folds)
        ]
        with opened(folder, self._digest()) as kept:
            outcomes = run_jobs(jobs, folds, self.corpus, workers, kept, progress)
        baselines = [_baseline(fold) for fold in folds]
        measured = measure(self.settings, self.seeds, outcomes, folds, baselines)
        similar = stabilities(self.settings, self.seeds, outcomes, folds)
        evident = evidences(self.settings, self.corpus, self.evidence, self.seeds[0], workers)
        known = dict(zip(self.settings, evident.values.tolist(), strict=True))
        rows = [
            {
                self.key: self._value(job.setting),
                "seed": job.seed,
                "fold": job.fold + 1,
                "bits_per_token": float(
                    -outcomes[job].nats[0].sum() / outcomes[job].nats[1].sum() / np.log(2.0)
                ),
                "bound": outcomes[job].bound,
                "evidence": known[job.setting],
                "stability": similar[job],
                "coherence": outcomes[job].coherence,
                "seconds": outcomes[job].seconds,
                "cycles": outcomes[job].cycles,
                "converged": outcomes[job].converged,
                "learnt": outcomes[job].learnt,
                "n_components": outcomes[job].components.shape[0],
            }
            for job in jobs
        ]
        table = [self._summary(n, measured, rows) for n in range(len(self.settings))]
        stable = np.array([row["stability"] for row in table])
        return Searched(measured, rows, table, stable, evident.sentence(self.settings))

    def _summary(
        self, n: int, measured: Measured, rows: Sequence[dict[str, Any]]
    ) -> dict[str, Any]:
        value = self._value(self.settings[n])
        own = [row for row in rows if row[self.key] == value]
        return {
            self.key: value,
            "bits": float(measured.bits[n]),
            "error": float(measured.error[n]),
            "gap": float(measured.gap[n]),
            "gap_error": float(measured.gap_error[n]),
            "starts": float(measured.starts[n]),
            **{
                name: mean([row[name] for row in own])
                for name in ("evidence", "stability", "coherence", "seconds")
            },
        }

    def _value(self, setting: Setting) -> Any:
        return setting.n_components if self.key == "K" else setting.name

    def _digest(self) -> dict[str, Any]:
        """Name the data and all settings but those that may be added to: K or models, seeds."""
        varied = ("n_components",) if self.key == "K" else ("model", "algorithm", "max_iter")
        params = self.settings[0].params
        fits = {name: _exact(params[name]) for name in sorted(params) if name not in varied}
        return {
            "data": self.corpus.digest, "protocol": self.protocol.name, "folds": self.n_folds,
            "key": self.key, "fits": fits, "discan": __version__,
        }  # fmt: skip


def corpus_of(X: Any, groups: Any) -> Corpus:
    """Make a checked corpus of what an estimator takes."""
    return read_corpus(DCA(), X, groups, reset=True)


def short_chain(
    choice: Any, model: Any, corpus: Corpus, n_components: int, max_iter: int | None
) -> tuple[Algorithm, int | None]:
    """Return one algorithm for all fits, and its number of cycles.

    "auto" would take other algorithms for few and for many components. Here it is the one for the
    most; and a chain has the same number of sweeps for every K, fewer than a fit of its own,
    because a ranking needs less: 200, or in a small corpus up to 500.
    """
    found = choose(choice, MODELS.find(model), frozenset(), corpus, n_components)
    asked = not isinstance(choice, str) or choice.lower() != "auto"
    if asked or not hasattr(found, "settle"):
        return found, max_iter
    sweeps = max_iter
    if sweeps is None:
        sweeps = min(MOST, max(FEWEST, DRAWN // max(1, int(corpus.n_tokens))))
    half = sweeps // 2
    chain: Any = found
    chain = replace(
        chain, settle=0.0, forget=False, burn_in=half, thin=2, n_draws=max(1, (sweeps - half) // 2)
    )
    return chain, sweeps


def fit_params(given: dict[str, Any]) -> dict[str, Any]:
    """Check the options of the fits: arguments of ``DCA``, but not those of a search."""
    own = {"n_components", "random_state", "n_jobs", "progress", "callback", "checkpoint",
           "checkpoint_every", "warm_start", "groups"}  # fmt: skip
    known = set(DCA().get_params(deep=False)) - own
    for name in given:
        if name not in known:
            raise InputError(
                f"{name!r} is not an option of the fits; they have {', '.join(sorted(known))}"
            )
    return given


def _baseline(fold: Fold) -> Array:
    """Predict the test part by the word shares of the training part, (2, I)."""
    prior = LoadingsPrior.of(None, fold.train.layout)
    overall = prior.mean(fold.train.word_totals[:, None])[:, 0]
    if fold.given is not None:
        return unigram_prediction(overall, fold.test)
    return unigram_completion(overall, fold.test, normalised=True)


def _exact(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else repr(value)
