# SPDX-License-Identifier: BSD-3-Clause
"""Read tables, .csv, .tsv and .parquet: long triples, wide counts, and categories."""

from __future__ import annotations

import csv
import logging
import re
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from discan.data.corpus import Corpus
from discan.data.intake import LARGEST_COUNT
from discan.errors import DiscanError, InputError, LimitError
from discan.readers.matrices import Triples, check_count, make_corpus, number, shown
from discan.readers.source import MAX_RATIO, Source, reader
from discan.typing import Array

__all__ = ["MISSING", "answers", "csv_rows", "guess_table"]

log = logging.getLogger("discan")

ENDINGS = (".csv", ".tsv", ".tab", ".parquet", ".dat", ".data")
MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "?", "-", ".")
"""What a cell without an answer holds, if nothing else is said."""

SAMPLE = 200  # rows looked at to guess
LARGEST_EXPOSURES = 2**29
MANY_CATEGORIES = 1000

_VOTES_NAME = re.compile(
    r"[hs]\d{3}_(votes|members|rollcalls)\.csv|(votes|legislators|rollcalls)\.csv"
)
_DOCUMENT = {"document", "doc", "docid", "documentid", "user", "userid", "sample", "cell", "d"}
_WORD = {
    "word",
    "term",
    "token",
    "wordid",
    "feature",
    "item",
    "itemid",
    "artist",
    "artistid",
    "gene",
}
_COUNT = {"count", "counts", "n", "freq", "frequency", "weight", "value", "plays", "tf"}
_ID = _DOCUMENT | {"", "id", "name", "names", "index", "key", "row", "person", "respondent"}

Row = tuple[int, list[str]]

# ---- rows ----


def csv_rows(
    source: Source, path: Path | None = None, delimiter: str | None = None, quotes: bool = True
) -> Iterator[Row]:
    """Yield (line number, cells) of a table of text, without empty lines."""
    lines = source.lines(path)
    first = list(islice(lines, 20))
    if delimiter is None:
        delimiter = _sniff_delimiter([text for _, text in first])
    text = (f"{line}\n" for _, line in chain(first, lines))
    try:
        rows = csv.reader(
            text,
            delimiter=delimiter,
            quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
            strict=True,
        )
    except TypeError:
        raise InputError(f"delimiter={delimiter!r}; use one character") from None
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise source.error(
                rows.line_num, f"{error}; correct the quotes, or pass quotes=False", path
            ) from None
        if row is None:
            return
        if row:
            yield rows.line_num, row


def _sniff_delimiter(lines: list[str]) -> str:
    """Choose the separator that splits the first lines into the same number of cells."""
    lines = [line for line in lines if line]
    best, best_score = ",", (0.0, 0)
    for delimiter in (",", "\t", ";", "|"):
        sizes = [line.count(delimiter) for line in lines]
        if not sizes or not max(sizes):
            continue
        usual = max(set(sizes), key=lambda size: (sizes.count(size), size))
        score = (sizes.count(usual) / len(sizes) if usual else 0.0, usual)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _rows(source: Source, delimiter: str | None = None, quotes: bool = True) -> Iterator[Row]:
    if source.name.endswith(".parquet"):
        return _parquet_rows(source)
    if source.is_folder:
        raise InputError(f"{source.path}: is a folder; name the file of the table")
    return csv_rows(source, None, delimiter, quotes)


def _parquet_rows(source: Source) -> Iterator[Row]:
    """Yield the heading and the rows of a Parquet file as text, in batches."""
    try:
        heading, batches = _parquet_batches(source)
        yield 0, heading
        line = 0
        for columns in batches:
            texts = [["" if v is None else _plain(v) for v in column] for column in columns]
            for cells in zip(*texts, strict=True):
                line += 1
                yield line, list(cells)
    except DiscanError:
        raise
    except Exception as error:  # Arrow has errors of its own, and OSError, ValueError and more
        text = " ".join(str(error).split())[:200]
        raise InputError(f"{source.path}: cannot be read as Parquet ({text})") from None


def _plain(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(int(value)) if isinstance(value, bool) else str(value)


def _parquet_batches(source: Source) -> tuple[list[str], Iterator[list[list[Any]]]]:
    limit = max(source.max_unpacked, MAX_RATIO * source.path.stat().st_size)
    try:
        from pyarrow import parquet  # type: ignore[import-not-found, unused-ignore]
    except ImportError:  # not Polars instead: it aborts the process on some damaged files
        raise InputError(
            f"{source.path}: reading Parquet needs the package pyarrow: pip install pyarrow"
        ) from None
    file = parquet.ParquetFile(source.path)
    meta = file.metadata
    size = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
    if max(size, meta.num_rows // MAX_RATIO) > limit:
        raise LimitError(f"{source.path}: unpacks to {size:,} bytes, more than {limit:,}")
    batches = (
        [column.to_pylist() for column in batch.columns]
        for batch in file.iter_batches(batch_size=2**14)
    )
    return list(file.schema_arrow.names), batches


class _Opened(NamedTuple):
    heading: list[str] | None
    width: int
    sample: list[list[str]]
    rows: Iterator[Row]


def _open(
    source: Source, header: bool | None, delimiter: str | None, quotes: bool, numeric: bool
) -> _Opened:
    """Start to read: the heading if there is one, a sample of rows, and all rows checked."""
    rows = _rows(source, delimiter, quotes)
    first = list(islice(rows, SAMPLE))
    if not first:
        raise InputError(f"{source.path}: the table is empty")
    sample = [row for _, row in first]
    if header is None:
        header = source.name.endswith(".parquet") or _has_heading(sample, numeric)
    heading = [name.strip() for name in sample[0]] if header else None
    if header:
        first, sample = first[1:], sample[1:]
    if not first:
        raise InputError(f"{source.path}: the table has a heading but no rows")
    width = len(heading or sample[0])
    # R writes no name above the names of the rows.
    if heading is not None and len(sample[0]) == width + 1:
        heading, width = ["", *heading], width + 1
    return _Opened(heading, width, sample, _checked(source, chain(first, rows), width))


def _checked(source: Source, rows: Iterable[Row], width: int) -> Iterator[Row]:
    for line, row in rows:
        if len(row) != width:
            raise source.error(
                line,
                f"{len(row)} cells, expected {width}; correct the row, or pass the right "
                "delimiter=... or header=...",
            )
        yield line, row


def _has_heading(sample: list[list[str]], numeric: bool) -> bool:
    """Tell whether the first row names the columns."""
    first, rest = [cell.strip() for cell in sample[0]], sample[1:]
    named = [cell for cell in first if number(cell) is None]
    if not named:
        return False
    if numeric:  # words over counts; a first column of names proves nothing
        return any(number(cell) is None for cell in first[1:] or first)
    if len(set(first)) < len(first):
        return False
    new = [
        cell not in {row[j].strip() for row in rest if j < len(row)} for j, cell in enumerate(first)
    ]
    return sum(new) >= 0.5 * len(first)


def _column(source: Source, wanted: Any, heading: list[str] | None, width: int) -> int:
    """Return the number of a column given by name or number."""
    if isinstance(wanted, int) and 0 <= wanted < width:
        return wanted
    if heading is not None and wanted in heading:
        return heading.index(wanted)
    known = ", ".join(shown(name) for name in (heading or [])[:10]) or f"0 .. {width - 1}"
    raise InputError(f"{source.path}: no column {shown(wanted)}; use one of {known}")


# ---- guessing ----

_guesses: WeakKeyDictionary[Source, str] = WeakKeyDictionary()


def guess_table(source: Source) -> str:
    """Guess how a table is to be read: "long", "wide", "categorical", or "" for no table."""
    if source not in _guesses:
        _guesses[source] = _guess(source)
        if _guesses[source]:
            log.debug("%s: looks like a %s table", source.path, _guesses[source])
    return _guesses[source]


def _guess(source: Source) -> str:
    if source.is_folder or not source.name.endswith(ENDINGS) or _VOTES_NAME.fullmatch(source.name):
        return ""
    try:
        sample: list[list[str]] = []
        size = 0
        for _, row in _rows(source):
            sample.append([cell.strip() for cell in row])
            size += len(row)
            if len(sample) >= SAMPLE or size > 2**20:
                break
    except DiscanError:
        return "categorical"  # which says what is wrong
    width = len(sample[0]) if sample else 0
    rows = [row for row in sample[1:] if len(row) in (width, width + 1)]  # R: one more
    if width < 2 or not rows:
        return ""
    if len(rows) < 0.5 * (len(sample) - 1):
        return ""
    columns = list(zip(*(row[-width:] for row in rows), strict=True))
    if any(_is_prose(column) for column in columns):
        return ""
    if _looks_long(sample[0], columns):
        return "long"
    start = 1 if _is_id(sample[0][0], columns[0]) or len(rows[0]) == width + 1 else 0
    values = [number(cell) for column in columns[start:] for cell in column]
    if not values or any(v is None for v in values):
        return "categorical"
    # a cell that is no count is left to the reader of counts, which says where it is
    sound = np.array([v for v in values if v is not None and v >= 0])
    return "wide" if _looks_counted(sound, columns[start:]) else "categorical"


def _is_prose(column: tuple[str, ...]) -> bool:
    texts = [cell for cell in column if cell]
    return len(texts) > 1 and sum(cell.count(" ") for cell in texts) > 6 * len(texts)


def _key(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def _looks_long(first: list[str], columns: list[tuple[str, ...]]) -> bool:
    keys = [_key(name) for name in first]
    if len(keys) in (2, 3, 4) and set(keys) & _DOCUMENT and set(keys) & _WORD:
        return True
    if len(columns) != 3:
        return False
    if number(first[2]) is not None:  # no heading
        columns = [(cell, *column) for cell, column in zip(first, columns, strict=True)]
    documents, words, counts = columns
    whole = all((v := number(cell)) is not None and v >= 0 and v.is_integer() for cell in counts)
    pairs = set(zip(documents, words, strict=True))
    distinct = len(set(documents)), len(set(words))
    codes = {cell for column in columns for cell in column}  # few: answers to three questions
    return (
        whole
        and len(codes) > 5
        and len(pairs) == len(documents)
        and min(distinct) < len(pairs)
        and max(distinct) > min(12, len(pairs) // 2)
    )


def _is_id(title: str, column: tuple[str, ...]) -> bool:
    """Tell whether a first column names the rows: all different, and text, titled so or long."""
    if len(set(column)) < len(column) or "" in column:
        return False
    if len(column) >= 20 and all(cell.isdigit() for cell in column):
        return True
    return any(number(cell) is None for cell in column) or _key(title) in _ID - {""} or not title


def _looks_counted(values: Array, columns: list[tuple[str, ...]]) -> bool:
    if (values != np.rint(values)).any():
        return True
    zeros = float((values == 0).mean())
    if values.max() > 1 and zeros >= 0.5:
        return True
    if values.max() <= 1:
        return zeros >= 0.8 and len(columns) >= 50
    if float(np.mean([len(set(column)) > 12 for column in columns])) > 0.5:
        return True
    # few rows: most columns hold both nothing and more than answers are numbered by
    numbers = [[number(cell) or 0.0 for cell in column] for column in columns]
    return float(np.mean([min(map(abs, n)) == 0 and max(n) > 10 for n in numbers])) >= 0.5


def _sniff(kind: str) -> Any:
    return lambda source, head: guess_table(source) == kind


# ---- long ----


@reader(
    "long",
    "table of triples: document, word and count",
    sniff=_sniff("long"),
)
def read_long(
    source: Source,
    columns: Any = None,
    header: bool | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
) -> Corpus:
    """Read triples, one a row; pairs that repeat are summed.

    Parameters
    ----------
    source : Source
    columns : (document, word, count) or (document, word), optional
        Names or numbers (from 0) of the columns; without a count each row counts 1. Otherwise
        told by their titles, or the first three.
    header : bool, optional
        Whether the first row holds titles; told by its content if not given.
    delimiter : str, optional
    quotes : bool
        Whether cells may be quoted.
    """
    rows = _rows(source, delimiter, quotes)
    first = next(rows, None)
    if first is None:
        raise InputError(f"{source.path}: the table is empty")
    width = len(first[1])
    titles = [cell.strip() for cell in first[1]]
    if header is None:
        header = source.name.endswith(".parquet") or _has_long_heading(titles, columns)
    chosen = _long_columns(source, titles if header else None, width, columns)
    body = rows if header else chain([first], rows)
    return _make_long(source, _checked(source, body, width), chosen)


def _has_long_heading(titles: list[str], columns: Any) -> bool:
    keys = {_key(title) for title in titles}
    if columns is not None and any(isinstance(column, str) for column in columns):
        return True
    if len(titles) >= 3 and (columns is None or len(columns) == 3):
        return number(titles[2 if columns is None else columns[2]]) is None
    return bool(keys & _DOCUMENT and keys & _WORD)


def _long_columns(source: Source, titles: list[str] | None, width: int, columns: Any) -> list[int]:
    if columns is not None:
        if isinstance(columns, str) or len(columns) not in (2, 3):
            raise InputError(f"columns={shown(columns)}; pass (document, word, count)")
        return [_column(source, column, titles, width) for column in columns]
    if width < 2:
        raise InputError(
            f"{source.path}: a single column; triples need document, word and count (or pass "
            "delimiter=...)"
        )
    keys = [_key(title) for title in titles or []]
    found = [
        next((j for j, key in enumerate(keys) if key in names), -1)
        for names in (_DOCUMENT, _WORD, _COUNT)
    ]
    if found[0] >= 0 and found[1] >= 0:
        return found if found[2] >= 0 else found[:2]
    return list(range(min(width, 3)))


def _make_long(source: Source, rows: Iterable[Row], columns: list[int]) -> Corpus:
    documents: dict[str, int] = {}
    words: dict[str, int] = {}
    triples = Triples()
    parts = array("i"), array("i"), array("d")
    d, w, c = (*columns, -1)[:3]
    for line, row in rows:
        document, word = row[d].strip(), row[w].strip()
        if not document or not word:
            raise source.error(line, f"an empty {'word' if document else 'document'}; name it")
        count = 1.0
        if c >= 0:
            text = row[c]
            try:
                count = float(text)
            except ValueError:
                count = -1.0
            if not 0 <= count <= LARGEST_COUNT or "_" in text:
                count = check_count(source, line, text)
        parts[0].append(documents.setdefault(document, len(documents)))
        parts[1].append(words.setdefault(word, len(words)))
        parts[2].append(count)
    if not words:
        raise InputError(f"{source.path}: the table has no rows")
    one, two, three = (np.frombuffer(part, dtype=part.typecode) for part in parts)
    triples.add(one, two, three)
    return make_corpus(
        source,
        triples.table(len(documents), len(words)),
        document_names=documents,
        word_names=words,
    )


# ---- wide ----


@reader(
    "wide",
    "table of counts: a row a document, a column a word",
    sniff=_sniff("wide"),
)
def read_wide(
    source: Source,
    id_column: Any = None,
    header: bool | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
) -> Corpus:
    """Read a table of counts.

    Parameters
    ----------
    source : Source
    id_column : str, int or False, optional
        Column that names the documents; if not given the first, when it holds names.
    header : bool, optional
        Whether the first row holds the words; told by its content if not given.
    delimiter : str, optional
    quotes : bool
        Whether cells may be quoted.
    """
    heading, width, sample, rows = _open(source, header, delimiter, quotes, numeric=True)
    names = _id_column(source, id_column, heading, width, sample, numeric=True)
    kept = [j for j in range(width) if j != names]
    if not kept:
        raise InputError(
            f"{source.path}: no columns of counts; pass delimiter=... or id_column=..."
        )
    everything = names is None
    documents: list[str] = []
    lengths, words, counts = array("q"), array("i"), array("d")
    for line, row in rows:
        cells = row if everything else [row[j] for j in kept]
        try:
            values = np.array(cells, dtype=np.float64)
        except ValueError:
            values = np.full(1, -1.0)
        good = (values >= 0) & (values <= LARGEST_COUNT)
        if not good.all() or "_" in "".join(cells):  # NumPy reads 1_0 as ten
            for j in kept:
                title = shown(heading[j] if heading else j)
                try:
                    check_count(source, line, row[j])
                except (InputError, LimitError) as error:
                    raise type(error)(f"{error} (column {title})") from None
            values = np.array([float(cell) for cell in cells])
        present = np.flatnonzero(values)
        lengths.append(len(present))
        words.frombytes(present.astype(np.int32).tobytes())
        counts.frombytes(values[present].tobytes())
        if names is not None:
            documents.append(row[names].strip())
    return make_corpus(
        source,
        _csr(lengths, words, counts, len(kept)),
        document_names=None if names is None else documents,
        word_names=None if heading is None else [heading[j] for j in kept],
    )


def _csr(lengths: array[int], words: array[int], counts: array[float], n_words: int) -> Any:
    indptr = np.concatenate(([0], np.cumsum(np.array(lengths, dtype=np.int64))))
    indices = np.frombuffer(words, dtype=np.int32) if words else np.zeros(0, dtype=np.int32)
    data = np.frombuffer(counts) if counts else np.zeros(0)
    return sparse.csr_array((data, indices, indptr), shape=(len(lengths), n_words))


def _id_column(
    source: Source,
    wanted: Any,
    heading: list[str] | None,
    width: int,
    sample: list[list[str]],
    numeric: bool,
) -> int | None:
    if wanted is False or (wanted is None and width < 2):
        return None
    if wanted is not None:
        return _column(source, wanted, heading, width)
    column = tuple(row[0].strip() for row in sample if row)
    title = heading[0] if heading is not None else "x"
    if numeric:
        named = any(number(cell) is None for cell in column) or _key(title) in _ID - {"", "d", "n"}
        found = named or not title
    else:
        found = _is_id(title, column) and (heading is not None or len(sample) > 1)
    if found:
        log.info("%s: column %s names the documents", source.path, shown(title))
    return 0 if found else None


# ---- categorical ----


@reader(
    "categorical",
    "table of answers: a column a question, a value a category, empty if missing",
    sniff=_sniff("categorical"),
)
def read_categorical(
    source: Source,
    id_column: Any = None,
    columns: Any = None,
    drop: Any = (),
    missing: Iterable[str] = MISSING,
    alleles: str | None = None,
    exposures: bool = True,
    header: bool | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
) -> Corpus:
    """Read votes, surveys or microsatellites: each column becomes a group of words column=value.

    Parameters
    ----------
    source : Source
    id_column : str, int or False, optional
        Column that names the documents; if not given the first, when it looks like names.
    columns : list of str or int, optional
        Columns to read, all others are left out.
    drop : list of str or int
        Columns to leave out.
    missing : strings
        Cells that hold no answer.
    alleles : str, optional
        Separator of several answers in a cell, e.g. "/" in "123/125".
    exposures : bool
        Give a document exposure 0 to the groups it has no answer in.
    header : bool, optional
        Whether the first row holds titles; told by its content if not given.
    delimiter : str, optional
    quotes : bool
        Whether cells may be quoted.
    """
    heading, width, sample, rows = _open(source, header, delimiter, quotes, numeric=False)
    names = _id_column(source, id_column, heading, width, sample, numeric=False)
    left_out = {_column(source, name, heading, width) for name in _listed(drop)} | {names}
    chosen = range(width) if columns is None else _listed(columns)
    kept = [_column(source, name, heading, width) for name in chosen]
    kept = [j for j in kept if j not in left_out]
    titles = [heading[j] if heading else f"V{j + 1}" for j in kept]
    documents: list[str] = []

    def cells() -> Iterator[list[str]]:
        for _, row in rows:
            if names is not None:
                documents.append(row[names].strip())
            yield [row[j] for j in kept]

    if not kept:
        raise InputError(f"{source.path}: no columns of answers are left")
    table, options = answers(source, titles, cells(), frozenset(missing), alleles, exposures)
    return make_corpus(
        source, table, document_names=None if names is None else documents, **options
    )


def _listed(columns: Any) -> list[Any]:
    return [columns] if isinstance(columns, str | int) else list(columns)


def answers(
    source: Source,
    titles: list[str],
    rows: Iterable[list[str]],
    missing: frozenset[str] = frozenset(MISSING),
    alleles: str | None = None,
    exposures: bool = True,
) -> tuple[Any, dict[str, Any]]:
    """Make a table of counts of rows of answers, and the names, groups and exposures of it."""
    if alleles == "":
        raise InputError("alleles='' splits nothing; pass a separator such as '/'")
    codes: list[dict[Any, int]] = [{} for _ in titles]  # of a cell: -1 is missing
    owners: list[tuple[int, str]] = []  # column and value of each word, in order of appearance
    several: dict[int, list[int]] = {}  # words of a cell that holds not exactly one
    found, lengths = array("i"), array("q")
    for row in rows:
        for j, cell in enumerate(row):
            code = codes[j].get(cell)
            if code is None:
                code = _new_code(codes[j], owners, several, j, cell, missing, alleles)
            found.append(code)
        lengths.append(len(row))
    cells = np.frombuffer(found, dtype=np.int32).reshape(len(lengths), len(titles))
    order = sorted(range(len(owners)), key=lambda n: (owners[n][0], _sort_key(owners[n][1])))
    if not order:
        raise InputError(f"{source.path}: every cell is missing")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    columns = np.array([owners[n][0] for n in order])
    used, groups = np.unique(columns, return_inverse=True)
    sizes = np.bincount(groups)
    for g in np.flatnonzero(sizes > MANY_CATEGORIES):
        if sizes[g] > len(cells) / 2:
            log.warning(
                "%s: column %s has %d different values in %d rows; drop it if it is no category",
                source.path,
                shown(titles[used[g]]),
                sizes[g],
                len(cells),
            )
    if len(used) < len(titles):
        empty = sorted(set(range(len(titles))) - set(used.tolist()))
        log.warning(
            "%s: %d columns without any answer left out, e.g. %s",
            source.path,
            len(empty),
            shown(titles[empty[0]]),
        )
    names = [titles[j] for j in used]
    options: dict[str, Any] = {
        "groups": groups,
        "group_names": names,
        "word_names": [f"{titles[owners[n][0]]}={owners[n][1]}" for n in order],
    }
    if exposures:
        options["exposures"] = _observed(source, cells[:, used])
    return _answers_table(cells, several, place), options


def _new_code(
    known: dict[Any, int],
    owners: list[tuple[int, str]],
    several: dict[int, list[int]],
    column: int,
    cell: str,
    missing: frozenset[str],
    alleles: str | None,
) -> int:
    """Number a cell's text that was not seen before in its column."""
    text = cell.strip()
    values = [text] if alleles is None or text in missing else text.split(alleles)
    values = [value.strip() for value in values if value.strip() not in missing]
    words = []
    for value in values:
        key = (value,)  # the word itself; a cell as it stands is a string
        if key not in known:
            known[key] = len(owners)
            owners.append((column, value))
        words.append(known[key])
    if len(words) == 1:
        code = words[0]
    elif not words:
        code = -1
    else:
        code = -2 - len(several)
        several[code] = words
    known[cell] = code
    return code


def _sort_key(value: str) -> tuple[bool, float, str]:
    found = number(value)
    plain = found is not None and found == found
    return not plain, found if plain and found is not None else 0.0, value


def _answers_table(cells: Array, several: dict[int, list[int]], place: Array) -> Any:
    shape = (len(cells), len(place))
    if not several:
        present = cells >= 0
        indptr = np.concatenate(([0], np.cumsum(present.sum(axis=1), dtype=np.int64)))
        words = place[cells[present]]
        return sparse.csr_array((np.ones(words.size, dtype=np.int32), words, indptr), shape=shape)
    triples = Triples()
    rows, columns = np.nonzero(cells != -1)
    codes = cells[rows, columns]
    longest = max(len(words) for words in several.values())
    table = np.full((len(several), longest), -1)
    for code, owned in several.items():
        table[-2 - code, : len(owned)] = owned
    for n in range(longest):
        words_n = np.where(codes >= 0, codes if n == 0 else -1, table[np.maximum(-2 - codes, 0), n])
        kept = words_n >= 0
        triples.add(rows[kept], place[words_n[kept]], np.ones(kept.sum(), dtype=np.int32))
    return triples.table(*shape)


def _observed(source: Source, cells: Array) -> Array | None:
    seen = cells != -1
    if seen.all():
        return None
    if seen.size > LARGEST_EXPOSURES:
        raise LimitError(
            f"{source.path}: {seen.shape[0]:,} rows x {seen.shape[1]:,} columns with missing "
            "cells need too large a table of exposures; pass exposures=False"
        )
    return np.asarray(seen)
