# SPDX-License-Identifier: BSD-3-Clause
"""Read files into a Corpus: one registered function a format, a file a family of formats."""

from discan.data.readers import matrices, tables, text, votes  # noqa: F401  (they register)
from discan.data.readers.base import READERS, Reader, read

__all__ = ["READERS", "Reader", "read"]
