# SPDX-License-Identifier: BSD-3-Clause
"""The command line as a newcomer meets it: every command, every output, every way to fail."""

import csv
import gzip
import io
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from typer.testing import CliRunner

import discan
from discan.cli import app
from discan.cli.errors import _for_the_shell
from discan.cli.reading import _size, _value
from discan.data.storage import read_file
from discan.errors import InputError, LimitError
from discan.readers import READERS, Source

COMMANDS = [
    "fit", "resume", "show", "plot", "transform", "predict", "impute", "score", "info", "convert",
    "datasets", "formats", "demo",
]  # fmt: skip
TEXTS = [
    "apple apple pear plum apple pear", "pear plum apple apple", "boat ship sail boat",
    "ship boat boat",
] * 5  # fmt: skip
GOLDEN = """\
dca0: 58.7 % of the tokens
  by probability  apple, pear, plum
  by lift         apple, pear, plum
  typical         0, 4

dca1: 41.3 % of the tokens
  by probability  boat, ship, sail
  by lift         boat, ship, sail
  typical         2, 6
"""


def run(*arguments, code=0):
    """Run a command in this process; answer (stdout, stderr)."""
    done = CliRunner().invoke(app, [str(a) for a in arguments], prog_name="discan")
    assert done.exit_code == code, (done.exit_code, done.stdout, done.stderr, done.exception)
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def fails(*arguments):
    """Run a command that must fail; answer its one line."""
    out, err = run(*arguments, "--quiet", code=1)
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "a bug in discan" not in err
    return err


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "discan.cli", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(discan.__file__).parents[1])},
    )  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with data, a model and a corpus."""
    folder = tmp_path_factory.mktemp("cli")
    records = [json.dumps({"id": str(i), "text": text}) for i, text in enumerate(TEXTS)]
    (folder / "texts.jsonl").write_text("\n".join(records) + "\n")
    options = ("--option", "id_field=id", "-k", 2, "--alpha", 0.1, "--iterations", 50, "--seed", 1)
    run("fit", folder / "texts.jsonl", "-o", f"{folder}/model/", "--max-df", "1.0", *options)
    run("convert", folder / "texts.jsonl", folder / "corpus.discan", "--max-df", "1.0")
    return folder


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """Counts that take a second or so to fit."""
    path = tmp_path_factory.mktemp("counts") / "counts.npz"
    sparse.save_npz(path, sparse.csr_array(np.random.default_rng(0).poisson(0.5, (600, 200))))
    return path


# ---- help ----


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command):
    out, err = run(command, "--help")
    assert "Example: discan " in out
    assert err == ""


def test_main_help_names_every_command_and_the_words_used():
    out, _ = run("--help")
    assert all(re.search(rf"^│ {command}\b", out, re.MULTILINE) for command in COMMANDS)
    assert all(word in out for word in ("documents", "words", "component"))
    assert run("--version")[0] == f"discan {discan.__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    environment = {**os.environ, "_DISCAN_COMPLETE": f"complete_{shell}", "COMP_CWORD": "1"}
    environment |= {"_TYPER_COMPLETE_ARGS": "discan tr", "COMP_WORDS": "discan tr"}
    environment |= {"PYTHONPATH": str(Path(discan.__file__).parents[1])}
    environment |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    code = "from discan.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert "transform" in done.stdout


# ---- every command ----


def test_fit_says_what_it_did_on_stderr_only(place, tmp_path):
    out, err = run("fit", place / "texts.jsonl", "-o", tmp_path / "m.discan", "--iterations", 2)
    assert out == ""
    assert "read as jsonl" in err
    assert "20 documents x 6 words" in err
    assert f"discan show {tmp_path}/m.discan" in err
    out, err = run("fit", place / "texts.jsonl", "-o", tmp_path / "m.discan", "-q", "--csv")
    assert err == ""
    assert dict(csv.reader(io.StringIO(out)))["components"] == "10"


@pytest.mark.parametrize(
    ("kind", "element"),
    [("membership", "rect"), ("structure", "path"), ("squares", "rect"), ("heatmap", "rect"),
     ("map", "circle"), ("trace", "path")],
)  # fmt: skip
def test_plot(place, tmp_path, kind, element):
    file = tmp_path / "figure.svg"
    out, err = run("plot", place / "model", kind, "-o", file, "--title", "Fruit")
    assert out == ""
    assert err == f"figure written to {file}\n"
    assert f"<{element} " in file.read_text("utf-8")
    assert ">Fruit</text>" in file.read_text("utf-8")


def test_plot_with_labels(place, tmp_path):
    labels, file = tmp_path / "labels.txt", tmp_path / "figure.html"
    labels.write_text("fruit\nfruit\nboats\nboats\n" * 5)
    run("plot", place / "model", "structure", "-o", file, "--labels", labels, "-q")
    assert '"ticktext":["fruit","boats"]' in file.read_text("utf-8")


def test_plot_fails_in_a_line(place, tmp_path):
    model, file = place / "model", tmp_path / "figure.svg"
    assert "must end in" in fails("plot", model, "map", "-o", tmp_path / "figure.pdf")
    (tmp_path / "short.txt").write_text("one\n")
    short = fails("plot", model, "structure", "-o", file, "--labels", tmp_path / "short.txt")
    assert "groups must be 20 labels" in short
    assert "absent.txt" in fails(
        "plot", model, "structure", "-o", file, "--labels", tmp_path / "absent.txt"
    )
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe")
    assert "UTF-8" in fails(
        "plot", model, "squares", "-o", file, "--labels", tmp_path / "binary.txt"
    )
    assert "leave them out" in fails(
        "plot", model, "trace", "-o", file, "--labels", tmp_path / "short.txt"
    )
    assert "'pie'; use one of membership" in run("plot", model, "pie", "-o", file, code=2)[1]
    assert not file.exists()


def test_fit_options_reach_the_estimator(place, tmp_path):
    path = tmp_path / "m.discan"
    options = ("--algorithm", "collapsed", "--burn-in", 3, "--draws", 4, "--seed", 9)
    options += ("--model", "gp", "--beta", 2, "--learn", "alpha,gamma", "-k", 3)
    out, _ = run("fit", place / "corpus.discan", "-o", path, "--json", *options)
    record = json.loads(out)
    assert record["cycles"] == 7
    assert (record["seed"], record["model"], record["components"]) == ("9", "gamma-poisson", 3)
    assert record["file"] == str(path)
    estimator = discan.load(path)
    assert (estimator.algorithm_.burn_in, estimator.algorithm_.n_draws) == (3, 4)
    same = tmp_path / "n.discan"
    run("fit", place / "corpus.discan", "-o", same, "--threads", 2, *options)
    assert_same_model(path, same)


def test_show(place):
    assert run("show", place / "model", "--words", 3, "--documents", 2) == (GOLDEN, "")
    components = json.loads(run("show", place / "model", "--json")[0])
    assert [c["component"] for c in components] == ["dca0", "dca1"]
    assert components[0]["by_probability"][0]["name"] == "apple"
    rows = list(csv.DictReader(io.StringIO(run("show", place / "model", "--csv")[0])))
    assert {row["list"] for row in rows} == {"probability", "lift", "documents"}
    assert sum(row["list"] == "lift" for row in rows) == 6
    assert len(run("show", place / "model", "--words", 1, "--documents", 0)[0].splitlines()) == 7


def test_transform(place, tmp_path):
    arguments = ("transform", place / "model", place / "texts.jsonl", "--option", "id_field=id")
    out, err = run(*arguments, "-q")
    assert err == ""
    rows = list(csv.reader(io.StringIO(out)))
    assert rows[0] == ["document", "dca0", "dca1"]
    assert len(rows) == 21
    records = json.loads(run(*arguments, "--json", "-q")[0])
    assert [str(v) for v in records[3].values()] == rows[4]
    written = tmp_path / "scores.csv"
    assert run(*arguments, "-q", "-o", written) == ("", "")
    assert written.read_text() == out
    assert run(*arguments, "-q", "-o", "/dev/null") == ("", "")
    many = list(csv.reader(io.StringIO(run(*arguments, "-q", "--counts")[0])))
    assert sum(map(float, many[1][1:])) == pytest.approx(6)
    estimator = discan.load(place / "model")
    expected = estimator.transform(discan.read(place / "corpus.discan"))
    np.testing.assert_array_equal(expected, [[float(x) for x in row[1:]] for row in rows[1:]])


def test_new_text_is_counted_by_the_words_of_the_model(place, tmp_path):
    new = tmp_path / "new.txt"
    new.write_text("Apple pear unheard\nship\nunheard\n")
    out, err = run("transform", place / "model", new)
    assert "not in the vocabulary" in err
    values = np.array([row[1:] for row in csv.reader(io.StringIO(out))][1:], float)
    assert values[0, 0] > 0.9
    assert values[1, 1] > 0.8
    np.testing.assert_allclose(values[2], 0.5)  # nothing known: the prior
    assert "40 % of the tokens" in fails("transform", place / "model", new, "--max-unseen", 0.3)
    again, _ = run("transform", place / "model", new, "--max-unseen", 0.5)
    assert again == out


def test_bigrams_are_found_again(tmp_path):
    texts, path = tmp_path / "t.txt", tmp_path / "m.discan"
    texts.write_text("\n".join(TEXTS))
    run("fit", texts, "-o", path, "--option", "ngrams=1,2", "-k", 2, "--iterations", 2)
    assert "pear plum" in discan.load(path)._layout.word_names
    out, _ = run("transform", path, texts, "--counts")
    total = sum(float(x) for row in list(csv.reader(io.StringIO(out)))[1:] for x in row[1:])
    assert total == pytest.approx(discan.read(texts, ngrams=(1, 2)).n_tokens)


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """Answers to three questions that go together, some missing, and a model of them."""
    folder = tmp_path_factory.mktemp("survey")
    lines = ["yes,red,cat", "no,blue,dog"] * 10 + ["yes,red,", "no,,dog"]
    (folder / "answers.csv").write_text("\n".join(["vote,colour,pet", *lines]) + "\n")
    (folder / "new.csv").write_text("colour,pet\nred,cat\nblue,dog\nblue,\n")
    run("fit", folder / "answers.csv", "-o", folder / "m.discan", "-k", 2, "--alpha", 0.1,
        "--format", "categorical")  # fmt: skip
    return folder


def test_predict(survey):
    arguments = ("predict", survey / "m.discan", survey / "new.csv", "--format", "categorical")
    rows = json.loads(run(*arguments, "--group", "vote", "--json")[0])
    assert [row["prediction"][-3:].strip("=") for row in rows] == ["yes", "no", "no"]
    assert all(row["probability"] > 0.8 for row in rows)
    by_number, _ = run(*arguments, "-g", 0, "--csv")
    assert by_number == run(*arguments, "--group", "vote", "--csv")[0]
    assert "prediction" in run(*arguments, "--group", "vote", "-q")[0]
    table = list(csv.reader(io.StringIO(run(*arguments, "-g", "vote", "--probabilities")[0])))
    assert len(table) == 4
    assert sum(map(float, table[1][1:])) == pytest.approx(1.0)
    assert "'vote', 'colour', 'pet'" in fails(*arguments, "--group", "age")
    run(*arguments[:-2], code=2)


def test_impute(survey, tmp_path):
    arguments = ("impute", survey / "m.discan", survey / "answers.csv", "--format", "categorical")
    out, err = run(*arguments)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["group"], len(row["word"]) > 0) for row in rows] == [
        ("pet", True), ("pet", True), ("colour", True), ("colour", True),
    ]  # fmt: skip
    assert "4 counts filled in" in err
    assert sum(float(row["expected"]) for row in rows[:2]) == pytest.approx(1.0)
    by_word = {row["word"]: float(row["expected"]) for row in rows}
    assert max(by_word, key=by_word.get)[-3:] in ("cat", "lue")
    records = json.loads(run(*arguments, "--json")[0])
    assert [record["word"] for record in records] == [row["word"] for row in rows]
    run(*arguments, "-o", tmp_path / "out.csv", "-q")
    assert (tmp_path / "out.csv").read_text() == out


def test_score(place):
    rows = json.loads(run("score", place / "model", place / "corpus.discan", "--json")[0])
    assert [row["predictor"] for row in rows] == ["model", "unigram"]
    assert rows[0]["perplexity"] < rows[1]["perplexity"]
    assert "perplexity" in run("score", place / "model", place / "corpus.discan")[0]


def test_info(place, tmp_path):
    record = json.loads(run("info", place / "model", "--json")[0])
    assert (record["holds"], record["components"], record["documents"]) == ("a model", 2, 20)
    record = json.loads(run("info", place / "corpus.discan", "--json")[0])
    assert (record["format"], record["tokens"]) == ("discan", 85)
    assert "words            6" in run("info", place / "texts.jsonl", "--option", "max_df=1.0")[0]
    nameless = tmp_path / "model"  # told by its content
    nameless.write_bytes((place / "model" / "model.discan").read_bytes())
    assert json.loads(run("info", nameless, "--json")[0])["holds"] == "a model"


def test_convert_says_what_it_wrote(place, tmp_path):
    path = tmp_path / "c.discan"
    out, _ = run("convert", place / "texts.jsonl", path, "--max-df", 1.0, "--json")
    assert json.loads(out)["words"] == 6
    assert discan.read(path).digest == discan.read(place / "corpus.discan").digest


@pytest.mark.parametrize("command", ["datasets", "formats"])
def test_lists(command):
    rows = json.loads(run(command, "--json")[0])
    table = list(csv.reader(io.StringIO(run(command, "--csv")[0])))
    assert len(rows) == len(table) - 1 == len(run(command)[0].splitlines()) - 1


@pytest.mark.parametrize("name", list(READERS))
def test_every_option_of_every_format_is_described(name):
    for option in json.loads(run("formats", name, "--json")[0]):
        assert option["what it is"], (name, option)
    run("formats", name)


def test_the_guide_lists_every_format_and_command():
    guide = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
    for reader in READERS.values():
        assert f"| `{reader.name}` | {reader.summary} |" in guide
    assert all(f"$ discan {command}" in guide for command in COMMANDS)


def test_datasets_by_name(tmp_path):
    out, _ = run("info", "dataset:senate2005", "--json")
    assert json.loads(out)["documents"] == 100
    line = fails("info", "dataset:senate2005", "--option", "x=1")
    assert "has no option 'x'" in line
    assert "no such file" in fails("info", "dataset:ap", "--option", f"path={tmp_path}/x")
    run("info", "dataset:nosuch", code=2)


def test_votes_are_readable(tmp_path):
    run("fit", "dataset:senate2005", "-o", tmp_path / "s.discan", "-k", 2, "--iterations", 3)
    out, _ = run("show", tmp_path / "s.discan", "--words", 2)
    assert re.search(r": (yea|nay) \(\d+%, all \d+%\)$", out, re.MULTILINE)
    assert re.search(r"typical +\S+ \([DRI]-[A-Z]{2}\), ", out)


def test_hostile_names(tmp_path):
    names = ["=HYPERLINK(1)", "\x1b]0;x\x07", "@x", "[bold]b[/bold]", "-1"]
    table = discan.Corpus(
        np.eye(5, dtype=int) * 4 + 1, word_names=names, document_names=names[::-1]
    )
    discan.DCA(2, random_state=0, max_iter=3).fit(table).save(tmp_path / "m.discan")
    out, _ = run("show", tmp_path / "m.discan")
    assert "\x1b" not in out
    assert r"\x1b]0;x\x07" in out
    assert "[bold]b[/bold]" in out
    for row in csv.DictReader(io.StringIO(run("show", tmp_path / "m.discan", "--csv")[0])):
        assert row["name"][0] not in "=@-+"
    assert "\x1b" not in run("show", tmp_path / "m.discan", "--json")[0]


# ---- wrong usage: 2 ----


@pytest.mark.parametrize(
    "arguments",
    [
        ["nosuch"],
        ["fit"],
        ["fit", "x"],
        ["fit", "x", "-o", "y", "-k", "0"],
        ["fit", "x", "-o", "y", "-k", "two"],
        ["fit", "x", "-o", "y", "--model", "nosuch"],
        ["fit", "x", "-o", "y", "--algorithm", "nosuch"],
        ["fit", "x", "-o", "y", "--burn-in", "3"],
        ["fit", "x", "-o", "y", "--option", "nonsense"],
        ["fit", "x", "-o", "y", "--min-df", "many"],
        ["fit", "x", "-o", "y", "--max-unpacked", "much"],
        ["fit", "x", "-o", ""],
        ["fit", "x", "-o", "y", "--seed", "-1"],
        ["info", __file__, "--format", "nosuch"],
        ["show", "x", "--json", "--csv"],
        ["formats", "nosuch"],
        ["demo", "nosuch"],
        ["demo", "text", "-o", "x.html"],
    ],
    ids=" ".join,
)
def test_wrong_usage(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if arguments[0] == "show":
        discan.DCA(2, max_iter=1).fit(np.eye(3)).save(tmp_path / "x")
    out, err = run(*arguments, code=2)
    assert out == ""
    assert "Usage" in err
    assert sorted(os.listdir(tmp_path)) == (["x"] if arguments[0] == "show" else [])


# ---- nonsense files: 1, in one line ----

MTX = "%%MatrixMarket matrix coordinate integer general\n"
LIES = {
    "lying.mtx": MTX + "900000000000 900000000000 900000000000\n1 1 1\n",
    "short.mtx": MTX + "2 2 3\n1 1 1\n",
    "long.mtx": MTX + "2 2 1\n1 1 1\n2 2 1\n",
    "docword.lying.txt": "900000000000\n900000000000\n900000000000\n1 1 1\n",
    "outside.mtx": MTX + "2 2 1\n3 1 1\n",
    "negative.mtx": MTX + "2 2 1\n1 1 -1\n",
    "ragged.csv": "a,b\n1,2\n1\n1,2\n",
    "quotes.csv": 'a,b\n"x,1\ny,2\n',
    "empty.txt": "",
    "empty.csv": "",
    "empty": "",
    "blank.txt": "\n",
    "heading.csv": "a,b,c\n",
    "broken.jsonl": '{"text": "a"}\n{"text": \n',
    "nofield.jsonl": '{"body": "a"}\n{"body": "b"}\n',
    "deep.jsonl": "[" * 100_000 + "\n",
    "nothing.ldac": "2 0:1\n",
    "words.svm": "1 x:2\n",
}
BYTES = {
    "binary.txt": bytes(range(256)) * 8,
    "binary.dat": os.urandom(4096),
    "latin.txt": b"\xe9t\xe9\n",
    "cut.jsonl.gz": gzip.compress(b'{"text": "apple pear"}\n' * 9999)[:-20],
    "flipped.csv.gz": gzip.compress(b"a,b\n1,2\n" * 999)[:20] + b"\0" * 40,
    "notgz.txt.gz": b"\x1f\x8b" + bytes(100),
    "cut.txt.xz": b"\xfd7zXZ\x00" + bytes(20),
    "not.npz": b"PK\x03\x04" + bytes(200),
    "not.zip": b"PK\x03\x04" + bytes(200),
    "not.tar": bytes(1024),
    "not.h5ad": b"\x89HDF\r\n\x1a\n" + bytes(100),
    "not.parquet": b"PAR1" + bytes(100) + b"PAR1",
    "not.bed": bytes(100),
    "not.discan": bytes(100),
    "lying.discan": struct.pack("<Q", 2**60) + b"{}",
    "half.discan": struct.pack("<Q", 16) + b'{"__metadata__":',
}


@pytest.fixture(scope="module")
def nonsense(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nonsense")
    for name, text in LIES.items():
        (folder / name).write_text(text)
    for name, data in BYTES.items():
        (folder / name).write_bytes(data)
    (folder / "folder").mkdir()
    (folder / "binaries").mkdir()
    (folder / "binaries" / "a.bin").write_bytes(bytes(100))
    os.mkfifo(folder / "pipe.txt")
    return folder


FILES = [*LIES, *BYTES, "folder", "binaries", "pipe.txt", "missing.csv", "not.npz/x", "x" * 300]


@pytest.mark.parametrize("name", FILES)
def test_nonsense_as_data(nonsense, tmp_path, name):
    line = fails("fit", nonsense / name, "-o", tmp_path / "new" / "m.discan", "--iterations", 1)
    assert name[:20] in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", FILES)
def test_nonsense_as_model(nonsense, name):
    if name != "pipe.txt":
        fails("show", nonsense / name)


def test_one_for_the_other(place, tmp_path):
    model, corpus, texts = place / "model", place / "corpus.discan", place / "texts.jsonl"
    assert "not a corpus" in fails("fit", model / "model.discan", "-o", tmp_path / "x.discan")
    assert "not a model" in fails("show", corpus)
    assert "not a model" in fails("transform", corpus, texts)
    assert "not a corpus" in fails("transform", model, model / "model.discan")
    assert "not a whole discan file" in fails("score", texts, texts)
    assert "holds no run" in fails("resume", place, "-o", tmp_path / "x.discan")
    assert "has no option 'nosuch'" in fails("info", texts, "--option", "nosuch=1")


def test_wrong_model(place, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("a,b\n" + "x,y\nz,w\n" * 20)
    assert "is it the right model" in fails("transform", place / "model", other)
    new = tmp_path / "new.csv"
    new.write_text("document,word,count\na,apple,1\nb,unheard,1\n")
    run("transform", place / "model", new)
    line = fails("transform", place / "model", new, "--max-unseen", 0.1)
    assert "50 % of the tokens" in line


@pytest.mark.parametrize("seed", range(10))
def test_a_flipped_bit(place, tmp_path, seed):
    data = bytearray((place / "model" / "model.discan").read_bytes())
    at = random.Random(seed).randrange(len(data))
    data[at] ^= 1 << random.Random(seed).randrange(8)
    path = tmp_path / "m.discan"
    path.write_bytes(data)
    for command in ("show", "info"):
        assert "m.discan" in fails(command, path)
    path.write_bytes(data[:at])
    fails("show", path)


def test_bombs(tmp_path):
    bomb = tmp_path / "bomb.jsonl.gz"
    line = b'{"text": "' + b" " * 2**20 + b'"}\n'
    with gzip.open(bomb, "wb", compresslevel=9) as stream:
        for _ in range(40):
            stream.write(line)
    with pytest.raises(LimitError, match="raise max_unpacked"):
        discan.read(bomb, max_unpacked=2**20)
    assert "raise max_unpacked" in fails("info", bomb, "--max-unpacked", "1M")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", b" " * 2**25)
    fails("info", tmp_path / "bomb.zip", "--max-unpacked", "1M")


def test_a_line_without_end_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("discan.readers.source.MAX_LINE", 1000)
    path = tmp_path / "long.txt"
    path.write_bytes(b"word\n" + b"x" * 2000)
    with pytest.raises(LimitError, match="line 2: longer than 1,000 bytes"):
        list(Source(path).lines())
    path.write_bytes(b"x" * 999 + b"\n" + b"y" * 1000)
    assert [len(text) for _, text in Source(path).lines()] == [999, 1000]


def test_zst_cut_short(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "t.txt.zst"
    data = b"".join(zstandard.ZstdCompressor().compress(b"apple pear\n" * 999) for _ in range(2))
    path.write_bytes(data)
    assert len(list(Source(path).lines())) == 2 * 999
    for cut in (6, len(data) // 2 + 5, len(data) - 1):
        path.write_bytes(data[:cut])
        with pytest.raises(InputError, match="cut short"):
            list(Source(path).lines())


# ---- nowhere to write ----


@pytest.fixture
def read_only(tmp_path):
    folder = tmp_path / "read-only"
    folder.mkdir()
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):  # root may write anywhere
        folder = Path("/proc/self")
    yield folder
    if tmp_path in folder.parents:
        folder.chmod(0o700)


def test_unwritable_output_fails_before_the_work(place, tmp_path, read_only, monkeypatch):
    def never(*_, **__):
        raise AssertionError("the data were read first")

    monkeypatch.setattr("discan.cli.commands.read_data", never)
    data, model = place / "corpus.discan", place / "model"
    for target in (read_only / "m.discan", place / "texts.jsonl" / "m.discan"):
        fails("fit", data, "-o", target)
        fails("fit", data, "-o", tmp_path / "m.discan", "--checkpoint", target.parent / "run")
        fails("convert", data, target)
        fails("transform", model, data, "-o", target)
    fails("transform", model, data, "-o", tmp_path)
    assert not (tmp_path / "m.discan").exists()


def test_the_demo_fails_early_too(read_only):
    done = CliRunner().invoke(app, ["demo", "senate", "-o", str(read_only / "x.html")])
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)


def test_a_full_disk(place):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "discan.cli", "show", place / "model"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(Path(discan.__file__).parents[1])},
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "error: output: No space left on device\n"


# ---- any end ----


def assert_same_model(one, two):
    """All arrays have the same bits, but for the times in the trace."""
    (_, first), (_, second) = read_file(Path(one), "model"), read_file(Path(two), "model")
    assert set(first) == set(second)
    for name, value in first.items():
        columns = slice(0, 3) if name == "trace" else slice(None)
        assert value[..., columns].tobytes() == second[name][..., columns].tobytes(), name


SETTINGS = ("-k", 4, "--algorithm", "collapsed", "--burn-in", 40, "--draws", 20, "--seed", 5)


@pytest.fixture(scope="module")
def unbroken(counts):
    path = counts.with_name("unbroken.discan")
    run("fit", counts, "-o", path, *SETTINGS)
    return path


def wait_for(process, path):
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


@pytest.mark.parametrize("seed", range(3))
def test_kill_9_then_resume(counts, unbroken, tmp_path, seed):
    folder, path = tmp_path / "run", tmp_path / "m.discan"
    process = start("fit", counts, "-o", path, "--checkpoint", folder, "--every", 3, *SETTINGS)
    wait_for(process, folder / "settings.discan")
    time.sleep(random.Random(seed).uniform(0, 1.0))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    record = json.loads(run("info", folder, "--json")[0])
    assert record["holds"] == "a run"
    run("resume", folder, "-q")  # goes where fit was to write
    assert_same_model(path, unbroken)
    run("resume", folder, "-o", tmp_path / "again.discan", "-q")  # finished, and stays so
    assert_same_model(tmp_path / "again.discan", unbroken)


def test_sigterm_checkpoints_and_a_second_process_is_refused(counts, tmp_path):
    folder, path = tmp_path / "run", tmp_path / "m.discan"
    endless = ("--iterations", 10**6, "--tol", 0, "-k", 4)
    process = start("fit", counts, "-o", path, "--checkpoint", folder, "--every", 2, *endless)
    wait_for(process, folder / "state.discan")
    assert f"in use by process {process.pid}" in fails("resume", folder, "-o", path)
    assert "holds a run already" in fails(
        "fit", counts, "-o", path, "--checkpoint", folder, *endless
    )
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 143, err
    assert out == ""
    assert f"go on with: discan resume {folder}" in err
    assert "Traceback" not in err
    assert not path.exists()
    assert sorted(os.listdir(folder)) == [
        "corpus.discan", "lock", "output", "settings.discan", "state.discan",
    ]  # fmt: skip
    assert json.loads(run("info", folder, "--json")[0])["cycles"] >= 2


def test_ctrl_c_keeps_what_there_is(counts, tmp_path):
    path = tmp_path / "m.discan"
    process = start(
        "fit", counts, "-o", path, "--checkpoint", tmp_path / "run", "--every", 1,
        "--iterations", 10**6, "--tol", 0, "-k", 4, "--json",
    )  # fmt: skip
    wait_for(process, tmp_path / "run" / "state.discan")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert json.loads(out)["stopped"] == "interrupted"
    assert discan.load(path).n_iter_ == json.loads(out)["cycles"]


def test_errors_name_the_option_that_was_given(place):
    line = fails("fit", place / "corpus.discan", "-k", 2, "-o", place / "none", "--threads", 0)
    assert line.startswith("error: --threads 0; ")


def test_errors_of_a_real_process(tmp_path):
    process = start("fit", tmp_path / "missing", "-o", tmp_path / "m.discan")
    assert process.communicate() == ("", f"error: {tmp_path}/missing: no such file or folder\n")
    assert process.returncode == 1
    assert not list(tmp_path.iterdir())


def test_an_unexpected_error_is_one_line(place, monkeypatch):
    def boom(*_):
        raise ZeroDivisionError("one\ntwo")

    monkeypatch.setattr("discan.fitting.summary.summarise", boom)
    out, err = run("show", place / "model", code=1)
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("error: unexpected ZeroDivisionError: one two; a bug")
    monkeypatch.setenv("DISCAN_TRACEBACK", "1")
    assert isinstance(
        CliRunner().invoke(app, ["show", str(place / "model")]).exception, ZeroDivisionError
    )


# ---- small parts ----


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("1", "int", 1), ("1", "str", "1"), ("1", "str | None", "1"),
        ("1", "Iterable[str]", ("1",)),
        ("a,b", "Iterable[str]", ("a", "b")), ("1,2", "int | Sequence[int]", (1, 2)),
        ("x", "str | os.PathLike[str] | Iterable[str] | None", "x"), ("false", "bool", False),
        ("0.5", "float | None", 0.5), (",", "str | None", ","), (r"\t", "str | None", "\t"),
        ("a,b", "Any", ("a", "b")), ([1], "Any", [1]),
    ],
)  # fmt: skip
def test_values_of_options(text, kind, expected):
    assert _value(text, kind) == expected


@pytest.mark.parametrize(("text", "size"), [("1", 1), ("4k", 4096), ("1.5G", 3 * 2**29)])
def test_sizes(text, size):
    assert _size(text) == size


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("x: bad; pass quotes=False", "x: bad; pass --option quotes=False"),
        (
            "x: bad; say which with format=..., one of",
            "x: bad; say which with --format VALUE, one of",
        ),
        ("a=b: is a file", "a=b: is a file"),
        ("x; use algorithm='variational'", "x; use --algorithm variational"),
    ],
)
def test_remedies_are_in_terms_of_the_shell(message, expected):
    assert _for_the_shell(message) == expected
