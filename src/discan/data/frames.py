# SPDX-License-Identifier: BSD-3-Clause
"""Read data frames of answers: of pandas, polars, or anything that gives an Arrow stream."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import logging
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discan.data.answer_remarks import FRAME
from discan.data.answer_tables import AnswerOptions, RawColumn, read_answers
from discan.data.columns import MISSING, Codes, clean
from discan.data.completing import Answers, Filling, answer_texts
from discan.data.corpus import Corpus
from discan.data.counted import holds_counts
from discan.data.roles import DOCUMENT, WORD, Plan, key
from discan.errors import Argument, InputError, shown

__all__ = [
    "completed", "frame_as_csv", "holds_text", "is_frame", "read_frame", "texts_as_json",
]  # fmt: skip

log = logging.getLogger("discan")

_LISTING = ("to_pylist", "to_list", "tolist")  # how columns of the libraries become lists

SAMPLE = 200
MANY_SPACES = 6.0  # per cell of a column of texts


class _Frame(NamedTuple):
    """A frame taken apart: titles, columns, whether each holds numbers, and names of rows."""

    titles: list[str]
    columns: list[Any]
    numeric: list[bool]
    names: list[str] | None


def is_frame(data: Any) -> bool:
    """Tell whether this is a data frame, or gives an Arrow stream."""
    kind = type(data)
    if hasattr(kind, "columns"):
        return True
    is_series = any(hasattr(kind, verb) for verb in _LISTING)
    return hasattr(kind, "__arrow_c_stream__") and not is_series


def holds_text(data: Any) -> bool:
    """Tell whether a frame has columns that are not numeric, by their types."""
    if hasattr(data, "iloc"):
        return any(not _is_number(dtype) for dtype in data.dtypes)
    if hasattr(data, "get_column"):
        return any(not dtype.is_numeric() and str(dtype) != "Boolean" for dtype in data.dtypes)
    return not hasattr(type(data), "columns") or hasattr(type(data), "__arrow_c_stream__")


def read_frame(data: Any, like: Any = None, **options: Any) -> Corpus:
    """Make a corpus of a frame: answers, or counts if most columns are numbers that look so.

    Parameters
    ----------
    data : data frame of pandas or polars, or an object with ``__arrow_c_stream__``
    like : a Corpus or a Fit, optional
        The frame is read as its data were.
    **options
        Those of tables of answers: metadata, answers, missing, alleles, bins and others.
    """
    frame = _taken_apart(data)
    if not frame.columns or not len(frame.columns[0]):
        raise InputError(f"{FRAME} is empty; it needs rows and columns")
    if not options and _is_counted(frame, like):
        return _read_counts(frame, like)
    for name in options:
        if name not in AnswerOptions.__dataclass_fields__:
            has = ", ".join(AnswerOptions.__dataclass_fields__)
            raise InputError(f"a data frame is read without an option {name!r}; it has {has}")
    raw = [_coded(title, column) for title, column in zip(frame.titles, frame.columns, strict=True)]
    if like is None and not options:
        _remark_on_kind(raw)
    if frame.names is not None and "id_column" not in options:
        options["id_column"] = False
    corpus = read_answers(FRAME, raw, AnswerOptions(**options), like)
    if frame.names is not None:
        corpus = corpus.described(document_names=tuple(frame.names))
    return corpus


def _remark_on_kind(columns: Sequence[RawColumn]) -> None:
    """Say how to read a frame that holds triples or texts; it is read as answers otherwise."""
    keys = {key(column.title): column.title for column in columns}
    pair = [next((keys[k] for k in keys if k in known), None) for known in (DOCUMENT, WORD)]
    prose = [c.title for c in columns if _is_prose(c)]
    if None not in pair:
        remark = "%s: each row seems to count %s of %s; to read it so use discan.read(frame, %s)"
        log.warning(remark, FRAME, shown(pair[1]), shown(pair[0]), Argument("format", "long"))
    elif prose:
        remark = "%s: column %s holds texts; to count their words use discan.read(frame, %s)"
        log.warning(remark, FRAME, shown(prose[0]), Argument("format", "texts"))


def _is_prose(column: RawColumn) -> bool:
    """Tell whether a column holds texts: many words each, and mostly different ones."""
    texts = [cell for cell in column.cells if cell]
    spaces = sum(text.count(" ") for text in texts) / max(1, len(texts))
    return spaces > MANY_SPACES and len(texts) > 0.5 * len(column.codes)


def completed(data: Any, corpus: Corpus, answers: Answers) -> Any:
    """Return a frame of answers with open questions filled in.

    Parameters
    ----------
    data : the frame
    corpus : the corpus that was made of it
    answers : {(document, group): words}
    """
    layout = corpus.layout
    groups, texts = layout.group_names or (), answer_texts(layout)
    frame = _taken_apart(data)
    columns = {t: list(c) for t, c in zip(frame.titles, map(_listed, frame.columns), strict=True)}
    filling = Filling(
        Plan.of(corpus.reading.get("plan", {})), frame.titles,
        lambda title: map(str, columns[title][:SAMPLE]),
    )  # fmt: skip
    for (i, g), words in answers.items():
        for title, cell in filling.cells(groups[g], [texts[j] for j in words]).items():
            columns[title][i] = cell
    columns = {title: _of_one_type(column) for title, column in columns.items()}
    if hasattr(data, "iloc"):
        import pandas

        return pandas.DataFrame(columns, index=data.index)
    if hasattr(data, "get_column"):
        return type(data)(columns, strict=False)
    import pyarrow  # type: ignore[import-not-found, unused-ignore]

    return pyarrow.table(columns)


def _of_one_type(column: list[Any]) -> list[Any]:
    """Return a column in which the answers filled in, which are text, have the type of the rest."""
    kinds = {type(v) for v in column if not isinstance(v, str) and not _is_missing(v)}
    if len(kinds) != 1:
        return column if not kinds else [None if v is None else str(v) for v in column]
    (kind,) = kinds
    if kind is bool:
        return [v == "True" if isinstance(v, str) else v for v in column]
    try:
        return [kind(v) if isinstance(v, str) else v for v in column]
    except (TypeError, ValueError):
        return [None if v is None else str(v) for v in column]


def texts_as_json(data: Any) -> bytes | None:
    """Return texts of a list, an array or a column as JSON lines; None if it holds no texts."""
    is_column = any(hasattr(type(data), verb) for verb in _LISTING) and not is_frame(data)
    if not isinstance(data, (list, tuple)) and not (is_column and getattr(data, "ndim", 1) == 1):
        return None
    texts = [None if _is_missing(text) else text for text in _listed(data)]
    if not all(text is None or isinstance(text, str) for text in texts) or not any(texts):
        return None
    if all(text is not None and os.path.isfile(text) for text in texts[:SAMPLE]):
        problem = "these are names of files, not texts; pass the texts, or the folder of the files"
        raise InputError(problem)
    return "".join(f"{json.dumps({'text': text})}\n" for text in texts).encode()


def frame_as_csv(data: Any, with_names: bool = False) -> bytes:
    """Return a frame as the text of a table with titles, in UTF-8; missing cells are empty.

    ``with_names`` puts the names of the rows, if there are any, into a first column without title.
    """
    frame = _taken_apart(data)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    columns = [list(map(_cell, _listed(column))) for column in frame.columns]
    names = frame.names if with_names else None
    columns = columns if names is None else [names, *columns]
    rows.writerow(frame.titles if names is None else ["", *frame.titles])
    rows.writerows(zip(*columns, strict=True))
    return text.getvalue().encode()


# ---- libraries ----


def _taken_apart(data: Any) -> _Frame:
    """Return titles, columns, kinds and names of rows of a frame."""
    if hasattr(data, "iloc"):
        columns = [data.iloc[:, j] for j in range(data.shape[1])]
        index = data.index
        plain = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
        names = None if plain else [str(name) for name in index]
        titles = [str(title) for title in data.columns]
        return _Frame(titles, columns, [_is_number(c.dtype) for c in columns], names)
    if hasattr(data, "get_column"):
        columns = [data.get_column(title) for title in data.columns]
        return _Frame(list(data.columns), columns, [c.dtype.is_numeric() for c in columns], None)
    if not hasattr(type(data), "__arrow_c_stream__"):
        raise InputError(
            f"a {type(data).__name__} cannot be read as it is; collect it into a data frame first"
        )
    if importlib.util.find_spec("pyarrow") is not None:
        import pyarrow

        table = pyarrow.table(data)
        numeric = [str(f.type).startswith(("int", "uint", "float", "double")) for f in table.schema]
        return _Frame(list(table.column_names), list(table.columns), numeric, None)
    if importlib.util.find_spec("polars") is not None:
        import polars

        return _taken_apart(polars.DataFrame(data))
    raise InputError(
        f"reading a {type(data).__name__} needs the package pyarrow or polars: pip install pyarrow"
    )


def _is_number(dtype: Any) -> bool:
    """Tell whether a pandas column holds numbers, dense, sparse or nullable."""
    inner = getattr(dtype, "subtype", dtype)
    return getattr(inner, "kind", "O") in "biuf" and str(dtype) != "category"


def _listed(column: Any) -> list[Any]:
    for verb in _LISTING:
        if hasattr(column, verb):
            return list(getattr(column, verb)())
    return list(column)


def _cell(value: Any) -> str:
    """Return a value as the text of a cell; empty if it is missing."""
    if _is_missing(value):
        return ""
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _coded(title: str, column: Any) -> RawColumn:
    codes = Codes()
    cells = map(_cell, _listed(column))
    return RawColumn(title, np.fromiter(map(codes.__getitem__, cells), np.int32), list(codes))


# ---- counts ----


def _is_counted(frame: _Frame, like: Any) -> bool:
    if like is not None:
        return "plan" not in like.reading
    if all(frame.numeric):
        return True
    sample = [[_cell(v) for v in _listed(column[:SAMPLE])] for column in frame.columns]
    return holds_counts(sample, frame.titles)


def _read_counts(frame: _Frame, like: Any) -> Corpus:
    """Read a frame of counts; columns that are not numeric describe the rows."""
    known = None if like is None else set(like.layout.word_names or frame.titles)
    kept = [
        n
        for n, (title, numeric) in enumerate(zip(frame.titles, frame.numeric, strict=True))
        if numeric and (known is None or title in known)
    ]
    others = [n for n in range(len(frame.titles)) if n not in kept]
    if not kept:
        raise InputError("no column of the data frame is one of the model's")
    if others and like is None:
        listed = ", ".join(shown(frame.titles[n]) for n in others[:8])
        log.info("%s: kept as metadata, not counted: %s", FRAME, listed)
    described = [clean(*_coded(frame.titles[n], frame.columns[n]), MISSING)[0] for n in others]
    table = np.column_stack([np.asarray(frame.columns[n], dtype=np.float64) for n in kept])
    return Corpus(
        table,
        document_names=frame.names,
        word_names=[frame.titles[n] for n in kept],
        metadata={column.title: column.as_metadata() for column in described},
    )
