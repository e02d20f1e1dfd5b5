# SPDX-License-Identifier: BSD-3-Clause
"""Every public kernel has a twin of the same name in the module of the same name."""

from importlib import import_module
from pathlib import Path

import pytest

import discan.kernels
from discan.kernels.compile import Kernel, Part
from discan.kernels.twins.random import Stream

FOLDER = Path(discan.kernels.__file__).parent
IN_STREAM = ("draws", "random")  # their draws are methods of Stream
WITHOUT_TWIN = {
    "blocked.by_lists": "the compiled part of sweep_by_lists",
    "blocked.by_rows": "the compiled part of sweep_by_rows",
    "blocked.round_tables": "NumPy itself",
    "evidence.choose": "Stream.choose",
    "evidence.list_tokens": "a part of Document",
    "evidence.list_all_tokens": "a part of Document",
    "evidence.longest_document": "a size of buffers",
    "evidence.weigh": "Document.weights",
    "gibbs.sweep_or_split": "the compiled part of sweep and split",
    "new_documents.split_absent": "the compiled part of split_new",
    "new_documents.split_present": "the compiled part of split_new",
    "random.open_stream": "the constructor of Stream",
    "random.to_uniform": "a part of Stream.uniform",
    "simd.weighted_draws.count_at": "a part of sweep_by_rows",
    "simd.weighted_draws.high_start": "a part of sweep_by_rows",
    "tokens.rehash": "the same tokens in a larger table",
    "variational.expect_by_geometric_mean": "the compiled part of expect",
    "variational.expect_by_mean": "the compiled part of expect",
}


def modules(folder):
    paths = (path.relative_to(folder).with_suffix("") for path in folder.rglob("*.py"))
    return {".".join(path.parts) for path in paths if path.name != "__init__"}


TWINS = modules(FOLDER / "twins") - {"documents"}  # which all twins use
KERNELS = {name for name in modules(FOLDER) if not name.startswith("twins.")}
# compiling and buffers; the weighted sums are compared as a part of gibbs.sweep
NO_KERNELS = {
    "compile", "dispatchers", "remark", "simd.interpreted", "simd.llvm", "simd.memory",
    "simd.weighted_sums",
}  # fmt: skip


def test_twins_have_the_names_of_their_kernels():
    assert TWINS == KERNELS - NO_KERNELS - {"draws"}


@pytest.mark.parametrize("module", sorted(KERNELS - NO_KERNELS))
def test_every_public_kernel_has_a_twin(module):
    kernels = import_module(f"discan.kernels.{module}")
    twins = import_module(f"discan.kernels.twins.{'random' if module in IN_STREAM else module}")
    compiled = {
        name
        for name, value in vars(kernels).items()
        if isinstance(value, Kernel) and value.py_func.__module__ == kernels.__name__
        if not isinstance(value, Part) and not name.startswith("_")
    }
    for name in compiled | set(kernels.__all__):
        if name.isupper():
            assert getattr(twins, name) == getattr(kernels, name)
        elif f"{module}.{name}" not in WITHOUT_TWIN:
            assert hasattr(Stream if module in IN_STREAM else twins, name), name
