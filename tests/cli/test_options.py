# SPDX-License-Identifier: BSD-3-Clause
"""Options: wrong usage, and what each one changes."""

import json
import os
import re
import shutil

import numpy as np
import pytest
import typer

import discan
from discan.algorithms import ALGORITHMS
from discan.cli import app
from discan.cli.app import COMMANDS
from discan.cli.fit import STARTS
from discan.cli.options import bytes_of
from discan.models import MODELS
from discan.registry import Entry, declared


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
        ["fit", "x", "-o", "y", "--draws", "3", "--algorithm", "map"],
        ["fit", "x", "-o", "y", "--every", "3"],
        ["fit", "x", "-o", "y", "--json", "--csv"],
        ["fit", "dataset:nosuch", "-o", "y/"],
        ["fit", "dataset:senate2005", "-o", "y/", "--format", "csv"],
        ["info", "dataset:senate2005", "--format", "lines"],
        ["transform", "x", "x", "--json", "--csv"],
        ["show", "x", "--quiet"],
        ["plot", "x", "nosuch", "-o", "x.svg"],
        ["info", __file__, "--format", "nosuch"],
        ["show", "x", "--json", "--csv"],
        ["formats", "nosuch"],
        ["demo", "nosuch"],
        ["demo", "text", "-o", "x.html"],
    ],
    ids=" ".join,
)
def test_wrong_usage(run, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if arguments[0] == "show":
        discan.DCA(2, max_iter=1).fit(np.eye(3)).save(tmp_path / "x")
    out, err = run(*arguments, code=2)
    assert out == ""
    assert "Usage" in err
    assert sorted(os.listdir(tmp_path)) == (["x"] if arguments[0] == "show" else [])


@pytest.mark.parametrize(("text", "size"), [("1", 1), ("4k", 4096), ("1.5G", 3 * 2**29)])
def test_sizes(text, size):
    assert bytes_of(text) == size


# ---- every printing option changes the output, or is refused ----


@pytest.fixture
def examples(place, survey, tmp_path):
    """One run of each command, with remarks if the command has any."""
    model, texts = place / "model", place / "texts.jsonl"
    answers = (survey / "m.discan", survey / "answers.csv")
    run_folder, names = tmp_path / "run", tmp_path / "names.txt"
    names.write_text('{"1": "fruit"}')
    labels = tmp_path / "labels.txt"
    labels.write_text("fruit\nfruit\nsea\nsea\n" * 5)
    return {
        "fit": [
            texts,
            "-o",
            tmp_path / "m",
            "-k",
            2,
            "--iterations",
            2,
            "--checkpoint",
            run_folder,
        ],
        "resume": [run_folder],
        "select": [texts, "-k", "1:2", "--folds", 2, "--iterations", 2],
        "compare-models": [texts, "-k", 2, "--models", "dm,gp", "--folds", 2, "--iterations", 2],
        "show": [model],
        "plot": [model, "trace", "-o", tmp_path / "trace.svg"],
        "report": [model, "-o", tmp_path / "report.html"],
        "explore": [model, texts, "-o", tmp_path / "page.html"],
        "transform": [model, texts, "-o", tmp_path / "scores.json"],
        "predict": [*answers, "-g", "vote"],
        "impute": [*answers, "-o", tmp_path / "missing.json"],
        "recommend": [model, texts, "-o", tmp_path / "items.json"],
        "name": [model, names, "-o", tmp_path / "named.discan"],
        "score": [model, texts],
        "quality": [model],
        "chains": [model],
        "compare": [model, model, "--figure", tmp_path / "flow.svg"],
        "effects": [model, "--labels", labels],
        "tree": [model, texts, "--cut", 1, "-o", tmp_path / "tree.nwk"],
        "export": [survey / "m.discan", "-o", tmp_path / "pop"],
        "evidence": [texts, "-k", 2, "--temperatures", 20, "--runs", 2],
        "anomalies": [model, texts, "--simulated", 9],
        "search": [model, texts, "ship sail"],
        "similar": [model, texts, "1"],
        "index": [model, texts, "-o", tmp_path / "x.index"],
        "info": [texts],
        "convert": [texts, tmp_path / "c.discan"],
        "datasets": [],
        "formats": [],
        "demo": [],
    }


@pytest.mark.parametrize("flag", ["--json", "--csv", "--quiet"])
@pytest.mark.parametrize("command", [c.__name__.replace("_", "-") for c in COMMANDS])
def test_printing_options_change_the_output_or_are_refused(run, examples, tmp_path, command, flag):
    def outcome(*flags):
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        if command == "resume":
            run("fit", *examples["fit"])
        out, err = run(command, *examples[command], *flags)
        written = [path.read_bytes() for path in sorted(tmp_path.glob("*.json"))]
        return re.sub(r"\d+\.\d+ s\b", "", out + err), written

    if flag not in flags_of(command):
        run(command, *examples[command], flag, code=2)
    elif flag == "--json" and command in ("transform", "impute", "recommend"):
        assert outcome(flag) == outcome()  # the file's ending has said so
        examples[command] = examples[command][:2]
        assert json.loads(outcome(flag, "-q")[0])
        assert outcome("-q")[0].startswith("vote,colour" if command == "impute" else '"document",')
    else:
        assert outcome(flag) != outcome()


def flags_of(command):
    parameters = typer.main.get_command(app).commands[command].params
    return {flag for parameter in parameters for flag in parameter.opts}


# ---- names to choose from ----


@pytest.mark.parametrize(
    ("package", "registry"), [("discan.models", MODELS), ("discan.algorithms", ALGORITHMS)]
)
def test_files_declare_what_they_register(package, registry):
    entries = declared(package)
    assert sorted(entries) == sorted(registry.entry(cls) for cls in registry)
    assert all(entry.summary for entry in entries)
    assert {name for entry in entries for name in entry[:2]} == set(registry.names)


def test_names_to_show():
    assert {entry.shown for entry in declared("discan.models")} == {
        "dm", "gp", "cgp", "dm2", "gp2", "dmp", "gpp", "cgpp",
    }  # fmt: skip
    assert {entry.shown for entry in declared("discan.algorithms")} == {
        "ml", "map", "cvb0", "variational", "gibbs", "collapsed",
    }  # fmt: skip


def test_a_new_file_is_listed_by_itself(tmp_path, monkeypatch):
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise AssertionError('imported')")
    (folder / "new.py").write_text(
        "@X.register\nclass New(Base):\n"
        '    """Do it anew.\n\n    At length.\n    """\n\n'
        "    name: ClassVar[str] = 'brand-new'\n    short = 'new'\n    size = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert declared("plugins") == (Entry("brand-new", "new", "Do it anew"),)


def test_both_names_of_an_algorithm_are_accepted(run, place, tmp_path):
    for name in ("cvb0", "collapsed-variational", "CVB0", "auto"):
        run("fit", place / "corpus.discan", "-o", tmp_path / "m", "--iterations", 1,
            "--algorithm", name, "--model", "dirichlet-multinomial")  # fmt: skip


@pytest.mark.parametrize("start", [*STARTS, "nosuch"])
def test_starts(run, fails, place, tmp_path, start):
    command = ("fit", place / "corpus.discan", "-o", tmp_path / "m", "-k", 2, "--init", start)
    if start == "nosuch":
        assert "--init nosuch is not known; use one of auto, random, documents" in fails(*command)
    else:
        run(*command, "--iterations", 1)


def test_the_help_states_the_defaults_of_the_library():
    collapsed, estimator = discan.Collapsed(), discan.DCA()
    assert (collapsed.burn_in, collapsed.n_draws, estimator.checkpoint_every) == (200, 100, 10)
    texts = {p.name: p.help for p in typer.main.get_command(app).commands["fit"].params}
    assert [texts[name][-6:-2].strip(": ") for name in ("burn_in", "draws", "every")] == [
        "200", "100", "10",
    ]  # fmt: skip
