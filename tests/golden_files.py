# SPDX-License-Identifier: BSD-3-Clause
"""Golden files, as ``scripts/make_golden.py`` writes them, give what was noted beside them."""

import contextlib
import json
import shutil

import numpy as np

import discan
from discan.data.folders.corpus import open_corpus
from discan.data.store import load_corpus


def check_model(place):
    """A model file, named without its ending, gives the answers and components of its release."""
    loaded = discan.load(f"{place}.discan")
    expected = json.loads(place.with_name(f"{place.name}.json").read_text())
    X = np.array(expected.pop("X"))
    if "components" in expected:
        np.testing.assert_allclose(loaded.components_, expected.pop("components"), rtol=1e-12)
    ((method, answer),) = expected.items()
    found = getattr(loaded, method)(X)
    found = found.toarray() if hasattr(found, "toarray") else found
    np.testing.assert_allclose(found, answer, rtol=1e-12, atol=1e-14)


def check_run(place, copy):
    """A run folder, stopped half way, ends as the whole run did; it is copied before."""
    shutil.copytree(place, copy)
    with contextlib.chdir(copy):  # documents in a folder are in ``data``
        resumed = discan.resume(copy, progress=False)
        found = resumed.components_, resumed.scores_, resumed.component_counts_, resumed.alpha_
    expected = np.load(copy / "expected.npz")
    assert resumed.n_iter_ == len(expected["objective"])
    # the first releases kept the order of the start; now the largest component is the first
    order = np.argsort(-expected["counts"].sum(axis=0), kind="stable")
    for mine, theirs in zip(
        (*found, resumed.trace_["objective"]),
        (
            expected["components"][order],
            expected["scores"][:, order],
            expected["counts"][:, order],
            expected["alpha"][..., order],
            expected["objective"],
        ),
        strict=True,
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)


def check_corpus(place):
    """The file and the folder of a corpus hold the counts and the digest that were noted."""
    expected = json.loads(place.with_name(f"{place.name}.json").read_text())
    for corpus in (load_corpus(f"{place}.discan"), open_corpus(place).loaded()):
        assert corpus.digest == expected["digest"]
        np.testing.assert_array_equal(corpus.to_csr().toarray(), expected["X"])
