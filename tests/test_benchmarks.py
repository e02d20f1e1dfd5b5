# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark's own parts, on small data; no peer is needed and no time is asserted."""

import gzip
import math
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in [path.stem for path in FOLDER.glob("*.py")]:
        sys.modules.pop(name, None)


CURVE = [(1.0, 1, 100.0), (10.0, 10, 50.0), (100.0, 100, 40.0)]


def curve_row(tool, points, peer, repeat=0):
    return {
        "section": "quality", "cell": "20 newsgroups, K=20, 1 thread", "tool": tool,
        "repeat": repeat, "peer": peer, "default": not peer, "floor": 5.0, "targets": [50.0, 45.0],
        "measure": "perplexity", "tokens": 1000, "points": points, "load": 0.5,
    }  # fmt: skip


@pytest.fixture
def results(tmp_path):
    from store import Results, machine

    about = {
        **machine(), "form": "full", "clock": "wall", "versions": {"discan": "0"},
        "missing": ["enstop"],
    }  # fmt: skip
    results = Results(tmp_path / "results.json", about)
    faster = [(seconds / 8, passes, value) for seconds, passes, value in CURVE]
    results.rows = [curve_row("tomotopy", CURVE, True), curve_row("discan, default", faster, False)]
    for tokens in (1, 2, 4):
        results.rows.append(
            {"section": "growth", "cell": "tokens", "tool": str(tokens), "repeat": 0,
             "seconds": 0.1 * tokens}
        )  # fmt: skip
    results.write()
    return results


# ---- curves ----


@pytest.mark.parametrize(
    ("target", "expected"),
    [(100.0, 1.0), (75.0, 10**0.5), (50.0, 10.0), (45.0, 10**1.5), (39.0, math.inf)],
)
def test_time_to_a_target_is_interpolated_in_log_time(target, expected):
    from curves import time_to

    assert time_to(CURVE, target) == pytest.approx(expected)


def test_the_value_after_a_share_of_the_time_is_read_off_between_points():
    from curves import best_value, time_to

    assert best_value([CURVE]) == 40.0
    assert best_value([CURVE], 0.1) == 50.0
    value = best_value([CURVE], 0.5)  # at 50 of 100 seconds, the last point being at 10
    assert 40.0 < value < 50.0
    assert time_to(CURVE, value) == pytest.approx(50.0)


def test_a_race_takes_the_fastest_and_bounds_what_never_arrives():
    from curves import race

    slow = [(seconds * 3, passes, value) for seconds, passes, value in CURVE]
    both = race({"a": [CURVE], "b": [slow]}, {"c": [slow]}, 50.0)
    assert (both.peer, both.ours, both.at_least) == ("a", "c", False)
    assert both.ratio == pytest.approx(1 / 3)
    bound = race({"a": [CURVE[:2]]}, {"c": [CURVE]}, 40.0)
    assert bound.at_least
    assert bound.ratio == pytest.approx(10 / 100)
    lost = race({"a": [CURVE]}, {"c": [CURVE[:1]]}, 40.0)
    assert math.isnan(lost.ratio)
    assert not lost.meets(0.0)


def test_a_watch_stands_still_while_an_answer_is_judged():
    from curves import Answer, Watch

    now = [0.0]

    def judge(answer):
        now[0] += 1000.0
        return answer.components()

    watch = Watch(judge, budget=10.0, stop_at=2.0, spacing=1.5, clock=lambda: now[0])
    watch.start()
    over = []
    for passes, value in enumerate([9.0, 8.0, 7.0, 2.0], start=1):
        now[0] += 1.0
        over.append(watch.lap(passes, Answer(lambda value=value: value)))
    assert [point[0] for point in watch.points] == [1.0, 2.0, 3.0]
    assert over == [False, False, False, False]  # 4 s is less than 1.5 times 3 s
    now[0] += 1.0
    assert watch.lap(5, Answer(lambda: 2.0))
    assert watch.points[-1] == (5.0, 5, 2.0)


def test_our_tool_gives_a_curve():
    from corpora import Counts
    from curves import Watch
    from judge import divergence, perplexity
    from tools import Task, ours

    rng = np.random.default_rng(0)
    counts = sparse.csr_matrix(rng.poisson(0.5, (40, 12)).astype(np.int32))
    task = Task(Counts("tiny", counts, counts[:10]), 3, 1)
    watch = Watch(
        lambda answer: perplexity(answer.components(), counts[:10], 0.1), math.inf, spacing=1.0
    )
    ours("map", algorithm="map", max_iter=4, tol=0.0).fit(task, watch)
    assert [passes for _, passes, _ in watch.points] == [1, 2, 3, 4]
    watch = Watch(
        lambda answer: divergence(answer.scores(), answer.components(), counts), math.inf,
        spacing=1.0,
    )  # fmt: skip
    ours("plsi", "PLSI", priors=False, max_iter=30, tol=0.0).fit(task, watch)
    assert watch.points[-1][2] < watch.points[0][2]


# ---- judge and corpora ----


def test_divergence_is_that_of_all_cells():
    from judge import divergence

    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (6, 5)).astype(float)
    scores, components = rng.gamma(1.0, size=(6, 2)), rng.gamma(1.0, size=(2, 5))
    product = scores @ components
    ratio = np.where(counts > 0, counts / product, 1.0)
    expected = (counts * np.log(ratio) - counts + product).sum() / counts.sum()
    assert divergence(scores, components, sparse.csr_matrix(counts)) == pytest.approx(expected)


def test_perplexity_takes_a_vector_of_alpha():
    from judge import perplexity

    rng = np.random.default_rng(0)
    counts = sparse.csr_matrix(rng.poisson(1.0, (6, 5)))
    components = rng.gamma(1.0, size=(2, 5))
    even = perplexity(components, counts, 0.3)
    assert perplexity(components, counts, np.array([0.3, 0.3])) == pytest.approx(even)
    assert perplexity(components, counts, np.array([3.0, 0.3])) != pytest.approx(even)


def test_families_keep_siblings_together(monkeypatch):
    import corpora

    monkeypatch.setattr(corpora, "LARGEST_FAMILY", 2)
    names = [
        "zlib",
        "zlib-dev",
        "gcc12-base",
        "gcc-doc",
        "python3-foo",
        "python3-bar",
        "python-foo",
    ]
    found = corpora.families(names)
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert found[4] == found[6] != found[5]


def test_debian_is_counted_and_kept(tmp_path, monkeypatch):
    import corpora

    rng = np.random.default_rng(0)
    words = np.array([3 * letter for letter in "abcdefghijklmnop"])
    name = corpora.SOURCES["debian"]
    with gzip.open(tmp_path / name, "wt", encoding="utf-8") as file:
        for i in range(200):
            file.write(
                f"libs\tpackage{chr(97 + i % 26)}{i}x\t{' '.join(rng.choice(words, 1))} n{i}\n"
            )
    monkeypatch.setenv("DISCAN_DATA", str(tmp_path))
    monkeypatch.setattr(corpora, "CACHE", tmp_path / "kept")
    monkeypatch.setattr(corpora, "HELD_OUT", 20)
    assert corpora.available("debian") == "debian"
    first, second = corpora.load("debian"), corpora.load("debian")
    assert first.train.shape[0] + first.test.shape[0] == 200
    assert first.test.shape[0] > 0
    assert (first.train != second.train).nnz == 0
    assert first.alpha(50) == pytest.approx(0.1)
    assert np.asarray(first.first(60).train.sum(axis=0)).min() > 0


def test_replicate_and_synthetic_have_the_size_asked_for():
    import corpora

    components = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    drawn = corpora.synthetic(components, 300, 10.0, 0.1, seed=0)
    assert drawn.shape == (300, 3)
    assert drawn.sum() == pytest.approx(3000, rel=0.1)
    corpus = corpora.Counts("tiny", drawn, drawn[:2])
    longer = corpora.replicate(corpus, int(2.5 * drawn.sum()))
    assert longer.tokens == pytest.approx(2.5 * drawn.sum(), rel=0.01)


# ---- results and report ----


def test_a_measurement_is_written_at_once_and_not_taken_twice(results):
    from store import Results

    calls = []
    again = Results(results.path, {"date": "later"}, resume=True)
    for _ in range(2):
        again.measure("s", "c", "t", 0, lambda: calls.append(1) or {"seconds": 1.0})
    assert calls == [1]
    assert Results.read(results.path).select("s")[0]["seconds"] == 1.0
    again.measure("s", "c", "broken", 0, lambda: 1 / 0)
    assert "ZeroDivisionError" in again.select("s", tool="broken")[0]["error"]
    assert again.good("s", tool="broken") == []
    late = Results(results.path, {"date": "later"}, resume=True, seconds=-1.0)
    late.measure("s", "c", "late", 0, lambda: 1 / 0)
    assert late.left_out == ["s: c, late"]


def test_the_report_says_which_floors_were_reached(results, tmp_path):
    import report

    report.write(results, tmp_path)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "3 of 3 floors reached" in text
    assert "Not installed, so left out: enstop" in text
    assert "| 8 | >= 5 | met" in text
    for row in results.rows[:1]:
        row["floor"] = 9.0
    report.write(results, tmp_path)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "1 of 3 floors reached" in text
    assert "**not met**" in text
    for plot in tmp_path.glob("*.svg"):
        assert plot.name in text
        ElementTree.parse(plot)
    assert len(list(tmp_path.glob("*.svg"))) == 2


def test_charts_are_well_formed():
    from charts import Line, chart, log_axis

    lines = [Line("a < b & c", [(0.1, 5000.0), (10.0, 4000.0)]), Line("one", [(1.0, 4500.0)])]
    root = ElementTree.fromstring(chart("A & B", "x", "y", lines, levels=[4200.0]))
    assert root.tag.endswith("svg")
    for values in ([1e6, 5e7], [3990.0, 4010.0], [7.0, 7.0], [0.01, 1000.0]):
        ticks = log_axis("", values)["tickvals"]
        assert 2 <= len(ticks) <= 12
        assert log_axis("", values)["range"][0] <= min(ticks)


def test_slope_of_a_power_is_its_exponent():
    from verdicts import slope

    assert slope([(x, 3.0 * x**0.7) for x in (1.0, 10.0, 100.0)]) == pytest.approx(0.7)


def test_what_was_not_measured_is_not_judged(results):
    from verdicts import SECTIONS, verdicts

    results.rows = results.rows[1:2]
    results.rows.append(
        {"section": "models", "cell": "K=100", "tool": "dm", "repeat": 0, "seconds": 1.0}
    )
    results.rows.append({"section": "warm-up", "cell": "map", "tool": "cold", "first_use": 1.0})
    assert [line for section in SECTIONS for line in verdicts(results, section)] == []
