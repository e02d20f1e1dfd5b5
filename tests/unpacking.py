# SPDX-License-Identifier: BSD-3-Clause
"""Read the data of a page back, as its script does."""

import base64
import gzip
import json
import re
from types import SimpleNamespace

import numpy as np


def unpacked(page):
    """Return the header and the arrays of a page."""
    data = re.search(r'<script type="text/plain" id="data">([^<]*)</script>', page)[1]
    raw = gzip.decompress(base64.b64decode(data, validate=True))
    size = int.from_bytes(raw[:4], "little")
    header = json.loads(raw[4 : 4 + size])
    arrays = {}
    for name, (kind, at, n) in header["arrays"].items():
        place = 4 + size + at
        assert place % 8 == 0
        if kind == "text":
            arrays[name] = raw[place : place + n].decode("utf-8").split("\n")
        else:
            arrays[name] = np.frombuffer(raw, np.dtype(f"<{kind}"), n, place)
    return SimpleNamespace(header=header, **arrays)


def shares_of(found):
    """Return the shares of the documents that a page holds, (I, K)."""
    n, k = found.header["shown"], len(found.header["components"])
    result = np.zeros((n, k))
    top = found.top.reshape(n, -1).astype(int)
    codes = found.share.reshape(n, -1) / (2 ** found.header["bits"] - 1)
    np.put_along_axis(result, top, codes, axis=1)
    return result


def loadings_of(found):
    """Return the probabilities of the words in the components that a page holds, (J, K)."""
    n, k = len(found.words), len(found.header["components"])
    top = found.wordComponents.reshape(n, -1).astype(int)
    codes = found.wordChances.reshape(n, -1)
    chances = np.where(codes == 65535, 0.0, np.exp(codes / -2048))
    sizes = np.array([component["size"] for component in found.header["components"]])
    overall = overall_of(found)
    mass = overall - (sizes[top] * chances).sum(axis=1)
    left = 1 - sizes[top].sum(axis=1)
    rest = np.maximum(mass, 0) / np.maximum(left, 1e-9) * (top.shape[1] < k)
    result = np.repeat(rest[:, None], k, axis=1)
    np.put_along_axis(result, top, chances, axis=1)
    return result


def overall_of(found):
    return np.where(found.overall == 65535, 0.0, np.exp(found.overall / -2048))
