# SPDX-License-Identifier: BSD-3-Clause
"""Parts of kernels that are written in LLVM's instructions: SIMD lanes and prefetching."""
