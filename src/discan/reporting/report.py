# SPDX-License-Identifier: BSD-3-Clause
"""A page about a fit: sizes, words, documents, labels, time, map, how sure, what was done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discan import plot
from discan.errors import InputError
from discan.plot.page import escape, figure_part, whole_page
from discan.reporting import parts, sentences
from discan.reporting.facts import Facts, gather
from discan.reporting.sentences import Wording
from discan.reporting.style import STYLE
from discan.validation import whole

__all__ = ["report"]

WORDS = 8  # on a card
SIZES = 60  # components in the bars of sizes


def report(
    source: Any,
    data: Any = None,
    *,
    labels: str | Sequence[str] = (),
    n_words: int = WORDS,
    title: str | None = None,
    n_jobs: int | None = None,
    worded: Wording = str,
) -> str:
    """Describe a fit on a page of HTML, in figures and plain words.

    The page is one file: nothing is fetched, and names from the data stay text.

    Parameters
    ----------
    source : fit or fitted estimator
        What the page is about.
    data : Corpus or (I, J) counts, optional
        Documents to describe instead of those of the fit, and to measure how well the model
        predicts them.
    labels : str or list of str, optional
        Columns of the documents' metadata to show, the main one first; by default those with few
        different values.
    n_words : int
        Words or answers per component.
    title : str, optional
        Title of the page.
    n_jobs : int, optional
        Threads for ``data``.
    worded : callable
        Words advice, as an error that carries settings; the command line names its flags.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> import numpy as np, discan
    >>> X = np.kron(np.eye(2, dtype=int), np.full((5, 4), 3))
    >>> page = discan.report(discan.LDA(2, random_state=0).fit(X))
    >>> "10 documents" in page
    True
    """
    n_words = whole("n_words", n_words, 1)
    asked = [labels] if isinstance(labels, str) else list(labels)
    facts = gather(source, data, asked, n_jobs)
    nouns = facts.components.nouns
    heading = title or f"{nouns.components.capitalize()} of {facts.n_documents:,} {nouns.documents}"
    sections = {
        **_overview(facts),
        **_documents(facts),
        **_components(facts, n_words),
        **_doubts(facts, _scores(facts), worded),
        "done": ("What was done", parts.table(sentences.settings(facts))),
    }
    lead = parts.paragraphs([sentences.about(facts)], "lead")
    body = (
        f"<h1>{escape(heading)}</h1>{lead}{parts.paragraphs([sentences.explained(facts)])}"
        + parts.contents({key: name for key, (name, _) in sections.items()})
        + "".join(parts.section(key, name, inner) for key, (name, inner) in sections.items())
    )
    return whole_page(heading, body, STYLE + _STYLE)


# ---- sections: identity -> title and HTML ----

Sections = dict[str, tuple[str, str]]


def _overview(facts: Facts) -> Sections:
    """How large the components are."""
    n = len(facts.components.names)
    some = list(facts.components.names[:SIZES])
    figure = plot.sizes(facts.fit, components=some if n > SIZES else None)
    more = f" The {n - SIZES} smallest are not shown." if n > SIZES else ""
    caption = f"Share of all {facts.components.counts} that each explains.{more}"
    return {"sizes": ("How large they are", figure_part(figure, "s", caption))}


def _documents(facts: Facts) -> Sections:
    """All documents side by side, by label, and over time."""
    nouns = facts.components.nouns
    main = facts.labels[0] if facts.labels else None
    every = plot.structure(facts.documents, main)
    made: Sections = {"documents": (f"All {nouns.documents}", figure_part(every, "d"))}
    for n, name in enumerate(facts.labels):
        try:
            figure = plot.by_label(facts.documents, name)
        except InputError:  # a column that was asked for and has too many values
            continue
        made[f"by{n}"] = (f"By {name}", figure_part(figure, f"l{n}"))
    if facts.date is not None:
        figure = plot.over_time(facts.documents, facts.date)
        made["time"] = ("Over time", figure_part(figure, "t"))
    return made


def _components(facts: Facts, n_words: int) -> Sections:
    """The components one by one, where they differ, and which are alike."""
    nouns, found = facts.components.nouns, facts.components
    made: Sections = {
        "components": (f"The {nouns.components}, one by one", parts.cards(facts, n_words))
    }
    if found.grouped:
        figure = plot.heatmap(facts.fit)
        made["differ"] = ("Where they differ most", figure_part(figure, "h"))
    if len(found.names) > 1:
        figure = plot.component_map(facts.fit)
        made["map"] = ("Which are alike", figure_part(figure, "m"))
    return made


def _doubts(facts: Facts, scores: tuple[float, float] | None, worded: Wording) -> Sections:
    """How sure the result is."""
    known, each = sentences.deviations(facts)
    inner = parts.paragraphs(
        [*sentences.convergence(facts, worded), known, sentences.prediction(facts, scores)]
    ) + parts.size_table(facts, None if each is None else [float(value) for value in each])
    if len(facts.fit.trace) > 1:
        inner += figure_part(plot.trace(facts.fit), "o", "The objective, cycle by cycle.")
    return {"sure": ("How sure", inner)}


def _scores(facts: Facts) -> tuple[float, float] | None:
    """Return the log-likelihood per held-out token, of the model and of the unigram."""
    if facts.corpus is None or facts.fit.documents is None:
        return None
    return facts.fit.score(facts.corpus), facts.fit.unigram_score(facts.corpus)


_STYLE = """
nav{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;margin:1rem 0 0;font-size:.95rem}
a{color:#174f8c}
section{scroll-margin-top:1rem}
.cards.wide{grid-template-columns:repeat(auto-fill,minmax(min(340px,100%),1fr))}
.words li{display:grid;grid-template-columns:1fr 5em;align-items:center;line-height:1.45}
.words i{display:block;height:.7em;border-radius:2px}
.words span,.answers span:first-child,article li span:first-child{overflow-wrap:anywhere;
min-width:0}
.answers li{padding:.12rem 0;line-height:1.3}
.answers span:last-child{white-space:nowrap;text-align:right}
.answers small{display:block}
article li span:last-child{white-space:nowrap}
.facts{width:auto}
.facts th{padding:.35rem 1.6rem .35rem 0;font-weight:600;vertical-align:top;white-space:nowrap;
border-top:1px solid #e6e6e6}
.facts td{padding:.35rem 0;overflow-wrap:anywhere}
.numbers{width:auto;margin-bottom:1.2rem}
.numbers td,.numbers th{padding:.25rem 1.6rem .25rem 0}
.numbers i{display:inline-block;width:.9em;height:.9em;margin-right:.5em;vertical-align:-.08em;
border-radius:2px}
@media print{nav{display:none}article,figure{break-inside:avoid}}
"""
