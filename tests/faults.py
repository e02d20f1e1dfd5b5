# SPDX-License-Identifier: BSD-3-Clause
"""A disk that fails, or a process that dies, at the N-th step of writing.

``python tests/faults.py FOLDER WHAT`` writes an old file, then tries to write a new one in its
place, again and again: the N-th write, fsync or replace fails with each of several errors, or the
process dies there, for N = 1, 2, ... until nothing fails any more. After each try it checks what is
left. It prints one line of JSON: how many tries there were, and what went wrong.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import shutil
import sys
from pathlib import Path

import numpy as np

import discan
from discan.data.storage import read_file, write_whole
from discan.data.store import load_corpus, save_corpus
from discan.errors import StorageError

W = np.random.default_rng(0).poisson(0.8, (30, 10))
STEPS = ("open", "write", "fsync", "fchmod", "replace", "close", "unlink")
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)
KILLED = 9


class Shim:
    """Counts the steps of writing, and makes one of them fail."""

    def __init__(self, at, error):
        self.at, self.error, self.seen = at, error, 0
        self.names = []

    def __enter__(self):
        self.real = {name: getattr(os, name) for name in STEPS}
        for name in STEPS:
            setattr(os, name, self.wrapped(name))
        return self

    def __exit__(self, *error):
        for name, function in self.real.items():
            setattr(os, name, function)

    def wrapped(self, name):
        function = self.real[name]

        def step(*arguments, **options):
            reading = name == "open" and not (arguments[1] & (os.O_CREAT | os.O_RDWR))
            if name in ("close", "unlink") or reading:
                return function(*arguments, **options)  # failures of cleaning up are no steps
            self.seen += 1
            self.names.append(name)
            if self.seen == self.at:
                if self.error is None:
                    os._exit(KILLED)
                if name == "write" and self.error == errno.ENOSPC and len(arguments[1]) > 1:
                    function(arguments[0], arguments[1][: len(arguments[1]) // 2])  # half of it
                raise OSError(self.error, os.strerror(self.error))
            return function(*arguments, **options)

        return step


# ------------------------------------------------------------------------ what is written


def fitted(seed):
    return discan.LDA(2, random_state=seed, algorithm="map", max_iter=3).fit(W)


class Model:
    """A model file."""

    def __init__(self, folder):
        self.path = folder / "m.discan"
        self.old, self.new = fitted(1), fitted(2)
        self.old.save(self.path)

    def write(self):
        self.new.save(self.path)

    def which(self):
        found = discan.load(self.path).settings_["seed"]
        return {1: "old", 2: "new"}[found]

    def reset(self):
        self.old.save(self.path)


class Corpus:
    """A corpus file."""

    def __init__(self, folder):
        self.path = folder / "c.discan"
        self.reset()

    def write(self):
        save_corpus(discan.Corpus(W[:20]), self.path)

    def which(self):
        return {30: "old", 20: "new"}[load_corpus(self.path).n_documents]

    def reset(self):
        save_corpus(discan.Corpus(W), self.path)


class Run:
    """The files of a run folder: a run goes on from its last checkpoint."""

    def __init__(self, folder):
        self.path = folder / "run"
        self.folder = folder
        options = {"n_components": 2, "algorithm": "gibbs", "random_state": 1, "max_iter": 6}
        self.options = options
        self.whole = discan.DCA(**options, learn=()).fit(W)
        self.begin(W, learn=())

    def begin(self, data, **settings):
        """Write a run that was stopped, and keep a copy of it."""
        settings = {**self.options, **settings, "checkpoint": self.path, "checkpoint_every": 1}
        discan.DCA(**settings, callback=lambda run: run.cycle == 3).fit(data)
        shutil.copytree(self.path, self.folder / "kept")

    def reset(self):
        shutil.rmtree(self.path, ignore_errors=True)
        shutil.copytree(self.folder / "kept", self.path)

    def write(self):
        discan.resume(self.path, progress=False)

    def which(self):
        cycle = read_file(self.path / "state.discan", "state")[0]["cycle"]
        assert 3 <= cycle <= 6, cycle
        resumed = discan.resume(self.path, progress=False)
        np.testing.assert_array_equal(resumed.components_, self.whole.components_)
        return "old" if cycle < 6 else "new"


class FolderRun(Run):
    """A run whose documents are in a folder: it has a file per block, and two versions of it."""

    def __init__(self, folder):
        import discan.data.corpus
        import discan.data.folders.corpus
        from discan.data.folders.writer import write_corpus

        for module in (discan.data.corpus, discan.data.folders.corpus):
            module.BLOCK_ENTRIES = 90
        self.data, self.path, self.folder = folder / "data", folder / "run", folder
        write_corpus(discan.Corpus(W), self.data)
        self.options = {"n_components": 2, "algorithm": "cvb0", "random_state": 1, "max_iter": 5}
        self.whole = discan.DCA(**self.options, tol=0.0).fit(W)
        self.begin(self.data, tol=0.0)

    def which(self):
        cycle = read_file(self.path / "state.discan", "state")[0]["cycle"]
        assert 3 <= cycle <= 5, cycle
        resumed = discan.resume(self.path, progress=False)
        np.testing.assert_array_equal(resumed.components_, self.whole.components_)
        return "old" if cycle < 5 else "new"


class Begun:
    """A run folder that is begun: the data and the settings."""

    def __init__(self, folder):
        self.path = folder / "run"
        self.reset()

    def reset(self):
        shutil.rmtree(self.path, ignore_errors=True)

    def write(self):
        discan.DCA(
            2, algorithm="map", random_state=1, max_iter=2, checkpoint=self.path, checkpoint_every=9
        ).fit(W)

    def which(self):
        """A run that was begun can be resumed; one that was not is said so."""
        if not (self.path / "state.discan").exists():
            try:
                discan.resume(self.path, progress=False)
            except (discan.InputError, discan.ModelFileError):
                pass
            return "old"
        discan.resume(self.path, progress=False)
        return "new"


class Table:
    """A table, a figure or a page: any output of the command line."""

    def __init__(self, folder):
        self.path = folder / "t.csv"
        self.reset()

    def write(self):
        write_whole(self.path, "new\n" * 1000)

    def which(self):
        return {"old\n" * 1000: "old", "new\n" * 1000: "new"}[self.path.read_text()]

    def reset(self):
        write_whole(self.path, "old\n" * 1000)


class Command:
    """A command that writes to a file; ``targets`` makes one of each."""

    def __init__(self, path, *arguments):
        self.path, self.arguments = path, arguments
        self.reset()

    def write(self):
        run(*self.arguments, *(() if self.arguments[0] == "convert" else ("-o",)), self.path)

    def reset(self):
        write_whole(self.path, "old")

    def which(self):
        if self.path.read_bytes() == b"old":
            return "old"
        if self.path.name == "new.discan":
            assert discan.load(self.path).settings_["seed"] == 8
        elif self.path.name == "corpus.discan":
            load_corpus(self.path)
        elif self.path.name == "scores.csv":
            assert self.path.read_text().count("\n") == 13
        else:
            assert self.path.read_text().rstrip().endswith("</svg>")
        return "new"


def run(*arguments):
    """Run a command; raise an error if it fails with one line."""
    from typer.testing import CliRunner

    from discan.cli import app

    done = CliRunner().invoke(app, [*map(str, arguments)], prog_name="discan")
    assert "Traceback" not in done.output, done.output
    if done.exit_code == 1:
        lines = done.stderr.strip().splitlines()
        assert lines[-1].startswith("error: "), done.stderr
        assert "a bug in discan" not in lines[-1], lines[-1]
        raise StorageError(lines[-1])
    assert done.exit_code == 0, (done.exit_code, done.output, done.exception)


def targets(what, folder):
    """What is to be written: one thing, or all commands."""
    if what != "command":
        return [WHAT[what](folder)]
    data, model = folder / "x.csv", folder / "model.discan"
    data.write_text("a,b,c\n" + "\n".join(f"{i % 3},{i % 2},1" for i in range(12)) + "\n")
    fit = ("fit", data, "-k", 2, "--algorithm", "map", "--seed")
    run(*fit, 7, "-o", model)
    return [
        Command(folder / "new.discan", *fit, 8),
        Command(folder / "corpus.discan", "convert", data),
        Command(folder / "scores.csv", "transform", model, data),
        Command(folder / "figure.svg", "plot", model, "heatmap"),
    ]


WHAT = {
    "model": Model, "corpus": Corpus, "run": Run, "folder run": FolderRun, "begun": Begun,
    "table": Table,
}  # fmt: skip


def leftovers(folder):
    return sorted(path.name for path in folder.rglob("*.tmp"))


def fail_at(target, folder, at, error):
    """Write with the N-th step failing; return the problems, and whether nothing failed."""
    problems = []
    with Shim(at, error) as shim:
        try:
            target.write()
            outcome = "written"
        except StorageError as caught:
            outcome = "refused"
            if "\n" in str(caught):
                problems.append(f"many lines: {caught}")
        except BaseException as caught:
            outcome = "escaped"
            problems.append(f"{type(caught).__name__}: {caught}")
    if shim.seen < at:
        return problems, True
    state = target.which()
    if outcome == "written" and state != "new":
        problems.append(f"said to be written, but {state}")
    if leftovers(folder):
        problems.append(f"left behind: {leftovers(folder)}")
    return [f"step {at} ({shim.names[-1]}), {errno.errorcode[error]}: {p}" for p in problems], False


def die_at(target, folder, at):
    """Write in a process that dies at the N-th step; return the problems, and whether it lived."""
    child = os.fork()
    if child == 0:
        with Shim(at, None):
            try:
                target.write()
            except BaseException as caught:
                print(type(caught).__name__, caught, file=sys.stderr)
                os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code not in (0, KILLED):
        return [f"died at step {at}: exit code {code}"], False
    problems = []
    try:
        target.which()
        target.reset()
        target.write()  # the next one sweeps what was left
    except BaseException as caught:
        problems.append(f"died at step {at}: {type(caught).__name__}: {caught}")
    if leftovers(folder):
        problems.append(f"died at step {at}, left behind: {leftovers(folder)}")
    return problems, code == 0


def main(folder, what):
    """Try every step."""
    logging.disable(logging.CRITICAL)
    folder = Path(folder)
    problems, tries = [], 0
    for target in targets(what, folder):
        for error in ERRORS:
            for at in range(1, 1000):
                target.reset()
                found, over = fail_at(target, folder, at, error)
                problems += found
                tries += not over
                if over:
                    break
        for at in range(1, 1000):
            target.reset()
            found, over = die_at(target, folder, at)
            problems += found
            tries += not over
            if over:
                break
    print(json.dumps({"tries": tries, "problems": problems}))


if __name__ == "__main__":
    main(*sys.argv[1:])
