# SPDX-License-Identifier: BSD-3-Clause
"""Type aliases."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

__all__ = ["Array"]

Array = NDArray[Any]
