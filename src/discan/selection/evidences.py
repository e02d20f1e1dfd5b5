# SPDX-License-Identifier: BSD-3-Clause
"""The evidence of each setting, if it is asked for: given the totals, so that models compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discan.data.corpus import Corpus
from discan.estimators.counting import is_auto
from discan.evaluation.evidence import EVIDENCE_METHODS, log_evidence
from discan.selection.jobs import Setting
from discan.typing import Array
from discan.validation import one_of

__all__ = ["Evidences", "evidences"]

PRIORS = ("alpha", "beta", "rho", "gamma")


@dataclass(frozen=True)
class Evidences:
    """Log p(W | totals) of each setting in nats, (S,), NaN if not known; and how it was found.

    ``unsure`` are the names of settings whose value has not converged.
    """

    values: Array
    method: str | None = None
    unsure: tuple[str, ...] = ()

    def sentence(self, settings: Sequence[Setting]) -> str:
        """Say which setting has the most evidence."""
        if self.method is None or np.isnan(self.values).all():
            return ""
        best = settings[int(np.nanargmax(self.values))].name.replace("K", "K = ")
        text = f"By evidence ({self.method}, priors not learnt), {best} is best."
        if self.unsure:
            names = ", ".join(name.replace("K", "K = ") for name in self.unsure)
            text += f" But the evidence has not converged for {names}."
        return text


def evidences(
    settings: Sequence[Setting], corpus: Corpus, method: str | None, seed: int, n_jobs: int
) -> Evidences:
    """Estimate the evidence of each setting; without a method, of none.

    Priors are those given, or the usual ones. A fit without priors has no evidence, and that of a
    process is not known.
    """
    values = np.full(len(settings), np.nan)
    if method is None:
        return Evidences(values)
    one_of("evidence", method, EVIDENCE_METHODS)
    unsure = []
    for n, setting in enumerate(settings):
        params = setting.params
        if not params["algorithm"].uses_prior or is_auto(setting.n_components):
            continue
        given = {name: params[name] for name in PRIORS if params.get(name) is not None}
        found = log_evidence(
            corpus, setting.n_components, method=method, model=params["model"], n_jobs=n_jobs,
            random_state=seed, **given,
        )  # fmt: skip
        if found.given_totals is not None:
            values[n] = found.given_totals
            unsure += [setting.name] if found.warning else []
    return Evidences(values, method, tuple(unsure))
