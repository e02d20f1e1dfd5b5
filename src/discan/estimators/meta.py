# SPDX-License-Identifier: BSD-3-Clause
"""What estimators that fit a DCA inside have in common: its parameters, and its door."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from discan.data.corpus import Corpus, Layout
from discan.estimators.dca import DCA
from discan.fitting.modelfile import save

__all__ = ["Wrapped", "with_parameters_of_dca"]

# A run that could be taken up again is one of the DCA, without what is around it.
_LEFT_OUT = ("warm_start", "checkpoint", "checkpoint_every")


class Wrapped(BaseEstimator):
    """An estimator with the parameters of DCA and some of its own; see the decorator below."""

    groups: Any
    dca_: DCA

    def _corpus(self, X: Any, reset: bool) -> Corpus:
        """Make a checked corpus of X, as DCA does."""
        return DCA._corpus(self, X, reset)

    def _dca(self, **changes: Any) -> DCA:
        """Make the DCA inside."""
        known = inspect.signature(DCA.__init__).parameters
        params = {k: v for k, v in self.get_params(deep=False).items() if k in known}
        return DCA(**{**params, **changes})

    def save(self, path: Any) -> None:
        """Write the fitted estimator to a file, all or nothing; ``discan.load`` reads it."""
        check_is_fitted(self, "dca_")
        save(self.dca_, path, outer=self)

    def _facts(self) -> dict[str, Any]:
        """What to save besides the parameters and the DCA."""
        names = getattr(self, "feature_names_in_", None)
        return {"feature_names": None if names is None else [str(name) for name in names]}

    def _restore(self, facts: dict[str, Any]) -> None:
        """Take up what was saved; the DCA and the parameters are there already."""
        self.n_iter_ = self.dca_.n_iter_
        self._layout = self._layout_of_words()
        self.n_features_in_ = self._layout.n_words
        if facts["feature_names"] is not None:
            self.feature_names_in_ = np.array(facts["feature_names"], dtype=object)

    def _layout_of_words(self) -> Layout:
        """The columns of X in those of the DCA."""
        return self.dca_._layout

    def __sklearn_tags__(self) -> Any:
        """Counts, sparse or dense, never negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def with_parameters_of_dca(**own: Any) -> Callable[[type], type]:
    """Give a class an ``__init__`` that stores DCA's parameters, and its ``own`` with defaults."""

    def decorate(cls: type) -> type:
        inherited = inspect.signature(DCA.__init__).parameters.values()
        first, second, *others = (p for p in inherited if p.name not in _LEFT_OUT)
        keyword = inspect.Parameter.KEYWORD_ONLY
        added = [inspect.Parameter(name, keyword, default=value) for name, value in own.items()]
        signature = inspect.Signature([first, second, *added, *others])

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            bound = signature.bind(self, *args, **kwargs)
            bound.apply_defaults()
            for name, value in list(bound.arguments.items())[1:]:
                setattr(self, name, value)

        __init__.__signature__ = signature  # type: ignore[attr-defined]
        __init__.__doc__ = "Store the parameters."
        cls.__init__ = __init__  # type: ignore[misc]
        return cls

    return decorate
