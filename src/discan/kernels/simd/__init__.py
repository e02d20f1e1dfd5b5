# SPDX-License-Identifier: BSD-3-Clause
"""Parts of kernels in LLVM's instructions: SIMD and prefetching; a lane is a vector element."""
