# SPDX-License-Identifier: BSD-3-Clause
"""Heat map: probabilities of answers, or shares of words, by component."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from discan.errors import InputError
from discan.plot.inputs import components_of
from discan.plot.lettering import label, percent, shortened, widest
from discan.plot.palette import DIVERGING, SHADES, Scale
from discan.plot.subjects import Components
from discan.plot.theme import TITLE_HEIGHT, axis, cells, figure, rule
from discan.typing import Array
from discan.validation import whole

__all__ = ["distinctive_groups", "heatmap"]

MOST_ROWS = 60  # by default
WORDS = 5  # per component, by default
PAIRS = (  # answers of which the second is shown on the left of a scale
    ("yea", "nay"), ("yes", "no"), ("y", "n"), ("aye", "no"), ("true", "false"), ("1", "0"),
    ("1.0", "0.0"), ("agree", "disagree"), ("for", "against"), ("present", "absent"),
)  # fmt: skip


class _Rows(NamedTuple):
    """What the rows show: words, names, values (rows, K), and how their colours are read."""

    words: list[int]
    names: list[str]
    values: Array
    scale: Scale
    ends: tuple[str, ...]
    bar: str
    title: str
    told: str
    borders: Sequence[int] = ()  # rows before which another group begins


def heatmap(
    source: Any,
    group: Any = None,
    *,
    n_groups: int = 25,
    n_words: int | None = None,
    words: Any = None,
    groups: Any = None,
    sizes: Any = None,
    components: Any = None,
    component_names: Any = None,
    title: str | None = None,
    subtitle: str | None = None,
) -> Any:
    """Draw one row per word or answer and one column per component.

    With groups (votes, answers, loci) a cell is the probability of the answer in the component,
    within its group. If all groups have two answers, a row is a group, and the colour goes from
    one answer to the other. Without groups (text) the rows are the telling words of each
    component, and a cell is the part of the word's tokens that belongs to the component.

    Parameters
    ----------
    source : fit, fitted estimator or (K, J) array
    group : name or number of a group, or a list of them, optional
        Groups to show; by default the ``n_groups`` in which components differ most.
    n_groups : int
        Largest number of groups.
    n_words : int, optional
        Largest number of words per group, or per component if there are no groups. By default 5,
        and for text as many as give about 60 rows.
    words, groups, sizes : optional
        For arrays: (J,) names of the words, (J,) group of each word, (K,) share of all tokens of
        each component.
    components : list of numbers from 1 or of names, optional
        Components to show.
    component_names : (K,) labels, optional
    title, subtitle : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = heatmap([[0.9, 0.1], [0.2, 0.8]], words=["yea", "nay"], groups=["vote", "vote"])
    >>> figure.data[0].z.tolist()
    [[0.9, 0.2]]
    """
    n_groups = whole("n_groups", n_groups, 1)
    n_words = None if n_words is None else whole("n_words", n_words, 1)
    found = components_of(source, component_names, sizes, words, groups, components)
    if found.grouped or groups is not None or group is not None:
        rows = _of_answers(found, group, n_groups, n_words or WORDS)
    else:
        rows = _of_words(found, n_words)
    return _draw(found, rows, title or rows.title, subtitle or rows.told)


def distinctive_groups(components: Components) -> Array:
    """Sort groups by the divergence of components within them, the largest first, (G,).

    The measure is the Jensen-Shannon divergence weighted by size: the information, in nats, that
    an answer gives about its component.
    """
    loadings, sizes = components.loadings, components.sizes / components.sizes.sum()
    overall = sizes @ loadings
    information = sizes @ xlogy(loadings, loadings) - xlogy(overall, overall)
    by_group = np.bincount(
        components.layout.group_of_word, weights=information, minlength=components.layout.n_groups
    )
    return np.argsort(-by_group, kind="stable")


# ---- rows ----


def _of_words(found: Components, n_words: int | None) -> _Rows:
    """Return the telling words of each component, each once, sorted by their main component."""
    n_components = len(found.names)
    each = n_words or max(1, min(WORDS, MOST_ROWS // n_components))
    joint = found.loadings * found.sizes[:, None]
    first = {j for k in range(n_components) for j in found.telling(k, each)}
    home = {j: int(joint[:, j].argmax()) for j in first}
    listed = sorted(first, key=lambda j: (home[j], -found.loadings[home[j], j], j))
    total = np.maximum(found.overall[listed], 1e-300)
    nouns = found.nouns
    return _Rows(
        listed, [found.word(j) for j in listed], (joint[:, listed] / total).T, SHADES,
        ("0 %", "50 %", "100 %"), "part",
        f"Where the telling {nouns.words} of each {nouns.component} are found",
        f"Rows are the {each} most telling {nouns.words} of each {nouns.component}; a cell is the "
        f"part of the counts of the {nouns.word} that is in the {nouns.component}",
    )  # fmt: skip


def _of_answers(found: Components, group: Any, n_groups: int, n_words: int) -> _Rows:
    """Return the answers to show, group by group."""
    chosen = _chosen(found, group, n_groups)
    inside = [np.flatnonzero(found.layout.group_of_word == g) for g in chosen]
    if all(len(words) == 2 for words in inside):
        return _of_pairs(found, chosen, inside, group is None)
    rows: list[int] = []
    names: list[str] = []
    borders: list[int] = []
    for n, (g, words) in enumerate(zip(chosen, inside, strict=True)):
        largest = np.argsort(-found.overall[words], kind="stable")[:n_words]
        shown = [int(j) for j in words[np.sort(largest)]]
        shown = shown[:1] if len(words) == 2 else shown
        if rows and group is None and len(rows) + len(shown) > MOST_ROWS:
            chosen = chosen[:n]
            break
        rows += shown
        # the question is written once
        names += [_answer(found, shown[0], g), *(found.answer(j) for j in shown[1:])]
        borders.append(len(rows))
    nouns = found.nouns
    return _Rows(
        rows, names, found.loadings[:, rows].T, SHADES, ("0 %", "50 %", "100 %"), "probability",
        _title(found),
        f"A cell is the probability of the {nouns.word} in the {nouns.component}; "
        f"{_which(found, len(chosen), group is None)}", borders[:-1],
    )  # fmt: skip


def _of_pairs(found: Components, chosen: list[int], inside: list[Array], by_us: bool) -> _Rows:
    """Return one row for each group of two answers."""
    pairs = [_pair(found, words) for words in inside]
    rows = [yes for yes, _ in pairs]
    answers = {(found.answer(yes), found.answer(no)) for yes, no in pairs}
    which = _which(found, len(chosen), by_us)
    if len(answers) == 1 and found.named:
        ((yes, no),) = answers
        names = [shortened(found.group(g), 60) for g in chosen]
        ends = (f"all {label(no, 12)}", "equal", f"all {label(yes, 12)}")
        told = f"Blue is {yes}, orange is {no}; {which}"
    else:
        names = [_answer(found, j, g) for j, g in zip(rows, chosen, strict=True)]
        ends = ("0 %", "50 %", "100 %")
        told = f"A cell is the probability in the {found.nouns.component}; {which}"
    return _Rows(
        rows, names, found.loadings[:, rows].T, DIVERGING, ends, "probability", _title(found), told
    )


def _title(found: Components) -> str:
    return f"{found.nouns.words.capitalize()} of each {found.nouns.component}"


def _which(found: Components, n: int, by_us: bool) -> str:
    """Say which groups are shown."""
    n_all, kind = found.layout.n_groups, found.groups
    if n == n_all:
        return f"{n_all} {kind}"
    most = f", those in which the {found.nouns.components} differ most" if by_us else ""
    return f"{n} of {n_all:,} {kind}{most}"


def _chosen(components: Components, group: Any, most: int) -> list[int]:
    """Return the numbers of the requested groups; by default those in which components differ."""
    if group is None:
        return [int(g) for g in distinctive_groups(components)[:most]]
    if components.layout.n_groups == 1 and components.layout.group_names is None:
        raise InputError("{}, but the words are not in groups", argument="group", value=group)
    asked = [group] if isinstance(group, (str, int, np.integer)) else list(group)
    names = components.layout.group_names or ()
    numbers = []
    for each in asked:
        if isinstance(each, str) and each in names:
            numbers.append(names.index(each))
        elif isinstance(each, (int, np.integer)) and 0 <= each < components.layout.n_groups:
            numbers.append(int(each))
        else:
            raise InputError(
                "{} is not known", argument="group", value=each,
                remedy=f"give its name, or a number from 0 to {components.layout.n_groups - 1}",
            )  # fmt: skip
    if not numbers:
        raise InputError("group is an empty list", remedy="name at least one group")
    return numbers


def _pair(found: Components, words: Array) -> tuple[int, int]:
    """Return the two words of a group, the one that agrees first."""
    first, second = (int(j) for j in words)
    names = tuple(found.answer(j).casefold() for j in (second, first))
    return (second, first) if names in PAIRS else (first, second)


def _answer(components: Components, j: int, g: int) -> str:
    """Return "question: answer", whether or not the word's name begins with the question."""
    word, group, answer = components.word(j), components.group(g), components.answer(j)
    if components.layout.group_names is None:
        return word
    return f"{shortened(group, max(12, 56 - len(answer) - 2))}: {answer}"


def _shown(group: str) -> str:
    return shortened(group, 60)


def _told(found: Components, rows: _Rows) -> list[str]:
    """Return the names of rows in full."""
    if not rows.borders:
        return rows.names
    return [_answer(found, j, int(found.layout.group_of_word[j])) for j in rows.words]


# ---- the figure ----


def _draw(found: Components, rows: _Rows, title: str, subtitle: str) -> Any:
    n_rows, n_components = rows.values.shape
    keys = [label(name, 28) for name in found.names]
    short = [label(name, 60) for name in rows.names]
    cell = int(min(72, max(18, 660 // n_components)))
    if (widest(keys, 12) + 8) * n_components <= 660:
        cell = max(cell, int(widest(keys, 12)) + 8)
    tall = 18 if n_rows <= 40 else 15
    size = 12 if tall == 18 else 11
    level = widest(keys, 12) < cell - 4
    above = TITLE_HEIGHT + (30 if level else 18 + int(widest(keys, 12)))
    left = 20 + int(widest(short, size))
    right = 40 + int(max(widest(rows.ends, 12), widest([rows.bar], 12)))
    described = [
        [
            f"{label(told)}<br>{label(component)}: {percent(value)}"
            f"<br>probability {found.loadings[k, j]:.3g} here, {found.overall[j]:.3g} in all"
            for k, (component, value) in enumerate(zip(found.names, row, strict=True))
        ]
        for j, told, row in zip(rows.words, _told(found, rows), rows.values, strict=True)
    ]
    layout: dict[str, Any] = {
        "width": left + cell * n_components + right,
        "height": above + max(tall * n_rows, 130) + 16,
        "margin": {"l": left, "r": right, "t": above, "b": 16},
        "xaxis": axis(
            range=[-0.5, n_components - 0.5], tickvals=np.arange(n_components), ticktext=keys,
            tickangle=0 if level else -90, side="top", anchor="y",
        ),
        "yaxis": axis(
            range=[max(n_rows, 130 / tall) - 0.5, -0.5], tickvals=np.arange(n_rows),
            ticktext=short, tickfont={"size": size}, anchor="x",
        ),
    }  # fmt: skip
    layout["shapes"] = [
        rule(y=row - 0.5, layer="above", dash="solid", width=0.8) for row in rows.borders
    ]
    trace = cells(rows.values, described, rows.bar, scale=rows.scale, ends=rows.ends)
    return figure(
        [trace], layout, title=title, subtitle=subtitle,
        description=f"Heat map of {n_rows} rows by {n_components} {found.nouns.components}. "
        f"{subtitle}.",
    )  # fmt: skip
