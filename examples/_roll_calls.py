# SPDX-License-Identifier: BSD-3-Clause
"""Read the Senate's roll calls of 2003 or 2005, and transpose them."""

from __future__ import annotations

import csv
import re

import numpy as np
from common import data_folder

import discan
from discan.readers.datasets import Dataset, load_senate2005

__all__ = ["load", "turned"]


def load() -> tuple[Dataset, int]:
    """Read the votes of 2003 or, if they are absent, those of 2005, which are part of discan."""
    folder = data_folder("senate2003", "senate2003.csv")
    if folder is None:
        return load_senate2005(), 2005
    with (folder / "senate2003.csv").open(encoding="utf-8", newline="") as stream:
        head, *rows = csv.reader(stream)
    number, date, bill, question, result, outcome, yeas, nays = np.array([r[:8] for r in rows]).T
    votes = np.array([row[8:] for row in rows]).T
    # McCAIN (R-AZ) is McCain; party and state are in brackets
    senators = np.array(
        [re.sub(r"[A-Z]{2,}(?=.* \()", lambda m: m[0].title(), h) for h in head[8:]]
    )
    corpus = discan.Corpus(
        np.stack([votes == "Y", votes == "N"], axis=2).reshape(len(votes), -1).astype(np.int64),
        groups=np.repeat(np.arange(len(rows)), 2),
        document_names=senators,
    )
    title = np.array([f"{q}, {b}" if b else q for q, b in zip(question, bill, strict=True)])
    calls = {"number": number, "date": date, "title": title, "question": question,
             "result": result, "yeas": yeas, "nays": nays, "agreed": outcome == "Y"}  # fmt: skip
    party = np.array([name.split("(")[1][0] for name in senators])
    name = np.array([name.split(" (")[0] for name in senators])
    description = f"{len(votes)} senators cast {corpus.n_tokens:,} votes on {len(rows)} roll calls."
    return Dataset(corpus, {"name": name, "party": party}, calls, description), 2003


def turned(corpus: discan.Corpus) -> discan.Corpus:
    """Return the same votes with roll calls as documents and senators as groups."""
    votes = corpus.to_csr().toarray().reshape(corpus.n_documents, corpus.n_groups, 2)
    return discan.Corpus(
        votes.transpose(1, 0, 2).reshape(corpus.n_groups, -1),
        groups=np.repeat(np.arange(corpus.n_documents), 2),
    )
