# SPDX-License-Identifier: BSD-3-Clause
"""Show results: in a terminal, and as pages that need neither network nor script."""
