# SPDX-License-Identifier: BSD-3-Clause
"""Offsets beyond 2^31: entries of a corpus, and elements of its tables, in files full of holes.

The files claim 8 GiB or more each, but only the pages that are written take space.
"""

from dataclasses import replace

import numpy as np
import pytest
from conftest import make_run

from discan import Collapsed, CollapsedVariational, Gibbs, MaximumLikelihood, Variational
from discan.algorithms import MAP
from discan.data.corpus import Corpus
from discan.kernels.new_documents import split_new
from discan.kernels.variational import expect
from discan.models import DirichletMultinomial, LoadingsPrior

BEYOND = 2**31 + 12_345
TABLE = Corpus(np.random.default_rng(2).poisson(0.8, (12, 10)))
CHAIN = {"burn_in": 1, "n_draws": 2}
ALGORITHMS = [
    MaximumLikelihood(), MAP(), CollapsedVariational(), Variational(), Gibbs(**CHAIN),
    Collapsed(**CHAIN, schedule="exact"), Collapsed(**CHAIN, schedule="blocked"),
    Collapsed(**CHAIN, fold_in="gibbs"),
]  # fmt: skip


def holes(path, shape, dtype):
    """Return an array in a file that is nothing but a hole."""
    try:
        return np.memmap(path, dtype=dtype, mode="w+", shape=shape)
    except OSError as error:
        pytest.skip(f"no files with holes here: {error}")


@pytest.fixture(scope="module")
def shifted(tmp_path_factory):
    """A function that moves the entries of a block of the table beyond 2^31."""
    folder, n = tmp_path_factory.mktemp("holes"), TABLE.n_entries
    moved = {}
    for name in ("words", "counts"):
        array = getattr(TABLE, name)
        moved[name] = holes(folder / name, (BEYOND + n,), array.dtype)
        moved[name][BEYOND:] = array
    yield lambda block: replace(block, indptr=block.indptr + BEYOND, **moved)
    for name in moved:
        (folder / name).unlink()


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_entries_beyond_32_bits(algorithm, shifted):
    """A fit and an answer are the same, bit for bit, wherever the entries are."""
    model = DirichletMultinomial().prepare(3, TABLE)
    found = []
    for move in (lambda block: block, shifted):
        run = make_run(TABLE, model, algorithm, LoadingsPrior.of(0.5, TABLE.layout), seed=1)
        rounds = [[move(block) for block in blocks] for blocks in run.schedule.rounds]
        run.schedule = replace(run.schedule, rounds=rounds)
        assert (run.schedule.blocks[0].indptr[0] >= BEYOND) == bool(found)
        for _ in range(3):
            run.advance_one()
        params, block = run.params, move(TABLE.blocks[0])
        loadings = np.ascontiguousarray(run.result().mean_loadings)
        answer = algorithm.infer(replace(params, loadings=loadings), block, np.uint64(5))
        found.append((loadings, run.trace["objective"], answer[0], answer[1]))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_tables_of_more_than_32_bits(tmp_path, real):
    """J x K > 2^31: the last words have the loadings, and get the sums, of the last rows."""
    n_components, n_words = 33, 2**31 // 32
    assert n_components * n_words > BEYOND
    small = np.random.default_rng(0).dirichlet(np.ones(4), n_components).T.astype(real).copy()
    large, sums = (holes(tmp_path / name, (n_words, n_components), real) for name in "ab")
    large[-4:] = small
    few = np.zeros((4, n_components), dtype=real)
    indptr, counts = np.array([0, 4]), np.array([1, 2, 3, 1], dtype=np.int32)
    levels, shape = np.zeros(1, dtype=np.int32), np.full((1, n_components), 0.5)
    rate, present = np.ones_like(shape), np.ones_like(shape)
    outcomes = []
    for loadings, out_sums, first in ((small, few, 0), (large, sums, n_words - 4)):
        words = np.arange(first, first + 4, dtype=np.int32)
        scores, objective = np.ones((1, n_components), dtype=real), np.zeros(1)
        expect(
            indptr, words, counts, levels, shape, rate, loadings, scores, out_sums, objective,
            False, 1.0, 2, 0.0, True,
        )  # fmt: skip
        split, empty = np.empty((1, n_components)), np.ones((1, n_components))
        rows = np.empty((4, 48), dtype=np.float32)
        split_new(
            indptr, words, counts, levels, shape, rate, present, loadings, rows, split, empty,
            1.0, 20, 1e-4,
        )  # fmt: skip
        outcomes.append((scores, objective, np.array(out_sums[-4:]), split))
    for one, other in zip(*outcomes, strict=True):
        np.testing.assert_array_equal(one, other)
    assert outcomes[0][2].sum() > 0
