# SPDX-License-Identifier: BSD-3-Clause
"""Estimate the memory of a fit before it begins.

A fit goes through phases: first parameters and states, visits, result. Each phase holds some tables
of loadings (J x K) and of scores (I x K), and a few temporary tables for each block that a thread
works on. The numbers of tables were measured; ``tests/fitting/test_memory.py`` holds the estimates
to within 20 % of the peak.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discan.data.blocks import BLOCK_ENTRIES, BlockRef
from discan.data.corpus import Corpus
from discan.engines.base import large_at_once
from discan.typing import Array

__all__ = [
    "FILLED", "SCORED", "SINGLE_FROM", "Phase", "Sizes", "Tables", "averages", "estimated",
    "used_pairs",
]  # fmt: skip

# From this many loadings on, the means and variances over draws are kept in single precision,
SINGLE_FROM = 2**17
# and only for words and components that ever met, if a draw fills at most this much of the table.
FILLED = 1 / 3
LEAST = 2**17  # bytes of what does not grow
GROUP = 28  # bytes of a document and group while the constants of the likelihood are added up
READ = 16  # bytes of a non-zero count of a block that is read from disk
SCORED = 65  # bytes per score of a block while its scores are worked out
CHECKED = 26  # the same while a corpus folder is checked, a part after another
PAIR = 10  # bytes of a component that a document or word ever used: its number and two moments


class Phase(NamedTuple):
    """Bytes at the peak of a phase: those of the whole fit, and more per block at work."""

    whole: float
    per_block: float = 0.0


class Sizes(NamedTuple):
    """Sizes of the tables of a fit, in elements.

    loadings, scores : J x K and I x K, or 0 if scores are on disk; block : K times the documents of
    the largest block; sums : tables of sums of the largest round on one thread, 1 or 2; groups :
    pairs of a document and a group in the largest block, or 0 if there is one group; passing :
    block if its scores are read from disk, else 0; entries : non-zeros of a block that is read from
    disk, else 0; opening : bytes at the peak while a corpus folder is opened.
    """

    loadings: int
    scores: int
    block: int
    sums: int
    groups: int
    passing: int = 0
    entries: int = 0
    opening: int = 0

    @classmethod
    def of(
        cls, corpus: Corpus, n_components: int, rounds: Sequence[Sequence[BlockRef]], lanes: int
    ) -> Sizes:
        """Return the sizes of a fit by these rounds."""
        longest = max(block.stop - block.start for blocks in rounds for block in blocks)
        loadings, block = n_components * corpus.n_words, n_components * longest
        sums = large_at_once(min(lanes, max(map(len, rounds))), 1)
        groups = min(longest * corpus.n_groups, BLOCK_ENTRIES) if corpus.n_groups > 1 else 0
        if not corpus.on_disk:
            return cls(loadings, n_components * corpus.n_documents, block, sums, groups)
        entries = min(corpus.n_entries, -(-corpus.n_entries // sum(map(len, rounds))))
        opening = CHECKED * min(corpus.n_entries, BLOCK_ENTRIES)
        opening += 8 * corpus.n_documents + 24 * corpus.n_words
        return cls(loadings, 0, block, sums, groups, block, entries, opening)

    def phase(self, whole: float, per_score: float = 0.0, per_block: float = 0.0) -> Phase:
        """Return a phase of some bytes, and more per score and per score of a block at work.

        If documents are on disk, only the blocks at work have scores and counts in memory.
        """
        at_work = per_block * self.block + per_score * self.passing + READ * self.entries
        return Phase(whole + per_score * self.scores, at_work)


class Tables(NamedTuple):
    """Numbers of tables that a deterministic algorithm holds.

    visit, online : tables of loadings during a visit beside the partial sums, and more when online;
    state : tables of scores; params : tables of loadings that the parameters keep; result, kept :
    bytes per loading, beside those, while the loadings of the result are made and afterwards; extra
    : bytes per score of the result beside counts and scores.
    """

    visit: int = 3
    online: int = 2
    state: int = 1
    params: int = 2
    result: int = 8
    kept: int = 8
    extra: int = 0

    def memory(self, sizes: Sizes, real: Any, online: bool = False) -> dict[str, Any]:
        """Return the fields of a schedule that tell the memory, tables being of type ``real``."""
        loadings = sizes.loadings
        n_bytes = np.dtype(real).itemsize
        state = self.state * n_bytes
        tables = self.visit + sizes.sums + (self.online if online else 0)
        begin = sizes.phase(4 * n_bytes * loadings, n_bytes + state, 24)
        moved = 1.7 * (state - n_bytes)  # where scores are extrapolated
        constants = GROUP * sizes.groups  # what the first objective takes
        visits = sizes.phase(n_bytes * tables * loadings + constants, state, moved)
        held = self.params * n_bytes * loadings
        widened = 8 if n_bytes < 8 else 0  # a copy in double precision
        made = Phase(held + (self.result + widened) * loadings + state * sizes.scores)
        per_block = SCORED + 15 * (sizes.passing > 0)  # more for a state that is read from disk
        read = sizes.phase(held + self.kept * loadings, state + 16 + self.extra, per_block)
        kept = (self.kept + n_bytes) * loadings, (16 + self.extra) * sizes.scores
        found = estimated(sizes, [begin, visits], [made, read])
        return found | {"kept_bytes": kept, "lane_bytes": n_bytes * loadings}


def estimated(
    sizes: Sizes, visits: Sequence[Phase], result: Sequence[Phase] = ()
) -> dict[str, Any]:
    """Return the fields of a schedule that tell the memory of these phases."""
    visits = [*visits, Phase(sizes.opening)]
    highest = max((*visits, *result), key=sum)
    return {
        "bytes": int(highest.whole) + LEAST,
        "block_bytes": int(highest.per_block),
        "visit_bytes": int(max(map(sum, visits))) + LEAST,
    }


def used_pairs(totals: Array, n_components: int, n_draws: int) -> float:
    """Expected number of components that each row ever used, in all rows.

    ``totals`` are tokens per document or per word, each taken to be drawn anew. A chain moves more
    slowly, but after some 30 draws nearly all components were used that this tells.
    """
    chances = -np.expm1(-totals * (n_draws / n_components))
    return float(n_components * chances.sum())


def averages(corpus: Corpus, n_components: int, n_draws: int) -> tuple[float, float]:
    """Bytes of the means over draws of a chain: of the loadings, and of the documents."""
    loadings = n_components * corpus.n_words
    drawn = np.minimum(corpus.word_totals, n_components).sum()
    if loadings < SINGLE_FROM:
        means = 16.0 * loadings
    elif drawn <= FILLED * loadings:
        means = PAIR * used_pairs(corpus.word_totals, n_components, n_draws)
    else:
        means = 8.0 * loadings
    if corpus.on_disk:  # where documents are not averaged
        return means, 0.0
    return means, PAIR * used_pairs(corpus.lengths, n_components, n_draws)
