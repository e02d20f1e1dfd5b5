# SPDX-License-Identifier: BSD-3-Clause
"""``n_components="auto"``: the upper limit, the model, and what cannot be asked for with it."""

from __future__ import annotations

import logging
from typing import Any

from discan.algorithms import Algorithm
from discan.data.corpus import Corpus
from discan.errors import Argument, InputError
from discan.fitting.result import Fit
from discan.validation import whole

__all__ = ["AUTO", "check_counting", "is_auto", "remark_on_count", "remark_on_limit", "upper_limit"]

log = logging.getLogger("discan")

AUTO = "auto"
# The limit that is chosen: by documents and by tokens per component. Beyond so many components it
# takes more tokens for each.
DOCUMENTS_EACH, TOKENS_EACH = 4, 200
MANY, TOKENS_EACH_OF_MANY = 200, 1_000
FEWEST, MOST = 10, 1_000
# The limit is too low if the data use more than this part of it.
FULL = 0.9


def is_auto(n_components: Any) -> bool:
    """Whether the number of components is to be learnt."""
    if isinstance(n_components, str) and n_components != AUTO:
        raise InputError(
            "{}; give a whole number or 'auto'", argument="n_components", value=n_components
        )
    return isinstance(n_components, str)


def upper_limit(corpus: Corpus, n_components: Any, max_components: Any) -> int:
    """Return the number of components to fit: that given, or the limit of those to be learnt."""
    if not is_auto(n_components):
        if max_components is not None:
            raise InputError(
                "{} is for a number of components that is learnt",
                argument="max_components", value=max_components,
                remedy="leave it out", use={"n_components": AUTO},
            )  # fmt: skip
        return whole("n_components", n_components, 1)
    if max_components is not None:
        return whole("max_components", max_components, 1)
    documents = int((corpus.lengths > 0).sum())
    words = int((corpus.word_totals > 0).sum()) - corpus.n_groups + 1
    tokens = int(corpus.n_tokens)
    by_tokens = min(tokens // TOKENS_EACH, max(tokens // TOKENS_EACH_OF_MANY, MANY), MOST)
    by_data = max(min(documents // DOCUMENTS_EACH, by_tokens), FEWEST)
    return max(1, min(by_data, documents, words))


def remark_on_limit(limit: int, max_components: Any) -> None:
    """Say the limit that was chosen."""
    if max_components is None:
        log.info("at most %d components are tried; see %s", limit, Argument("max_components", ...))


def check_counting(algorithm: Algorithm, alpha: Any, init: Any) -> None:
    """Refuse algorithms that cannot tell used components from unused ones, and fixed priors."""
    if not algorithm.whole_counts:
        raise InputError(
            f"{{}}: {algorithm.name} gives every component a part of each token, so none is unused",
            argument="n_components", value=AUTO, use={"algorithm": ("collapsed", "gibbs")},
        )  # fmt: skip
    if alpha is not None:
        raise InputError("{}: n_components='auto' learns alpha", argument="alpha",
                         value=alpha, remedy="leave it out")  # fmt: skip
    if not isinstance(init, str):
        raise InputError("{}: components were given", argument="n_components", value=AUTO,
                         remedy=f"give n_components={len(init)}")  # fmt: skip


def remark_on_count(fit: Fit) -> None:
    """Say how many components are used, and if the limit was too low."""
    if fit.record is None or not fit.record.n_draws:
        return
    limit, high = fit.n_components + len(fit.unused.get("alpha", ())), fit.n_used_interval[1]
    log.info("%s", fit.counted)
    if high >= max(FULL * limit, limit - 1):
        log.warning(InputError(f"the data use all of the {limit} components that were allowed",
                               use={"max_components": 2 * limit}))  # fmt: skip
