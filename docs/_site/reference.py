# SPDX-License-Identifier: BSD-3-Clause
"""Write the pages of the Python reference: which names are where; docstrings say the rest."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Iterable
from typing import Any

__all__ = ["reference_pages"]

# Home of a public name, by its longest beginning, and the page that it is on.
_PAGES = {
    "discan.estimators": ("estimators", "Estimators"),
    "discan.estimators.importing": ("importing", "Fits of other programs"),
    "discan.algorithms": ("algorithms", "Algorithms"),
    "discan.models": ("models", "Models and priors"),
    "discan.data": ("data", "Data"),
    "discan.readers": ("data", "Data"),
    "discan.evaluation": ("judging", "Judging and choosing"),
    "discan.selection": ("judging", "Judging and choosing"),
    "discan.explorer": ("pages", "Pages about a fit"),
    "discan.reporting": ("pages", "Pages about a fit"),
    "discan.errors": ("errors", "Errors"),
}
# Modules that are public as a whole, and their page.
_MODULES = {
    "discan.plot": ("plot", "Figures"),
    "discan.search": ("search", "Search"),
    "discan.readers.datasets": ("datasets", "Data sets"),
}
_INTRODUCTIONS = {
    "estimators": "`DCA` has all methods. The others are `DCA` with the model fixed, except "
    "`DCAClassifier` and `DCAFeatures`, which hold one.",
    "plot": "Each function takes a fit, a fitted estimator or plain arrays, and returns a Plotly "
    "figure. The [gallery](../gallery.md) shows them all.",
    "importing": "[In and out](../exchange.md) is the guide.",
    "judging": "Guides: [How many components](../selection.md), [How good, how sure]"
    "(../trust.md), [Likelihoods, evidence, anomalies](../evidence.md).",
    "search": "[Search](../search.md) is the guide.",
    "pages": "[Explore](../explore.md) is the guide.",
    "models": "[Theory 2](../theory.md#2-models) defines the models.",
    "algorithms": "[Theory 4](../theory.md#4-algorithms) defines the algorithms. Give an object "
    "to set options: `discan.LDA(5, algorithm=discan.Collapsed(burn_in=500))`.",
}
_INSIDE = {"Fit": "discan.fitting.result.Fit", "Effects": "discan.evaluation.effects.Effects"}


@functools.cache
def reference_pages() -> dict[str, tuple[str, str]]:
    """Return the pages: name of the page -> (title, Markdown)."""
    import discan

    listed: dict[str, list[tuple[str, str]]] = {}
    titles = {}
    for name in discan.__all__:
        value = getattr(discan, name)
        home = f"{value.__module__}.{name}"
        page, titles[page] = _page_of(_home_of(discan, name))
        listed.setdefault(page, []).append((name, home))
    for module, (page, title) in _MODULES.items():
        loaded = importlib.import_module(module)
        titles[page] = title
        listed[page] = [
            (name, f"{getattr(loaded, name).__module__}.{name}")
            for name in loaded.__all__
            if inspect.isroutine(getattr(loaded, name)) or inspect.isclass(getattr(loaded, name))
        ]
    titles["fit"], listed["fit"] = "Fit", [("Fit", _INSIDE["Fit"])]
    ordered = dict.fromkeys([*(page for page, _ in _PAGES.values()), "fit", *listed])
    return {
        page: (titles[page], _written(page, titles[page], listed[page]))
        for page in ordered
        if page in listed
    }


def _home_of(package: Any, name: str) -> str:
    """Return the module that the package takes a public name from."""
    return str(package._HOME_OF[name])


def _page_of(home: str) -> tuple[str, str]:
    """Return the page and its title; a part that is new gets a page of its own."""
    for beginning in sorted(_PAGES, key=len, reverse=True):
        if home == beginning or home.startswith(beginning + "."):
            return _PAGES[beginning]
    part = home.split(".")[1]
    return part, part.capitalize()


def _written(page: str, title: str, names: Iterable[tuple[str, str]]) -> str:
    names = sorted(names, key=lambda pair: (pair[0] != "DCA", pair[0]))
    parts = [f"# {title}", _INTRODUCTIONS.get(page, "")]
    parts += [_entry(name, home) for name, home in names]
    return "\n\n".join(filter(None, parts)) + "\n"


def _entry(name: str, home: str) -> str:
    """Return what tells mkdocstrings to write a name and, of a class, its own methods."""
    module, _, last = home.rpartition(".")
    value = getattr(importlib.import_module(module), last)
    lines = [f"::: {home}", "    options:", "      heading_level: 2"]
    members = _methods(value, name) if inspect.isclass(value) else []
    if members:
        lines += ["      inherited_members: true", f"      members: [{', '.join(members)}]"]
    else:
        lines += ["      members: false"]
    return "\n".join(lines)


def _methods(value: type, name: str) -> list[str]:
    """Return the public methods that discan itself defines, with a docstring.

    Presets have those of DCA, which are written once.
    """
    from discan.estimators import DCA

    if value is not DCA and issubclass(value, DCA):
        return []
    found = []
    for member, inner in inspect.getmembers(value):
        function = getattr(inner, "__func__", inner)
        function = getattr(function, "fget", function)
        module = getattr(function, "__module__", "") or ""
        told = getattr(inner, "__doc__", None)
        if not member.startswith("_") and callable(function) and told and "discan" in module:
            found.append(member)
    return found
