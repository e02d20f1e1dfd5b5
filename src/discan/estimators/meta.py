# SPDX-License-Identifier: BSD-3-Clause
"""Base of the estimators that fit a DCA inside: its parameters, its input, its files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from discan.data.corpus import Corpus
from discan.data.layout import Layout
from discan.data.rules import checked_names
from discan.estimators.dca import DCA
from discan.estimators.docstrings import joined, parameters, sections
from discan.estimators.input import check_layout, read_corpus
from discan.estimators.saving import file_header
from discan.estimators.signatures import set_init
from discan.fitting.encoding import encode, encode_settings
from discan.fitting.modelfile import write_fit

__all__ = ["MetaEstimator", "restore", "with_parameters_of_dca"]

# A run that could be continued is one of the DCA, without the estimator around it.
_LEFT_OUT = ("warm_start", "checkpoint", "checkpoint_every", "engine")


class MetaEstimator(BaseEstimator):
    """An estimator with the parameters of DCA and some of its own; see the decorator below."""

    groups: Any
    dca_: DCA
    layout_: Layout

    def _read(self, X: Any, reset: bool) -> Corpus:
        """Make a checked corpus of X, as DCA does."""
        fit = None if reset else replace(self.dca_.fit_, layout=self.layout_)
        corpus = read_corpus(self, X, self.groups, reset, fit)
        if not reset:
            return check_layout(self, corpus, self.layout_)
        self.layout_ = corpus.layout
        return corpus

    def _make_dca(self, **changes: Any) -> DCA:
        """Make the DCA inside."""
        known = inspect.signature(DCA.__init__).parameters
        params = {k: v for k, v in self.get_params(deep=False).items() if k in known}
        return DCA(**{**params, **changes})

    def save(self, path: Any) -> None:
        """Write the fitted estimator to a file, all or nothing; ``discan.load`` reads it.

        Parameters
        ----------
        path : path
            File to write. A name that ends in a slash is a folder: the file is ``model.discan``.
        """
        check_is_fitted(self, "dca_")
        header, arrays = file_header(self.dca_)
        settings = {**self.get_params(deep=False), "random_state": self.dca_.settings_["seed"]}
        facts = {name: encode(f"outer.{name}", v, arrays) for name, v in self._facts().items()}
        outer = {
            "class": type(self).__name__,
            "settings": encode_settings("outer", settings, arrays),
            "facts": facts,
        }
        write_fit(path, self.dca_.fit_, {**header, "outer": outer}, arrays)

    def _facts(self) -> dict[str, Any]:
        """Return what a file keeps besides the parameters and the DCA."""
        names = getattr(self, "feature_names_in_", None)
        return {"feature_names": None if names is None else [str(name) for name in names]}

    def _restore(self, dca: DCA, facts: dict[str, Any]) -> None:
        """Become the estimator that was saved; the parameters are set already."""
        self.dca_ = dca
        self.n_iter_ = dca.n_iter_
        self.layout_ = self._layout_of_words()
        self.n_features_in_ = self.layout_.n_words
        names = facts["feature_names"]
        if names is not None:
            checked_names("feature_names", list(names), self.n_features_in_)
            self.feature_names_in_ = np.array(names, dtype=object)

    def _layout_of_words(self) -> Layout:
        """Return the columns of X among those of the DCA."""
        return self.dca_.fit_.layout

    def __sklearn_tags__(self) -> Any:
        """Counts, sparse or dense, never negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def restore(estimator: MetaEstimator, dca: DCA, facts: dict[str, Any]) -> None:
    """Make an estimator the one that was saved, given its DCA; its parameters are set already."""
    estimator._restore(dca, facts)


def with_parameters_of_dca(**own: Any) -> Callable[[type], type]:
    """Give a class an ``__init__`` that stores DCA's parameters, and its ``own`` with defaults.

    A parameter of DCA among ``own`` gets another default.
    """

    def decorate(cls: type) -> type:
        inherited = inspect.signature(DCA.__init__).parameters.values()
        first, second, *others = (
            p.replace(default=own.get(p.name, p.default))
            for p in inherited
            if p.name not in _LEFT_OUT
        )
        keyword = inspect.Parameter.KEYWORD_ONLY
        known = {p.name for p in others}
        added = [
            inspect.Parameter(name, keyword, default=value)
            for name, value in own.items()
            if name not in known
        ]
        set_init(cls, inspect.Signature([first, second, *added, *others]), _store)
        cls.__doc__ = _docstring(cls)
        return cls

    return decorate


def _store(estimator: MetaEstimator, arguments: dict[str, Any]) -> None:
    for name, value in arguments.items():
        setattr(estimator, name, value)


def _docstring(cls: type) -> str | None:
    """Return the docstring of a class, in which "As for ``DCA``" is written out."""
    if not DCA.__doc__:  # python -OO leaves docstrings out
        return None
    parts: dict[str, Any] = dict(sections(cls.__doc__))
    shared = parameters(sections(DCA.__doc__)["Parameters"])
    own = parameters(parts["Parameters"])
    told = {*_LEFT_OUT} | {
        name for names, entry in own.items() if "As for ``DCA``" not in entry for name in names
    }
    entries: list[str] = []
    for entry in own.values():
        if "As for ``DCA``" not in entry:
            entries.append(entry)
            continue
        entries += [text for names, text in shared.items() if told.isdisjoint(names)]
        note = entry.partition("As for ``DCA``")[2].strip("; .\n")
        if note:
            note = f"{note[:1].upper()}{inspect.cleandoc(note[1:])}."
            parts["Notes"] = "\n\n".join(filter(None, (note, parts.get("Notes"))))
    return joined({**parts, "Parameters": entries})
