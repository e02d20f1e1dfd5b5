# SPDX-License-Identifier: BSD-3-Clause
"""Hold a checked table of counts: documents by words, and the words in groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from discan.data.blocks import BLOCK_ENTRIES, Block, BlockRef, cuts
from discan.data.counts import Counts, check_exposures
from discan.data.intake import offsets, read_table, tightest
from discan.data.layout import Layout
from discan.data.left_out import NOTHING
from discan.data.margins import read_exposures, read_groups, read_names
from discan.data.metadata import read_metadata, select_metadata
from discan.data.notebook import corpus_html
from discan.data.nouns import Nouns, counted
from discan.data.selection import read_selection
from discan.errors import InputError
from discan.typing import Array

__all__ = ["Corpus"]


class Corpus(Counts):
    """A table of non-negative counts, documents by words, checked and in canonical form.

    The same table gives the same arrays, bit for bit, in whatever form it is passed. The caller's
    data are neither changed nor shared.

    Parameters
    ----------
    counts : (I, J) SciPy sparse matrix or array, NumPy array, nested list or data frame
        Column names of a frame become `word_names`, and its index `document_names`.
    groups : (J,) array-like, optional
        Group of each word: whole numbers 0 .. G-1, or labels, then numbered in order of first
        appearance. Without it all words are one group.
    exposures : (I, G) array-like, optional
        How much of each group each document was exposed to; 0 means not observed.
        With one group (I,) will do. Without it, every exposure is 1.
    document_names, word_names, group_names : sequence of str, optional
        Names of the rows, the columns and the groups.
    metadata : mapping of str to (I,) array-like, or data frame, optional
        Columns that describe the documents, e.g. party, date or author; they are not counted.
    nouns : Nouns, optional
        What documents, words and components are called.
    reading : dict, optional
        How the data were read: the format and its options.
    left_out : (n,) uint32 array, optional
        Checksums of words that were left out when the data were read, as too rare or too frequent.

    Attributes
    ----------
    indptr : (I + 1,) int64 array
    words : (n_entries,) int32 array
        Ascending inside each document.
    counts : (n_entries,) array
        int32 when every count is a whole number that fits, else float64. Never zero.
    layout : Layout
    exposures : (I, G) float64 array or None
    document_names, word_names, group_names : tuple of str or None
    metadata : dict of str to (I,) array
        float64, NaN if missing; or objects of type str, None if missing.
    nouns : Nouns
    reading : dict
    left_out : (n,) uint32 array
    """

    document_names: tuple[str, ...] | None
    metadata: dict[str, Array]
    nouns: Nouns
    reading: dict[str, Any]
    left_out: Array
    on_disk: ClassVar[bool] = False  # whether documents are read block by block

    def __init__(
        self,
        counts: Any,
        groups: Any = None,
        exposures: Any = None,
        document_names: Iterable[Any] | None = None,
        word_names: Iterable[Any] | None = None,
        group_names: Iterable[Any] | None = None,
        metadata: Any = None,
        nouns: Nouns | None = None,
        reading: dict[str, Any] | None = None,
        left_out: Array | None = None,
    ) -> None:
        table = read_table(counts)
        if document_names is None:
            document_names = table.document_names
        if word_names is None:
            word_names = table.word_names
        n_documents = table.indptr.size - 1
        codes, n_groups, labels = read_groups(groups, table.n_words)
        self.indptr = table.indptr
        self.words = table.words
        self.counts = tightest(table.values)
        self.layout = Layout(
            n_words=table.n_words,
            group_of_word=codes,
            n_groups=n_groups,
            word_names=read_names(word_names, table.n_words, "word"),
            group_names=read_names(
                labels if group_names is None else group_names, n_groups, "group"
            ),
        )
        self.exposures = read_exposures(exposures, n_documents, n_groups)
        self.document_names = read_names(document_names, n_documents, "document")
        self.metadata = read_metadata(metadata, n_documents)
        self.nouns = nouns or Nouns()
        self.reading = dict(reading or {})
        self.left_out = NOTHING if left_out is None else np.asarray(left_out, dtype=np.uint32)
        check_exposures(self)

    @classmethod
    def of(cls, x: Any, groups: Any = None) -> Corpus:
        """Return `x` itself when it is a corpus, else make one of it."""
        if not isinstance(x, Corpus):
            return cls(x, groups=groups)
        if groups is not None:
            codes, _, _ = read_groups(groups, x.n_words)
            if not np.array_equal(codes, x.layout.group_of_word):
                raise InputError(
                    "groups differ from those of the Corpus; leave groups out, or make the Corpus "
                    "with the groups you want"
                )
        return x

    @classmethod
    def assemble(
        cls,
        indptr: Array,
        words: Array,
        counts: Array,
        layout: Layout,
        exposures: Array | None = None,
        document_names: tuple[str, ...] | None = None,
        metadata: dict[str, Array] | None = None,
        nouns: Nouns | None = None,
        reading: dict[str, Any] | None = None,
        left_out: Array | None = None,
    ) -> Corpus:
        """Make a corpus of canonical arrays, which are neither checked nor copied."""
        corpus = cls.__new__(cls)
        corpus.indptr = indptr
        corpus.words = words
        corpus.counts = counts
        corpus.layout = layout
        corpus.exposures = exposures
        corpus.document_names = document_names
        corpus.metadata = metadata or {}
        corpus.nouns = nouns or Nouns()
        corpus.reading = reading or {}
        corpus.left_out = NOTHING if left_out is None else left_out
        return corpus

    # ---- sums over all documents, in a fixed order wherever the documents are ----

    def sum_by_length(self, function: Callable[[Array], Array]) -> float:
        """Sum a function of the documents' lengths (n,) over all documents."""
        lengths, n_documents = self.length_table
        return float((n_documents * function(lengths)).sum())

    def sum_over(self, function: Callable[[Corpus], Array], name: str) -> float:
        """Sum a function of documents (n,) over all documents, block by block.

        The sum is remembered by its ``name``.
        """
        if name not in self._sums:
            total = 0.0
            for part in self.parts():
                total += float(np.sum(function(part)))
            self._sums[name] = total
        return self._sums[name]

    @cached_property
    def _sums(self) -> dict[str, float]:
        return {}

    @property
    def exposure_sum(self) -> float:
        """Sum of all exposures."""
        if not self.has_exposures:
            return float(self.n_documents * self.n_groups)
        return self.sum_over(lambda part: part.total_exposures, "exposures")

    def parts(self) -> Iterator[Corpus]:
        """Iterate over the documents of each block, a corpus each; nothing is copied."""
        for block in self.blocks:
            rows = slice(block.start, block.stop)
            first, last = self.indptr[block.start], self.indptr[block.stop]
            part = Corpus.assemble(
                self.indptr[block.start : block.stop + 1] - first,
                self.words[first:last],
                self.counts[first:last],
                self.layout,
                None if self.exposures is None else self.exposures[rows],
            )
            part.classes = None if self.classes is None else self.classes[rows]
            yield part

    # ---- parts ----

    def read(self, block: BlockRef) -> Block:
        """Return the documents of a block; those in memory are at hand."""
        assert isinstance(block, Block)
        return block

    @cached_property
    def blocks(self) -> Sequence[Any]:
        """Runs of whole documents of about `BLOCK_ENTRIES` non-zeros, for any number of threads."""
        return self.blocks_of(BLOCK_ENTRIES)

    def blocks_of(self, n_entries: int) -> Sequence[Any]:
        """Cut the corpus into runs of whole documents of about `n_entries` non-zeros each."""
        blocks: list[Block] = []
        token_start = 0
        for start, stop in pairwise(cuts(self.indptr, n_entries)):
            entries = slice(self.indptr[start], self.indptr[stop])
            token_stop = token_start
            if self.integral:
                token_stop += int(self.counts[entries].sum(dtype=np.int64))
            blocks.append(
                Block(
                    index=len(blocks),
                    start=start,
                    stop=stop,
                    indptr=self.indptr[start : stop + 1],
                    words=self.words,
                    counts=self.counts,
                    levels=self.levels[start:stop],
                    token_start=token_start,
                    token_stop=token_stop,
                )
            )
            token_start = token_stop
        return tuple(blocks)

    @property
    def about(self) -> dict[str, Any]:
        """What is known besides the counts, as arguments: names, metadata, nouns, reading, ..."""
        names = ("document_names", "metadata", "nouns", "reading", "left_out")
        return {name: getattr(self, name) for name in names}

    def described(self, **changes: Any) -> Corpus:
        """Return the same counts with other names of documents, metadata, nouns or reading."""
        if "metadata" in changes:
            changes["metadata"] = read_metadata(changes["metadata"], self.n_documents)
        parts = (self.indptr, self.words, self.counts, self.layout, self.exposures)
        corpus = Corpus.assemble(*parts, **{**self.about, **changes})
        corpus.classes = self.classes
        return corpus

    def documents(self, start: int, stop: int) -> Corpus:
        """Return documents ``start .. stop - 1`` with their names and metadata."""
        return self.select(slice(start, stop))

    def select(self, documents: Any) -> Corpus:
        """Return the corpus of some documents, in the order given.

        Parameters
        ----------
        documents : slice, (I,) bool mask, or array-like of document numbers
            Which documents to take.

        Returns
        -------
        Corpus
        """
        chosen = read_selection(documents, self.n_documents)
        lengths = np.diff(self.indptr)[chosen]
        indptr = offsets(lengths)
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[chosen] - indptr[:-1], lengths)
        names = self.document_names
        about = {
            **self.about,
            "document_names": None if names is None else tuple(names[i] for i in chosen),
            "metadata": select_metadata(self.metadata, chosen),
        }
        corpus = Corpus.assemble(
            indptr=indptr,
            words=self.words[entries],
            counts=tightest(self.counts[entries]),
            layout=self.layout,
            exposures=None if self.exposures is None else self.exposures[chosen],
            **about,
        )
        corpus.classes = None if self.classes is None else self.classes[chosen]
        return corpus

    def with_classes(self, classes: Array | None) -> Corpus:
        """Return the same documents with classes (I,), numbered from 1; None takes them away."""
        if classes is None and self.classes is None:
            return self
        corpus = self.described()
        corpus.classes = None if classes is None else np.asarray(classes, dtype=np.int32)
        return corpus

    def with_counts(self, counts: Array, exposures: Array | None = None) -> Corpus:
        """Return the same documents with other counts in the same entries; zeros are dropped."""
        kept = counts != 0
        corpus = Corpus.assemble(
            indptr=offsets(kept)[self.indptr],
            words=self.words[kept],
            counts=tightest(counts[kept]),
            layout=self.layout,
            exposures=exposures,
            **self.about,
        )
        corpus.classes = self.classes
        return corpus

    def __getitem__(self, documents: Any) -> Corpus:
        """Return the corpus of some documents, as `select` does; of one, if given its number.

        ``corpus[rows, ...]`` and ``corpus[rows, :]`` are the same, so that cross-validation can
        index a corpus like an array.
        """
        if isinstance(documents, tuple) and len(documents) == 2:
            documents, words = documents
            if words is not ... and words != slice(None):
                raise InputError("a corpus is indexed by documents alone; use to_csr() for words")
        if isinstance(documents, int | np.integer) and not isinstance(documents, bool):
            if not -self.n_documents <= documents < self.n_documents:
                raise IndexError(f"document {documents} is outside 0 .. {self.n_documents - 1}")
            documents = [documents]
        return self.select(documents)

    __iter__ = None  # NumPy would take a corpus for a sequence of sequences without end

    def to_csr(self) -> Any:
        """Return the counts as a new SciPy CSR array."""
        return self._shared_csr(self.counts).copy()

    def __len__(self) -> int:
        """Return the number of documents."""
        return self.n_documents

    @property
    def description(self) -> str:
        """The size of the corpus in one line."""
        tokens = f"{self.n_tokens:,}" if self.integral else f"{self.n_tokens:,.6g}"
        share = 100.0 * self.n_entries / (self.n_documents * self.n_words)
        parts = [
            f"{counted(self.n_documents, self.nouns.document)} x "
            f"{counted(self.n_words, self.nouns.word)}",
            f"{tokens} tokens in {self.n_entries:,} non-zeros ({share:.3g} %)",
        ]
        if self.n_groups > 1:
            parts.append(f"{self.n_groups:,} groups")
        if self.has_exposures:
            parts.append("exposures")
        return ", ".join(parts)

    def __repr__(self) -> str:
        """Describe the corpus in one line."""
        return f"<Corpus: {self.description}>"

    def _repr_html_(self) -> str:
        """Show the corpus in a notebook."""
        return corpus_html(self)
