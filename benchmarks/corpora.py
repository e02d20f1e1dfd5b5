# SPDX-License-Identifier: BSD-3-Clause
"""The corpora of the benchmark: counts of real text, the same for every tool, and copies."""

from __future__ import annotations

import gzip
import os
import re
import tarfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from discan.readers.datasets import Dataset, load_ap, load_docstrings, load_kos

__all__ = [
    "SOURCES",
    "Counts",
    "absent",
    "available",
    "count",
    "families",
    "find",
    "load",
    "replicate",
    "synthetic",
]

SOURCES = {
    "newsgroups": "20news-bydate.tar.gz", "debian": "debian_descriptions.tsv.gz",
    "ap": "ap.dat", "kos": "docword.kos.txt.gz", "reuters": "reuters21578.tar.gz",
    "newsgroups-stop": "20news-bydate.tar.gz",
}  # fmt: skip
CACHE = Path(__file__).parent / ".cache"

LARGEST_FAMILY = 200  # packages; a larger one ("python3") is a language, not a project
HELD_OUT = 1000  # documents, at most a tenth

_STORY = re.compile(r"<BODY>(.*?)</BODY>", re.DOTALL)
_QUOTED = re.compile(r"\s*[>|]|.*(?:In article|writes:|wrote:)")


@dataclass(frozen=True)
class Counts:
    """Documents to fit and documents held out.

    Attributes
    ----------
    name : str
    train, test : (I, J) sparse matrices
        Whole counts, documents in random order; every word occurs in ``train``.
    alpha_rule : str
        "fixed": 0.1 for every K; "shared": 5 / K.
    """

    name: str
    train: Any
    test: Any
    alpha_rule: str = "fixed"

    @property
    def tokens(self) -> int:
        """Number of tokens to fit."""
        return int(self.train.sum())

    @property
    def judged(self) -> Any:
        """Held-out documents for the evaluation: every other one, to save time."""
        return self.test[::2]

    def alpha(self, n_components: int) -> float:
        """Dirichlet parameter of the proportions for all tools."""
        return 0.1 if self.alpha_rule == "fixed" else 5.0 / n_components

    def first(self, n_documents: int) -> Counts:
        """Return the corpus with fewer documents to fit, and without the words they lack."""
        if not 0 < n_documents < self.train.shape[0]:
            return self
        return _without_lost_words(replace(self, train=self.train[:n_documents]))

    def __str__(self) -> str:
        """Describe the size."""
        return (
            f"{self.name}: {self.train.shape[0]:,} documents, {self.train.shape[1]:,} words, "
            f"{self.tokens:,} tokens; {self.test.shape[0]:,} documents held out"
        )


def load(name: str) -> Counts:
    """Load a corpus of ``SOURCES`` or "docstrings"; the docstrings replace absent corpora.

    The counts are cached in a folder beside this file, because tokenising takes long.
    """
    path = find(SOURCES[name]) if name in SOURCES else None
    if path is None:
        return _docstrings()
    rules = zlib.crc32(Path(__file__).read_bytes())  # a change of this file changes the counts
    kept = CACHE / f"{name}-{rules:08x}.npz"
    if not kept.exists():
        corpus = _MAKERS[name](path)
        CACHE.mkdir(exist_ok=True)
        matrix = sparse.vstack([corpus.train, corpus.test], format="csr")
        np.savez(
            kept, data=matrix.data, indices=matrix.indices, indptr=matrix.indptr,
            shape=matrix.shape, n_train=corpus.train.shape[0], rule=corpus.alpha_rule,
            title=corpus.name,
        )  # fmt: skip
    with np.load(kept) as file:
        matrix = sparse.csr_matrix(
            (file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"])
        )
        n_train = int(file["n_train"])
        return Counts(str(file["title"]), matrix[:n_train], matrix[n_train:], str(file["rule"]))


def available(name: str) -> str:
    """Return the name if the corpus is on this machine, else "docstrings"."""
    return "docstrings" if absent(name) else name


def absent(name: str) -> bool:
    """Whether a corpus is not on this machine."""
    return name != "docstrings" and find(SOURCES[name]) is None


def find(file_name: str) -> Path | None:
    """Look for a file in $DISCAN_DATA, then beside the repository, and two folders deeper."""
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    given = os.environ.get("DISCAN_DATA")
    for root in ([Path(given)] if given else []) + [shared]:
        deeper = [*sorted(root.glob(f"*/{file_name}")), *sorted(root.glob(f"*/*/{file_name}"))]
        for path in [root, root / file_name, *deeper]:
            if path.is_file() and path.name == file_name:
                return path
    return None


def count(
    name: str, texts: list[str], held_out: np.ndarray, rule: str = "fixed", **options: Any
) -> Counts:
    """Count words, documents in random order.

    Parameters
    ----------
    texts : list of str
    held_out : (I,) array of bool
        Documents that are not fitted.
    **options
        Arguments of ``CountVectorizer``: ``min_df``, ``max_df``, and others than ours.
    """
    usual = {"stop_words": "english", "token_pattern": r"(?u)\b[a-z]{3,}\b"}
    vectorizer = CountVectorizer(dtype=np.int32, **{**usual, **options})
    counts = vectorizer.fit_transform(texts)
    order = np.random.default_rng(0).permutation(len(texts))
    order = order[np.asarray(counts.sum(axis=1)).ravel()[order] > 0]
    test = order[held_out[order]]
    train = order[~held_out[order]]
    return _without_lost_words(Counts(name, counts[train], counts[test], rule))


def families(names: list[str]) -> list[str]:
    """Name the family of each package, so that related packages are held out together.

    The family is the first word of the name without its version, or the first two words if very
    many packages share the first.
    """
    words = [re.split(r"[-.+]", name) for name in names]
    heads = [parts[0].rstrip("0123456789") or parts[0] for parts in words]
    sizes = Counter(heads)
    return [
        head if sizes[head] <= LARGEST_FAMILY else "-".join([head, *parts[1:2]])
        for head, parts in zip(heads, words, strict=True)
    ]


def replicate(corpus: Counts, n_tokens: int) -> Counts:
    """Repeat or cut the documents to about this number of tokens."""
    copies, rest = divmod(n_tokens, corpus.tokens)
    ends = np.cumsum(np.asarray(corpus.train.sum(axis=1)).ravel())
    part = corpus.train[: int(np.searchsorted(ends, rest))]
    whole = sparse.vstack([corpus.train] * copies + [part], format="csr")
    return replace(corpus, name=f"{corpus.name}, repeated", train=whole)


def synthetic(components: Any, n_documents: int, length: float, alpha: float, seed: int) -> Any:
    """Draw documents of the Dirichlet-multinomial model, (I, J) sparse.

    Parameters
    ----------
    components : (K, J) array
        Rows sum to 1.
    length : float
        Mean number of tokens, Poisson.
    """
    rng = np.random.default_rng(seed)
    n_components, n_words = components.shape
    lengths = rng.poisson(length, n_documents)
    proportions = rng.dirichlet(np.full(n_components, alpha), n_documents)
    split = rng.multinomial(lengths, proportions)
    rows, columns = [], []
    for k, row in enumerate(np.cumsum(components, axis=1)):
        rows.append(np.repeat(np.arange(n_documents, dtype=np.int32), split[:, k]))
        drawn = np.searchsorted(row, rng.random(len(rows[-1])) * row[-1])
        columns.append(np.minimum(drawn, n_words - 1).astype(np.int32))
    where = np.concatenate(rows), np.concatenate(columns)
    ones = np.ones(len(where[0]), dtype=np.int32)
    return sparse.csr_matrix((ones, where), shape=(n_documents, n_words), dtype=np.int32)


# ---- sources of text ----


def _newsgroups(archive: Path) -> Counts:
    """Messages without headers and quotations."""
    texts = list(_messages(archive))
    return count("20 newsgroups", texts, _some(len(texts)), min_df=4, max_df=0.15)


def _newsgroups_stop(archive: Path) -> Counts:
    """The same messages with all frequent words and those of two letters kept."""
    texts = list(_messages(archive))
    return count(
        "20 newsgroups, stop words kept", texts, _some(len(texts)), min_df=4, stop_words=None,
        token_pattern=r"(?u)\b[a-z]{2,}\b",
    )  # fmt: skip


def _messages(archive: Path) -> Iterator[str]:
    with tarfile.open(archive) as tar:
        for member in tar:  # in the order of the archive: seeking is slow
            stream = tar.extractfile(member)
            if stream is not None:
                body = stream.read().decode("latin-1").partition("\n\n")[2]
                yield "\n".join(line for line in body.splitlines() if not _QUOTED.match(line))


def _debian(table: Path) -> Counts:
    """Package descriptions without repetitions; families of packages are held out as a whole."""
    with gzip.open(table, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t", 2) for line in lines]
    texts: dict[str, str] = {}
    for _, package, text in rows:
        texts.setdefault(text, package)
    names = families(list(texts.values()))
    distinct = sorted(set(names))
    n_held_out = len(distinct) * HELD_OUT // len(names)
    chosen = set(np.random.default_rng(1).permutation(distinct)[:n_held_out])
    held_out = np.array([name in chosen for name in names])
    return count("Debian descriptions", list(texts), held_out, "shared", min_df=5, max_df=0.15)


def _reuters(archive: Path) -> Counts:
    """Bodies of all stories of Reuters-21578."""
    texts: list[str] = []
    with tarfile.open(archive) as tar:
        for member in tar:
            stream = tar.extractfile(member) if member.name.endswith(".sgm") else None
            if stream is not None:
                texts += _STORY.findall(stream.read().decode("latin-1"))
    return count("Reuters-21578", texts, _some(len(texts)), min_df=4)


def _some(n_documents: int) -> np.ndarray:
    """Choose documents to hold out at random."""
    held_out = np.zeros(n_documents, dtype=bool)
    size = min(HELD_OUT, n_documents // 10)
    held_out[np.random.default_rng(1).choice(n_documents, size, replace=False)] = True
    return held_out


def _docstrings() -> Counts:
    """Docstrings of the standard library of the running Python."""
    return _counted("Python docstrings", load_docstrings("functions"))


def _counted(name: str, data: Dataset) -> Counts:
    """Split a data set that is counted already."""
    corpus = data.corpus
    matrix = sparse.csr_matrix(
        (corpus.counts, corpus.words, corpus.indptr), shape=(corpus.n_documents, corpus.n_words)
    ).astype(np.int32)
    matrix = matrix[np.asarray(matrix.sum(axis=1)).ravel() > 0]
    order = np.random.default_rng(0).permutation(matrix.shape[0])
    n_test = min(HELD_OUT, len(order) // 10)
    parts = matrix[order[n_test:]], matrix[order[:n_test]]
    return _without_lost_words(Counts(name, *parts))


def _without_lost_words(corpus: Counts) -> Counts:
    kept = np.asarray(corpus.train.sum(axis=0)).ravel() > 0
    return replace(corpus, train=corpus.train[:, kept], test=corpus.test[:, kept])


_MAKERS: dict[str, Callable[[Path], Counts]] = {
    "newsgroups": _newsgroups,
    "debian": _debian,
    "ap": lambda path: _counted("Associated Press", load_ap(path)),
    "kos": lambda path: _counted("KOS blog entries", load_kos(path)),
    "reuters": _reuters,
    "newsgroups-stop": _newsgroups_stop,
}
