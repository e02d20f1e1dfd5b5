# SPDX-License-Identifier: BSD-3-Clause
"""What is held out is chosen by the data, is tested once, and is never seen in the fit."""

import numpy as np
import pytest

import discan
from discan.models import MODELS
from discan.selection.protocols import PROTOCOLS, choose_protocol


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("n_folds", [1, 3])
def test_parts_make_up_the_whole(votes, name, n_folds):
    whole = votes.to_csr().toarray()
    tested = 0
    for train, test, given in PROTOCOLS[name].folds(votes, n_folds, 0):
        if PROTOCOLS[name].same_documents:
            assert given is train
            np.testing.assert_array_equal((train.to_csr() + test.to_csr()).toarray(), whole)
        else:
            assert given is None
            assert train.n_documents + test.n_documents == votes.n_documents
        assert train.n_tokens + test.n_tokens == votes.n_tokens
        tested += test.n_tokens
    if n_folds > 1:
        assert tested == votes.n_tokens
    else:
        assert 0.05 < tested / votes.n_tokens < 0.2


def test_entries_are_held_out_whole(votes):
    for train, test, _ in PROTOCOLS["entries"].folds(votes, 3, 0):
        both = train.group_lengths.toarray() * test.group_lengths.toarray()
        assert not both.any()
        assert not (train.exposures * test.exposures).any()


def test_thinned_exposures_are_divided(text):
    for train, test, _ in PROTOCOLS["thinning"].folds(text, 4, 0):
        np.testing.assert_allclose(train.exposures, 0.75)
        np.testing.assert_allclose(test.exposures, 0.25)


def test_the_protocol_fits_the_data(text, votes, makers):
    dm, gp = MODELS.find("dm"), MODELS.find("gp")
    genotypes = makers["genotypes"](np.random.default_rng(0), 2, 10, 5)
    assert choose_protocol("auto", text, dm)[0].name == "completion"
    assert choose_protocol("auto", text, gp)[0].name == "thinning"
    for grouped in (votes, genotypes):
        for model in (dm, gp, None):
            assert choose_protocol("auto", grouped, model)[0].name == "entries"
    fields = discan.Corpus(np.full((4, 6), 5), groups=[0, 0, 0, 1, 1, 1])
    assert choose_protocol("auto", fields, dm)[0].name == "completion"  # two fields of text
    assert choose_protocol("thinning", votes, dm) == (PROTOCOLS["thinning"], "as asked")


def test_fractions_are_not_thinned(text):
    halves = text.with_counts(text.counts / 2.0)
    assert choose_protocol("auto", halves, MODELS.find("gp"))[0].name == "completion"
    with pytest.raises(discan.InputError, match="no tokens to hold out"):
        PROTOCOLS["thinning"].folds(halves, 2, 0)
