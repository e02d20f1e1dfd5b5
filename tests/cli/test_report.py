# SPDX-License-Identifier: BSD-3-Clause
"""The command report writes a page, of the fit or of new documents."""


def test_report(run, place, tmp_path):
    file = tmp_path / "report.html"
    out, err = run("report", place / "model", "-o", file, "--title", "Fruit & boats")
    assert out == ""
    assert err == f"report written to {file}\n"
    page = file.read_text("utf-8")
    assert "<h1>Fruit &amp; boats</h1>" in page
    assert "20 documents" in page


def test_new_documents(run, place, tmp_path):
    file, new = tmp_path / "report.html", tmp_path / "new.txt"
    new.write_text("apple pear plum apple\nboat ship boat\nship sail\n")
    run("report", place / "model", new, "-o", file, "--format", "lines", "--words", 2, "-q")
    page = file.read_text("utf-8")
    assert "3 documents" in page
    assert "They are new" in page
    assert "equally likely words" in page


def test_advice_names_flags(run, place, tmp_path):
    model, file = tmp_path / "m.discan", tmp_path / "report.html"
    run("fit", place / "corpus.discan", "-o", model, "-k", 2, "--algorithm", "map",
        "--max-iter", 2, "-q")  # fmt: skip
    run("report", model, "-o", file, "-q")
    assert "Not converged" in file.read_text("utf-8")
    assert "--max-iter 4" in file.read_text("utf-8")


def test_report_fails_in_a_line(fails, place, tmp_path):
    model = place / "model"
    assert "must end in .html" in fails("report", model, "-o", tmp_path / "report.pdf")
    assert "--labels sex is not a column" in fails(
        "report", model, "-o", tmp_path / "r.html", "--labels", "sex"
    )
    assert "absent" in fails("report", tmp_path / "absent", "-o", tmp_path / "r.html")
    assert not list(tmp_path.iterdir())
