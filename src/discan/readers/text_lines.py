# SPDX-License-Identifier: BSD-3-Clause
"""Read files of one text per line: plain lines, JSON lines, MALLET, and texts of several fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NoReturn

from discan.data.corpus import Corpus
from discan.errors import InputError, shown
from discan.readers.csv_rows import Delimiter, Quotes, records
from discan.readers.guess import reader
from discan.readers.source import Source
from discan.readers.tokens import TextOptions, find_surrogate
from discan.readers.words import TextCounts

__all__ = ["read_fields", "read_jsonl", "read_lines", "read_mallet"]

_JSON_LINES = (".jsonl", ".ndjson")

IdField = Annotated[str | None, "Field that holds the document's name."]


@reader(
    "lines",
    "text, one document per line",
    endings=(".txt",),
    sniff=lambda s: s.name.endswith(".txt") and bool(s.head) and "\0" not in s.head,
    is_text=True,
)
def read_lines(source: Source, **options: Any) -> Corpus:
    """Read a file of one document per line; an empty line is an empty document."""
    counts = _counts(source, options)
    for _, line in _lines(source):
        counts.add(line)
    return counts.finish()


def _is_json_lines(source: Source) -> bool:
    first, newline, _ = source.head.lstrip("\ufeff \t\r\n").partition("\n")
    return first.startswith("{") and (first.rstrip().endswith("}") or not newline)


@reader(
    "jsonl",
    "JSON lines, one object per line, the text in one of its fields",
    endings=_JSON_LINES,
    sniff=_is_json_lines,
    is_text=True,
)
def read_jsonl(
    source: Source,
    *,
    field: Annotated[
        str, "Field that holds the text: a string, a list of strings, or null for no words."
    ] = "text",
    id_field: IdField = None,
    **options: Any,
) -> Corpus:
    """Read JSON lines: one object per line is one document."""
    counts = _counts(source, options)
    names = []
    for line, record in _json_records(source):
        counts.add(_text_of(source, line, record, field))
        if id_field is not None:
            names.append(_name_of(source, line, record, id_field))
    return counts.finish(None if id_field is None else names)


@reader(
    "mallet",
    "MALLET, one document per line: name, label, text",
    endings=(".mallet",),
    is_text=True,
)
def read_mallet(
    source: Source,
    *,
    label_group: Annotated[
        bool, "Whether the labels are words too, in a group of their own."
    ] = False,
    **options: Any,
) -> Corpus:
    """Read MALLET's lines of a name, a label and the text; blank lines are skipped."""
    parts = ("text", "label") if label_group else ()
    counts = _counts(source, options, fields=parts, labels=("label",))
    names = []
    for line, text in _lines(source):
        split = text.split(None, 2)
        if not split:
            continue
        if len(split) == 1:
            problem = f"only {shown(split[0])}; each line needs a name, a label and the text"
            raise source.error(problem, line)
        name, label, *rest = split
        words = "".join(rest)
        counts.add(*((words, label) if label_group else (words,)))
        names.append(name)
    return counts.finish(names)


@reader(
    "fields",
    "text in several fields of JSON lines, CSV or TSV, each field a group",
    is_text=True,
)
def read_fields(
    source: Source,
    *,
    fields: Annotated[
        str | Sequence[str],
        "Fields to read, each a group: a sequence of names, or names with commas between. Words "
        "are named field:word if there are several fields.",
    ] = (),
    id_field: IdField = None,
    delimiter: Delimiter = None,
    quotes: Quotes = True,
    **options: Any,
) -> Corpus:
    """Read documents of several texts, such as title, body and tags, from objects or a table."""
    names = tuple(fields.split(",")) if isinstance(fields, str) and fields else tuple(fields)
    if len(set(names)) != len(names) or not all(isinstance(n, str) and n for n in names):
        problem = "{} must be names, each one once"
        raise InputError(problem, argument="fields", value=fields)
    if source.name.endswith(_JSON_LINES) or _is_json_lines(source):
        found = _json_records(source)
    else:
        found = _table_records(source, delimiter, quotes)
    counts = _counts(source, options, fields=names)
    absent = set(names)
    documents = []
    for line, record in found:
        if not names:
            problem = f"say which fields to read; {_there(record)}"
            raise source.error(problem, use={"fields": ...})
        absent.difference_update(record)
        if not any(name in record for name in names):
            _missing(source, line, record, names[0])
        counts.add(*(_text_of(source, line, record, n) if n in record else "" for n in names))
        if id_field is not None:
            documents.append(_name_of(source, line, record, id_field))
    if counts.n_documents and absent:
        name = next(name for name in names if name in absent)
        raise source.error(f"no document has a field {name!r}; correct fields")
    return counts.finish(None if id_field is None else documents)


# ---- lines and records ----


def _counts(source: Source, options: dict[str, Any], **more: Any) -> TextCounts:
    return TextCounts(TextOptions(**options), origin=str(source.path), **more)


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    for number, line in source.lines():
        if "\0" in line:
            raise source.error("holds a NUL byte, so it is no text; convert it to UTF-8", number)
        yield number, line


def _json_records(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in _lines(source):
        if not line or line.isspace():
            continue
        try:
            record = json.loads(line)
        except RecursionError:
            raise source.error("nested too deeply; flatten it", number) from None
        except ValueError as error:
            reason = getattr(error, "msg", None) or str(error)
            raise source.error(f"not JSON ({reason}); write one object per line", number) from None
        if not isinstance(record, dict):
            problem = f"a JSON {type(record).__name__}, not an object; write one object per line"
            raise source.error(problem, number)
        yield number, record


def _table_records(
    source: Source, delimiter: str | None, quotes: bool
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Iterate over the lines of a table with a line of column names."""
    if delimiter is None:
        delimiter = max(",\t;|", key=source.head.partition("\n")[0].count)
    for line, record in records(source, None, delimiter, quotes):
        if "\0" in "".join(record.values()):
            raise source.error("holds a NUL byte, so it is no text; convert it to UTF-8", line)
        yield line, record


def _text_of(source: Source, line: int, record: dict[str, Any], field: str) -> str:
    if field not in record:
        _missing(source, line, record, field)
    value = record[field]
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "\n".join(value)
    if not isinstance(value, str):
        kind = type(value).__name__
        raise source.error(f"field {field!r} is a {kind}, not text; convert it to a string", line)
    found = find_surrogate(value)
    if found:
        problem = f"field {field!r} holds a lone surrogate {found}, no character; replace it"
        raise source.error(problem, line)
    return value


def _name_of(source: Source, line: int, record: dict[str, Any], field: str) -> str:
    if field not in record:
        _missing(source, line, record, field, option="id_field")
    value = record[field]
    if not isinstance(value, str | int) or find_surrogate(str(value)):
        raise source.error(f"field {field!r} is no name; use a string or a whole number", line)
    return str(value)


def _missing(
    source: Source, line: int, record: dict[str, Any], field: str, option: str = "field"
) -> NoReturn:
    raise source.error(f"no field {field!r}; {_there(record)}", line, use={option: ...})


def _there(record: dict[str, Any]) -> str:
    if not record:
        return "there are none"
    names = [ascii(name[:40]) for name in list(record)[:12]]
    return f"there are {', '.join(names)}" + (", ..." if len(record) > 12 else "")
