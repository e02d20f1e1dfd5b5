# SPDX-License-Identifier: BSD-3-Clause
"""The remark on compiling: when it takes a while, of our kernels, twice at most."""

import logging
from types import SimpleNamespace

import pytest

from discan.kernels import special
from discan.kernels.remark import MOST_REMARKS, NOTE, PATIENCE, Remark


class Clock:
    """A clock that is moved by hand."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def event(path, module=special.__name__):
    function = SimpleNamespace(__module__=module)
    stats = SimpleNamespace(cache_path=None if path is None else str(path))
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function, stats=stats)})


def compile_some(path, seconds, module=special.__name__):
    """Compile kernels that take so many seconds each, in a new process; return the clock."""
    clock = Clock()
    remark = Remark(clock)
    for each in seconds:
        remark.on_start(event(path, module))
        remark.on_start(event(path, module))  # a part of the kernel
        clock.now += each
        remark.on_end(event(path, module))
        remark.on_end(event(path, module))


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.WARNING, "discan")
    return lambda: [record.getMessage() for record in caplog.records]


def test_once_per_process_when_it_takes_a_while(said, tmp_path):
    compile_some(tmp_path / "cache", [PATIENCE] + [1.0] * 5)
    [remark] = said()
    assert "compiles the kernels for this kind of work" in remark
    assert f"later runs load them from {tmp_path}" in remark


@pytest.mark.parametrize("seconds", [[], [30.0], [0.1] * 4])
def test_not_for_short_work_or_at_its_end(said, tmp_path, seconds):
    compile_some(tmp_path / "cache", seconds)
    assert said() == []


def test_not_for_the_kernels_of_others(said, tmp_path):
    compile_some(tmp_path / "cache", [5.0, 5.0], "elsewhere.kernels")
    compile_some(tmp_path / "cache", [5.0, 5.0], None)  # made by exec
    assert said() == []


def test_a_newcomer_sees_it_twice_at_most(said, tmp_path):
    for folder in ("one", "two", "one", "three"):
        compile_some(tmp_path / folder, [2.0, 2.0])
    assert len(said()) == MOST_REMARKS
    assert (tmp_path / NOTE).read_text() == f"{MOST_REMARKS}\n"


def test_a_note_that_cannot_be_read_is_written_anew(said, tmp_path):
    (tmp_path / NOTE).write_text("many")
    compile_some(tmp_path / "cache", [2.0, 2.0])
    assert len(said()) == 1
    assert (tmp_path / NOTE).read_text() == "1\n"


def test_without_a_folder_it_says_what_to_do(said):
    compile_some(None, [2.0, 2.0])
    [remark] = said()
    assert "NUMBA_CACHE_DIR" in remark
