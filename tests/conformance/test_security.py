# SPDX-License-Identifier: BSD-3-Clause
"""No network, no pickles, no module that only some systems have, and text that has no bytes."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import discan
from discan.data.storage import HEAD, read_file, write_file

SOURCE = Path(discan.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

NO_NETWORK = """
import sys, tempfile
def refuse(event, arguments):
    if event.startswith("socket."):
        raise SystemExit("a socket was opened")
sys.addaudithook(refuse)
if len(sys.argv) > 1:
    import socket
    socket.create_connection(("127.0.0.1", 9))
import numpy as np
import discan
X = np.random.default_rng(0).poisson(0.7, (20, 8))
for algorithm in ("map", "collapsed"):
    estimator = discan.LDA(2, algorithm=algorithm, random_state=0, max_iter=2, n_jobs=2).fit(X)
    estimator.transform(X)
    estimator.score(X)
with tempfile.TemporaryDirectory() as folder:
    estimator.save(f"{folder}/m.discan")
    discan.load(f"{folder}/m.discan").transform(X)
    with open(f"{folder}/x.csv", "w") as file:
        file.write("a,b\\n1,2\\n3,4\\n")
    discan.read(f"{folder}/x.csv")
from discan import plot
plot.sizes(estimator)
print("done")
"""


@pytest.mark.parametrize("opens", [False, True])
def test_no_socket_is_opened(opens):
    """Import, fit, transform, save, load, read and plot work where no socket can be made."""
    done = subprocess.run(
        [sys.executable, "-c", NO_NETWORK, *(["x"] if opens else [])],
        env={**os.environ, "PYTHONPATH": str(SOURCE.parent)},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    expected = ("", "a socket was opened") if opens else ("done", "")
    assert (done.stdout.strip(), done.stderr.strip()[-19:] if opens else "") == expected, (
        done.stderr[-2000:]
    )


def imports(path):
    """Names of the modules that a file imports, wherever it does."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


# Some systems lack the first five. The others run code of a file, or open connections.
NEVER = {
    "fcntl", "msvcrt", "resource", "pwd", "grp",
    "pickle", "marshal", "shelve", "dill", "joblib", "socket", "ssl", "http", "telnetlib", "ftplib",
}  # fmt: skip


# What these unpickle comes from a process of ours, by a pipe or in a message of Dask; never a file.
BETWEEN_PROCESSES = {"readers/workers.py", "engines/parcels.py"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_modules_that_are_never_imported(path):
    between = path.relative_to(SOURCE).as_posix() in BETWEEN_PROCESSES
    assert NEVER & set(imports(path)) == ({"pickle"} if between else set())


def test_the_check_of_imports_sees_them(tmp_path):
    path = tmp_path / "x.py"
    path.write_text("def f():\n    from pickle import load\n    import os.path, fcntl\n")
    assert NEVER & set(imports(path)) == {"pickle", "fcntl"}


def test_names_that_have_no_bytes(tmp_path):
    """Lone surrogates and control characters in a file: every output is written, as text."""
    model = tmp_path / "m.discan"
    table = discan.Corpus([[3, 0, 1], [0, 2, 1], [1, 1, 4]], word_names=list("abc"))
    discan.LDA(2, random_state=0, max_iter=3).fit(table).save(model)
    header, arrays = read_file(model, "model")
    kept = {name: value for name, value in header.items() if name not in HEAD}
    kept |= {
        "word_names": ["\ud800x", "\x1b]0;x\x07", "c\x00"], "document_names": ["\udcff", "b", "c"],
        "nouns": ["\ud800", "w", "c"], "component_names": ["\ud800\x1b[1m", None],
        "reading": {"format": "\ud800", "options": {"\ud800": "\x1b"}},
    }  # fmt: skip
    write_file(model, "model", kept, arrays)
    discan.load(model).save(tmp_path / "again.discan")
    report, figure = tmp_path / "report.html", tmp_path / "figure.svg"
    for arguments in (
        ("show", model), ("info", model), ("report", model, "-o", report),
        ("plot", model, "sizes", "-o", figure),
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "discan.cli", *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(SOURCE.parent)},
            capture_output=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (arguments, done.stderr)
        assert b"\x1b" not in done.stdout + done.stderr
    for path in (report, figure):
        assert not {"\x1b", "\x00", "\x07"} & set(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("damage", ["cut", "empty", "noise"])
def test_damaged_cache_of_compiled_code(tmp_path, damage):
    """Files of Numba's cache that were cut short are made again, without a word."""
    code = (
        "import numpy as np\nfrom discan.kernels.variational import weighted_log_loadings\n"
        "print(weighted_log_loadings(np.full((2, 2), 0.5), np.ones(2)))"
    )
    environment = {
        **os.environ, "PYTHONPATH": str(SOURCE.parent), "NUMBA_CACHE_DIR": str(tmp_path),
    }  # fmt: skip

    def run():
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    first = run()
    files = [*tmp_path.rglob("*.nbi"), *tmp_path.rglob("*.nbc")]
    assert first[0] == 0
    assert files
    for path in files:
        whole = path.read_bytes()
        path.write_bytes({"cut": whole[:-7], "empty": b"", "noise": b"\x80\x04noise."}[damage])
    assert run() == first
    assert json.loads(first[1]) < 0
