# SPDX-License-Identifier: BSD-3-Clause
"""Components of other programs as a fit, so that they can be judged, compared and explored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from discan.data.layout import Layout
from discan.data.margins import read_names
from discan.data.nouns import ALLELES, TEXT, Nouns
from discan.errors import InputError
from discan.estimators.dca import DCA
from discan.estimators.mallet_files import read_shares, read_state, read_weights
from discan.estimators.result_files import StrPath, read_lines, read_numbers
from discan.estimators.structure_results import read_results
from discan.fitting.posterior import KnownDocuments
from discan.models.base import proportions
from discan.typing import Array

__all__ = [
    "from_admixture", "from_gensim", "from_mallet", "from_sklearn", "from_structure",
    "from_tomotopy",
]  # fmt: skip


def from_gensim(model: Any, corpus: Any = None) -> DCA:
    """Make a fitted estimator of gensim's LdaModel, LdaMulticore or HdpModel.

    Parameters
    ----------
    model : gensim model
        A trained one.
    corpus : iterable of lists of (word number, count), optional
        The documents, to get their shares from gensim; without them the estimator has none.

    Returns
    -------
    DCA
    """
    with _asking("gensim"):
        components = np.asarray(model.get_topics(), dtype=np.float64)
        words = [str(model.id2word[j]) for j in range(components.shape[1])]
        alpha = getattr(model, "alpha", None)
        shares = lengths = None
        if corpus is not None:
            bags = [list(bag) for bag in corpus]
            lengths = np.array([sum(count for _, count in bag) for bag in bags], dtype=float)
            shares = np.asarray(model.inference(bags)[0], dtype=np.float64)
    return _imported("gensim", components, words, alpha, shares, lengths, algorithm="variational")


def from_tomotopy(model: Any) -> DCA:
    """Make a fitted estimator of a trained tomotopy model, with its documents.

    Parameters
    ----------
    model : tomotopy model
        A trained one.

    Returns
    -------
    DCA
    """
    with _asking("tomotopy"):
        components = np.array([model.get_topic_word_dist(k) for k in range(model.k)], dtype=float)
        words = list(model.used_vocabs)
        alpha = np.asarray(model.alpha, dtype=np.float64)
        documents = list(model.docs)
        shares = np.array([doc.get_topic_dist() for doc in documents], dtype=np.float64)
        # words that the model left out have higher numbers
        numbers = [np.asarray(doc.words, dtype=np.int64) for doc in documents]
        lengths = np.array([(row < len(words)).sum() for row in numbers], dtype=np.float64)
        names = [doc.uid for doc in documents]
    return _imported(
        "tomotopy", components, words, alpha, shares, lengths, names if all(names) else None
    )


def from_sklearn(model: Any, words: Sequence[str] | None = None, X: Any = None) -> DCA:
    """Make a fitted estimator of scikit-learn's LatentDirichletAllocation or NMF.

    Parameters
    ----------
    model : LatentDirichletAllocation or NMF
        A fitted one.
    words : (J,) names, optional
        E.g. ``vectorizer.get_feature_names_out()``.
    X : (I, J) counts, optional
        The documents, to get their shares from the model; without them the estimator has none.

    Returns
    -------
    DCA

    Examples
    --------
    >>> import numpy as np, discan
    >>> from sklearn.decomposition import LatentDirichletAllocation
    >>> X = np.kron(np.eye(2, dtype=int), np.full((5, 4), 3))
    >>> theirs = LatentDirichletAllocation(2, random_state=0).fit(X)
    >>> discan.from_sklearn(theirs, X=X).components_.shape
    (2, 8)
    """
    with _asking("scikit-learn"):
        amounts = np.asarray(model.components_, dtype=np.float64)
        alpha = getattr(model, "doc_topic_prior_", None)
        shares = lengths = None
        if X is not None:
            shares = np.asarray(model.transform(X), dtype=np.float64)
            lengths = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
            if alpha is None:  # NMF: the components carry a scale of their own
                shares = shares * amounts.sum(axis=1)
    algorithm = "map" if alpha is None else "variational"
    names = None if words is None else [str(word) for word in words]
    return _imported("scikit-learn", amounts, names, alpha, shares, lengths, algorithm=algorithm)


def from_mallet(path: StrPath, doc_topics: StrPath | None = None) -> DCA:
    """Make a fitted estimator of files that MALLET writes.

    Parameters
    ----------
    path : path
        A state (``--output-state``, .gz or unpacked), which has the documents, too; or weights of
        words (``--topic-word-weights-file``).
    doc_topics : path, optional
        Shares of the documents (``--output-doc-topics``), beside weights of words.

    Returns
    -------
    DCA
    """
    first, *others = read_lines(path)
    if first.startswith("#doc"):
        state = read_state(path, others)
        return _imported("MALLET", *state)
    components, words = read_weights(path, [first, *others])
    shares = names = None
    if doc_topics is not None:
        shares, names = read_shares(doc_topics, len(components))
    return _imported("MALLET", components, words, None, shares, None, names)


def from_admixture(
    p: StrPath, q: StrPath | None = None, loci: Sequence[str] | None = None,
    individuals: Sequence[str] | None = None,
) -> DCA:  # fmt: skip
    """Make a fitted estimator of the files P and Q of ADMIXTURE.

    Parameters
    ----------
    p : path
        Frequencies, a row per locus; of the allele that ``discan export`` calls the second.
    q : path, optional
        Shares, a row per individual.
    loci, individuals : sequence of str, optional
        Names of the rows of P and of Q.

    Returns
    -------
    DCA
    """
    second = read_numbers(p, [line.split() for line in read_lines(p)])
    if second.size == 0 or second.max() > 1:
        raise InputError(f"{p}: frequencies lie between 0 and 1")
    shares = None if q is None else read_numbers(q, [line.split() for line in read_lines(q)])
    titles = [f"locus {n + 1}" for n in range(len(second))] if loci is None else list(loci)
    if len(titles) != len(second):
        raise InputError(f"{p}: {len(second)} loci, and {len(titles)} names of loci")
    components = np.stack([1.0 - second, second], axis=1).reshape(-1, second.shape[1]).T
    words = [f"{title}={allele}" for title in titles for allele in (1, 2)]
    lengths = None if shares is None else np.full(len(shares), 2.0 * len(second))
    return _imported(
        "ADMIXTURE", components, words, None, shares, lengths, individuals,
        groups=np.repeat(np.arange(len(titles)), 2), group_names=titles, algorithm="ml",
    )  # fmt: skip


def from_structure(path: StrPath) -> DCA:
    """Make a fitted estimator of a file of results of STRUCTURE.

    Parameters
    ----------
    path : path
        The file ``..._f`` that STRUCTURE writes at the end of a run.

    Returns
    -------
    DCA
    """
    found = read_results(path)
    n_tokens = float(found.ploidy * len(found.loci))
    lengths = None if found.shares is None else np.full(len(found.shares), n_tokens)
    return _imported(
        "STRUCTURE", found.frequencies, found.words, found.alpha, found.shares, lengths,
        found.names, groups=np.array(found.locus_of_word), group_names=found.loci,
        algorithm="map",
    )  # fmt: skip


def _imported(
    program: str, components: Array, words: Sequence[str] | None, alpha: Any,
    shares: Array | None = None, lengths: Array | None = None,
    names: Sequence[str] | None = None, *, groups: Array | None = None,
    group_names: Sequence[str] | None = None, algorithm: str = "map",
) -> DCA:  # fmt: skip
    """Make an estimator of components (K, J) and, if they are known, of shares (I, K)."""
    settings: dict[str, Any] = {} if alpha is None else {"alpha": np.asarray(alpha, dtype=float)}
    estimator = DCA.from_components(
        components, groups=groups, algorithm=algorithm, random_state=0, **settings
    )
    fit, layout = estimator.fit_, estimator.fit_.layout
    nouns: Nouns = TEXT if groups is None else ALLELES
    layout = Layout(
        layout.n_words, layout.group_of_word, layout.n_groups,
        read_names(words, layout.n_words, "word"),
        read_names(group_names, layout.n_groups, "group"),
    )  # fmt: skip
    reason = f"fitted by {program}"
    changes: dict[str, Any] = {"layout": layout, "nouns": nouns, "reason": reason}
    if shares is not None:
        shares = _checked_shares(program, shares, len(components))
        n_documents = len(shares)
        # without lengths, every document counts the same
        lengths = np.ones(n_documents) if lengths is None else lengths
        changes["documents"] = KnownDocuments(shares * lengths[:, None], shares, None, None)
        changes["document_names"] = read_names(names, n_documents, "document")
        per_group = max(float(lengths.mean()), 1e-9) / layout.n_groups
        changes["group_totals"] = np.full(layout.n_groups, per_group)
        changes["converged"] = True
    estimator.fit_ = replace(fit, **changes)
    return estimator


def _checked_shares(program: str, shares: Array, n_components: int) -> Array:
    good = shares.ndim == 2 and shares.shape[1] == n_components and len(shares) > 0
    if not good or not np.isfinite(shares).all() or (shares < 0).any():
        raise InputError(
            f"the shares of documents by {program} have shape {shares.shape}; expected (I, "
            f"{n_components}), all of them at least 0"
        )
    return proportions(np.maximum(shares, 1e-12))


@contextmanager
def _asking(program: str) -> Iterator[None]:
    """Turn what goes wrong with an object of another program into one error."""
    try:
        yield
    except (AttributeError, TypeError, KeyError, IndexError, ValueError) as error:
        raise InputError(
            f"this is not a fitted model of {program} with topics and words "
            f"({type(error).__name__}: {error})"
        ) from error
