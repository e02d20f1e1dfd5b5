# SPDX-License-Identifier: BSD-3-Clause
"""A corpus in a folder: its format, a writer in pieces, and a reader of any documents."""
