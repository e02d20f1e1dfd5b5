# SPDX-License-Identifier: BSD-3-Clause
"""Heat map: probabilities of answers, or shares of words, by component."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import xlogy

from discan.errors import InputError
from discan.plot.inputs import Components, components_of
from discan.plot.theme import TITLE_HEIGHT, axis, cells, figure, label, shortened, text_width
from discan.typing import Array
from discan.validation import whole

__all__ = ["distinctive_groups", "heatmap"]


def heatmap(
    source: Any,
    group: Any = None,
    *,
    n_groups: int = 25,
    n_words: int = 5,
    words: Any = None,
    groups: Any = None,
    sizes: Any = None,
    components: Any = None,
    title: str | None = None,
    subtitle: str | None = None,
) -> Any:
    """Draw one row per word or answer and one column per component.

    With groups (votes, answers, loci) a cell is the probability of the answer in the component,
    within its group. If a group has two answers, only the first is shown: the two sum to 1.
    Without groups (text) the rows are the likeliest words of each component, and a cell is the
    part of the word's tokens that belongs to the component.

    Parameters
    ----------
    source : fit, fitted estimator or (K, J) array
    group : name or number of a group, or a list of them, optional
        Groups to show; by default the ``n_groups`` in which components differ most.
    n_groups, n_words : int
        Largest number of groups; largest number of words per group, or per component if there are
        no groups.
    words, groups, components, sizes : optional
        For arrays: (J,) names of the words, (J,) group of each word, (K,) names of the components,
        (K,) share of all tokens of each component.
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
    n_groups, n_words = whole("n_groups", n_groups, 1), whole("n_words", n_words, 1)
    found = components_of(source, components, sizes, words, groups)
    if found.layout.n_groups > 1 or groups is not None:
        chosen = _chosen(found, group, n_groups)
        rows, names = _answers(found, chosen, n_words)
        values = found.loadings[:, rows].T
        n_all = found.layout.n_groups
        title = title or "What each component answers"
        which = f"{len(chosen)} of {n_all:,} groups" + (
            ", those in which components differ most" if group is None and len(chosen) < n_all
            else ""
        )  # fmt: skip
        told = f"A cell is the probability of the answer in the component; {which}"
        bar = "probability"
    else:
        if group is not None:
            raise InputError("{}, but the words are not in groups", argument="group", value=group)
        rows = _first_words(found, n_words)
        names = [found.word(j) for j in rows]
        joint = found.loadings[:, rows] * found.sizes[:, None]
        values = (joint / joint.sum(axis=0)).T
        title = title or "Where the first words of each component are found"
        told = (
            f"Rows are the {n_words} likeliest words of each component; a cell is the part of the "
            "word's tokens in the component"
        )
        bar = "part"
    return _draw(found, values, rows, names, title, subtitle or told, bar)


def distinctive_groups(components: Components) -> Array:
    """Sort groups by the divergence of components within them, the largest first, (G,).

    The measure is the Jensen-Shannon divergence weighted by size: the information, in nats, that
    an answer gives about its component.
    """
    loadings, sizes = components.loadings, components.sizes
    overall = components.overall
    information = sizes @ xlogy(loadings, loadings) - xlogy(overall, overall)
    by_group = np.bincount(
        components.layout.group_of_word, weights=information, minlength=components.layout.n_groups
    )
    return np.argsort(-by_group, kind="stable")


def _chosen(components: Components, group: Any, most: int) -> list[int]:
    """Return the numbers of the requested groups; by default those in which components differ."""
    if group is None:
        return [int(g) for g in distinctive_groups(components)[:most]]
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


def _answers(
    components: Components, chosen: Sequence[int], n_words: int
) -> tuple[list[int], list[str]]:
    """Return the words to show and their labels, group by group."""
    rows: list[int] = []
    names: list[str] = []
    for g in chosen:
        inside = np.flatnonzero(components.layout.group_of_word == g)
        if len(inside) == 2:
            inside = inside[:1]
        largest = np.argsort(-components.overall[inside], kind="stable")[:n_words]
        shown = [int(j) for j in inside[np.sort(largest)]]
        rows += shown
        names += [_answer(components, j, g) for j in shown]
    return rows, names


def _answer(components: Components, j: int, g: int) -> str:
    """Return "question: answer", whether or not the word's name begins with the question."""
    word, group = components.word(j), components.group(g)
    for mark in (": ", "=", ":"):
        title, found, answer = word.rpartition(mark)
        if found and (title == group or group.startswith(f"{title} ")):
            return _joined(group, answer)
    return word if components.layout.group_names is None else _joined(group, word)


def _joined(group: str, answer: str, longest: int = 56) -> str:
    return f"{shortened(group, max(12, longest - len(answer) - 2))}: {answer}"


def _first_words(components: Components, n_words: int) -> list[int]:
    """Return the likeliest words of each component, each once, sorted by their main component."""
    joint = components.loadings * components.sizes[:, None]
    first = {
        int(j)
        for row in components.loadings
        for j in np.argsort(-row, kind="stable")[:n_words]
        if row[j] > 0
    }
    home = {j: int(joint[:, j].argmax()) for j in first}
    return sorted(first, key=lambda j: (home[j], -components.loadings[home[j], j], j))


def _draw(
    components: Components, values: Array, rows: list[int], names: list[str], title: str,
    subtitle: str, bar: str,
) -> Any:  # fmt: skip
    n_rows, n_components = values.shape
    keys = [label(name, 24) for name in components.names]
    short = [label(name, 60) for name in names]
    cell, tall = int(min(64, max(16, 640 // n_components))), 18
    level = all(text_width(key, 12) < cell - 4 for key in keys)
    above = TITLE_HEIGHT + (34 if level else 20 + int(max(text_width(key, 12) for key in keys)))
    left = 20 + int(max(text_width(name, 12) for name in short))
    right = max(112, int(text_width(subtitle, 13)) + 24 - left - cell * n_components)
    described = [
        [
            f"{label(name)}<br>{key}: {value:.1%}"
            f"<br>{components.loadings[k, j]:.3g} here, {components.overall[j]:.3g} in all"
            for k, (key, value) in enumerate(zip(keys, row, strict=True))
        ]
        for j, name, row in zip(rows, names, values, strict=True)
    ]
    layout = {
        "width": left + cell * n_components + right,
        "height": above + max(tall * n_rows, 150) + 16,
        "margin": {"l": left, "r": right, "t": above, "b": 16},
        "xaxis": axis(
            range=[-0.5, n_components - 0.5], tickvals=np.arange(n_components), ticktext=keys,
            tickangle=0 if level else -90, side="top", anchor="y",
        ),
        "yaxis": axis(
            range=[n_rows - 0.5, -0.5], tickvals=np.arange(n_rows), ticktext=short, anchor="x"
        ),
    }  # fmt: skip
    return figure(
        [cells(values, described, bar)], layout, title=title, subtitle=subtitle,
        description=f"Heat map of {n_rows} rows by {n_components} components. {subtitle}.",
    )  # fmt: skip
