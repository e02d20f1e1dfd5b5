# SPDX-License-Identifier: BSD-3-Clause
"""Read Reuters-21578 as it is handed out: stories inside .sgm files, many in each."""

from __future__ import annotations

import re

from discan.data.corpus import Corpus
from discan.readers.source import Source, reader

__all__ = ["read_reuters"]

_NAME = re.compile(r"reut2-\d+\.sgm|reuters21578\.(tar|tgz)")


def _is_reuters(source: Source, head: str) -> bool:
    if source.is_folder:
        return next(source.path.glob("reut2-*.sgm"), None) is not None
    return _NAME.fullmatch(source.name) is not None


@reader(
    "reuters",
    "Reuters-21578 as handed out, reuters21578.tar.gz or its folder of .sgm files; a story each",
    endings=(".sgm", "reuters21578.tar", "reuters21578.tgz"),
    sniff=_is_reuters,
)
def read_reuters(
    source: Source, subset: str = "all", min_df: int = 2, max_df: float = 0.5
) -> Corpus:
    """Read the stories of the ModApte split of Reuters-21578.

    Parameters
    ----------
    source : Source
        The archive, its folder, or one of the files in it.
    subset : {"all", "train", "test"}
    min_df, max_df : int, float
        Words in fewer stories, or in a larger share of them, are left out.
    """
    from discan.readers.datasets import load_reuters

    path = source.path.parent if source.name.endswith(".sgm") else source.path
    return load_reuters(path, subset=subset, min_df=min_df, max_df=max_df).corpus
