# SPDX-License-Identifier: BSD-3-Clause
"""The command that finds unusual documents."""

import json

import discan


def test_anomalies(run, place):
    arguments = ("anomalies", place / "model", place / "corpus.discan", "--simulated", 19)
    out, err = run(*arguments, "-n", 3)
    assert out.splitlines()[0].split("  ")[0] == "document"
    assert len(out.splitlines()) == 4
    assert "1 in 20 is the least that 19 simulated documents can show" in err
    rows = json.loads(run(*arguments, "--json")[0])
    assert len(rows) == 20
    table = discan.load(place / "model").anomalies(
        discan.read(place / "corpus.discan"), n_simulated=19
    )
    assert [row["tail probability"] for row in rows] == table["tail probability"].tolist()
    assert [", ".join(row["unlikely words"]) for row in rows] == table["unlikely words"].tolist()
    by = json.loads(run(*arguments, "--by", "likelihood", "--json", "-q")[0])
    nats = [row["nats per token"] for row in by]
    assert nats == sorted(nats)


def test_long_names_are_listed_in_part(run, survey):
    out, _ = run("anomalies", survey / "m.discan", survey / "answers.csv", "-n", 2,
                 "--simulated", 9, "-q")  # fmt: skip
    assert "unlikely answers" in out
    assert "respondent" in out


def test_wrong_names(run):
    for flag in ("--by", "--method"):
        assert "use one of" in run("anomalies", "x", "y", flag, "nosuch", code=2)[1]
