# SPDX-License-Identifier: BSD-3-Clause
"""Read files into a Corpus: one registered function a format, a file a family of formats."""

# They register on import. Guessing asks them in this order, so text, the most lenient, is last.
# isort: off
from discan.readers import matrices, arrays, csv_rows, votes, genetics, cells, stored  # noqa: F401
from discan.readers import reuters, folders  # noqa: F401

# isort: on
from discan.readers.source import READERS, Reader, read
from discan.registry import import_all

import_all(__name__, __path__)  # a new file registers itself, and is asked last

__all__ = ["READERS", "Reader", "read"]
