# SPDX-License-Identifier: BSD-3-Clause
"""Load data to try things on: three sets that need no network, and well-known public ones."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discan.data.corpus import Corpus
from discan.data.nouns import Nouns
from discan.errors import InputError
from discan.readers.docstrings import library_docstrings
from discan.readers.guess import READERS, read
from discan.readers.options import Option, options_of
from discan.readers.public_files import PublicFiles, StrPath, data_folder
from discan.readers.public_sets import AP, HAPMAP3, KOS, NEWSGROUPS
from discan.readers.reuters import read_stories
from discan.readers.senate import read_senate
from discan.readers.words import corpus_from_texts
from discan.typing import Array
from discan.validation import one_of, whole

__all__ = [
    "DATASETS",
    "Dataset",
    "KnownDataset",
    "data_folder",
    "load_20newsgroups",
    "load_ap",
    "load_digits",
    "load_docstrings",
    "load_hapmap3",
    "load_kos",
    "load_reuters",
    "load_senate2005",
    "load_voteview",
]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Counts, and what is known about their rows and groups besides.

    Attributes
    ----------
    corpus : Corpus
    document_table : dict of (I,) arrays
        Facts of each document by the name of the column, e.g. ``["party"]``.
    group_table : dict of (G,) arrays
        Facts of each group of words, e.g. the date of a roll call.
    description : str
        What the data are and where they come from.
    """

    corpus: Corpus
    document_table: Mapping[str, Array] = field(default_factory=dict)
    group_table: Mapping[str, Array] = field(default_factory=dict)
    description: str = ""

    def __post_init__(self) -> None:
        """Give the corpus the facts of its documents as metadata."""
        metadata = {**self.corpus.metadata, **self.document_table}
        object.__setattr__(self, "corpus", self.corpus.described(metadata=metadata))


class KnownDataset(NamedTuple):
    """An entry of `DATASETS`: what it is, in a line, and the function that loads it.

    ``format`` names the reader whose options the function takes besides its own, if any.
    """

    summary: str
    loader: Callable[..., Dataset]
    format: str = ""

    @property
    def options(self) -> dict[str, Option]:
        """The options that the function takes, by name."""
        own = options_of(self.loader)
        return (READERS[self.format].options if self.format else {}) | own


# ---- no network needed ----

_AGREED = {"Agreed to", "Confirmed", "Passed"}


def load_senate2005() -> Dataset:
    """Load the roll calls of the US Senate in 2005 (109th Congress, first session).

    100 senators are the documents. Each of the 366 roll calls is a group of two words, yea and
    nay; a senator who did not vote has no count there. The President's announced positions are
    left out. Corzine held New Jersey's seat all year: Menendez, who took it in January 2006, cast
    no vote in this session and is left out, so nobody is merged.

    Returns
    -------
    Dataset
        ``document_table``: name, party (D, R, I), state. ``group_table``: number, date, measure,
        question, result, yeas, nays, title, and agreed (whether the question was carried).

    Examples
    --------
    >>> data = load_senate2005()
    >>> data.corpus
    <Corpus: 100 senators x 732 votes, 35,643 tokens in 35,643 non-zeros (48.7 %), 366 groups>
    """
    senators, calls = read_senate(Path(__file__).with_name("senate2005.csv"))
    votes = np.array([list(ballot) for ballot in senators.pop("ballot")])
    groups = [f"{n}. {t}" for n, t in zip(calls["number"], calls["title"], strict=True)]
    people = zip(*senators.values(), strict=True)
    corpus = Corpus(
        np.stack([votes == "Y", votes == "N"], axis=2).reshape(len(votes), -1).astype(np.int64),
        groups=np.repeat(np.arange(len(groups)), 2),
        document_names=[f"{name} ({party}-{state})" for name, party, state in people],
        word_names=[f"{group}: {vote}" for group in groups for vote in ("yea", "nay")],
        group_names=groups,
        nouns=Nouns("senator", "vote", "bloc"),
    )
    types = {"number": "int64", "date": "datetime64[D]", "yeas": "int64", "nays": "int64"}
    calls |= {title: calls[title].astype(dtype) for title, dtype in types.items()}
    return Dataset(
        corpus,
        senators,
        calls | {"agreed": np.isin(calls["result"], sorted(_AGREED))},
        "US Senate, 109th Congress, first session (2005): 100 senators, 366 roll calls. Facts of "
        "the public record, by way of Voteview and the R package pscl.",
    )


def load_digits() -> Dataset:
    """Load scikit-learn's handwritten digits: a word is a pixel, its count the ink, 0 to 16.

    Returns
    -------
    Dataset
        ``document_table``: digit, what the picture shows.
    """
    from sklearn import datasets

    data = datasets.load_digits()
    corpus = Corpus(
        data.data.astype(np.int64),
        word_names=[f"row {row} column {column}" for row in range(8) for column in range(8)],
        nouns=Nouns("digit", "pixel", "component"),
    )
    return Dataset(
        corpus,
        {"digit": np.asarray(data.target)},
        description="1,797 handwritten digits of 8 x 8 pixels (scikit-learn; UCI Optical "
        "Recognition of Handwritten Digits, test part).",
    )


def load_docstrings(
    documents: str = "modules", *, min_df: float = 3, max_df: float = 0.4, **options: Any
) -> Dataset:
    """Build a text corpus of the docstrings of the running Python's standard library.

    The sources are parsed, never imported; private modules, tests and a few packages that hold
    no prose are skipped. Nothing is kept on disk. Another version of Python gives other counts.

    Parameters
    ----------
    documents : {"modules", "functions"}
        A document is all docstrings of a module, or those of one function, class or module head.
    min_df, max_df : int, float
        Words in fewer documents, or in a larger share of them, are left out.
    **options
        Other options of `TextOptions`, e.g. stop_words.

    Returns
    -------
    Dataset
        Documents that have a word left. ``document_table``: module, the name of the module of
        each document.
    """
    one_of("documents", documents, ("modules", "functions"))
    found: list[tuple[str, str, str]] = []
    for module, docstrings in library_docstrings():
        if documents == "modules":
            docstrings = [(module, "\n".join(text for _, text in docstrings))]
        found += [(module, name, text) for name, text in docstrings]
    if not found:
        folder = sysconfig.get_path("stdlib")
        raise InputError(
            f"no sources of the standard library in {folder}; use a Python that includes them"
        )
    modules, names, texts = zip(*found, strict=True)
    options |= {"min_df": min_df, "max_df": max_df}
    corpus = corpus_from_texts(texts, document_names=names, **options)
    kept = corpus.lengths > 0
    version = ".".join(map(str, sys.version_info[:3]))
    return Dataset(
        corpus.select(kept),
        {"module": np.array(modules)[kept]},
        description=f"Docstrings of the standard library of Python {version}, by {documents[:-1]}.",
    )


# ---- well-known public sets: a local copy, or a download that can be checked ----


def load_20newsgroups(
    path: StrPath | None = None, *, subset: str = "all", **options: Any
) -> Dataset:
    """Load 20 newsgroups, the version sorted by date: 11,314 messages to train, 7,532 to test.

    Parameters
    ----------
    path : file or folder, optional
        ``20news-bydate.tar.gz`` or the folder made of it. If not given it is looked for in
        `data_folder`, then fetched.
    subset : {"all", "train", "test"}
    **options
        Options of the text reader: stop words, document frequencies and so on.

    Returns
    -------
    Dataset
        ``document_table``: newsgroup, split ("train" or "test").
    """
    one_of("subset", subset, ("all", "train", "test"))
    found = NEWSGROUPS.locate(path)
    corpus = read(found.parent if found.is_dir() else found, **options)
    parts = [name.replace("\\", "/").split("/") for name in corpus.document_names or ()]
    if len(parts) != corpus.n_documents or any(len(part) < 2 for part in parts):
        raise InputError(f"{found}: not the folders of 20 newsgroups, one for each newsgroup")
    newsgroup = np.array([part[-2] for part in parts])
    test = np.array(["test" in "/".join(part[:-2]) for part in parts])
    table = {"newsgroup": newsgroup, "split": np.where(test, "test", "train")}
    if subset != "all":
        wanted = table["split"] == subset
        corpus = corpus.select(wanted)
        table = {name: column[wanted] for name, column in table.items()}
    return Dataset(corpus, table, description="20 newsgroups (Lang 1995), sorted by date.")


def load_reuters(path: StrPath | None = None, *, subset: str = "all", **options: Any) -> Dataset:
    """Load Reuters-21578 with the ModApte split: 9,603 stories to train, 3,299 to test.

    Parameters
    ----------
    path : file or folder, optional
        ``reuters21578.tar.gz`` or the folder made of it. If not given it is looked for in
        `data_folder`; it is not fetched, because no checksum of a stable address is known.
    subset : {"all", "train", "test"}
    **options
        Options of `TextOptions`: stop words, document frequencies and others.

    Returns
    -------
    Dataset
        ``document_table``: split, and topics (separated by spaces; often none).
    """
    corpus, stories = read_stories(path, subset, **options)
    table = {
        "split": np.array([story.split for story in stories]),
        "topics": np.array([story.topics for story in stories]),
    }
    return Dataset(
        corpus,
        table,
        description="Reuters-21578, Distribution 1.0, ModApte split; for research only.",
    )


def load_ap(path: StrPath | None = None) -> Dataset:
    """Load Blei's sample of the Associated Press: 2,246 stories, 10,473 words.

    Parameters
    ----------
    path : file or folder, optional
        ``ap.dat``, with ``vocab.txt`` beside it, or their folder. If not given it is looked for
        in `data_folder`; it is not fetched, because no checksum is known.
    """
    corpus = read(AP.locate(path), format="ldac")
    return Dataset(corpus, description="Associated Press, the sample that comes with LDA-C.")


def load_kos(path: StrPath | None = None) -> Dataset:
    """Load the KOS blog entries of UCI's Bag of Words: 3,430 entries, 6,906 words.

    Parameters
    ----------
    path : file or folder, optional
        ``docword.kos.txt.gz``, with ``vocab.kos.txt`` beside it if the words are to have names,
        or their folder. If not given it is looked for in `data_folder`; it is not fetched,
        because no checksum is known.
    """
    corpus = read(KOS.locate(path), format="uci")
    return Dataset(corpus, description="Daily Kos blog entries (UCI Bag of Words, Newman 2008).")


def load_voteview(
    congress: int = 109, chamber: str = "senate", path: StrPath | None = None, **options: Any
) -> Dataset:
    """Load the roll calls of one Congress from files of Voteview.

    Parameters
    ----------
    congress : int
        Number of the Congress; the 109th sat in 2005 and 2006.
    chamber : {"senate", "house"}
    path : file or folder, optional
        ``S109_votes.csv``, with ``S109_members.csv`` and ``S109_rollcalls.csv`` beside it, or
        their folder. If not given they are looked for in `data_folder`; they are not fetched,
        because Voteview updates its files and they have no lasting checksum.
    **options
        Options of the Voteview reader.
    """
    one_of("chamber", chamber, ("senate", "house"))
    stem = f"{chamber[0].upper()}{whole('congress', congress, 1):03d}"
    public = PublicFiles(
        f"Voteview, {chamber} of Congress {congress}",
        (f"{stem}_votes.csv",),
        "https://voteview.com/data",
        companions=(f"{stem}_members.csv", f"{stem}_rollcalls.csv"),
    )
    corpus = read(public.locate(path), format="voteview", **options)
    return Dataset(
        corpus,
        description=f"{chamber.title()} of Congress {congress}: Lewis, Poole, Rosenthal, Boche, "
        "Rudkin and Sonnet, Voteview: Congressional Roll-Call Votes Database.",
    )


def load_hapmap3(path: StrPath | None = None, **options: Any) -> Dataset:
    """Load genotypes of HapMap3, the sample of the ADMIXTURE manual: 324 people, 13,928 SNPs.

    Parameters
    ----------
    path : file or folder, optional
        ``hapmap3.bed``, with ``.bim`` and ``.fam`` beside it and ``.pops`` if there, or their
        folder. If not given it is looked for in `data_folder`, then fetched.
    **options
        Options of the PLINK reader.

    Returns
    -------
    Dataset
        ``document_table``: population (if ``hapmap3.pops`` is there).
    """
    found = HAPMAP3.locate(path)
    corpus = read(found, format="plink", **options)
    table: dict[str, Array] = {}
    populations = found.with_suffix(".pops")
    if populations.is_file():
        labels = populations.read_text("utf-8").split()
        if len(labels) != corpus.n_documents:
            raise InputError(
                f"{populations}: {len(labels)} populations for {corpus.n_documents} people"
            )
        table["population"] = np.array(labels)
    return Dataset(corpus, table, description="HapMap3 sample of the ADMIXTURE manual.")


DATASETS: dict[str, KnownDataset] = {
    "senate2005": KnownDataset(
        "US Senate 2005: 100 senators, 366 roll calls; comes with discan", load_senate2005
    ),
    "digits": KnownDataset(
        "1,797 handwritten digits as counts of ink; comes with scikit-learn", load_digits
    ),
    "docstrings": KnownDataset(
        "docstrings of Python's standard library; made on the spot", load_docstrings, "lines"
    ),
    "20newsgroups": KnownDataset(
        "18,846 messages of 20 newsgroups; local copy, or fetched", load_20newsgroups, "archive"
    ),
    "reuters": KnownDataset(
        "Reuters-21578, ModApte split, 12,902 stories; local copy", load_reuters, "reuters"
    ),
    "ap": KnownDataset("Associated Press, 2,246 stories; local copy", load_ap),
    "kos": KnownDataset("3,430 Daily Kos blog entries (UCI); local copy", load_kos),
    "voteview": KnownDataset(
        "roll calls of a chamber of the US Congress, by number; local copy",
        load_voteview,
        "voteview",
    ),
    "hapmap3": KnownDataset(
        "genotypes of 324 people, 13,928 SNPs; local copy, or fetched", load_hapmap3, "plink"
    ),
}
