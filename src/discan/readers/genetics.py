# SPDX-License-Identifier: BSD-3-Clause
"""Read genotypes: PLINK's .bed, .bim and .fam."""

from __future__ import annotations

import lzma
import zlib
from pathlib import Path

import numpy as np
from scipy import sparse

from discan.data.corpus import Corpus
from discan.errors import InputError
from discan.readers.matrices import make_corpus, shown
from discan.readers.source import PACKED, Source, reader
from discan.typing import Array

__all__ = ["read_plink"]

MAGIC = b"\x6c\x1b"
SNPS_AT_ONCE = 2**10
CELLS_AT_ONCE = 2**19

_ALLELES = np.array([[2, 0], [0, 0], [1, 1], [0, 2]], dtype=np.int8)  # code 1 is missing
_MISSING = 1


def _family(source: Source) -> dict[str, Path] | None:
    """Find the three files of the family."""
    if source.is_folder:
        stems = sorted(source.path.glob("*.bed"))
        if len(stems) != 1:
            return None
        stem = stems[0].with_suffix("")
    else:
        name = source.path.name
        for suffix in PACKED:
            name = name.removesuffix(suffix)
        stem = source.path.with_name(name.rpartition(".")[0])
    found = {}
    for kind in ("bed", "bim", "fam"):
        for suffix in ("", *PACKED):
            path = stem.with_name(f"{stem.name}.{kind}{suffix}")
            if path.is_file():
                found[kind] = path
                break
        else:
            return None
    return found


def _is_plink(source: Source, head: str) -> bool:
    if not source.is_folder and not source.name.endswith((".bed", ".bim", ".fam")):
        return False
    return _family(source) is not None


@reader(
    "plink",
    "PLINK genotypes, .bed with .bim and .fam beside it; each SNP a group of two alleles",
    endings=(".bed", ".bim", ".fam"),
    sniff=_is_plink,
)
def read_plink(source: Source, exposures: bool = True) -> Corpus:
    """Read genotypes: an individual a document, with two tokens (alleles) for each SNP.

    Parameters
    ----------
    source : Source
        Any of the three files, or a folder that holds one family of them.
    exposures : bool
        Give an individual exposure 0 to the SNPs that were not read.
    """
    family = _family(source)
    if family is None:
        raise InputError(
            f"{source.path}: .bed, .bim and .fam of one name are needed, in one folder"
        )
    people = []
    for line, text in source.lines(family["fam"]):
        fields = text.split()
        if fields:
            if len(fields) < 2:
                raise source.error(line, f"expected 6 fields, found {shown(text)}", family["fam"])
            people.append(fields[1])
    snps, words = [], []
    for line, text in source.lines(family["bim"]):
        fields = text.split()
        if fields:
            if len(fields) != 6:
                raise source.error(line, f"expected 6 fields, found {shown(text)}", family["bim"])
            name = fields[1] if fields[1] != "." else f"{fields[0]}:{fields[3]}"
            snps.append(name)
            words += [f"{name}:{fields[4]}", f"{name}:{fields[5]}"]
    if not people or not snps:
        raise InputError(f"{source.path}: no {'SNPs' if people else 'individuals'}")
    codes = _read_bed(source, family["bed"], len(people), len(snps))
    observed = codes != _MISSING if exposures else None
    return make_corpus(
        source,
        _count_alleles(codes),
        groups=np.repeat(np.arange(len(snps)), 2),
        exposures=None if observed is None or observed.all() else observed,
        document_names=people,
        word_names=words,
        group_names=snps,
    )


def _read_bed(source: Source, path: Path, n_people: int, n_snps: int) -> Array:
    """Read the two-bit codes, (people, SNPs) uint8; the size must be what the names say."""
    width = (n_people + 3) // 4
    expected = 3 + width * n_snps
    try:
        with source.open(path) as stream:
            start = stream.read(3)
            if start[:2] != MAGIC:
                raise InputError(f"{path}: is no PLINK .bed file (its first bytes are wrong)")
            if start[2:] != b"\x01":
                raise InputError(
                    f"{path}: individual by individual, an old order that is not read; convert it "
                    "with plink --make-bed"
                )
            size = path.stat().st_size
            if path.suffix == ".bed" and size != expected:
                raise _wrong_size(path, size, expected, n_people, n_snps)
            blocks, seen = [], 3
            for first in range(0, n_snps, SNPS_AT_ONCE):
                n = min(SNPS_AT_ONCE, n_snps - first)
                raw = stream.read(n * width)
                seen += len(raw)
                if len(raw) != n * width:
                    raise _wrong_size(path, seen, expected, n_people, n_snps)
                packed = np.frombuffer(raw, dtype=np.uint8).reshape(n, width, 1)
                codes = (packed >> np.array([0, 2, 4, 6], dtype=np.uint8)) & 3
                blocks.append(codes.reshape(n, 4 * width)[:, :n_people].T.copy())
            if stream.read(1):
                raise _wrong_size(path, seen + 1, expected, n_people, n_snps)
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise InputError(f"{path}: damaged compressed file ({error})") from None
    return np.concatenate(blocks, axis=1)


def _wrong_size(path: Path, size: int, expected: int, n_people: int, n_snps: int) -> InputError:
    return InputError(
        f"{path}: {size:,} bytes, but {n_people:,} individuals and {n_snps:,} SNPs take "
        f"{expected:,}; is it cut short, or of another family?"
    )


def _count_alleles(codes: Array) -> sparse.csr_array:
    """Turn codes (people, SNPs) into counts (people, 2 SNPs)."""
    n_people, n_snps = codes.shape
    step = max(1, CELLS_AT_ONCE // n_snps)
    lengths, words, counts = [], [], []
    for first in range(0, n_people, step):
        dense = _ALLELES[codes[first : first + step]].reshape(-1, 2 * n_snps)
        flat = np.flatnonzero(dense)
        lengths.append(np.count_nonzero(dense, axis=1))
        words.append((flat % (2 * n_snps)).astype(np.int32))
        counts.append(dense.ravel()[flat])
    indptr = np.concatenate(([0], np.cumsum(np.concatenate(lengths), dtype=np.int64)))
    table = (np.concatenate(counts), np.concatenate(words), indptr)
    return sparse.csr_array(table, shape=(n_people, 2 * n_snps))
