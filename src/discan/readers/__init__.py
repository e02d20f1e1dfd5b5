# SPDX-License-Identifier: BSD-3-Clause
"""Read files into a Corpus: one registered function per format, one file per family of formats."""

# They register on import. Guessing asks them in this order.
# isort: off
from discan.readers import matrices, pairs, arrays, votes, genalex, structure, hapmap, dosages  # noqa: F401
from discan.readers import long_wide, categorical  # noqa: F401
from discan.readers import genetics, cells, mail, reuters, folders, text_lines, text_tables  # noqa: F401

# isort: on
from discan.readers.convert import convert
from discan.readers.guess import READERS, Reader, guess, read
from discan.readers.options import Option
from discan.readers.source import MAX_UNPACKED, Source
from discan.registry import import_all

import_all(__name__, __path__)  # a new file registers itself

__all__ = ["MAX_UNPACKED", "READERS", "Option", "Reader", "Source", "convert", "guess", "read"]
