# SPDX-License-Identifier: BSD-3-Clause
"""Options and memory of fits that may be online: an update after every batch of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discan.data.corpus import Corpus
from discan.data.rules import MOST, stored
from discan.typing import Array
from discan.validation import flag, number, whole

__all__ = ["Blend", "OnlineOptions", "even_batch"]

# Visits of a batch, and steps inside one: more could not be told from a fit that hangs.
MOST_REPEATS = 10_000


@dataclass(frozen=True)
class Blend:
    """Memory of an online fit.

    Attributes
    ----------
    updates : int
        Number of visits so far.
    before : (J, K) array or None
        Expected counts before the first visit of the present batch; None between batches.
    """

    updates: int = stored(types="whole", low=0, default=0)
    before: Array | None = stored("J", "K", low=0, high=MOST, default=None)


@dataclass(frozen=True, kw_only=True)
class OnlineOptions:
    """Options of a fit that may be online; ``MAP`` describes them."""

    online: bool = False
    batch_entries: int | None = None
    delay: float = 0.5
    decay: float = 0.7
    visits: int = 8
    inner: int | None = None
    fold_in_tolerance: float | None = 1e-5

    formerly: ClassVar[dict[str, Any]] = {"fold_in_tolerance": None}

    def __post_init__(self) -> None:
        """Check the options."""
        flag("online", self.online)
        number("decay", self.decay, "more than 0.5 and at most 1", np.nextafter(0.5, 1), 1.0)
        number("delay", self.delay, "a finite number, at least 0", 0.0, 1e300)
        whole("visits", self.visits, 1, MOST_REPEATS)
        if self.batch_entries is not None:
            whole("batch_entries", self.batch_entries, 1)
        if self.inner is not None:
            whole("inner", self.inner, 1, MOST_REPEATS)
        if self.fold_in_tolerance is not None:
            wanted = "a number above 0 and below 1"
            number("fold_in_tolerance", self.fold_in_tolerance, wanted, 1e-12, 0.999)


def even_batch(corpus: Corpus, most: int, documents: int) -> int:
    """Non-zeros in a batch, of which there are at most ``most`` with enough documents each."""
    batches = max(1, min(most, corpus.n_documents // documents))
    return max(1, -(-corpus.n_entries // batches))
