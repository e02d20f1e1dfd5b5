# SPDX-License-Identifier: BSD-3-Clause
"""Evidence is estimated if it is asked for, given the totals, and only for fits with priors."""

import numpy as np
import pytest

import discan
from discan.selection.evidences import Evidences
from discan.selection.jobs import Setting

QUICK = {"folds": 2, "seeds": 1, "max_iter": 10, "n_jobs": 1}


def test_the_evidence_of_each_size(text):
    few = text.select(slice(0, 12))
    found = discan.select_components(few, (1, 2), evidence="bound", alpha=0.3, **QUICK)
    for row in found.table:
        alone = discan.log_evidence(few, row["K"], method="bound", alpha=0.3)
        assert row["evidence"] == pytest.approx(alone.given_totals)
    assert found.frame()["evidence"].notna().all()
    best = max(found.table, key=lambda row: row["evidence"])["K"]
    assert f"By evidence (bound, priors not learnt), K = {best} is best." in found.verdict


def test_a_fit_without_priors_has_none(text):
    few = text.select(slice(0, 12))
    found = discan.compare_models(few, 1, models=["dm", "gp", "plsi"], evidence="bound", **QUICK)
    dm, gp, plsi = (row["evidence"] for row in found.table)
    assert np.isnan(plsi)
    # with one component, counts given their totals are equally probable under both
    assert gp == pytest.approx(dm, rel=1e-3)


def test_doubts_are_said():
    settings = [Setting(f"K{k}", {"n_components": k}) for k in (2, 3)]
    text = Evidences(np.array([-5.0, -4.0]), "ais", ("K2",)).sentence(settings)
    assert text.startswith("By evidence (ais, priors not learnt), K = 3 is best.")
    assert "not converged for K = 2" in text
    assert Evidences(np.array([np.nan, np.nan]), "ais").sentence(settings) == ""


def test_wrong_methods_are_refused(text):
    with pytest.raises(discan.InputError, match="evidence='harmonic'"):
        discan.select_components(text, (2,), evidence="harmonic", **QUICK)
