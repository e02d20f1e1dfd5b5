# SPDX-License-Identifier: BSD-3-Clause
"""Find the blocs of a chamber from its roll calls, and describe them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discan.algorithms import Collapsed
from discan.data.corpus import Corpus
from discan.errors import InputError
from discan.estimators.dca import DCA
from discan.plot.palette import DEEP, Scale, spectrum
from discan.readers.datasets import Dataset
from discan.typing import Array
from discan.validation import whole

__all__ = ["Blocs", "find_blocs"]

SAME_BLOC = 0.7  # two blocs are the same from this Jaccard index on: shared seats / united seats


@dataclass(frozen=True, eq=False)
class Blocs:
    """Blocs from one wing to the other, then the nearly empty ones.

    Attributes
    ----------
    title, description : str
    method : tuple of str
        Sentences that describe the method.
    members, parties : (I,) arrays of str
    order : (I,) array
        Members from one wing to the other.
    explained : float
        Share of the variance of the votes that the order's principal component explains.
    membership : (I, K) array
        Rows sum to 1.
    outcome, agreement : (K,) arrays
        Share of each bloc in the outcome, and part of the roll calls that its majority won.
    seen, n_chains : (K,) array, int
        Number of chains that found the bloc, and number of all chains.
    yea : (G, K) array
        Chance that a member of the bloc votes yea.
    votes : dict of (G,) arrays
        number, date, title, question, result, yeas, nays.
    """

    title: str
    description: str
    method: tuple[str, ...]
    members: Array
    parties: Array
    order: Array
    explained: float
    membership: Array
    outcome: Array
    agreement: Array
    seen: Array
    n_chains: int
    yea: Array
    votes: dict[str, Array]

    @property
    def seats(self) -> Array:
        """Number of members of each bloc, (K,), not whole: a member may belong to several."""
        return np.asarray(self.membership.sum(axis=0))

    @property
    def used(self) -> Array:
        """Numbers of the blocs of at least one seat."""
        return np.flatnonzero(self.seats >= 1.0)

    @property
    def left_empty(self) -> str:
        """A sentence about the nearly empty blocs, "" if there is none."""
        empty = [k for k in range(len(self.seats)) if k not in self.used]
        if not empty:
            return ""
        return (
            f"{len(self.seats)} blocs were allowed; nearly empty: "
            f"{', '.join(self.letters[k] for k in empty)} ({self.seats[empty].sum():.1f} seats)."
        )

    @property
    def letters(self) -> list[str]:
        """A name for each bloc: A, B, ..."""
        n = len(self.seats)
        return [chr(65 + k) if n <= 26 else str(k + 1) for k in range(n)]

    def colours(self, scale: Scale = DEEP, empty: str = "#c9c9c9") -> list[str]:
        """One colour per bloc, along a scale; the nearly empty blocs have their own."""
        shades = [empty] * len(self.seats)
        for k, colour in zip(self.used, spectrum(len(self.used), scale), strict=True):
            shades[k] = colour
        return shades

    def party_mix(self, k: int) -> dict[str, float]:
        """Seats of each party in a bloc, the largest first, without those below 0.05."""
        seats = {p: float(self.membership[self.parties == p, k].sum()) for p in set(self.parties)}
        return {p: n for p, n in sorted(seats.items(), key=lambda x: (-x[1], x[0])) if n >= 0.05}

    def typical(self, k: int, n: int) -> list[int]:
        """Members with the largest shares of a bloc, at least one half of the largest."""
        share = self.membership[:, k]
        most = np.argsort(-share, kind="stable")[:n]
        return [int(i) for i in most if share[i] >= 0.5 * share[most[0]]]

    def apart(self, k: int, n: int) -> list[int]:
        """Roll calls on which a bloc is furthest from all other blocs in use."""
        others = self.yea[:, [other for other in self.used if other != k]]
        if not others.shape[1]:
            return []
        mine = self.yea[:, k]
        distance = np.maximum(mine - others.max(axis=1), others.min(axis=1) - mine)
        return [int(g) for g in np.argsort(-distance, kind="stable")[:n]]


def find_blocs(data: Dataset, n_components: int = 5, n_chains: int = 4, seed: int = 0) -> Blocs:
    """Fit blocs to roll calls and describe them.

    Parameters
    ----------
    data : Dataset
        Documents are members; each group is a roll call of two words, yea and nay, as in
        `load_senate2005`.
    n_components, n_chains, seed : int
        Blocs allowed; chains run, of which the most typical is described; seed of all.
    """
    n_chains = whole("n_chains", n_chains, 1)
    corpus, agreed = data.corpus, data.group_table["agreed"]
    if corpus.n_words != 2 * corpus.n_groups:
        raise InputError("every roll call must have two words, yea and nay")
    seeds = np.random.SeedSequence(seed).generate_state(n_chains)
    chains = [
        DCA(
            n_components,
            algorithm=Collapsed(burn_in=250, n_draws=100),
            alpha=0.1,
            gamma=0.5,
            init="map",
            random_state=int(start),
            progress=False,
        ).fit(corpus)
        for start in seeds
    ]
    best, n_seen = _typical_chain([chain.proportions_ for chain in chains])
    chosen = chains[best]
    wing, explained = _wing(corpus, data.document_table["party"])
    order = _bloc_order(chosen.proportions_, wing)
    yea = chosen.components_[order, 0::2].T
    ballots = np.stack([agreed, ~agreed], axis=1).reshape(1, -1).astype(np.int64)
    outcome = chosen.transform(Corpus(ballots, groups=corpus.layout.group_of_word))[0, order]
    return Blocs(
        title="The blocs of the United States Senate, 2005",
        description=f"{corpus.n_documents} senators cast {corpus.n_tokens:,} votes on "
        f"{corpus.n_groups} roll calls of the 109th Congress, first session.",
        method=(
            "Discrete component analysis (discan), Dirichlet-multinomial model: a senator is a "
            "document, a roll call a group of two words, yea and nay; an absence is not counted.",
            f"{n_components} components, alpha = 0.1, gamma = 0.5, collapsed Gibbs sampling, "
            f"{chosen.n_iter_} sweeps, seed {seed}.",
            f"Of {n_chains} runs from different starts, this one agrees best with the others.",
        ),
        members=np.array(corpus.document_names),
        parties=data.document_table["party"],
        order=np.argsort(wing, kind="stable"),
        explained=explained,
        membership=chosen.proportions_[:, order],
        outcome=outcome,
        agreement=((yea > 0.5) == agreed[:, None]).mean(axis=0),
        seen=n_seen[order],
        n_chains=n_chains,
        yea=yea,
        votes=dict(data.group_table),
    )


# ---- details ----


def _typical_chain(memberships: list[Array]) -> tuple[int, Array]:
    """Find the chain that agrees best with the others.

    Returns
    -------
    its number, and the number of chains that find each of its blocs, (K,)
    """
    overlaps = [[_jaccard(a, b).max(axis=1) for b in memberships] for a in memberships]
    agreement = [
        sum(float(best @ a.sum(axis=0)) for best in row)
        for a, row in zip(memberships, overlaps, strict=True)
    ]
    chosen = int(np.argmax(agreement))
    return chosen, np.sum([best >= SAME_BLOC for best in overlaps[chosen]], axis=0)


def _jaccard(a: Array, b: Array) -> Array:
    """Return shared seats over united seats of every pair of blocs, (K, K)."""
    shared = np.minimum(a[:, :, None], b[:, None, :]).sum(axis=0)
    united = np.maximum(a[:, :, None], b[:, None, :]).sum(axis=0)
    return np.asarray(shared / united)


def _wing(corpus: Corpus, parties: Array) -> tuple[Array, float]:
    """Return the first principal component of the votes, and its share of their variance.

    Yea is +1, nay -1; the mean of the votes cast is subtracted from each roll call; an absence is
    0 after that. The sign puts Republicans on the right.
    """
    counts = corpus.to_csr().toarray().astype(np.float64)
    cast = counts[:, 0::2] + counts[:, 1::2]
    votes = counts[:, 0::2] - counts[:, 1::2]
    centred = votes - cast * (votes.sum(axis=0) / np.maximum(cast.sum(axis=0), 1.0))
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    wing = left[:, 0] * singular[0]
    right, rest = parties == "R", parties != "R"
    if right.any() and rest.any() and wing[right].mean() < wing[rest].mean():
        wing = -wing
    return wing, float(singular[0] ** 2 / np.maximum((singular**2).sum(), 1e-300))


def _bloc_order(membership: Array, wing: Array) -> Array:
    """Sort blocs by the mean place of their members from wing to wing; nearly empty ones last."""
    seats = membership.sum(axis=0)
    place = wing @ membership / np.maximum(seats, 1e-300)
    return np.lexsort((place, seats < 1.0))
