# SPDX-License-Identifier: BSD-3-Clause
"""The compiled loops: arrays in, arrays out, no knowledge of models, corpora or threads.

Arguments come in one order: block, table, loadings, state, outputs, options, random key. A kernel
writes only to its state and to arguments named ``out_*``. ``twins`` holds the NumPy twin of
each.
"""
