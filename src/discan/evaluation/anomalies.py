# SPDX-License-Identifier: BSD-3-Clause
"""Documents that are unlike what the model expects (theory 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discan.data.corpus import Corpus
from discan.engines import Engine, Threads
from discan.errors import InputError
from discan.evaluation.document_likelihood import document_likelihood
from discan.evaluation.simulation import Simulator
from discan.fitting.result import Fit
from discan.models.base import proportions
from discan.typing import Array
from discan.validation import one_of, whole

__all__ = ["ORDERS", "Anomalies", "find_anomalies"]

ORDERS = ("tail", "likelihood")
SIMULATED = 199
N_UNLIKELY = 3
AT_ONCE = 2**22  # tokens that are drawn at once, about


@dataclass(frozen=True, eq=False)
class Anomalies:
    """Documents, the most unusual first.

    Attributes
    ----------
    documents : (n,) int array
        Their numbers from 0.
    tokens : (n,) array
    per_token : (n,) array
        Log probability of the tokens in their order, divided by their number, in nats; NaN for an
        empty document.
    tail : (n,) array
        Share of documents drawn from the model that are at most as likely, (rank + 1) / (M + 1).
    words : (n,) list of lists of int
        The words that add most to the unlikelihood, given the document's mix.
    kind : str
        What the log-likelihood is.
    """

    documents: Array
    tokens: Array
    per_token: Array
    tail: Array
    words: list[list[int]]
    kind: str


def find_anomalies(
    fit: Fit,
    corpus: Corpus,
    n: int | None = None,
    by: str = "tail",
    n_simulated: int = SIMULATED,
    method: Any = "bound",
    engine: Engine | None = None,
) -> Anomalies:
    """Rank documents by how unlikely they are.

    The log-likelihood of a document depends on its length. So it is compared per token, and with
    documents that are drawn from the model: with the totals of the document for models that are
    given them, and else with its exposures, so that its length counts too.

    Parameters
    ----------
    fit : Fit
    corpus : Corpus
    n : int, optional
        Documents to return; all by default.
    by : {"tail", "likelihood"}
        Order by the tail probability, or by the log-likelihood per token.
    n_simulated : int
        Documents that each one is compared with, M.
    method
        As for ``document_likelihood``; the documents drawn are judged by the same method, so that
        the tail probability holds for each.
    engine : Engine, optional
    """
    one_of("by", by, ORDERS)
    n_simulated = whole("n_simulated", n_simulated, 1)
    engine = engine or Threads(1)
    if not corpus.integral:
        raise InputError(
            "simulated documents have whole counts, but these data have fractions",
            remedy="round the counts",
        )
    found = document_likelihood(fit, corpus, method, n_runs=1, engine=engine)
    per_token = found.per_token
    tail = _tails(fit, corpus, found.log_likelihood, n_simulated, method, engine)
    last = np.where(np.isnan(per_token), np.inf, per_token)  # empty documents
    keys = (last, tail) if by == "tail" else (tail, last)
    order = np.lexsort(keys)[: corpus.n_documents if n is None else whole("n", n, 1)]
    words = _unlikely(fit, corpus.select(order), engine)
    return Anomalies(order, corpus.lengths[order], per_token[order], tail[order], words, found.kind)


def _tails(fit: Fit, corpus: Corpus, observed: Array, n: int, method: Any, engine: Engine) -> Array:
    """Tail probability of each document, (I,); those of equal totals share their simulations."""
    simulator = Simulator(fit.params.model, fit.mean_loadings, fit.layout)
    totals = np.rint(corpus.group_lengths.toarray()).astype(np.int64)
    exposures = corpus.known_exposures
    kinds: Any = totals if fit.params.model.normalised else exposures
    patterns, number = np.unique(kinds, axis=0, return_inverse=True)
    below = np.zeros(corpus.n_documents)
    for at in range(len(patterns)):
        own = np.flatnonzero(number.ravel() == at)
        one = own[0]
        seed = [int(fit.seed), *np.frombuffer(patterns[at].tobytes(), dtype=np.uint32).tolist()]
        # equal documents count as equal, whatever the rounding
        most = observed[own] + 1e-9 * np.maximum(np.abs(observed[own]), 1.0)
        n_at_once = int(max(1, AT_ONCE // max(corpus.lengths[own].max(), 1)))
        for start in range(0, n, n_at_once):
            size = min(n_at_once, n - start)
            drawn = simulator.documents(size, totals[one], exposures[one], [*seed, start])
            logs = document_likelihood(fit, drawn, method, n_runs=1, engine=engine).log_likelihood
            below[own] += np.sum(logs[:, None] <= most, axis=0)
    return np.asarray((below + 1.0) / (n + 1.0))


def _unlikely(fit: Fit, corpus: Corpus, engine: Engine) -> list[list[int]]:
    """List the words of each document with the largest count x -log p(word | mix)."""
    mixes, loadings = proportions(fit.infer(corpus, engine).scores), fit.mean_loadings
    result = []
    for i in range(corpus.n_documents):
        entries = slice(corpus.indptr[i], corpus.indptr[i + 1])
        words = corpus.words[entries]
        chance = np.maximum(loadings[words] @ mixes[i], 1e-300)
        surprise = -corpus.counts[entries] * np.log(chance)
        result.append(words[np.argsort(-surprise, kind="stable")[:N_UNLIKELY]].tolist())
    return result
