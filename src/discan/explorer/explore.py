# SPDX-License-Identifier: BSD-3-Clause
"""Build the explorer of a fit, and show or save it."""

from __future__ import annotations

import html
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discan.data.storage import write_whole
from discan.errors import InputError
from discan.explorer.detail import Detail
from discan.explorer.material import read_material
from discan.explorer.page import page, size_without_data
from discan.explorer.payload import payload
from discan.reporting.sentences import Wording
from discan.validation import whole

__all__ = ["LARGEST", "LONGEST_TEXT", "Explorer", "explore"]

log = logging.getLogger("discan")

LONGEST_TEXT = 2000  # characters of a document's text on a page
MEGABYTE = 1_000_000
LARGEST = 25 * MEGABYTE  # bytes of a page
HEIGHT = 860  # pixels, in a notebook


class Explorer:
    """A page about a fit; in a notebook it shows itself.

    Parameters
    ----------
    title : str
        Title of the page.
    text : str
        The whole page, in HTML.
    left_out : str
        What the page lacks to keep within its size, in words; "" if nothing.

    Attributes
    ----------
    title, html, left_out : str
        The same.
    """

    def __init__(self, title: str, text: str, left_out: str = "") -> None:
        self.title = title
        self.html = text
        self.left_out = left_out

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page; at any moment the file is either the old page or the whole new one.

        Parameters
        ----------
        path : path that ends in .html
            File to write.

        Returns
        -------
        Path
        """
        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"{path}: the name of a page must end in .html")
        write_whole(path, self.html)
        return path

    def __repr__(self) -> str:
        """Describe the page in one line."""
        return f"<Explorer: {self.title}, {len(self.html) / MEGABYTE:.1f} MB>"

    def _repr_html_(self) -> str:
        """Show the page inside a notebook, in a frame that can reach nothing else."""
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" title="{html.escape(self.title)}" '
            f'style="width:100%;height:{HEIGHT}px;border:1px solid #ccc" '
            f'srcdoc="{html.escape(self.html)}"></iframe>'
        )


def explore(
    model: Any,
    X: Any = None,
    *,
    texts: Sequence[str] | None = None,
    documents: Any = None,
    labels: str | Sequence[str] = (),
    places: Any = None,
    title: str | None = None,
    max_size: int = LARGEST,
    text: bool = True,
    n_jobs: int | None = None,
    worded: Wording = str,
) -> Explorer:
    """Build an interactive page in which a fit can be read: one file, nothing is fetched.

    Components, documents, a map, labels, search and diagnostics are linked. It works for texts and
    for votes, surveys, genotypes and cells. Names from the data stay text.

    Parameters
    ----------
    model : fit or fitted estimator
        What the page is about.
    X : Corpus or (I, J) counts, optional
        The data of the fit, or new documents. With data the page shows words or answers of the
        documents, and how well each is explained.
    texts : (I,) texts, optional
        What the documents say. ``discan.read(..., excerpt=2000)`` keeps the beginning of each text,
        which is used if no texts are given.
    documents : data frame or mapping of str to (I,) values, optional
        More columns that describe the documents.
    labels : str or list of str, optional
        Columns to show as labels, the main one first; others with few different values follow.
    places : (I, 2) array, optional
        Where the documents are on a map of your own, e.g. ``adata.obsm["X_umap"]``.
    title : str, optional
        Title of the page.
    max_size : int
        Bytes of the page. If it would be larger it shows less: ``left_out`` says what.
    text : bool
        False leaves all texts out.
    n_jobs : int, optional
        Threads for new documents.
    worded : callable
        Words advice, as an error that carries settings; the command line names its flags.

    Returns
    -------
    Explorer
        With ``save(path)``; in a notebook it shows itself.

    Examples
    --------
    >>> import numpy as np, discan
    >>> X = np.kron(np.eye(2, dtype=int), np.full((5, 4), 3))
    >>> page = discan.explore(discan.LDA(2, random_state=0).fit(X))
    >>> page.title
    'Components of 10 documents'
    """
    asked = [labels] if isinstance(labels, str) else list(labels)
    limit = whole("max_size", max_size, 1)
    material = read_material(model, X, texts, documents, asked, places, n_jobs)
    nouns, n = material.components.nouns, material.facts.n_documents
    rows = nouns.documents if n != 1 else nouns.document
    heading = title or f"{nouns.components.capitalize()} of {n:,} {rows}"
    detail = Detail(text=LONGEST_TEXT if text else 0)
    packed, left_out = payload(material, detail, limit - size_without_data(heading), worded)
    if left_out:
        log.info("to keep the page small (%.3g MB at most): %s", limit / MEGABYTE, left_out)
    result = Explorer(heading, page(heading, packed), left_out)
    if len(result.html) > limit:
        log.warning("the page has %.3g MB, more than was asked for", len(result.html) / MEGABYTE)
    return result
