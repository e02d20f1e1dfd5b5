# SPDX-License-Identifier: BSD-3-Clause
"""Give a class an ``__init__`` whose signature is made from that of another class."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["set_init"]


def set_init(
    cls: Any, signature: inspect.Signature, store: Callable[[Any, dict[str, Any]], None]
) -> None:
    """Set the ``__init__`` of a class; ``store(self, arguments)`` keeps the arguments, by name."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}() {error}") from None
        bound.apply_defaults()
        store(self, dict(list(bound.arguments.items())[1:]))

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__doc__ = "Store the parameters; see the class."
    cls.__init__ = __init__
