# SPDX-License-Identifier: BSD-3-Clause
"""Show data in a notebook: plain HTML without scripts, in the colours of the notebook."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from discan.data.nouns import counted

__all__ = ["bar", "corpus_html", "facts", "frame", "safe"]

LONGEST = 60  # characters
WORDS = 10
COLUMNS = 8  # of metadata
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def corpus_html(corpus: Any) -> str:
    """Describe a corpus: its size, its most frequent words and its metadata."""
    nouns, lengths = corpus.nouns, corpus.lengths
    share = 100.0 * corpus.n_entries / max(corpus.n_documents * corpus.n_words, 1)
    tokens = f"{corpus.n_tokens:,}" if corpus.integral else f"{corpus.n_tokens:,.6g}"
    rows = {
        "tokens": tokens,
        f"tokens per {nouns.document}": f"{lengths.min():,.6g} to {lengths.max():,.6g}, median "
        f"{np.median(lengths):,.6g}",
        "non-zeros": f"{corpus.n_entries:,} ({share:.3g} %)",
    }
    if corpus.n_groups > 1:
        rows["groups"] = f"{corpus.n_groups:,}"
    columns = {n: _values(column) for n, column in list(corpus.metadata.items())[:COLUMNS]}
    first = np.argsort(-corpus.word_totals, kind="stable")[:WORDS]
    names, totals = corpus.layout.word_names, corpus.word_totals[first]
    words = [
        _cell(safe(names[j] if names else f"{nouns.word} {j}"))
        + f"<td>{bar(total / totals[0])}</td>{_cell(f'{total:,.6g}', right=True)}"
        for j, total in zip(first, totals, strict=True)
        if total > 0
    ]
    title = (
        f"Corpus of {counted(corpus.n_documents, nouns.document)} and "
        f"{counted(corpus.n_words, nouns.word)}"
    )
    listed = _table(words, f"Most frequent {nouns.words}")
    return frame(title, facts(rows), listed, facts(columns, "Metadata"))


def frame(title: str, *parts: str) -> str:
    """Return parts of HTML under a title, which is any text."""
    return f'<div style="max-width:60rem"><p><b>{safe(title)}</b></p>{"".join(parts)}</div>'


def facts(rows: Mapping[str, str], caption: str = "") -> str:
    """Return a table of names and values."""
    cells = (
        f"{_cell(safe(name))}{_cell(safe(value, 4 * LONGEST))}" for name, value in rows.items()
    )
    return _table(cells, caption)


def bar(part: float) -> str:
    """Return a bar of a length from 0 to 1; the number beside it says the same."""
    wide = 8 * max(0.0, min(1.0, float(part)))
    return (
        '<div aria-hidden="true" style="width:8em"><div style="height:.7em;background:#4a86bd;'
        f'border-radius:2px;width:{wide:.2f}em"></div></div>'
    )


def safe(value: object, longest: int = LONGEST) -> str:
    """Make any value safe as text of one line and limited length."""
    text = " ".join(_CONTROL.sub(" ", str(value)).split())
    text = text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
    return html.escape(text)


def _table(rows: Iterable[str], caption: str = "") -> str:
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    if not body:
        return ""
    above = f'<caption style="text-align:left">{safe(caption)}</caption>' if caption else ""
    return f'<table style="margin:0 0 .6em">{above}<tbody>{body}</tbody></table>'


def _cell(text: str, right: bool = False) -> str:
    return f'<td style="text-align:{"right" if right else "left"}">{text}</td>'


def _values(column: Sequence[Any]) -> str:
    """Describe a column of metadata: a range of numbers, or some of the values."""
    values = np.asarray(column)
    if values.dtype != object:
        known = values[np.isfinite(values)]
        return f"{known.min():.6g} to {known.max():.6g}" if known.size else "missing"
    different = list(dict.fromkeys(value for value in values if value is not None))
    some = ", ".join(safe(value, 20) for value in different[:4])
    return html.unescape(some) + (f", ... ({len(different):,} values)" if different[4:] else "")
