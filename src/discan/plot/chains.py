# SPDX-License-Identifier: BSD-3-Clause
"""Chains: whether the chains of a fit found the same components."""

from __future__ import annotations

from typing import Any

from discan.errors import InputError
from discan.evaluation.chains import as_fits
from discan.fitting.result import needed_fit
from discan.plot.flow import flow

__all__ = ["chains"]


def chains(
    source: Any, *, n_words: int = 3, title: str | None = None, subtitle: str | None = None
) -> Any:
    """Draw the flow between the chains of a fit with ``n_chains``.

    Parameters
    ----------
    source : fit or fitted estimator
    n_words : int
        Telling words beside the components of the last chain.
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
    """
    fit = needed_fit(source, "a figure of chains needs")
    fits = as_fits(fit)
    if fit.chains is None or len(fits) < 2:
        raise InputError(
            "the fit has one chain, or too many loadings to keep those of all",
            use={"n_chains": 4},
        )
    kind = "chain" if fit.algorithm.whole_counts else "start"
    titles = [
        f"{kind} {n + 1}" + (" (used)" if n == fit.chains.chosen else "") for n in range(len(fits))
    ]
    return flow(
        fits, titles=titles, n_words=n_words, title=title or f"Do the {kind}s agree?",
        subtitle=subtitle or fit.chains.report[0].capitalize(),
    )  # fmt: skip
