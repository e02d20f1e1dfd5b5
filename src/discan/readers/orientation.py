# SPDX-License-Identifier: BSD-3-Clause
"""Tell whether the rows of a table of counts are words and its columns documents."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Sequence

from discan.data.roles import key
from discan.errors import Argument
from discan.readers.source import Source
from discan.readers.tables import Table

__all__ = ["is_transposed"]

log = logging.getLogger("discan")

_GENE = re.compile(r"ENS[A-Z]{0,4}G\d{6,}(\.\d+)?")
_BARCODE = re.compile(r"(.*[^A-Za-z])?[ACGT]{8,}([-_.].*)?")
_GENES = set("gene genes geneid genename genesymbol symbol ensembl ensemblid otu otuid asv".split())


def is_transposed(source: Source, table: Table, names: int | None, known: Collection[str]) -> bool:
    """Tell whether rows are words, by names that only genes or cells have, or that are ``known``.

    ``names`` is the number of the column that names the rows, if there is one.
    """
    if not table.has_titles:
        return False
    titles = [title for j, title in enumerate(table.titles) if j != names]
    rows = [] if names is None else [row[names].strip() for row in table.sample if names < len(row)]
    if known:
        found = len(set(rows) & set(known)) > len(set(titles) & set(known))
    else:
        title = "" if names is None else key(table.titles[names])
        found = title in _GENES or _most(_GENE, rows) or _most(_BARCODE, titles)
        found = found and not (_most(_BARCODE, rows) or _most(_GENE, titles))
    if found:
        remark = "%s: rows are read as words (genes), columns as documents (cells); if not, use %s"
        log.warning(remark, source.path, Argument("transpose", False))
    return found


def _most(pattern: re.Pattern[str], names: Sequence[str]) -> bool:
    return sum(pattern.fullmatch(name) is not None for name in names) > 0.5 * len(names)
