# SPDX-License-Identifier: BSD-3-Clause
"""A converted folder holds the corpus that the reader gives, whatever the chunks and processes."""

import errno
import json
import logging
import os
import random
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest
from same_corpus import assert_same

import discan
from discan.data.folders.format import is_corpus_folder
from discan.data.folders.shards import load_folder
from discan.data.storage import HEAD, read_file, write_file
from discan.errors import InputError, LimitError, ModelFileError, StorageError
from discan.readers import chunks, text_folders

SOURCE = Path(discan.__file__).parents[1]
LETTERS = [
    "alpha",
    "Beta",
    "don't",
    "naïve",
    "ΣΟΦΟΣ",
    "ﬁne",
    "1993",
    "x",
    "the",
    "e\u0301te\u0301",
    "İx",
]


def write_texts(rng, n):
    return [" ".join(rng.choices(LETTERS, k=rng.randrange(12))) for _ in range(n)]


@pytest.fixture
def sources(tmp_path):
    """One source for each reader of text."""
    rng = random.Random(0)
    place = tmp_path / "data"
    texts = write_texts(rng, 60)
    for n, text in enumerate(texts):
        path = place / "folder" / f"part{n % 3}" / f"{n}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\r\n")
    (place / "folder" / "part0" / "latin.txt").write_bytes(b"na\xefve alpha")
    with tarfile.open(place / "archive.tar.gz", "w:gz") as archive:
        archive.add(place / "folder", "top")
    (place / "lines.txt").write_text("\n".join(texts), "utf-8")
    mallet = "".join(f"d{n} {'ab'[n % 2]} {text}\n" for n, text in enumerate(texts))
    (place / "names.mallet").write_text(mallet)
    rows = [
        {
            "id": f"n{n}", "text": text, "title": rng.choice(["Alpha one", "Beta two"]),
            "date": f"2005-01-{1 + n % 28:02}", "year": 1990 + n % 3, "number": n, "code": f"00{n}",
            "score": rng.choice(["1.0", "2.5", "NA", ""]), "author": rng.choice(["A B", "?", "C"]),
            "empty": "", "mixed": rng.choice(["1", "2", "x"]),
        }
        for n, text in enumerate(texts)
    ]  # fmt: skip
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (place / "records.jsonl").write_text(lines)
    return place


CASES = {
    "folder": ("folder", {}),
    "folder-cuts": ("folder", {"min_df": 3, "max_df": 0.4, "max_words": 4}),
    "archive": ("archive.tar.gz", {"excerpt": 20}),
    "lines": ("lines.txt", {"format": "lines"}),
    "lines-vocabulary": ("lines.txt", {"format": "lines", "vocabulary": ["naïve", "beta", "zoo"]}),
    "lines-ngrams": ("lines.txt", {"format": "lines", "ngrams": 2, "numbers": True}),
    "lines-pattern": ("lines.txt", {"format": "lines", "token_pattern": r"\w", "min_df": 2}),
    "lines-case": ("lines.txt", {"format": "lines", "lowercase": False, "stop_words": None}),
    "mallet": ("names.mallet", {}),
    "mallet-labels": ("names.mallet", {"label_group": True, "max_words": 2}),
    "jsonl": ("records.jsonl", {}),
    "fields": ("records.jsonl", {"format": "fields", "fields": ("title", "text"), "max_words": 5}),
}


@pytest.mark.parametrize("chunk", [1, 300, 2**26])
@pytest.mark.parametrize("case", CASES)
def test_equals_the_reader(sources, tmp_path, case, chunk):
    name, options = CASES[case]
    corpus = discan.read(sources / name, **options)
    big = tmp_path / "big"
    manifest = discan.convert(sources / name, big, chunk=chunk, shard_entries=60, **options)
    assert manifest.digest == corpus.digest
    assert_same(big, corpus)
    assert sorted(os.listdir(big))[:2] == ["manifest.json", "shards"]
    assert not (big / "tmp").exists()
    assert_same(big, discan.read(big))


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("ngrams", [1, 2])
def test_threads_and_processes_do_not_change_a_byte(sources, tmp_path, ngrams):
    for threads, chunk in ((1, 2**26), (2, 100), (3, 700)):
        options = {"threads": threads, "chunk": chunk, "ngrams": ngrams}
        discan.convert(sources / "records.jsonl", tmp_path / str(chunk), **options)
    assert content(tmp_path / "100") == content(tmp_path / "700") == content(tmp_path / str(2**26))


def test_random_texts(tmp_path):
    """Marks, joiners, capitals with special rules, and characters beyond the first plane."""
    alphabet = "ab Zé'’_-0٣\u0301\u0345ΑΣσςİıﬁßǅ\u200d\u00a0\u2028中文𝐚🙂\x1f\x85.\t"
    rng = random.Random(5)
    texts = ["".join(rng.choices(alphabet, k=rng.randrange(40))) for _ in range(300)]
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (tmp_path / "x.jsonl").write_text(lines)
    corpus = discan.read(tmp_path / "x.jsonl", min_df=1, max_df=1.0, numbers=True)
    discan.convert(
        tmp_path / "x.jsonl", tmp_path / "big", chunk=99, min_df=1, max_df=1.0, numbers=True
    )
    assert_same(tmp_path / "big", corpus)


def test_more_words_than_are_merged_at_once(tmp_path, monkeypatch):
    from discan.readers import merging

    monkeypatch.setattr(merging, "_WORDS_AT_ONCE", 10)
    monkeypatch.setattr(merging, "_FEWEST", 3)
    rng = random.Random(1)
    words = [f"{a}{b}{c}" for a in "abcé" for b in "xyz" for c in "pq中"]
    texts = [" ".join(rng.choices(words, k=12)) for _ in range(50)]
    (tmp_path / "x.txt").write_text("\n".join(texts))
    corpus = discan.read(tmp_path / "x.txt", "lines", max_words=20)
    discan.convert(tmp_path / "x.txt", tmp_path / "big", "lines", chunk=100, max_words=20)
    assert_same(tmp_path / "big", corpus)


# ---- interrupted ----

KILLED = """
import os, sys, discan
from discan.readers import chunks, text_folders
real, left = chunks.count_chunk, [int(sys.argv[3])]
def dying(task):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), 9)
    real(task)
text_folders.count_chunk = dying
discan.convert(sys.argv[1], sys.argv[2], chunk=300)
"""


def test_killed_and_continued(sources, tmp_path, monkeypatch):
    big = tmp_path / "big"
    command = [sys.executable, "-c", KILLED, str(sources / "records.jsonl"), str(big), "3"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    ended = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert not is_corpus_folder(big)
    assert len(list((big / "tmp").glob("*.discan"))) == 3
    with pytest.raises(ModelFileError, match="not finished; the same discan convert continues it"):
        discan.read(big)
    counted = []
    real = chunks.count_chunk
    monkeypatch.setattr(
        text_folders, "count_chunk", lambda task: (counted.append(task.path), real(task))
    )
    manifest = discan.convert(sources / "records.jsonl", big, chunk=300)
    fresh = discan.convert(sources / "records.jsonl", tmp_path / "fresh", chunk=300)
    assert manifest.digest == fresh.digest
    assert content(big) == content(tmp_path / "fresh")
    n_fresh = sum("fresh" in path for path in counted)
    assert n_fresh > 5
    assert len(counted) - n_fresh == n_fresh - 3


def interrupted(sources, big, monkeypatch, **options):
    """Convert, and fail after all chunks are counted."""

    def fail(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(text_folders, "merge_vocabularies", fail)
        with pytest.raises(KeyboardInterrupt):
            discan.convert(sources / "lines.txt", big, "lines", chunk=300, **options)
    return len(list((big / "tmp").glob("*.discan")))


@pytest.mark.parametrize("change", ["header", "array", "numbers"])
def test_chunks_that_are_signed_and_wrong(sources, tmp_path, monkeypatch, change):
    big = tmp_path / "big"
    interrupted(sources, big, monkeypatch)
    path = min((big / "tmp").glob("*.discan"))
    header, arrays = read_file(path, chunks.KIND)
    header = {name: header[name] for name in header if name not in HEAD}
    if change == "header":
        header["n_tokens"] = "many"
    elif change == "array":
        del arrays["frequencies"]
    else:
        arrays["ids"] = arrays["ids"] + 1000
    write_file(path, chunks.KIND, header, arrays)
    with pytest.raises(ModelFileError, match="remove it, and convert again") as caught:
        discan.convert(sources / "lines.txt", big, "lines", chunk=300)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("what", ["options", "text", "damage", "cuts"])
def test_what_changed_meanwhile_is_counted_again(sources, tmp_path, monkeypatch, what):
    big, path, options = tmp_path / "big", sources / "lines.txt", {}
    n_chunks = interrupted(sources, big, monkeypatch)
    if what == "options":
        options = {"stop_words": "none"}
    elif what == "cuts":
        options = {"min_df": 4}
    elif what == "text":
        path.write_text(path.read_text().replace("naïve", "native"))
    else:
        chunk = min((big / "tmp").glob("*.discan"))
        data = bytearray(chunk.read_bytes())
        data[-1] ^= 1
        chunk.write_bytes(data)
    counted = []
    real = chunks.count_chunk
    monkeypatch.setattr(text_folders, "count_chunk", lambda task: (counted.append(1), real(task)))
    discan.convert(path, big, "lines", chunk=300, **options)
    expected = {"options": n_chunks, "text": n_chunks, "damage": 1, "cuts": 0}[what]
    assert len(counted) == expected or (what == "text" and 0 < len(counted) <= expected)
    assert_same(big, discan.read(path, "lines", **options))


def test_the_old_corpus_stays_until_the_new_one_is_whole(sources, tmp_path, monkeypatch):
    big = tmp_path / "big"
    discan.convert(sources / "names.mallet", big)
    before = load_folder(big).digest
    interrupted(sources, big, monkeypatch)
    assert load_folder(big).digest == before
    discan.convert(sources / "lines.txt", big, "lines")
    assert_same(big, discan.read(sources / "lines.txt", "lines"))


@pytest.mark.parametrize("step", ["write", "replace"])
@pytest.mark.parametrize("name", ["names.mallet", "x.mtx"])
def test_a_disk_that_fails_at_any_step(sources, tmp_path, monkeypatch, step, name):
    """The folder holds the old corpus or the new one, and the same call finishes the new one."""
    mtx = "%%MatrixMarket matrix coordinate integer general\n3 3 3\n2 1 4\n1 3 1\n3 2 7\n"
    (sources / "x.mtx").write_text(mtx)
    big = tmp_path / "big"
    old = discan.Corpus(np.eye(3, dtype=int))
    new = discan.read(sources / name)
    real = getattr(os, step)
    failures = 0
    while True:
        discan.convert(old, big)
        left = [failures]

        def failing(*arguments, left=left):
            left[0] -= 1
            if left[0] == -1:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(os, step, failing)
            try:
                discan.convert(sources / name, big, chunk=1500, shard_entries=300)
                break
            except StorageError:
                failures += 1
        assert load_folder(big).digest in (old.digest, new.digest)
        discan.convert(sources / name, big, chunk=1500, shard_entries=300)
        assert_same(big, new)
    assert failures > 3
    assert_same(big, new)


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_dies(sources, tmp_path, monkeypatch):
    monkeypatch.setattr(text_folders, "count_chunk", die)
    options = {"threads": 2, "chunk": 300, "ngrams": 2}  # joined words are counted by processes
    with pytest.raises(LimitError, match="a process that helped was killed"):
        discan.convert(sources / "lines.txt", tmp_path / "big", "lines", **options)


def refuse(task):
    raise StorageError(f"{task.path}: no space left on the disk")


@pytest.mark.parametrize("ngrams", [1, 2])
def test_an_error_in_a_thread_or_process_arrives(sources, tmp_path, monkeypatch, ngrams):
    monkeypatch.setattr(text_folders, "count_chunk", refuse)
    options = {"threads": 2, "chunk": 300, "ngrams": ngrams}
    with pytest.raises(StorageError, match="no space left"):
        discan.convert(sources / "lines.txt", tmp_path / "big", "lines", **options)


# ---- refused ----


def test_what_is_refused(sources, tmp_path):
    lines, big = sources / "lines.txt", tmp_path / "big"
    with pytest.raises(InputError, match="no such file"):
        discan.convert(tmp_path / "absent", big)
    assert not big.exists()
    with pytest.raises(InputError, match="no option 'colour'"):
        discan.convert(lines, big, "lines", colour=1)
    for name, value in (("threads", 0), ("threads", -2), ("chunk", 0)):
        with pytest.raises(InputError, match=name):
            discan.convert(lines, big, "lines", **{name: value})
    with pytest.raises(InputError, match="token_pattern"):
        discan.convert(lines, big, "lines", token_pattern="(")
    with pytest.raises(InputError, match="no word is left"):
        discan.convert(lines, big, "lines", min_df=1, max_df=1)
    with pytest.raises(InputError, match="no files that match"):
        discan.convert(sources / "folder", tmp_path / "none", pattern="*.md")
    assert not (tmp_path / "none").exists()
    for inside in (sources / "folder", sources / "folder" / "big"):
        with pytest.raises(StorageError, match="inside the folder that is read"):
            discan.convert(sources / "folder", inside)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("x")
    with pytest.raises(StorageError, match=r"holds other files \('thesis.tex'\)"):
        discan.convert(lines, other, "lines")
    with pytest.raises(StorageError, match="a file, not a folder"):
        discan.convert(lines, other / "thesis.tex", "lines")
    assert (other / "thesis.tex").read_text() == "x"


def test_empty_text(tmp_path):
    (tmp_path / "x.txt").write_text("")
    with pytest.raises(InputError, match="no documents"):
        discan.convert(tmp_path / "x.txt", tmp_path / "big", "lines")


def test_only_one_process_at_a_time(sources, tmp_path):
    from discan.data.locks import locked

    with locked(tmp_path / "big" / "tmp"), pytest.raises(StorageError, match="in use by process"):
        discan.convert(sources / "lines.txt", tmp_path / "big", "lines")


def test_remarks_are_those_of_the_reader(sources, tmp_path, caplog):
    caplog.set_level(logging.INFO, "discan")
    text = "alpha " + "x" * 300
    (tmp_path / "x.txt").write_text("\n".join([text] * 30))
    options = {"vocabulary": ["beta"], "min_df": 1}
    discan.read(tmp_path / "x.txt", "lines", **options)
    expected = [record.getMessage() for record in caplog.records]
    caplog.clear()
    discan.convert(tmp_path / "x.txt", tmp_path / "big", "lines", chunk=100, **options)
    assert [record.getMessage() for record in caplog.records] == expected
    assert len(expected) == 2


# ---- other data ----


def test_any_other_format(tmp_path):
    corpus = discan.Corpus(np.eye(4, dtype=int) * 3)
    discan.convert(corpus, tmp_path / "big", unit="senator,vote,bloc")
    found = load_folder(tmp_path / "big")
    assert found.digest == corpus.digest
    assert found.nouns.document == "senator"
    mtx = "%%MatrixMarket matrix coordinate integer general\n2 3 3\n1 1 4\n1 3 1\n2 2 7\n"
    (tmp_path / "x.mtx").write_text(mtx)
    discan.convert(tmp_path / "x.mtx", tmp_path / "mtx")
    assert_same(tmp_path / "mtx", discan.read(tmp_path / "x.mtx"))


# ---- memory ----

MEASURED = """
import sys, threading, time, discan
peak = 0
def anonymous():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
def watch():
    global peak
    while True:
        peak = max(peak, anonymous())
        time.sleep(0.002)
threading.Thread(target=watch, daemon=True).start()
discan.convert(sys.argv[1], sys.argv[2], "lines", chunk=2**20, shard_entries=2**16)
print(peak)
"""


def test_memory_does_not_grow(tmp_path):
    """Ten times as much text takes at most a tenth more memory."""
    if not Path("/proc/self/status").exists():
        pytest.skip("memory is measured on Linux only")
    rng = np.random.default_rng(0)
    words = np.array([f"w{n:05}" for n in range(20_000)])
    peaks = []
    for n in (5_000, 50_000):
        draws = words[(20_000 * rng.random((n, 100)) ** 3).astype(int)]
        path = tmp_path / f"{n}.txt"
        path.write_text("\n".join(" ".join(row) for row in draws))
        command = [sys.executable, "-c", MEASURED, str(path), str(tmp_path / f"big{n}")]
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), "MALLOC_TRIM_THRESHOLD_": "100000"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert peaks[1] <= 1.10 * peaks[0], peaks
