# SPDX-License-Identifier: BSD-3-Clause
"""What estimators that fit a DCA inside have in common: its parameters, and its door."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

from discan.data.corpus import Corpus
from discan.estimators import DCA

__all__ = ["Wrapped", "with_parameters_of_dca"]

# A run that could be taken up again is one of the DCA, without what is around it.
_LEFT_OUT = ("warm_start", "checkpoint", "checkpoint_every")


class Wrapped(BaseEstimator):
    """An estimator with the parameters of DCA and some of its own; see the decorator below."""

    groups: Any

    def _corpus(self, X: Any, reset: bool) -> Corpus:
        """Make a checked corpus of X, as DCA does."""
        return DCA._corpus(self, X, reset)

    def _dca(self, **changes: Any) -> DCA:
        """Make the DCA inside."""
        known = inspect.signature(DCA.__init__).parameters
        params = {k: v for k, v in self.get_params(deep=False).items() if k in known}
        return DCA(**{**params, **changes})

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
