# SPDX-License-Identifier: BSD-3-Clause
"""The command explore writes an interactive page, with texts if the data are given."""

from unpacking import unpacked


def test_explore(run, place, tmp_path):
    file = tmp_path / "page.html"
    out, err = run("explore", place / "model", "-o", file, "--title", "Fruit & boats")
    assert out == ""
    assert err == f"page of 0.1 MB written to {file}\n"
    page = file.read_text("utf-8")
    assert "<h1>Fruit &amp; boats</h1>" in page
    found = unpacked(page)
    assert found.header["documents"] == 20
    assert "texts" not in found.header["arrays"]


def test_texts_of_the_data(run, place, texts, tmp_path):
    file = tmp_path / "page.html"
    run("explore", place / "model", place / "texts.jsonl", "-o", file, "-q")
    found = unpacked(file.read_text("utf-8"))
    assert found.texts == texts
    assert found.header["seen"]  # shares are those of the fit
    assert "likelihood" in found.header["arrays"]
    run("explore", place / "model", place / "texts.jsonl", "-o", file, "-q", "--no-text")
    found = unpacked(file.read_text("utf-8"))
    assert "texts" not in found.header["arrays"]
    assert "entryWord" in found.header["arrays"]


def test_answers_of_the_data(run, survey, tmp_path):
    file = tmp_path / "page.html"
    run("explore", survey / "m.discan", survey / "answers.csv", "-o", file, "-q")
    found = unpacked(file.read_text("utf-8"))
    assert found.header["grouped"]
    assert len(found.entryWord) == 22 * 3 - 2


def test_size(run, place, tmp_path):
    file = tmp_path / "page.html"
    _, err = run("explore", place / "model", "-o", file, "--max-size", "1k")
    assert "to keep the page small (0.00102 MB at most): " in err
    assert "more than was asked for" in err


def test_open(run, place, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or False)
    file = tmp_path / "page.html"
    _, err = run("explore", place / "model", "-o", file, "--open")
    assert opened == [file.as_uri()]
    assert f"no browser was found; open {file} yourself" in err


def test_explore_fails_in_a_line(fails, place, tmp_path):
    model = place / "model"
    assert "must end in .html" in fails("explore", model, "-o", tmp_path / "page.pdf")
    assert "--labels sex is not a column" in fails(
        "explore", model, "-o", tmp_path / "p.html", "--labels", "sex"
    )
    assert "absent" in fails("explore", tmp_path / "absent", "-o", tmp_path / "p.html")
    assert not list(tmp_path.iterdir())
