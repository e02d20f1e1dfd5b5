# SPDX-License-Identifier: BSD-3-Clause
"""How good each component is: coherent, exclusive, of many documents, alive, without a twin."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import entr

from discan.data.corpus import Corpus
from discan.errors import InputError
from discan.evaluation.coherence import co_documents, npmi, u_mass
from discan.evaluation.distances import distances
from discan.fitting.result import Fit
from discan.fitting.summary import fields_of
from discan.typing import Array

__all__ = ["Quality", "effective_documents", "exclusivity", "first_words", "lift", "quality"]

# A component is dead if it explains less than this share of its equal part of all tokens, ...
DEAD_SHARE = 0.01
# ... or fewer tokens than this.
DEAD_TOKENS = 1.0
# Two components are twins if their Hellinger distance is below this.
TWIN = 0.2


@dataclass(frozen=True)
class Quality:
    """Quality of one component.

    Attributes
    ----------
    component : str
        Its name.
    size : float
        Fraction of all tokens.
    npmi, u_mass : float or None
        Coherence of its first words in the documents given; None without documents.
    exclusivity : float
        Mean share of the component in the probability of its first words over all components, from
        1/K (nothing of its own) to 1.
    lift : float
        Geometric mean of how many times likelier its first words are here than in all the data.
    documents : float
        Effective number of documents: exp of the entropy of their shares in the component.
    nearest : str
        The component most like it; "" if it is the only one.
    distance : float
        Its Hellinger distance from that one, from 0 (equal) to 1 (no word in common).
    flags : str
        "dead" if it explains almost nothing, "twin" if its nearest is nearly equal; else "".
    stability : float or None
        Mean similarity, 1 - Hellinger distance, to its partners in other chains; None of one chain.
    """

    component: str
    size: float
    npmi: float | None
    u_mass: float | None
    exclusivity: float
    lift: float
    documents: float
    nearest: str
    distance: float
    flags: str
    stability: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the same as a dict."""
        return asdict(self)


def quality(fit: Fit, corpus: Corpus | None = None, n_words: int = 10) -> list[Quality]:
    """Measure the quality of every component, in the order of the components.

    Parameters
    ----------
    fit : Fit
    corpus : Corpus, optional
        Documents for the coherence, in the columns of the fit: those of the training, or better,
        others. Without them the coherence is None.
    n_words : int, default=10
        Words per component that are looked at.
    """
    if fit.documents is None:
        raise InputError("the components were given, so there are no training documents")
    lists = first_words(fit, n_words)
    coherent: list[Any] = [(None, None)] * fit.n_components
    if corpus is not None:
        n = corpus.n_documents
        coherent = [(npmi(t, n), u_mass(t, n)) for t in co_documents(corpus, lists)]
    counts = fit.component_counts
    dead = dead_components(counts.sum(axis=0))
    own, lifts, documents = exclusivity(fit, lists), lift(fit, lists), effective_documents(counts)
    apart = distances(fit.components, fit.components, fit.layout, fit.group_totals)
    np.fill_diagonal(apart, np.inf)
    names, nearest = fit.component_names, apart.argmin(axis=1)
    alone = fit.n_components == 1

    def flags(k: int) -> str:
        # two dead components are alike because both are the prior
        twin = apart[k, nearest[k]] < TWIN and not dead[k] and not dead[nearest[k]]
        return "dead" if dead[k] else "twin" if twin else ""

    return [
        Quality(
            names[k], float(fit.sizes[k]), coherent[k][0], coherent[k][1], float(own[k]),
            float(lifts[k]), float(documents[k]), "" if alone else names[nearest[k]],
            1.0 if alone else float(apart[k, nearest[k]]), flags(k),
            None if fit.chains is None else float(fit.chains.stability[k]),
        )
        for k in range(fit.n_components)
    ]  # fmt: skip


def first_words(fit: Fit, n_words: int = 10) -> list[Array]:
    """Columns of the first words of each component, (n,) each.

    For text, the likeliest words; several fields are weighted by their mean number of tokens. For
    votes, answers and alleles, the most telling answers, at most one of a question:
    p log(p / q), where p is the probability in the component and q that in the others.
    """
    components, layout = fit.components, fit.layout
    fields, _ = fields_of(layout, fit.group_totals)
    if fields:
        columns = np.concatenate([columns for _, columns in fields])
        weights = fit.group_totals[layout.group_of_word[columns]]
        value = components[:, columns] * (weights if len(fields) > 1 else 1.0)
        return [columns[np.argsort(-row, kind="stable")[:n_words]] for row in value]
    overall = fit.sizes @ components
    lists = []
    for size, p in zip(fit.sizes, components, strict=True):
        others = np.maximum(overall - size * p, 1e-12) / max(1.0 - size, 1e-12)
        value = p * np.log(np.maximum(p, 1e-300) / others)
        order = np.argsort(-value, kind="stable")
        _, first = np.unique(layout.group_of_word[order], return_index=True)
        lists.append(order[np.sort(first)[:n_words]])
    return lists


def exclusivity(fit: Fit, lists: list[Array]) -> Array:
    """Mean share of each component in the probability of its first words, (K,)."""
    total = np.maximum(fit.components.sum(axis=0), 1e-300)
    pairs = zip(fit.components, lists, strict=True)
    return np.array([(row[words] / total[words]).mean() for row, words in pairs])


def lift(fit: Fit, lists: list[Array]) -> Array:
    """Geometric mean of the lift of each component's first words, (K,).

    A word of probability 0 is left out; a component without any word has lift 1.
    """
    overall = fit.sizes @ fit.components
    result = np.ones(len(lists))
    for k, (row, words) in enumerate(zip(fit.components, lists, strict=True)):
        known = words[(row[words] > 0) & (overall[words] > 0)]
        if len(known):
            result[k] = np.exp(np.log(row[known] / overall[known]).mean())
    return result


def effective_documents(component_counts: Array) -> Array:
    """Exp of the entropy of the documents' shares (I, K) in each component, (K,).

    A component without tokens has 0 documents.
    """
    totals = component_counts.sum(axis=0)
    shares = component_counts / np.where(totals > 0, totals, 1.0)
    return np.asarray(np.where(totals > 0, np.exp(entr(shares).sum(axis=0)), 0.0))


def dead_components(totals: Array) -> Array:
    """Tell which components explain almost nothing, given their numbers of tokens, (K,) bool."""
    least = max(DEAD_TOKENS, DEAD_SHARE * totals.sum() / len(totals))
    return np.asarray(totals < least)
