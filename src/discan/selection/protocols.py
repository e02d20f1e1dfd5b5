# SPDX-License-Identifier: BSD-3-Clause
"""Which part of the data is held out, and what it is predicted from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from discan.data.corpus import Corpus
from discan.data.splits import document_folds, entry_folds, token_folds
from discan.errors import InputError
from discan.validation import one_of

__all__ = ["PROTOCOLS", "Fold", "Protocol", "choose_protocol"]

FEW_TOKENS = 3.0  # per (document, group) pair on average: votes have 1, diploid genotypes 2


class Fold(NamedTuple):
    """One division of the data.

    Attributes
    ----------
    train : Corpus
        What the model is fitted to.
    test : Corpus
        What is predicted: new documents, half of each from the other half; or, with ``given``,
        all tokens.
    given : Corpus or None
        What gives the mix of the documents of ``test``: the training part of the same documents.
    """

    train: Corpus
    test: Corpus
    given: Corpus | None


@dataclass(frozen=True)
class Protocol:
    """A way to hold out data.

    Attributes
    ----------
    name, summary : str
    deal : callable
        Function of the corpus, the number of folds and a seed; returns (train, test) per fold.
    same_documents : bool
        Whether all documents are in all parts, so that the training part is ``given``.
    """

    name: str
    summary: str
    deal: Callable[[Corpus, int, int], list[tuple[Corpus, Corpus]]]
    same_documents: bool

    def folds(self, corpus: Corpus, n_folds: int, seed: int) -> list[Fold]:
        """Divide the data, the same way for every model."""
        return [
            Fold(train, test, train if self.same_documents else None)
            for train, test in self.deal(corpus, n_folds, seed)
        ]


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "completion",
            "documents are held out; half of each one's tokens is predicted from the other half",
            document_folds,
            same_documents=False,
        ),
        Protocol(
            "entries",
            "single entries (a vote, an answer, a genotype) are held out, and predicted from the "
            "others of the same row",
            entry_folds,
            same_documents=True,
        ),
        Protocol(
            "thinning",
            "single tokens of all documents are held out, and predicted from the others of the "
            "same document",
            token_folds,
            same_documents=True,
        ),
    )
}


def choose_protocol(choice: str, corpus: Corpus, model: Any = None) -> tuple[Protocol, str]:
    """Return a protocol by name, or for "auto" the one that fits the data, and why.

    Parameters
    ----------
    choice : str
    corpus : Corpus
    model : Model, optional
        The model to fit, if it is one for all.
    """
    one_of("protocol", choice, ("auto", *PROTOCOLS))
    if choice != "auto":
        if choice == "entries" and corpus.n_groups == 1:
            raise InputError(
                "{} needs columns in groups, such as the answers to a question; all columns are "
                "in one group", argument="protocol", value=choice,
                use={"protocol": ("completion", "thinning")},
            )  # fmt: skip
        return PROTOCOLS[choice], "as asked"
    n_pairs = corpus.group_lengths.nnz if corpus.n_groups > 1 else 0
    if n_pairs and corpus.n_tokens <= FEW_TOKENS * n_pairs:
        return PROTOCOLS["entries"], f"because the columns are in {corpus.n_groups:,} groups"
    if model is not None and not model.normalised and corpus.integral:
        return PROTOCOLS["thinning"], f"because {model.short} is a model of amounts"
    return PROTOCOLS["completion"], f"because the rows are {corpus.nouns.documents} of many tokens"
