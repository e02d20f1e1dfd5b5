# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a page about components: cards, lists and tables, with all names as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from discan.plot.lettering import an, percent, shortened
from discan.plot.ordering import grouping
from discan.plot.page import escape as safe
from discan.reporting.facts import Facts

__all__ = ["card", "cards", "contents", "paragraphs", "section", "size_table", "table"]

TYPICAL = 4  # documents on a card
MOST_CARDS = 120


def escape(value: object) -> str:
    """Make any value safe as text; a number stays on the line of its per cent sign."""
    return safe(value).replace(" %", "\u00a0%")


def section(identity: str, title: str, *parts: str) -> str:
    """Return a section of the page; parts are HTML, the title is any text."""
    return f'<section id="{identity}"><h2>{escape(title)}</h2>{"".join(parts)}</section>'


def contents(titles: Mapping[str, str]) -> str:
    """Return links to sections, by identity."""
    links = "".join(f'<a href="#{key}">{escape(title)}</a>' for key, title in titles.items())
    return f"<nav>{links}</nav>"


def paragraphs(sentences: Iterable[str], kind: str = "") -> str:
    """Return a paragraph for each sentence."""
    mark = f' class="{kind}"' if kind else ""
    return "".join(f"<p{mark}>{escape(text)}</p>" for text in sentences if text)


def table(rows: Mapping[str, str]) -> str:
    """Return a table of names and values."""
    return (
        '<table class="facts"><tbody>'
        + "".join(f"<tr><th>{escape(n)}</th><td>{escape(v)}</td></tr>" for n, v in rows.items())
        + "</tbody></table>"
    )


def size_table(facts: Facts, deviations: Sequence[float] | None) -> str:
    """Return the components with their sizes, and how exactly their shares are known."""
    found, nouns = facts.components, facts.components.nouns
    head = [nouns.component, "share of all counts", f"largest in so many {nouns.documents}"]
    largest = np.bincount(facts.documents.shares.argmax(axis=1), minlength=len(found.names))
    known = [] if deviations is None else [f"share of {an(nouns.document)} known to within"]
    rows = [
        [found.names[k], percent(found.sizes[k]), f"{largest[k]:,}"]
        + ([] if deviations is None else [f"± {percent(deviations[k])}"])
        for k in range(len(found.names))
    ]
    body = "".join(
        f'<tr><td><i style="background:{colour}"></i>{escape(row[0])}</td>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row, colour in zip(rows, found.colours, strict=True)
    )
    titles = "".join(f"<th>{escape(title)}</th>" for title in (*head, *known))
    return (
        f'<div class="scroll"><table class="numbers"><thead><tr>{titles}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def cards(facts: Facts, n_words: int) -> str:
    """Return a card for each component."""
    n = len(facts.components.names)
    most = _by_label(facts)
    made = [card(facts, k, n_words, most[k] if most else "") for k in range(min(n, MOST_CARDS))]
    more = f"The {n - MOST_CARDS} smallest have no card." if n > MOST_CARDS else ""
    wide = " wide" if facts.components.grouped else ""
    return f'<div class="cards{wide}">{"".join(made)}</div>' + paragraphs([more], "small")


def card(facts: Facts, k: int, n_words: int, where: str = "") -> str:
    """Return the card of one component: size, words or answers, and typical documents."""
    found = facts.components
    colour = found.colours[k]
    listed = found.telling(k, n_words)
    words = _answers(facts, k, listed) if found.grouped else _words(facts, k, listed)
    typical = "".join(
        f"<li><span>{escape(shortened(name, 60, 40))}</span>"
        f"<span>{escape(percent(share))}</span></li>"
        for name, share in facts.typical(k, TYPICAL)
    )
    nouns = found.nouns
    return (
        f'<article style="border-top-color:{colour}"><h3>{escape(found.names[k])}'
        f"<small>{percent(found.sizes[k])}</small></h3>"
        f"<h4>{escape(nouns.words.capitalize())} that set it apart</h4>{words}"
        + (f"<h4>Typical {escape(nouns.documents)}</h4><ul>{typical}</ul>" if typical else "")
        + (f'<p class="small">{escape(where)}</p>' if where else "")
        + "</article>"
    )


# ---- details ----


def _words(facts: Facts, k: int, listed: list[int]) -> str:
    """Return words with bars, by probability."""
    found = facts.components
    listed = sorted(listed, key=lambda j: -found.loadings[k, j])
    most = max((found.loadings[k, j] for j in listed), default=1.0)
    return (
        '<ul class="words">'
        + "".join(
            f'<li title="{escape(_times(found.lift(k)[j]))}"><span>'
            f"{escape(shortened(found.word(j), 40))}</span>"
            f'<i style="width:{5 * found.loadings[k, j] / most:.2f}em;'
            f'background:{found.colours[k]}"></i></li>'
            for j in listed
        )
        + "</ul>"
    )


def _times(lift: float) -> str:
    return f"{lift:.3g} times as likely as in all the data"


def _answers(facts: Facts, k: int, listed: list[int]) -> str:
    """Return answers with their probability here and in the other components."""
    found = facts.components
    others = found.others(k)
    group = found.layout.group_of_word
    return (
        '<ul class="answers">'
        + "".join(
            f"<li><span>{escape(shortened(found.group(int(group[j])), 90))}: "
            f"<b>{escape(shortened(found.answer(j), 40))}</b></span>"
            f"<span>{100 * found.loadings[k, j]:.0f} % <small>others "
            f"{100 * others[j]:.0f} %</small></span></li>"
            for j in listed
        )
        + "</ul>"
    )


def _by_label(facts: Facts) -> list[str]:
    """Say of each component in which labels its mean share is largest."""
    if not facts.labels:
        return []
    groups = grouping(facts.documents, facts.labels[0], "given")
    means = groups.means(facts.documents.shares)
    told = []
    for k in range(means.shape[1]):
        first = np.argsort(-means[:, k], kind="stable")[:3]
        parts = [f"{shortened(groups.titles[g], 30)} {percent(means[g, k])}" for g in first
                 if means[g, k] >= 0.3 * means[first[0], k]]  # fmt: skip
        told.append(f"Largest mean share by {groups.name}: {', '.join(parts)}")
    return told
