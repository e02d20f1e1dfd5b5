# SPDX-License-Identifier: BSD-3-Clause
"""The commands that find documents: search, similar and index."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discan.cli.options import ModelFile, NewData, Printing, one_of, printing, running
from discan.cli.printing import Style, check_writable, emit
from discan.cli.reading import load_model, model_and_data
from discan.errors import InputError

if TYPE_CHECKING:
    from discan.engines import Threads
    from discan.search import Index

__all__ = ["index", "search", "similar"]

log = logging.getLogger("discan")

SOME = 3  # components of a hit in a table
DISTANCES = {
    "hellinger": "Square root of 1 - sum_k sqrt(p_k q_k).",
    "jensen-shannon": "Square root of the Jensen-Shannon divergence in bits.",
}
PRECISIONS = {
    "float32": "4 bytes per share.",
    "float16": "2 bytes per share: 3 digits.",
    "float64": "8 bytes per share.",
}
Found = Annotated[int, printing("Documents to list.", "--number", "-n", min=1)]
Searched = Annotated[
    str, typer.Argument(help="Documents to search: data, or a file by [b]discan index[/b].")
]


def search(
    model: ModelFile,
    data: Annotated[
        str,
        typer.Argument(
            help="Documents to search: data, or a file by [b]discan index[/b]. Left out, it is the "
            "index beside the model."
        ),
    ],
    query: Annotated[
        str | None,
        typer.Argument(
            help="Words to search for. Votes, answers and alleles by name, with semicolons between "
            "them: '12=yea; 13=nay'."
        ),
    ] = None,
    *,
    number: Found = 10,
    word_weight: Annotated[
        float | None,
        running(
            "Weight of the document's own words, from 0 (components alone) to 1 (words alone). "
            "Default: 0.7; for votes, answers and alleles 0.",
            "--word-weight",
            "--lambda",
            min=0.0,
            max=1.0,
        ),
    ] = None,
    mu: Annotated[
        float | None,
        running(
            "Tokens by which the word shares of all documents smooth those of one (default: the "
            "mean length of a document).",
            min=1e-9,
        ),
    ] = None,
    reading: NewData,
    style: Printing,
) -> None:
    """Find documents by the probability of a query.

    The components of a document tell which words it could hold, so a document is found even if
    it says the same in other words. Its own words are mixed in. The table shows the log
    probability of the query in nats, how many of the query's words the document holds, and which
    components explain the query; its own words explain the rest.

    [b]Example:[/b] discan search model/ reviews/ "cold soup" -n 5
    """
    from discan.search.files import beside

    if query is None:
        data, query = str(beside(model)), data
        if not Path(data).exists():
            raise InputError(
                "there are no documents to search", remedy="name data before the query, or make "
                f"an index with: discan index {model} DATA",
            )  # fmt: skip
    with _threads(reading) as engine:
        found = _index(model, data, reading, engine)
        hits = found.search(query, number, mu=mu, word_weight=word_weight, engine=engine)
    nouns = found.nouns
    columns = (nouns.document, "log probability", f"{nouns.words} held", "explained by")
    rows = [(h.document, h.log_probability, h.held, _parts(h.explained, style)) for h in hits]
    emit(style.style, columns, rows)


def similar(
    model: ModelFile,
    data: Searched,
    name: Annotated[str, typer.Argument(help="Name of a document, or its number from 0.")],
    *,
    number: Found = 10,
    distance: Annotated[str, running(**one_of(lambda: DISTANCES))] = "hellinger",
    reading: NewData,
    style: Printing,
) -> None:
    """Find the documents that are most like another, by their shares of the components.

    The distance lies between 0 (the same shares) and 1 (no component in common).

    [b]Example:[/b] discan similar model/ reviews/ review-17.txt -n 5
    """
    with _threads(reading) as engine:
        found = _index(model, data, reading, engine)
        near = found.similar(name, number, distance=distance, engine=engine)
    columns = (found.nouns.document, "distance", f"shared {found.nouns.components}")
    emit(style.style, columns, [(x.document, x.distance, _parts(x.shared, style)) for x in near])


def index(
    model: ModelFile,
    data: Searched,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write, .index (default: beside the model)."),
    ] = None,
    top: Annotated[
        int | None,
        running("Keep only so many components per document (default: all).", min=1),
    ] = None,
    precision: Annotated[str, running(**one_of(lambda: PRECISIONS))] = "float32",
    no_words: Annotated[
        bool, running("Leave out the words of the documents.", "--no-words")
    ] = False,
    reading: NewData,
    style: Printing,
) -> None:
    """Write an index of documents, so that searching starts at once.

    The file holds the documents' shares of the components, and their words.

    [b]Example:[/b] discan index model/ reviews/, then discan search model/ "cold soup"
    """
    from discan.search import build_index
    from discan.search.files import beside, is_index

    target = output or beside(model)
    if not is_index(target):
        raise InputError(f"{target}: the name of an index must end in .index")
    check_writable(target)
    (fit, _), corpus = model_and_data(model, data, reading)
    with _threads(reading) as engine:
        found = build_index(
            fit, corpus, top=top, precision=precision, words=not no_words, engine=engine
        )
    found.save(target)
    size = target.stat().st_size / 1e6
    if style.style is not Style.TABLE:
        emit(style.style, ("file", "documents"), [(str(target), found.n_documents)])
    log.info("%s %s indexed in %.1f MB: %s", f"{found.n_documents:,}", fit.nouns.documents, size,
             target)  # fmt: skip


def _index(model: Path, data: str, reading: NewData, engine: Threads) -> Index:
    """Load an index, or make one of data."""
    from discan.search import build_index, load_index
    from discan.search.files import is_index

    if is_index(data):
        return load_index(data, load_model(model).fit)
    (fit, _), corpus = model_and_data(model, data, reading)
    return build_index(fit, corpus, engine=engine)


def _threads(reading: NewData) -> Threads:
    from discan.engines.threads import Threads, n_threads

    return Threads(n_threads(reading.threads))


def _parts(shares: dict[str, float], style: Printing) -> object:
    """Components and their shares: as data for JSON, in words otherwise."""
    if style.style is Style.JSON:
        return shares
    return ", ".join(f"{name} {100 * share:.0f}%" for name, share in list(shares.items())[:SOME])
