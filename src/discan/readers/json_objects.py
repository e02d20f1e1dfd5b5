# SPDX-License-Identifier: BSD-3-Clause
"""Read the objects of JSON files: one per line, a list, or a list inside an object."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any

from discan.errors import InputError, shown
from discan.readers.source import Source

__all__ = ["Record", "is_json", "json_objects"]

log = logging.getLogger("discan")

MANY = 20  # texts of an object, above which they are documents and not fields of one

Record = Mapping[str, Any]


def is_json(source: Source) -> bool:
    """Tell whether a file begins as JSON lines or as a list of objects do."""
    first, newline, _ = source.head.lstrip("\ufeff \t\r\n").partition("\n")
    whole = first.startswith("{") and (first.rstrip().endswith("}") or not newline)
    return whole or _is_list(source, "{")


def _is_list(source: Source, items: str) -> bool:
    return re.match(rf"\ufeff?\s*\[\s*[{items}]", source.head) is not None


def json_objects(source: Source) -> Iterator[tuple[int, Record]]:
    """Iterate over (line or number, object); parts of an object inside are called "user.name"."""
    for line, record in _objects(source):
        nested = any(isinstance(value, dict) for value in record.values())
        yield line, _flat(record) if nested else record


def _flat(record: Record) -> Record:
    """Return an object whose objects are taken apart; those inside them stay."""
    result: dict[str, Any] = {}
    for title, value in record.items():
        parts = value.items() if isinstance(value, dict) and value else ()
        result |= {f"{title}.{name}": part for name, part in parts} if parts else {title: value}
    return result


def _objects(source: Source) -> Iterator[tuple[int, Record]]:
    if _is_list(source, '{"'):
        yield from _items(source, _whole(source))
        return
    lines = _lines(source)
    try:
        first = next(lines, None)
    except InputError:
        if not re.match(r"\ufeff?\s*\{", source.head):
            raise
        try:  # an object over several lines
            record = _whole(source)
        except InputError:
            record = None
        if not isinstance(record, dict):
            raise
        yield from _inside(source, 1, record)
        return
    if first is None:
        return
    second = next(lines, None)
    if second is None:
        yield from _inside(source, *first)
        return
    yield first
    yield second
    yield from lines


def _inside(source: Source, line: int, record: Record) -> Iterator[tuple[int, Record]]:
    """Iterate over the documents of a file that is one object; it may be one document itself."""
    lists = {key: value for key, value in record.items() if _is_table(value)}
    if lists:
        title = max(lists, key=lambda key: len(lists[key]))
        log.info("%s: the documents are the items of %s", source.path, shown(title))
        yield from _items(source, lists[title])
        return
    values = list(record.values())
    if len(values) > 1 and all(isinstance(value, dict) for value in values):
        if all("0" in value for value in values):  # as pandas writes a frame, by columns
            rows = {key: None for value in values for key in value}
            records: dict[str, Record] = {
                row: {title: column.get(row) for title, column in record.items()} for row in rows
            }
        else:
            records = {key: {"id": key, **value} for key, value in record.items()}
    elif len(values) > MANY and all(isinstance(value, str) for value in values):
        records = {key: {"id": key, "text": value} for key, value in record.items()}
    else:
        yield line, record
        return
    log.info("%s: read as one object of %d documents", source.path, len(records))
    yield from enumerate(records.values(), start=1)


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(v, dict) for v in value)


def _lines(source: Source) -> Iterator[tuple[int, Record]]:
    for number, line in source.lines():
        if "\0" in line:
            raise source.error("holds a NUL byte, so it is no text; convert it to UTF-8", number)
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


def _whole(source: Source) -> Any:
    with source.open() as stream, source.faults("not a list of JSON objects"):
        return json.loads(stream.read().decode("utf-8-sig"))


def _items(source: Source, items: Any) -> Iterator[tuple[int, Record]]:
    """Iterate over (number, object) of a list of objects, or of texts."""
    for number, record in enumerate(items, start=1):
        if isinstance(record, str):
            record = {"text": record}
        if not isinstance(record, dict):
            kind = type(record).__name__
            raise source.error(f"item {number} is a JSON {kind}, not an object; correct it")
        yield number, record
