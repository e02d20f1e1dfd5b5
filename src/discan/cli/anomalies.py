# SPDX-License-Identifier: BSD-3-Clause
"""The command that finds unusual documents."""

from __future__ import annotations

import logging
import math
from typing import Annotated

from discan.cli.options import Data, ModelFile, NewData, Printing, one_of, printing, running
from discan.cli.printing import Style, emit
from discan.cli.reading import model_and_data

__all__ = ["anomalies"]

log = logging.getLogger("discan")

LONG = 60  # letters of the words of a document

ORDERS = {
    "tail": "Unlikely for its length: by the share of simulated documents that are no likelier.",
    "likelihood": "By the log-likelihood per token.",
}
METHODS = {
    "bound": "Variational lower bound: quick, without random numbers.",
    "chib": "Chib's method: nearer to the true log-likelihood, slower.",
    "smc": "Left to right by particles.",
    "ais": "Annealed importance sampling.",
}


def anomalies(
    model: ModelFile,
    data: Data,
    *,
    number: Annotated[int, printing("Documents to list.", "--number", "-n", min=1)] = 20,
    by: Annotated[str, printing(**one_of(lambda: ORDERS))] = "tail",
    simulated: Annotated[
        int, running("Documents drawn from the model to compare each one with.", min=1)
    ] = 199,
    method: Annotated[str, running(**one_of(lambda: METHODS))] = "bound",
    reading: NewData,
    style: Printing,
) -> None:
    """List the documents that the model finds most unlikely.

    The tail probability compares a document with others of the same length that are drawn from
    the model: it is the share of them that are no likelier. A small one says that such documents
    are not what the model expects. For models of amounts (gp, cgp) the length itself counts too.
    Nats per token is the log probability of the tokens divided by their number. The unlikely
    words are those that the mix of the document explains worst.

    [b]Example:[/b] discan anomalies model/ new.jsonl -n 10
    """
    (fit, _), corpus = model_and_data(model, data, reading)
    from discan.engines.threads import Threads, n_threads
    from discan.evaluation.anomalies import find_anomalies
    from discan.fitting.summary import word_labels

    with Threads(n_threads(reading.threads)) as engine:
        found = find_anomalies(fit, corpus, number, by, simulated, method, engine)
    words = word_labels(fit.layout, fit.nouns.word)
    names = corpus.document_names or [str(i) for i in range(corpus.n_documents)]
    rows = [
        (
            names[i], int(found.tokens[n]), _number(found.per_token[n]), float(found.tail[n]),
            _shown([words[j] for j in found.words[n]], style.style),
        )
        for n, i in enumerate(found.documents)
    ]  # fmt: skip
    columns = (
        fit.nouns.document, "tokens", "nats per token", "tail probability",
        f"unlikely {fit.nouns.words}",
    )  # fmt: skip
    emit(style.style, columns, rows)
    log.info(
        "a tail probability of 1 in %s is the least that %s simulated %s can show",
        f"{simulated + 1:,}", f"{simulated:,}", fit.nouns.documents,
    )  # fmt: skip


def _shown(words: list[str], style: Style) -> list[str]:
    """Leave out all but the first of long names, such as titles of bills, in a table."""
    return words[:1] if style is Style.TABLE and len(", ".join(words)) > LONG else words


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
