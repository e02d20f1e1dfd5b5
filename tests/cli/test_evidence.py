# SPDX-License-Identifier: BSD-3-Clause
"""The command that estimates the evidence."""

import json

import numpy as np
import pytest
from scipy import sparse

import discan
from discan.evaluation.evidence_methods import AIS


def test_evidence(run, survey):
    arguments = ("evidence", survey / "answers.csv", "-k", 2, "--alpha", 0.3)
    out, _ = run(*arguments, "--method", "ais,bound", "--temperatures", 200, "--runs", 4)
    assert [line.split()[0] for line in out.splitlines()[:3]] == ["method", "ais", "bound"]
    assert "event: counts given the totals" in out
    assert "priors: alpha 0.3, gamma 0.5" in out
    assert "lower bound on log p" in out
    assert "labelling" in out
    options = ("--temperatures", 200, "--runs", 4, "--json", "-q")
    (record,) = json.loads(run(*arguments, *options)[0])
    expected = discan.log_evidence(
        discan.read(survey / "answers.csv"), 2, alpha=0.3, method=AIS(200, 4)
    )
    assert record["log evidence"] == expected.value
    assert record["Monte-Carlo error"] == expected.error
    assert record["given the totals"] == expected.value


def test_a_warning_is_in_the_answer(run, tmp_path):
    path = tmp_path / "counts.npz"
    sparse.save_npz(path, sparse.csr_array(np.kron(np.eye(5, dtype=int), np.full((4, 6), 8))))
    arguments = ("evidence", path, "-k", 5, "--temperatures", 4, "--runs", 2)
    out, err = run(*arguments)
    assert "doubling the ladder from 2 to 4 temperatures moved it by" in out
    assert "it has not converged" in err
    (record,) = json.loads(run(*arguments, "--json", "-q")[0])
    assert "not converged" in record["warning"]


def test_priors_of_a_model(run, fails, survey, tmp_path):
    out, _ = run("evidence", survey / "answers.csv", "--like", survey / "m.discan",
                 "--method", "bound", "--runs", 1, "-q")  # fmt: skip
    assert "2 components" in out
    ml = tmp_path / "ml.discan"
    run("fit", survey / "answers.csv", "-o", ml, "-k", 2, "--algorithm", "ml", "-q")
    assert "no evidence" in fails("evidence", survey / "answers.csv", "--like", ml)


@pytest.mark.parametrize("method", ["nosuch", "ais,nosuch"])
def test_wrong_methods(run, method):
    assert "use one of ais, ti" in run("evidence", "x", "--method", method, code=2)[1]
