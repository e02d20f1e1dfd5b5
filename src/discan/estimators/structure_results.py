# SPDX-License-Identifier: BSD-3-Clause
"""Read a file of results of the program STRUCTURE."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from discan.errors import InputError, shown
from discan.estimators.result_files import StrPath, read_lines, read_numbers
from discan.typing import Array

__all__ = ["Results", "read_results"]

FREQUENCIES = "Estimated Allele Frequencies in each cluster"
ANCESTRY = "Inferred ancestry of individuals"
# The ancestral frequency, in brackets, is there if frequencies are correlated between clusters.
_ALLELE = re.compile(r"\s*(-?\w+)\s+(?:\([\d.]+\)\s+)?(\d[\d.]*(?:\s+\d[\d.]*)*)\s*")
# Number, label if the data have labels, percentage of missing data, population if given.
_PERSON = re.compile(r"\s*(\d+)\s+(?:(\S+)\s+)?\(-?\d+\)\s+(-?\d+)?\s*:(.*)")
_ALPHA = re.compile(r"^Mean value of alpha(?:_\d+)?\s*=\s*([\d.]+)\s*$", re.MULTILINE)
_PLOIDY = re.compile(r"\bPLOIDY=(\d+)")


class Results(NamedTuple):
    """What a file tells.

    frequencies (K, J); words (J,): locus and allele; loci (G,); locus_of_word (J,); alpha (K,) or
    None; shares (I, K) and names (I,), or None if there are no individuals; ploidy.
    """

    frequencies: Array
    words: list[str]
    loci: list[str]
    locus_of_word: list[int]
    alpha: Array | None
    shares: Array | None
    names: list[str] | None
    ploidy: int


def read_results(path: StrPath) -> Results:
    """Read the results of a run, file ``..._f``."""
    text = "\n".join(read_lines(path))
    head, found, rest = text.partition(FREQUENCIES)
    frequencies, words, loci, numbers = _frequencies(path, rest)
    if not found or not words:
        raise InputError(f"{path}: holds no allele frequencies; is it STRUCTURE's file _f?")
    n_components = len(frequencies)
    alpha = np.array([float(value) for value in _ALPHA.findall(head)])
    known = len(alpha) in (1, n_components) and (alpha > 0).all()
    shares, names = _people(path, head.partition(ANCESTRY)[2], n_components)
    ploidy = _PLOIDY.search(rest)
    return Results(
        frequencies, words, loci, numbers,
        np.broadcast_to(alpha, n_components) if known else None, shares, names,
        int(ploidy[1]) if ploidy else 2,
    )  # fmt: skip


def _frequencies(path: StrPath, text: str) -> tuple[Array, list[str], list[str], list[int]]:
    table: list[list[str]] = []
    words: list[str] = []
    titles: list[str] = []
    numbers: list[int] = []
    for locus in re.split(r"^Locus\s+", text, flags=re.MULTILINE)[1:]:
        head, *lines = locus.splitlines()
        number, _, name = head.partition(":")
        title = name.strip() or f"locus {number.strip()}"
        for line in lines:
            row = _ALLELE.fullmatch(line)
            if row:
                words.append(f"{title}={row[1]}")
                numbers.append(len(titles))
                table.append(row[2].split())
        titles.append(title)
    frequencies = read_numbers(path, table).T if table else np.empty((0, 0))
    return frequencies, words, titles, numbers


def _people(path: StrPath, text: str, n_components: int) -> tuple[Array | None, list[str] | None]:
    """Shares of the individuals, and their labels or numbers."""
    lines = text.splitlines()
    # with the linkage model, the recombination rate of an individual comes first
    skip = 1 if any("Ind's r" in line for line in lines[:3]) else 0
    people = [row for row in map(_PERSON.fullmatch, lines) if row]
    if not people:
        return None, None
    names = [row[2] or row[1] for row in people]
    shares = np.empty((len(people), n_components))
    for i, row in enumerate(people):
        if "|" in row[4]:
            shares[i] = _of_assumed(path, row[4], row[3], n_components)
            continue
        numbers = row[4].partition("(")[0].split()[skip:]  # intervals follow in brackets
        if len(numbers) != n_components:
            problem = f"{len(numbers)} shares of {n_components} clusters"
            raise InputError(f"{path}: individual {shown(names[i])} has {problem}")
        shares[i] = read_numbers(path, [numbers])[0]
    return shares, names


def _of_assumed(path: StrPath, text: str, home: str | None, n_components: int) -> Array:
    """Expected shares where the population is assumed (USEPOPINFO).

    The line gives the probability of the assumed population, and for each other one that of being
    an immigrant, or of having one immigrant parent, grandparent, ...: half of the genes, a quarter.
    """
    shares = np.zeros(n_components)
    for number, values in re.findall(r"Pop\s+(\d+):([\d.\s]+)", text):
        chances = read_numbers(path, [values.split()])[0]
        if not 1 <= int(number) <= n_components:
            raise InputError(f"{path}: there is no population {number}")
        shares[int(number) - 1] = (chances * 0.5 ** np.arange(len(chances))).sum()
    if home is None or not 1 <= int(home) <= n_components:
        raise InputError(f"{path}: an individual is of no known population")
    shares[int(home) - 1] += max(1.0 - shares.sum(), 0.0)
    return shares
