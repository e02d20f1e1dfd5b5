# SPDX-License-Identifier: BSD-3-Clause
"""Judge fits: match components, measure their quality, compare fits, diagnose chains."""
