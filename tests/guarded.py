# SPDX-License-Identifier: BSD-3-Clause
"""Put a page that nobody may touch behind every NumPy array, so that a read beyond it is fatal.

``install()`` gives NumPy an allocator of its own (``PyDataMem_SetHandler``): each array ends where
a page without access begins, up to seven bytes of alignment. It works on Linux and macOS. Leave the
process by ``os._exit``.
"""

import ctypes
import mmap

import numpy as np

__all__ = ["install"]

_SET_HANDLER = 304  # place in NumPy's table of functions, the same in all versions that have it
_PAGE = mmap.PAGESIZE
_SIZE = ctypes.c_size_t
_POINTER = ctypes.c_void_p
_NO_ACCESS, _READ_WRITE = 0, mmap.PROT_READ | mmap.PROT_WRITE
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS

_Malloc = ctypes.CFUNCTYPE(_POINTER, _POINTER, _SIZE)
_Calloc = ctypes.CFUNCTYPE(_POINTER, _POINTER, _SIZE, _SIZE)
_Realloc = ctypes.CFUNCTYPE(_POINTER, _POINTER, _POINTER, _SIZE)
_Free = ctypes.CFUNCTYPE(None, _POINTER, _POINTER, _SIZE)


class _Handler(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", _POINTER),
        ("malloc", _Malloc), ("calloc", _Calloc), ("realloc", _Realloc), ("free", _Free),
    )  # fmt: skip


_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = _POINTER
_libc.mmap.argtypes = [_POINTER, _SIZE, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.mprotect.argtypes = [_POINTER, _SIZE, ctypes.c_int]
_libc.munmap.argtypes = [_POINTER, _SIZE]
_taken: dict[int, tuple[int, int, int]] = {}  # address: start and size of the pages, bytes
n_arrays = 0


def _malloc(context, size):
    """Return memory that ends where the guard begins; it is zero."""
    global n_arrays
    used = max(8, -(-size // 8) * 8)
    pages = -(-used // _PAGE) * _PAGE
    start = _libc.mmap(None, pages + _PAGE, _READ_WRITE, _FLAGS, -1, 0)
    if start in (None, ctypes.c_void_p(-1).value):
        return None
    if _libc.mprotect(start + pages, _PAGE, _NO_ACCESS):
        return None
    n_arrays += 1
    address = start + pages - used
    _taken[address] = (start, pages + _PAGE, size)
    return address


def _free(context, address, size):
    if address:
        start, pages, _ = _taken.pop(address)
        _libc.munmap(start, pages)


def _realloc(context, address, size):
    new = _malloc(context, size)
    if address and new:
        ctypes.memmove(new, address, min(size, _taken[address][2]))
        _free(context, address, 0)
    return new


_HANDLER = _Handler(
    b"guarded", 1, None, _Malloc(_malloc), _Calloc(lambda c, n, size: _malloc(c, n * size)),
    _Realloc(_realloc), _Free(_free),
)  # fmt: skip


def install():
    """Guard all arrays that are made from now on."""
    python = ctypes.pythonapi
    python.PyCapsule_GetPointer.restype = _POINTER
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    python.PyCapsule_New.restype = ctypes.py_object
    python.PyCapsule_New.argtypes = [_POINTER, ctypes.c_char_p, _POINTER]
    core = getattr(np, "_core", None) or np.core
    table = python.PyCapsule_GetPointer(core._multiarray_umath._ARRAY_API, None)
    address = ctypes.cast(table, ctypes.POINTER(_POINTER))[_SET_HANDLER]
    setter = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(address)
    setter(python.PyCapsule_New(ctypes.addressof(_HANDLER), b"mem_handler", None))
