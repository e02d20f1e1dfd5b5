# SPDX-License-Identifier: BSD-3-Clause
"""Read tables with columns of text, and JSON lines; the other columns describe the documents."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import Annotated, Any, NamedTuple, NoReturn

from discan.data.answer_tables import choose_titles
from discan.data.columns import MISSING
from discan.data.intake import bounded_int
from discan.data.roles import IDENTIFIERS, NAMES, key
from discan.errors import Argument, InputError, shown
from discan.readers.csv_rows import Delimiter, Quotes
from discan.readers.document import Document
from discan.readers.json_objects import Record, is_json, json_objects
from discan.readers.source import Source
from discan.readers.streams import TextStream, table_fact, text_reader
from discan.readers.table_kinds import ENDINGS, TEXT, is_kind, is_prose
from discan.readers.tables import SAMPLE, Heading, open_table
from discan.readers.tokens import TextOptions, find_surrogate

__all__ = ["read_fields", "read_jsonl", "read_texts"]

log = logging.getLogger("discan")

LONG_TEXT = 300  # characters; a column of longer texts is not kept as metadata

_JSON_LINES = (".jsonl", ".ndjson")
_REMARK = "%s: column %s holds the text; for another use %s"
_ENDS_IN_ID = re.compile(r"(^|[a-z\W_])(ID|Id)$|[\W_]id$")  # review_id, ReviewID, but not "paid"
_MARKS = {mark.casefold() for mark in MISSING}

Field = Annotated[
    str | None,
    "Column or field that holds the text; the one with the longest text if not given. Of several, "
    "with commas between, each is a group.",
]
IdField = Annotated[
    str | None, "Column or field that holds the document's name; told by its title if not given."
]


class _Records(NamedTuple):
    """Documents as records: where they stand, their values by title, and a sample of them."""

    rows: Iterator[tuple[int, Record]]
    sample: list[Record]
    titles: list[str]


@text_reader(
    "texts",
    "table with a column of text, .csv, .tsv or .parquet; other columns describe the documents",
    sniff=is_kind("texts"),
    family=("table",),
)
def read_texts(
    source: Source,
    *,
    field: Field = None,
    id_field: IdField = None,
    header: Heading = None,
    delimiter: Delimiter = None,
    quotes: Quotes = True,
    like: Any = None,
    **options: Any,
) -> TextStream:
    """Read a table of documents, such as news with a date and an author."""
    header = True if header is None and field is not None else header
    records = _table_records(source, header, delimiter, quotes)
    fields = _fields(source, records, field, like)
    return _read(source, records, fields, id_field, options, like, groups=len(fields) > 1)


@text_reader(
    "jsonl",
    "JSON lines, one object per line, or a list of objects; the text in one of their fields",
    endings=(*_JSON_LINES, ".json"),
    sniff=is_json,
    family=("records",),
)
def read_jsonl(
    source: Source,
    *,
    field: Annotated[
        str | None,
        "Field that holds the text: a string, a list of strings, or null for no words. By default "
        '"text", or the one with the longest text.',
    ] = None,
    id_field: IdField = None,
    like: Any = None,
    **options: Any,
) -> TextStream:
    """Read JSON lines, or a list of objects: one object is one document."""
    records = _json_records(source)
    fields = _fields(source, records, field, like)
    return _read(source, records, fields, id_field, options, like, groups=len(fields) > 1)


@text_reader(
    "fields",
    "text in several fields of JSON lines, CSV or TSV, each field a group",
    family=("table", "records"),
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
    header: Heading = None,
    delimiter: Delimiter = None,
    quotes: Quotes = True,
    like: Any = None,
    **options: Any,
) -> TextStream:
    """Read documents of several texts, such as title, body and tags, from objects or a table."""
    names = tuple(fields.split(",")) if isinstance(fields, str) and fields else tuple(fields)
    if len(set(names)) != len(names) or not all(isinstance(n, str) and n for n in names):
        problem = "{} must be names, each one once"
        raise InputError(problem, argument="fields", value=fields)
    if source.name.endswith(_JSON_LINES) or is_json(source):
        records = _json_records(source)
    else:
        records = _table_records(source, header is not False, delimiter, quotes)
    if not names and records.sample:
        problem = f"say which fields to read; {_there(records.sample[0])}"
        raise source.error(problem, use={"fields": ...})
    return _read(source, records, names, id_field, options, like, groups=True)


def _read(
    source: Source,
    records: _Records,
    fields: Sequence[str],
    id_field: str | None,
    options: dict[str, Any],
    like: Any,
    groups: bool = False,
) -> TextStream:
    """Return documents with the texts of some fields; the others are metadata."""
    named = id_field or _naming(records, fields)
    if named is not None and id_field is None and like is None:
        log.info("%s: column %s names the documents", source.path, shown(named))
    describing = _describing(source, records, {*fields, named}, quiet=like is not None)
    absent = set(fields)

    def documents() -> Iterator[Document]:
        for number, (line, record) in enumerate(records.rows):
            absent.difference_update(record)
            if not any(name in record for name in fields):
                _missing(source, line, record, fields[0])
            texts = [_text_of(source, line, record, n) if n in record else "" for n in fields]
            name = None
            if named is not None:
                name = _name_of(source, line, record, named, number, id_field is not None)
            cells = [_cell(record.get(title)) for title in describing]
            yield Document(texts if groups else ["\n".join(texts)], name, cells)

    def check(n_documents: int) -> None:
        if n_documents and absent:
            name = next(name for name in fields if name in absent)
            raise source.error(f"no document has a field {name!r}; correct fields")

    return TextStream(
        str(source.path),
        documents(),
        TextOptions(**options),
        fields=fields if groups else (),
        named=named is not None,
        facts=[table_fact(title) for title in describing],
        reading={"fields": list(fields), "document": named},
        check=check,
    )


# ---- which field is what ----


def _fields(source: Source, records: _Records, wanted: str | None, like: Any) -> list[str]:
    """Return the fields of the text: those wanted, those of a model's data, or the longest."""
    if wanted is not None:
        if records.titles and wanted not in records.titles:
            with source.naming():
                return choose_titles(records.titles, wanted)
        is_one = "," not in wanted or any(wanted in record for record in records.sample)
        return [wanted] if is_one else wanted.split(",")
    remembered = [] if like is None else like.reading.get("fields", [])
    if remembered and all(any(t in record for record in records.sample) for t in remembered):
        return list(remembered)
    if any("text" in record for record in records.sample):
        if like is None:
            others = [t for t in _titles(records) if t != "text" and _is_prose(records, t)]
            if records.titles or others:
                log.info(_REMARK, source.path, "'text'", Argument("field", (others or ["NAME"])[0]))
        return ["text"]
    sizes = {title: sum(map(len, _texts(records, title))) for title in _titles(records)}
    prose = {t: n for t, n in sizes.items() if _is_prose(records, t)}
    known = [t for t in sorted(sizes, key=lambda t: -sizes[t]) if key(t) in TEXT and sizes[t]]
    if not prose and not known:
        if not records.sample:
            return ["text"]
        problem = f"cannot tell which field holds the text; {_there(records.sample[0])}"
        raise source.error(problem, use={"field": ...})
    found = max(prose, key=lambda t: prose[t]) if prose else known[0]
    other = next((title for title in prose if title != found), "NAME")
    log.info(_REMARK, source.path, shown(found), Argument("field", other))
    return [found]


def _naming(records: _Records, fields: Sequence[str]) -> str | None:
    """Return the field that names the documents: a title or an identifier, different in all."""
    for kinds in (NAMES, IDENTIFIERS):
        for title in _titles(records):
            values = [record.get(title) for record in records.sample]
            texts = [str(v).strip() for v in values if isinstance(v, str | int) and v != ""]
            distinct = len(set(texts)) == len(values) and 0 < len(texts)
            named = key(title) in kinds or (kinds is IDENTIFIERS and _ENDS_IN_ID.search(title))
            if named and title not in fields and distinct:
                return title
    return None


def _describing(
    source: Source, records: _Records, taken: set[str | None], quiet: bool
) -> list[str]:
    """Return the fields that are kept as metadata, and say which."""
    kept: list[str] = []
    left_out: list[str] = []
    for title in _titles(records):
        if title in taken:
            continue
        cells = [_cell(record.get(title)) for record in records.sample]
        if title == "column 1" and _is_count(cells):  # the numbers of the rows
            continue
        is_long = sum(map(len, cells)) > LONG_TEXT * max(1, sum(map(bool, cells)))
        simple = all(_is_simple(record.get(title)) for record in records.sample)
        (left_out if is_long or not simple else kept).append(title)
    if kept and not quiet:
        listed = ", ".join(map(shown, kept[:8])) + (", ..." if len(kept) > 8 else "")
        log.info("%s: kept as metadata, not counted: %s", source.path, listed)
    if left_out and not quiet:
        listed = ", ".join(map(shown, left_out[:8])) + (", ..." if len(left_out) > 8 else "")
        log.info("%s: left out, long or nested: %s", source.path, listed)
    return kept


def _is_count(cells: list[str]) -> bool:
    numbers = [bounded_int(cell) for cell in cells if cell.isdecimal()]
    return len(numbers) == len(cells) and all(b == a + 1 for a, b in pairwise(numbers))


def _titles(records: _Records) -> list[str]:
    return records.titles or list(dict.fromkeys(t for record in records.sample for t in record))


def _texts(records: _Records, title: str) -> list[str]:
    values = (record.get(title) for record in records.sample)
    return [value for value in values if isinstance(value, str)]


def _is_prose(records: _Records, title: str) -> bool:
    return is_prose([text[:LONG_TEXT] for text in _texts(records, title)])


def _is_simple(value: Any) -> bool:
    is_list = isinstance(value, list) and all(isinstance(part, str) for part in value)
    return value is None or isinstance(value, str | int | float) or is_list


def _cell(value: Any) -> str:
    """Return a value of a record as the text of a cell."""
    if value is None:
        return ""
    return ";".join(map(str, value)) if isinstance(value, list) else str(value)


# ---- records ----


def _json_records(source: Source) -> _Records:
    rows = json_objects(source)
    first = list(islice(rows, SAMPLE))
    return _Records(chain(first, rows), [record for _, record in first], [])


def _table_records(
    source: Source, header: bool | None, delimiter: str | None, quotes: bool
) -> _Records:
    """Open a table as records; its first row holds titles unless it is text itself."""
    if not source.name.endswith(ENDINGS) and delimiter is None:
        delimiter = max(",\t;|", key=source.head.partition("\n")[0].count)
    table = open_table(source, header, delimiter, quotes, numeric=False, texts=True)
    titles = table.titles

    def rows() -> Iterator[tuple[int, Record]]:
        for line, row in table.rows:
            if "\0" in "".join(row):
                raise source.error("holds a NUL byte, so it is no text; convert it to UTF-8", line)
            yield line, dict(zip(titles, row, strict=True))

    sample: list[Record] = [dict(zip(titles, row, strict=False)) for row in table.sample]
    return _Records(rows(), sample, titles)


def _text_of(source: Source, line: int, record: Record, field: str) -> str:
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
    return "" if len(value) < 8 and value.strip().casefold() in _MARKS else value


def _name_of(
    source: Source, line: int, record: Record, field: str, number: int, explicit: bool
) -> str:
    """Return the name of a document; what was guessed to be a name may be missing."""
    if field not in record and explicit:
        _missing(source, line, record, field, option="id_field")
    value = record.get(field)
    good = isinstance(value, str | int) and not find_surrogate(str(value))
    if not good and explicit:
        raise source.error(f"field {field!r} is no name; use a string or a whole number", line)
    name = re.sub(r"\s+", " ", str(value)).strip() if good else ""
    return name if name or explicit else f"document {number}"


def _missing(
    source: Source, line: int, record: Record, field: str, option: str = "field"
) -> NoReturn:
    raise source.error(f"no field {field!r}; {_there(record)}", line, use={option: ...})


def _there(record: Record) -> str:
    if not record:
        return "there are none"
    names = [ascii(name[:40]) for name in list(record)[:12]]
    return f"there are {', '.join(names)}" + (", ..." if len(record) > 12 else "")
