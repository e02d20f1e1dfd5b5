# SPDX-License-Identifier: BSD-3-Clause
"""Load data to try things on: three sets that need no network, and well-known public ones."""

from __future__ import annotations

import ast
import csv
import gc
import os
import re
import sys
import sysconfig
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discan.data.corpus import Corpus
from discan.errors import InputError
from discan.typing import Array

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

StrPath = str | os.PathLike[str]


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


class KnownDataset(NamedTuple):
    """An entry of `DATASETS`: what it is, in a line, and the function that loads it."""

    summary: str
    loader: Callable[..., Dataset]


# ---- no network needed ----

_AGREED = {"Agreed to", "Confirmed", "Passed"}
_TURNED_DOWN = {"Held Nongermane", "Not Sustained", "Rejected"}


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
    <Corpus: 100 documents x 732 words, 35,643 tokens in 35,643 non-zeros (48.7 %), 366 groups>
    """
    senators, calls = _read_senate(Path(__file__).with_name("senate2005.csv"))
    name, party, state, ballots = (np.array(column) for column in zip(*senators, strict=True))
    number, date, measure, question, result, yeas, nays, title = (
        np.array(column) for column in zip(*calls, strict=True)
    )
    votes = np.array([list(ballot) for ballot in ballots])
    groups = [f"{n}. {t}" for n, t in zip(number, title, strict=True)]
    corpus = Corpus(
        np.stack([votes == "Y", votes == "N"], axis=2).reshape(len(votes), -1).astype(np.int64),
        groups=np.repeat(np.arange(len(groups)), 2),
        document_names=[f"{n} ({p}-{s})" for n, p, s in zip(name, party, state, strict=True)],
        word_names=[f"{group}: {vote}" for group in groups for vote in ("yea", "nay")],
        group_names=groups,
    )
    return Dataset(
        corpus,
        {"name": name, "party": party, "state": state},
        {
            "number": number.astype(np.int64),
            "date": date.astype("datetime64[D]"),
            "measure": measure,
            "question": question,
            "result": result,
            "yeas": yeas.astype(np.int64),
            "nays": nays.astype(np.int64),
            "title": title,
            "agreed": np.isin(result, sorted(_AGREED)),
        },
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
    )
    return Dataset(
        corpus,
        {"digit": np.asarray(data.target)},
        description="1,797 handwritten digits of 8 x 8 pixels (scikit-learn; UCI Optical "
        "Recognition of Handwritten Digits, test part).",
    )


def load_docstrings(documents: str = "modules", *, min_df: int = 3, max_df: float = 0.4) -> Dataset:
    """Build a text corpus of the docstrings of the running Python's standard library.

    The sources are parsed, never imported; private modules, tests and a few packages that hold
    no prose are skipped. Nothing is kept on disk. Another version of Python gives other counts.

    Parameters
    ----------
    documents : {"modules", "functions"}
        A document is all docstrings of a module, or those of one function, class or module head.
    min_df, max_df : int, float
        Words in fewer documents, or in a larger share of them, are left out.

    Returns
    -------
    Dataset
        ``document_table``: module, the name of the module each document is from.
    """
    if documents not in ("modules", "functions"):
        raise InputError(f"documents={documents!r}; use 'modules' or 'functions'")
    names: list[str] = []
    modules: list[str] = []
    texts: list[str] = []
    for module, docstrings in _library_docstrings():
        if documents == "modules":
            docstrings = [(module, "\n".join(text for _, text in docstrings))]
        names += [name for name, _ in docstrings]
        modules += [module] * len(docstrings)
        texts += [text for _, text in docstrings]
    if not texts:
        raise InputError(
            f"no sources of the standard library in {sysconfig.get_path('stdlib')}; use a Python "
            "that comes with them"
        )
    corpus, kept = _count_words(texts, names, min_df, max_df)
    version = ".".join(map(str, sys.version_info[:3]))
    return Dataset(
        corpus,
        {"module": np.array(modules)[kept]},
        description=f"Docstrings of the standard library of Python {version}, by {documents[:-1]}.",
    )


# ---- well-known public sets: a local copy, or a download that can be checked ----


@dataclass(frozen=True)
class _Public:
    """Where a public set is found: names of its main file, and an address for people."""

    title: str
    files: tuple[str, ...]
    address: str
    companions: tuple[str, ...] = ()
    url: str = ""
    sha256: Mapping[str, str] = field(default_factory=dict)


_NEWSGROUPS = _Public(
    "20 newsgroups",
    ("20news-bydate.tar.gz", "20news-bydate-train"),
    "http://qwone.com/~jason/20Newsgroups/",
    url="https://ndownloader.figshare.com/files/5975967",  # as in scikit-learn
    sha256={
        "20news-bydate.tar.gz": "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610"
    },
)
_REUTERS = _Public(
    "Reuters-21578",
    ("reuters21578.tar.gz", "reut2-000.sgm"),
    "https://archive.ics.uci.edu/dataset/137/reuters+21578+text+categorization+collection",
)
_AP = _Public(
    "Associated Press",
    ("ap.dat",),
    "https://github.com/blei-lab/lda-c (example/ap.tgz, unpacked)",
    companions=("vocab.txt",),
)
_KOS = _Public(
    "UCI KOS",
    ("docword.kos.txt.gz", "docword.kos.txt"),
    "https://archive.ics.uci.edu/dataset/164/bag+of+words",
    companions=("vocab.kos.txt",),
)
_HAPMAP3 = _Public(
    "HapMap3 (the sample of the ADMIXTURE manual)",
    ("hapmap3.bed",),
    "https://github.com/mimno/admixture-ppc (hapmap3-files)",
    companions=("hapmap3.bim", "hapmap3.fam", "hapmap3.pops"),
    url="https://raw.githubusercontent.com/mimno/admixture-ppc/"
    "80f0619528b0859a08081d737e28db7aa71a00a5/hapmap3-files/",
    sha256={
        "hapmap3.bed": "4e2acc16238caee9f896d170aefcb779e9a920fa4dd48105829919eda645117c",
        "hapmap3.bim": "759b8bd98c01cb992c74df927c693af4815df71f5220b99df036bb1ecd42812f",
        "hapmap3.fam": "edc5e654cee77c12ef97a73b5b2e4c2e370c45840a70d8755a44ad2a39befc8b",
        "hapmap3.pops": "831dfe4a1c54d28fe6bb05445ff40976919a1b278d44f1ae6b3cf47213920962",
    },
)


def data_folder() -> Path:
    """Return the folder where data are looked for: ``$DISCAN_DATA``, else discan's cache."""
    chosen = os.environ.get("DISCAN_DATA")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        root = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        root = "~/Library/Caches"
    else:
        root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(root).expanduser() / "discan"


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
    if subset not in ("all", "train", "test"):
        raise InputError(f"subset={subset!r}; use 'all', 'train' or 'test'")
    from discan.readers import read

    found = _locate(_NEWSGROUPS, path)
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


def load_reuters(
    path: StrPath | None = None, *, subset: str = "all", min_df: int = 2, max_df: float = 0.5
) -> Dataset:
    """Load Reuters-21578 with the ModApte split: 9,603 stories to train, 3,299 to test.

    Parameters
    ----------
    path : file or folder, optional
        ``reuters21578.tar.gz`` or the folder made of it. If not given it is looked for in
        `data_folder`; it is not fetched, for no checksum of a stable address is known.
    subset : {"all", "train", "test"}
    min_df, max_df : int, float
        Words in fewer stories, or in a larger share of them, are left out.

    Returns
    -------
    Dataset
        ``document_table``: split, and topics (separated by spaces; often none).
    """
    if subset not in ("all", "train", "test"):
        raise InputError(f"subset={subset!r}; use 'all', 'train' or 'test'")
    found = _locate(_REUTERS, path)
    stories = [
        story for story in _reuters_stories(found) if subset in ("all", story.split)
    ]  # fmt: skip
    if not stories:
        raise InputError(f"{found}: no story of the ModApte split in it; is it Reuters-21578?")
    texts, names = [story.text for story in stories], [story.name for story in stories]
    corpus, kept = _count_words(texts, names, min_df, max_df, keep_empty=True)
    table = {
        "split": np.array([story.split for story in stories])[kept],
        "topics": np.array([story.topics for story in stories])[kept],
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
        in `data_folder`; it is not fetched, for no checksum is known.
    """
    from discan.readers import read

    corpus = read(_locate(_AP, path), format="ldac")
    return Dataset(corpus, description="Associated Press, the sample that comes with LDA-C.")


def load_kos(path: StrPath | None = None) -> Dataset:
    """Load the KOS blog entries of UCI's Bag of Words: 3,430 entries, 6,906 words.

    Parameters
    ----------
    path : file or folder, optional
        ``docword.kos.txt.gz``, with ``vocab.kos.txt`` beside it if the words are to have names,
        or their folder. If not given it is looked for in `data_folder`; it is not fetched, for
        no checksum is known.
    """
    from discan.readers import read

    corpus = read(_locate(_KOS, path), format="uci")
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
        for Voteview brings its files up to date and they have no lasting checksum.
    **options
        Options of the Voteview reader.
    """
    letter = {"senate": "S", "house": "H"}.get(chamber)
    if letter is None:
        raise InputError(f"chamber={chamber!r}; use 'senate' or 'house'")
    if isinstance(congress, bool) or not isinstance(congress, int) or not 1 <= congress <= 999:
        raise InputError(f"congress={congress!r}; it must be a whole number from 1")
    stem = f"{letter}{congress:03d}"
    public = _Public(
        f"Voteview, {chamber} of Congress {congress}",
        (f"{stem}_votes.csv",),
        "https://voteview.com/data",
        companions=(f"{stem}_members.csv", f"{stem}_rollcalls.csv"),
    )
    from discan.readers import read

    corpus = read(_locate(public, path), format="voteview", **options)
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
    from discan.readers import read

    found = _locate(_HAPMAP3, path)
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
        "docstrings of Python's standard library; made on the spot", load_docstrings
    ),
    "20newsgroups": KnownDataset(
        "18,846 messages of 20 newsgroups; local copy, or fetched", load_20newsgroups
    ),
    "reuters": KnownDataset(
        "Reuters-21578, ModApte split, 12,902 stories; local copy", load_reuters
    ),
    "ap": KnownDataset("Associated Press, 2,246 stories; local copy", load_ap),
    "kos": KnownDataset("3,430 Daily Kos blog entries (UCI); local copy", load_kos),
    "voteview": KnownDataset(
        "roll calls of a chamber of the US Congress, by number; local copy", load_voteview
    ),
    "hapmap3": KnownDataset(
        "genotypes of 324 people, 13,928 SNPs; local copy, or fetched", load_hapmap3
    ),
}


# ---- the Senate's file ----


def _read_senate(path: Path) -> tuple[list[list[str]], list[list[str]]]:
    """Return rows of senators (name, party, state, votes) and of roll calls, as in the file."""
    rows: dict[str, list[list[str]]] = {"senator": [], "vote": []}
    with path.open(encoding="utf-8", newline="") as stream:
        for kind, *cells in csv.reader(line for line in stream if not line.startswith("#")):
            rows[kind].append(cells)
    return rows["senator"], rows["vote"]


# ---- docstrings ----

_NO_PROSE = {
    "antigravity", "distutils", "encodings", "ensurepip", "idlelib", "lib2to3", "pydoc_data",
    "test", "this", "turtledemo",
}  # fmt: skip


def _library_docstrings() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Iterate over public modules: (module, [(full name, docstring), ...])."""
    root = Path(sysconfig.get_path("stdlib"))
    collecting = gc.isenabled()
    gc.disable()  # syntax trees are many small objects; this halves the time
    try:
        for file in _library_files(root):
            try:
                tree = ast.parse(file.read_bytes())
            except (OSError, SyntaxError, ValueError):
                continue
            parts = file.relative_to(root).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            docstrings = list(_docstrings(tree, module))
            if docstrings:
                yield module, docstrings
    finally:
        if collecting:
            gc.enable()


def _library_files(root: Path) -> Iterator[Path]:
    for name in sorted(sys.stdlib_module_names - _NO_PROSE):
        if name.startswith("_"):
            continue
        folder = root / name
        files = sorted(folder.rglob("*.py")) if folder.is_dir() else [root / f"{name}.py"]
        for file in files:
            inner = file.relative_to(root).parts
            if file.is_file() and not {"test", "tests"} & set(inner):
                yield file


def _docstrings(node: Any, name: str) -> Iterator[tuple[str, str]]:
    text = ast.get_docstring(node, clean=False)
    if text:
        yield name, text
    for inner in node.body:
        if isinstance(inner, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _docstrings(inner, f"{name}.{inner.name}")


# ---- text ----


def _count_words(
    texts: list[str], names: list[str], min_df: int, max_df: float, keep_empty: bool = False
) -> tuple[Corpus, Array]:
    """Count words of three letters or more, English stop words left out.

    Returns
    -------
    the corpus, and which texts are in it: all, or those with a word left
    """
    from sklearn.feature_extraction.text import CountVectorizer

    vectoriser = CountVectorizer(
        stop_words="english", token_pattern=r"[^\W\d_]{3,}", min_df=min_df, max_df=max_df
    )
    try:
        counts = vectoriser.fit_transform(texts)
    except ValueError as error:
        raise InputError(f"no words are left: {error}") from None
    kept = np.ones(len(texts), dtype=bool) if keep_empty else np.diff(counts.indptr) > 0
    corpus = Corpus(
        counts[kept],
        document_names=[name for name, keep in zip(names, kept, strict=True) if keep],
        word_names=vectoriser.get_feature_names_out(),
    )
    return corpus, kept


class _Story(NamedTuple):
    name: str
    split: str
    topics: str
    text: str


_STORY = re.compile(r"<REUTERS (?P<head>[^>]*)>(?P<inside>.*?)</REUTERS>", re.DOTALL)
_FIELDS = re.compile(r"<(TITLE|BODY)>(.*?)</\1>", re.DOTALL)
_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)


def _reuters_stories(path: Path) -> Iterator[_Story]:
    """Iterate over the stories of the ModApte split: those with TOPICS="YES"."""
    for page in _reuters_pages(path):
        for story in _STORY.finditer(page):
            head = dict(re.findall(r'(\w+)="([^"]*)"', story["head"]))
            split = {"TRAIN": "train", "TEST": "test"}.get(head.get("LEWISSPLIT", ""))
            if split is None or head.get("TOPICS") != "YES":
                continue
            topics = _TOPICS.search(story["inside"])
            labels = re.findall(r"<D>(.*?)</D>", topics[1]) if topics else []
            fields = [text for _, text in _FIELDS.findall(story["inside"])]
            if not fields:  # stories of type UNPROC hold bare text
                _, tag, rest = story["inside"].partition("<TEXT")
                fields = [re.sub(r"<[^>]*>", " ", tag + rest)]
            text = unescape("\n".join(fields))
            yield _Story(head.get("NEWID", ""), split, " ".join(labels), text)


def _reuters_pages(path: Path) -> Iterator[str]:
    """Iterate over the .sgm files of a folder or of an archive, nothing unpacked to the disk."""
    if path.suffix == ".sgm":
        for file in sorted(path.parent.glob("reut2-*.sgm")):
            yield file.read_text("latin-1")
        return
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and member.name.endswith(".sgm"):
                    stream = archive.extractfile(member)
                    if stream is not None:
                        yield stream.read().decode("latin-1")
    except (tarfile.TarError, EOFError, OSError) as error:
        raise InputError(f"{path}: damaged archive ({error}); get it again") from None


# ---- where files are ----


def _locate(public: _Public, path: StrPath | None) -> Path:
    """Find the main file: at `path`, in the data folder, or by fetching it."""
    if path is not None:
        given = Path(path)
        if not given.exists():
            raise InputError(f"{given}: no such file or folder")
        found = given if given.is_file() else _search(given, public.files)
        if found is None:
            raise InputError(f"{given}: holds none of {', '.join(public.files)}")
        return found
    folder = data_folder()
    found = _search(folder, public.files) if folder.is_dir() else None
    if found is not None:
        return found
    if not public.url:
        raise InputError(_advice(public, folder, "it is not fetched, for want of a checksum"))
    return _fetch(public, folder)


def _search(folder: Path, names: Iterable[str]) -> Path | None:
    """Look for the first of the names in a folder and two levels below."""
    for name in names:
        for pattern in (name, f"*/{name}", f"*/*/{name}"):
            for found in sorted(folder.glob(pattern)):
                return found
    return None


def _fetch(public: _Public, folder: Path) -> Path:
    """Fetch the files into the folder, each with its checksum; return the main one."""
    try:
        import pooch  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        reason = "fetching it needs the package pooch (pip install pooch)"
        raise InputError(_advice(public, folder, reason)) from None
    paths = []
    for name, checksum in public.sha256.items():
        url = public.url + name if public.url.endswith("/") else public.url
        try:
            fetched = pooch.retrieve(url, f"sha256:{checksum}", fname=name, path=folder)
        except (OSError, ValueError) as error:
            reason = f"fetching {name} failed ({type(error).__name__})"
            raise InputError(_advice(public, folder, reason)) from error
        paths.append(Path(fetched))
    return paths[0]


def _advice(public: _Public, folder: Path, reason: str) -> str:
    companions = f" (and {', '.join(public.companions)})" if public.companions else ""
    return (
        f"{public.title}: no local copy, and {reason}; get it from {public.address} and put "
        f"{public.files[0]}{companions} into {folder}, or give its path"
    )
