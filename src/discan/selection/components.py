# SPDX-License-Identifier: BSD-3-Clause
"""How many components: fit every K from several starts, and see which predicts held-out data."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import numpy as np

from discan.errors import InputError
from discan.estimators.counting import AUTO
from discan.models import MODELS, process_of
from discan.selection.jobs import Setting
from discan.selection.protocols import choose_protocol
from discan.selection.result import Selection
from discan.selection.search import Plan, corpus_of, fit_params, short_chain
from discan.selection.verdict import on_auto, unit, verdict_on
from discan.validation import whole

__all__ = ["select_components"]

log = logging.getLogger("discan")


def select_components(
    X: Any,
    components: Iterable[Any] = range(2, 11),
    *,
    model: Any = "dm",
    algorithm: Any = "auto",
    protocol: str = "auto",
    seeds: int = 2,
    folds: int | None = None,
    evidence: str | None = None,
    groups: Any = None,
    max_iter: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    folder: Any = None,
    progress: bool | None = None,
    **options: Any,
) -> Selection:
    """Find how many components the data support, by prediction of held-out data.

    Every K is fitted from several starts to several folds, and predicts the same held-out tokens.

    Parameters
    ----------
    X : (I, J) counts
        All that an estimator takes: array, sparse matrix, data frame, Corpus, AnnData.
    components : iterable of int, and "auto"
        Numbers of components to try, e.g. ``range(2, 41)`` or ``(10, 20, 50)``. "auto" beside them
        is a fit that learns the number, for comparison; the verdict says whether it pays.
    model : {"dm", "gp", "cgp"} or Model, default="dm"
    algorithm : str or Algorithm, default="auto"
        "auto" is one algorithm for all K: the one that ``DCA`` would choose for the largest. A
        chain has the same number of sweeps for every K, 200 to 500, which is enough to rank them.
    protocol : {"auto", "completion", "entries", "thinning"}, default="auto"
        What is held out. "completion": documents; half of each one's tokens is predicted from the
        other half. "entries": single votes, answers or genotypes; each is predicted from the others
        of the same row. "thinning": single tokens. "auto" is "entries" for grouped columns with few
        tokens per group and row, else "thinning" for models of amounts ("gp", "cgp"), else
        "completion".
    seeds : int, default=2
        Number of starts for each K and fold. With one, nothing is known about how far starts
        disagree.
    folds : int, optional
        Number of parts that are held out in turn; 1 holds out a tenth of the data. By default 5, or
        1 from 500,000 tokens on.
    evidence : {"bound", "ais", "ti", "chib"}, optional
        Also estimate log p(W | totals) of each K, with the priors given or the usual ones, by
        ``log_evidence``; it can take longer than all fits.
    groups : (J,) array, optional
        Group of each column.
    max_iter : int, optional
        Number of cycles of each fit.
    random_state : int, default=0
        Seed of the first start; the next ones follow.
    n_jobs : int, default=-1
        Number of fits at the same time; -1 is one per core. It does not change the result.
    folder : path, optional
        Folder to keep the fits in. The same call continues a search that was stopped. More K and
        more seeds can be added.
    progress : bool, optional
        Progress bar on stderr with the time left; by default only in a terminal.
    **options
        Other arguments of ``DCA``: alpha, gamma, learn, init, tol, ...

    Returns
    -------
    Selection
        ``best``, ``smallest``, ``flat``, ``verdict``, ``table``, ``frame()``, ``plot()``.

    Examples
    --------
    >>> import numpy as np, discan
    >>> X = np.kron(np.eye(3, dtype=int), np.full((20, 4), 5))
    >>> found = discan.select_components(X, range(1, 5), max_iter=40, n_jobs=1)
    >>> found.flat
    (3, 4)
    """
    corpus = corpus_of(X, groups)
    sizes, auto = _sizes(components)
    found = MODELS.find(model)
    how, reason = choose_protocol(protocol, corpus, found)
    counting = process_of(found) if auto else found
    chosen, cycles = short_chain(algorithm, counting, corpus, max(sizes), max_iter)
    params = {
        "model": found, "algorithm": chosen, "max_iter": cycles, **fit_params(options),
    }  # fmt: skip
    settings = [Setting(f"K{k}", {**params, "n_components": k}) for k in (*sizes, *auto)]
    plan = Plan.of(corpus, settings, how, seeds, folds, random_state, "K", evidence)
    n_fits = len(settings) * len(plan.seeds) * plan.n_folds
    log.info("held out (%s, %s): %s", how.name, reason, how.summary)
    log.info(
        "%s fits by %s: %d K x %s x %s", f"{n_fits:,}", chosen.name, len(settings),
        _counted(len(plan.seeds), "start"), _counted(plan.n_folds, "fold"),
    )  # fmt: skip
    searched = plan.run(n_jobs, folder, progress)
    converged = float(np.mean([row["converged"] for row in searched.rows]))
    measured = searched.measured.first(len(sizes))
    verdict = verdict_on(measured, searched.stable[: len(sizes)], corpus.nouns, converged)
    says = [verdict.text, searched.by_evidence]
    if auto:
        says.append(on_auto(searched.measured, searched.rows, corpus.nouns))
    return Selection(
        verdict=" ".join(text for text in says if text),
        table=searched.table,
        rows=searched.rows,
        baseline=searched.measured.baseline,
        protocol=how.name,
        reason=reason,
        unit=unit(corpus.nouns),
        best=verdict.best,
        smallest=verdict.smallest,
        flat=verdict.flat,
    )


def _sizes(components: Any) -> tuple[list[int], list[str]]:
    """Check the numbers of components; return them in order, each once, and if there "auto"."""
    single = hasattr(components, "__index__") or isinstance(components, str)
    given = [components] if single else components
    try:
        given = list(given)
        sizes = sorted({whole("components", k, 1) for k in given if k != AUTO})
    except TypeError:
        raise InputError(
            "{}; give numbers of components, e.g. range(2, 41)",
            argument="components", value=components,
        ) from None  # fmt: skip
    if not sizes:
        raise InputError("no number of components to try; give e.g. range(2, 41)")
    return sizes, [AUTO] * (len(sizes) < len(set(given)))


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
