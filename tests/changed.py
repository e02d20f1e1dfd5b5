# SPDX-License-Identifier: BSD-3-Clause
"""Change files at random and sign them again; see resigned.py."""

from __future__ import annotations

import copy
import warnings

import numpy as np

from discan.data.storage import read_file, write_file
from discan.errors import DiscanError

J, K = 12, 3
"""Words and components of the files."""

NUMBERS = [
    np.nan, np.inf, -np.inf, -1, -0.0, 0, 1, 2, K, K - 1, J, 0.5, 1e-320, 1e-30, 1e30, 1e300,
    -1e300, 127, 128, 255, 2**15, 2**16, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**63 - 1,
    -(2**63),
]  # fmt: skip
TYPES = ["f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
VALUES = [
    None, True, False, 0, -1, 1, 2, K, 2**31, 2**63, 2**64, 10**30, 0.5, -0.5, 1e300, 1e-300, "",
    "x", "auto", "map", "gp", "\x1b[31m", "a\nb", "x" * 10_000, "../x", [], {}, [1], ["a"],
    ["a"] * J, [None] * J, [["a"]], {"array": "gamma"}, {"array": "nothing"}, {"list": ["a"]},
    {"list": 3}, {"object": "collapsed", "fields": {}}, {"object": "nothing", "fields": {}},
    {"object": "collapsed", "fields": {"n_draws": 10**30}}, {"names": "names.0"}, [[[[[[]]]]]],
    {"object": "gamma-poisson", "fields": {"alpha": -1.0}},
    {"object": "Hyperprior", "fields": {"alpha": {"array": "gamma"}}},
]  # fmt: skip
SETTINGS = ["checkpoint", "callback", "warm_start", "progress", "n_jobs", "groups", "x", "__init__"]


def mutated_array(rng, value):
    """Change an array in one of many ways."""
    value = np.array(value)
    flat = value.reshape(-1)
    way = rng.integers(14)
    if way <= 4 and flat.size:  # some elements
        n = int(rng.choice([1, 1, 2, flat.size]))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            new = np.array([NUMBERS[rng.integers(len(NUMBERS))]]).astype(value.dtype)
        flat[rng.integers(flat.size, size=n)] = new
        return value
    if way == 5:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return value.astype(rng.choice(TYPES))
    if way == 6 and value.ndim:
        return value[tuple(slice(0, max(0, n - 1)) for n in value.shape)].copy()
    if way == 7 and value.ndim:  # one row, or none
        return value[: int(rng.integers(2))].copy()
    if way == 8:
        return np.concatenate([value, value]) if value.ndim else np.repeat(value, 2)
    if way == 9:
        return value.T.copy() if value.ndim > 1 else value[None].copy()
    if way == 10:
        return flat.copy()
    if way == 11 and value.ndim > 1:  # one column
        return value[:, :1].copy()
    if way == 12 and value.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return value * rng.choice([-1.0, 0.0, 2.0, 1e-10, 1e10, 1e300])
    if way == 13 and flat.size > 1:
        return rng.permutation(flat).reshape(value.shape)
    return np.zeros_like(value)


def mutated_arrays(rng, arrays):
    """Change, remove, add or exchange arrays."""
    names = sorted(arrays)
    if not names:
        return
    name = str(rng.choice(names))
    way = rng.integers(12)
    if way == 0:
        del arrays[name]
    elif way == 1:
        other = str(rng.choice(names))
        arrays[name], arrays[other] = arrays[other], arrays[name]
    elif way == 2:
        arrays[f"{name}x"] = arrays[name]
    else:
        arrays[name] = mutated_array(rng, arrays[name])


def places(value, path=()):
    """Iterate over the paths of all values inside JSON."""
    if path:
        yield path
    if isinstance(value, dict):
        items = list(value.items())
    else:
        items = list(enumerate(value[:8])) if isinstance(value, list) else []
    for key, item in items:
        yield from places(item, (*path, key))


def mutated_header(rng, header):
    """Change, remove, add or exchange values of the header."""
    paths = [path for path in places(header) if path[0] not in ("format", "kind", "library")]
    if not paths:
        return
    path = paths[rng.integers(len(paths))]
    owner = header
    for key in path[:-1]:
        owner = owner[key]
    way = rng.integers(10)
    value = copy.deepcopy(VALUES[rng.integers(len(VALUES))])
    if way == 0:
        del owner[path[-1]]
    elif way == 1 and isinstance(owner, dict):
        owner[str(rng.choice(SETTINGS))] = value
    elif way == 2 and isinstance(owner, list):
        owner.append(value)
    elif way == 3:
        other = paths[rng.integers(len(paths))]
        found = header
        for key in other:
            found = found[key] if isinstance(found, (dict, list)) else None
        owner[path[-1]] = copy.deepcopy(found)
    else:
        owner[path[-1]] = value


def resigned(rng, source, target, kind):
    """Write a changed copy of a file, with right checksums; False if it cannot be written."""
    header, arrays = read_file(source, kind)
    for name in ("kind", "library", "format"):
        header.pop(name)
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        if rng.random() < 0.6:
            mutated_arrays(rng, arrays)
        else:
            mutated_header(rng, header)
    try:
        write_file(target, kind, header, arrays)
    except (DiscanError, ValueError, TypeError):  # not finite, or of a type that no file has
        return False
    return True
