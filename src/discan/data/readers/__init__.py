# SPDX-License-Identifier: BSD-3-Clause
"""Read files into a Corpus: one registered function a format, a file a family of formats."""

# They register on import. Guessing asks them in this order, so text, the most lenient, is last.
# isort: off
from discan.data.readers import matrices, arrays, tables, votes, genetics, cells, stored  # noqa: F401
from discan.data.readers import reuters, text  # noqa: F401

# isort: on
from discan.data.readers.base import READERS, Reader, read
from discan.registry import import_all

import_all(__name__, __path__)  # a new file registers itself, and is asked last

__all__ = ["READERS", "Reader", "read"]
