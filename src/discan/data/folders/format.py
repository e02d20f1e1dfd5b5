# SPDX-License-Identifier: BSD-3-Clause
"""The files of a corpus folder: its manifest, its words, and the checks when they are loaded.

A folder holds ``manifest.json``, a file of words and the shards, which hold the documents. Shards
and words are named after their content, and the manifest names them. It is written last, so at any
moment the folder holds the old corpus or the whole new one. A folder without a manifest is no
corpus.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discan import __version__
from discan.data.intake import LARGEST_INT32
from discan.data.layout import Layout
from discan.data.left_out import NOTHING
from discan.data.nouns import Nouns, counted
from discan.data.regular import open_regular, read_part
from discan.data.remembered import checked_reading
from discan.data.rules import MOST, checked, checked_names, faults_of
from discan.data.storage import parse_json, read_file, write_file, write_whole
from discan.errors import DiscanError, ModelFileError, StorageError, shown
from discan.typing import Array

__all__ = [
    "FORMAT", "MANIFEST", "ROUNDING", "SHARDS", "TMP", "Column", "Manifest", "Shard",
    "check_links", "is_corpus_folder", "is_unfinished", "load_manifest", "remove_files",
    "save_manifest", "save_words", "shard_name", "words_name",
]  # fmt: skip

FORMAT = 1
MANIFEST = "manifest.json"
SHARDS = "shards"
TMP = "tmp"
"""What is kept until a conversion is finished."""

_KIND = "corpus folder"
_LARGEST_MANIFEST = 2**28  # bytes; that of a million shards is smaller
ROUNDING = 1e-9
"""Of sums of counts that are added in another order, relative to the sum."""
_SHA = re.compile(r"[0-9a-f]{64}")
_SHARD_FILE = re.compile(r"[0-9]{5,}-[0-9a-f]{16}\.discan")
_WORDS_FILE = re.compile(r"words-[0-9a-f]{16}\.discan")


class Column(NamedTuple):
    """A column of metadata: its name, and whether its values are text, not numbers."""

    name: str
    is_text: bool


class Shard(NamedTuple):
    """One file of documents, as the manifest describes it."""

    file: str
    documents: int
    entries: int
    tokens: int | float
    sha256: str


@dataclass(frozen=True, eq=False)
class Manifest:
    """What is known of a corpus folder without reading its documents.

    Attributes
    ----------
    digest : str
        That of the same corpus in memory.
    n_tokens : int or float
    whole : bool
        Whether every count is a whole number.
    wide : bool
        Whether the counts of the corpus in memory are float64 and not int32.
    exposed : bool
        Whether documents have exposures.
    named : bool
        Whether documents have names.
    columns : metadata of the documents
    shards : files of documents, in order
    layout : Layout
    word_totals : (J,) float64 array
    exposure_levels : (T,) float64 array
        Distinct sums of the exposures of a document, ascending.
    left_out : (n,) uint32 array
    nouns : Nouns
    reading : dict
    """

    digest: str
    n_tokens: int | float
    whole: bool
    wide: bool
    exposed: bool
    named: bool
    columns: tuple[Column, ...]
    shards: tuple[Shard, ...]
    layout: Layout
    word_totals: Array
    exposure_levels: Array
    nouns: Nouns
    reading: dict[str, Any]
    left_out: Array

    @property
    def n_documents(self) -> int:
        """Number of documents, I."""
        return sum(shard.documents for shard in self.shards)

    @property
    def n_entries(self) -> int:
        """Number of non-zero counts."""
        return sum(shard.entries for shard in self.shards)

    @property
    def description(self) -> str:
        """The size of the corpus in one line."""
        tokens = f"{self.n_tokens:,}" if self.whole else f"{self.n_tokens:,.6g}"
        n_documents, n_words = self.n_documents, self.layout.n_words
        share = 100.0 * self.n_entries / (n_documents * n_words)
        parts = [
            f"{counted(n_documents, self.nouns.document)} x {counted(n_words, self.nouns.word)}",
            f"{tokens} tokens in {self.n_entries:,} non-zeros ({share:.3g} %)",
        ]
        if self.layout.n_groups > 1:
            parts.append(f"{self.layout.n_groups:,} groups")
        return ", ".join([*parts, "exposures"] if self.exposed else parts)

    def describe(self) -> dict[str, Any]:
        """Return what the corpus is, in a few properties."""
        words = self.layout.word_names
        return {
            "holds": "a corpus folder",
            "documents": self.n_documents,
            "words": self.layout.n_words,
            "groups": self.layout.n_groups,
            "tokens": self.n_tokens,
            "non-zeros": self.n_entries,
            "whole counts": self.whole,
            "exposures": self.exposed,
            **({"metadata": [column.name for column in self.columns]} if self.columns else {}),
            **({"first words": list(words[:5])} if words is not None else {}),
            "shards": len(self.shards),
            "SHA-256": self.digest,
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that shards are checked against."""
        layout = self.layout
        flags = (self.whole, self.wide, self.exposed, self.named)
        about = (flags, self.columns, self.shards, layout.n_words, layout.n_groups)
        found = hashlib.sha256(repr(about).encode("utf-8", "backslashreplace"))
        for array in (layout.group_of_word, self.word_totals, self.exposure_levels):
            found.update(np.ascontiguousarray(array).data)
        return found.hexdigest()

    @property
    def starts(self) -> tuple[int, ...]:
        """First document of each shard, and the number of all documents."""
        return (0, *accumulate(shard.documents for shard in self.shards))


def is_corpus_folder(path: str | os.PathLike[str]) -> bool:
    """Tell whether a folder holds a manifest of ours, whole or damaged."""
    try:
        with open_regular(Path(path) / MANIFEST) as stream:
            return f'"kind": "{_KIND}"'.encode() in stream.read(200)
    except (DiscanError, OSError, ValueError):
        return False


def is_unfinished(path: str | os.PathLike[str]) -> bool:
    """Tell whether a folder holds a conversion that was interrupted, and no corpus."""
    folder = Path(path)
    begun = (folder / TMP / "lock").is_file() and (folder / SHARDS).is_dir()
    return begun and not (folder / MANIFEST).exists()


def shard_name(number: int, sha256: str) -> str:
    """Return the name of a shard: its number, and the start of its checksum."""
    return f"{number:05}-{sha256[:16]}.discan"


def words_name(sha256: str) -> str:
    """Return the name of the file of words."""
    return f"words-{sha256[:16]}.discan"


def check_links(folder: Path) -> None:
    """Refuse to write to a folder whose parts are links, which may lead anywhere."""
    for name in (SHARDS, TMP, MANIFEST):
        if (folder / name).is_symlink():
            raise StorageError(f"{folder / name}: a link, not followed; remove it")


# ---- writing ----


def remove_files(folder: Path, kept: set[str]) -> None:
    """Remove the files of a corpus that the folder held before, and no others."""
    for place, form in ((folder / SHARDS, _SHARD_FILE), (folder, _WORDS_FILE)):
        for name in os.listdir(place):
            if form.fullmatch(name) and name not in kept:
                with contextlib.suppress(OSError):
                    (place / name).unlink()


def save_words(
    folder: Path, layout: Layout, totals: Array, exposure_levels: Array, left_out: Array
) -> str:
    """Write the file of words, and return its name."""
    arrays = {
        "group_of_word": layout.group_of_word,
        "word_totals": totals,
        "exposure_levels": exposure_levels,
    }
    if left_out.size:
        arrays["left_out"] = left_out
    names = {"word_names": layout.word_names, "group_names": layout.group_names}
    digest = hashlib.sha256(json.dumps([layout.n_groups, *names.values()]).encode())
    for array in arrays.values():
        digest.update(np.ascontiguousarray(array).data)
    name = words_name(digest.hexdigest())
    write_file(folder / name, "words", {"n_groups": layout.n_groups, **names}, arrays)
    return name


def save_manifest(folder: Path, manifest: Manifest, words: str) -> None:
    """Write the manifest; from then on the folder holds this corpus."""
    nouns = manifest.nouns
    content: dict[str, Any] = {
        "kind": _KIND,
        "format": FORMAT,
        "library": __version__,
        "documents": manifest.n_documents,
        "words": manifest.layout.n_words,
        "entries": manifest.n_entries,
        "tokens": manifest.n_tokens,
        "digest": manifest.digest,
        "whole": manifest.whole,
        "wide": manifest.wide,
        "exposed": manifest.exposed,
        "named": manifest.named,
        "metadata": [list(column) for column in manifest.columns],
        "nouns": [nouns.document, nouns.word, nouns.component],
        "reading": manifest.reading,
        "words_file": words,
        "shards": [shard._asdict() for shard in manifest.shards],
    }
    content["sha256"] = _checksum(content)
    write_whole(folder / MANIFEST, json.dumps(content, indent=1, allow_nan=False) + "\n")


def _checksum(content: dict[str, Any]) -> str:
    """Return the SHA-256 of a manifest without its checksum, in any order and spacing."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


# ---- loading ----


def load_manifest(folder: str | os.PathLike[str]) -> Manifest:
    """Load what is known of a corpus folder; if anything is wrong with it, say what."""
    path = Path(folder) / MANIFEST
    content = _content(path)
    with faults_of(path):
        words = _file_name("words_file", content.get("words_file"), _WORDS_FILE)
        shards = tuple(_shards(content.get("shards")))
        columns = tuple(_columns(content.get("metadata")))
        nouns = Nouns(*(checked_names("nouns", content.get("nouns"), 3) or ()))
        reading = checked_reading(content.get("reading"))
        n_words = checked("words", content.get("words"), {}, types="whole", low=1)
        flags = {
            name: checked(name, content.get(name), {}, types="flag")
            for name in ("whole", "wide", "exposed", "named")
        }
        digest = content.get("digest")
        if not isinstance(digest, str) or not _SHA.fullmatch(digest):
            raise ModelFileError(f"digest is {shown(digest)}")
        n_tokens = checked("tokens", content.get("tokens"), {}, types="number", low=0, high=MOST)
        if not (flags["whole"] or flags["wide"]):
            raise ModelFileError("counts are said to be fractions and to fit into int32")
        for name in ("documents", "entries", "tokens"):
            found, numbers = content.get(name), [getattr(shard, name) for shard in shards]
            if name == "tokens" and not flags["whole"]:
                total = sum(numbers)
                sound = abs(n_tokens - total) <= ROUNDING * total
            else:
                total = sum(map(int, numbers))
                sound = type(found) is int and found == total
            if not sound:
                raise ModelFileError(f"{name} is {shown(found)}, but shards have {total}")
    arrays = _words(Path(folder) / words, n_words)
    levels, n_groups = arrays["exposure_levels"], arrays["layout"].n_groups
    if not flags["exposed"] and levels.tolist() != [n_groups]:
        raise ModelFileError(f"{path}: invalid: there are exposure_levels, but no exposures")
    return Manifest(
        digest=digest, n_tokens=n_tokens, columns=columns, shards=shards, nouns=nouns,
        reading=reading, **flags, **arrays,
    )  # fmt: skip


def _content(path: Path) -> dict[str, Any]:
    """Return the content of a manifest, whose checksum and format are right."""
    try:
        with open_regular(path) as stream:
            text = read_part(stream, _LARGEST_MANIFEST)
    except StorageError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        problem = "no corpus folder: it has no manifest.json"
        if is_unfinished(path.parent):
            problem = "a conversion that is not finished; the same discan convert continues it"
        raise ModelFileError(f"{path.parent}: {problem}") from None
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from None
    if len(text) > _LARGEST_MANIFEST:
        raise ModelFileError(f"{path}: larger than {_LARGEST_MANIFEST:,} bytes, so it is not ours")
    found = parse_json(path, text)
    if not isinstance(found, dict) or found.get("kind") != _KIND:
        raise ModelFileError(f"{path}: not the manifest of a corpus folder of discan")
    version = found.get("format")
    if type(version) is not int or not 1 <= version <= FORMAT:
        library = shown(found.get("library"))
        raise ModelFileError(
            f"{path}: format {shown(version)}, written by discan {library}; this is discan "
            f"{__version__}, which reads formats up to {FORMAT}: upgrade discan"
        )
    sha = found.pop("sha256", None)
    if _checksum(found) != sha:
        raise ModelFileError(f"{path}: fails its checksum; the file is damaged")
    return found


def _shards(value: Any) -> Iterator[Shard]:
    if not isinstance(value, list) or not value:
        raise ModelFileError("shards is no list of files")
    for n, entry in enumerate(value):
        if not isinstance(entry, dict) or set(entry) != set(Shard._fields):
            raise ModelFileError(f"shard {n} is {shown(entry)}")
        file = _file_name(f"file of shard {n}", entry["file"], _SHARD_FILE)
        if not file.startswith(shard_name(n, "")[:-7]):  # so no file is named twice
            raise ModelFileError(f"file of shard {n} is {shown(file)}, which is out of order")
        for name, types, low in (
            ("documents", "whole", 1), ("entries", "whole", 0), ("tokens", "number", 0),
        ):  # fmt: skip
            checked(f"{name} of shard {n}", entry[name], {}, types=types, low=low, high=MOST)
        if not isinstance(entry["sha256"], str) or not _SHA.fullmatch(entry["sha256"]):
            raise ModelFileError(f"sha256 of shard {n} is {shown(entry['sha256'])}")
        yield Shard(**entry)


def _columns(value: Any) -> Iterator[Column]:
    if not isinstance(value, list):
        raise ModelFileError("metadata is no list of columns")
    for entry in value:
        pair = isinstance(entry, list) and len(entry) == 2
        if not pair or not isinstance(entry[0], str) or not isinstance(entry[1], bool):
            raise ModelFileError(f"metadata holds {shown(entry)}, which is no column")
        yield Column(*entry)


def _file_name(what: str, value: Any, form: re.Pattern[str]) -> str:
    """Refuse a name that could lead out of the folder."""
    if not isinstance(value, str) or not form.fullmatch(value):
        raise ModelFileError(f"{what} is {shown(value)}, which is no name of a file")
    return value


def _words(path: Path, n_words: int) -> dict[str, Any]:
    """Load the file of words: what the columns are, and their totals."""
    header, arrays = read_file(path, "words")
    with faults_of(path):
        sizes = {"J": n_words}
        n_groups = checked("n_groups", header.get("n_groups"), {}, types="whole", low=1)
        if n_words > LARGEST_INT32 or n_groups > n_words:
            raise ModelFileError(f"{n_words} words in {n_groups} groups")
        sizes["G"] = n_groups
        groups = checked(
            "group_of_word", arrays.get("group_of_word"), sizes, "J", types="i4", low=0, below="G"
        )
        if np.unique(groups).size != n_groups:
            raise ModelFileError("a group owns no word")
        totals = checked(
            "word_totals", arrays.get("word_totals"), sizes, "J", types="f8", low=0, high=MOST
        )
        levels = checked(
            "exposure_levels", arrays.get("exposure_levels"), {}, None, types="f8", low=0, high=MOST
        )
        if levels.size == 0 or (levels[1:] <= levels[:-1]).any():
            raise ModelFileError("exposure_levels do not ascend")
        left_out = checked("left_out", arrays.get("left_out", NOTHING), {}, None, types="u4")
        layout = Layout(
            n_words=n_words,
            group_of_word=groups,
            n_groups=n_groups,
            word_names=checked_names("word_names", header.get("word_names"), n_words),
            group_names=checked_names("group_names", header.get("group_names"), n_groups),
        )
        about = {"exposure_levels": levels, "left_out": left_out}
        return {"layout": layout, "word_totals": totals, **about}
