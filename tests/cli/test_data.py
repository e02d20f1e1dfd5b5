# SPDX-License-Identifier: BSD-3-Clause
"""Data from the shell: convert, datasets and formats; files that are not what they seem."""

import csv
import gzip
import io
import json
import os
import random
import struct
import zipfile
from pathlib import Path

import pytest

import discan
from discan.cli.app import COMMANDS
from discan.errors import InputError, LimitError
from discan.readers import READERS, Source


def test_convert_says_what_it_wrote(run, place, tmp_path):
    path = tmp_path / "c.discan"
    out, _ = run("convert", place / "texts.jsonl", path, "--max-df", 1.0, "--json")
    assert json.loads(out)["words"] == 6
    assert discan.read(path).digest == discan.read(place / "corpus.discan").digest


@pytest.mark.parametrize("command", ["datasets", "formats"])
def test_lists(run, command):
    rows = json.loads(run(command, "--json")[0])
    table = list(csv.reader(io.StringIO(run(command, "--csv")[0])))
    assert len(rows) == len(table) - 1 == len(run(command)[0].splitlines()) - 1


@pytest.mark.parametrize("name", list(READERS))
def test_every_option_of_every_format_is_described(run, name):
    for option in json.loads(run("formats", name, "--json")[0]):
        assert option["what it is"], (name, option)
    run("formats", name)


def test_the_guide_lists_every_format_and_command():
    guide = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
    for reader in READERS.values():
        assert f"| `{reader.name}` | {reader.summary} |" in guide
    names = [command.__name__.replace("_", "-") for command in COMMANDS]
    assert all(f"$ discan {name}" in guide for name in names)


def test_datasets_by_name(run, fails, tmp_path):
    out, _ = run("info", "dataset:senate2005", "--json")
    assert json.loads(out)["documents"] == 100
    line = fails("info", "dataset:senate2005", "--option", "x=1")
    assert "has no option 'x'" in line
    assert "no such file" in fails("info", "dataset:ap", "--option", f"path={tmp_path}/x")
    run("info", "dataset:nosuch", code=2)


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
def test_nonsense_as_data(fails, nonsense, tmp_path, name):
    line = fails("fit", nonsense / name, "-o", tmp_path / "new" / "m.discan", "--iterations", 1)
    assert name[:20] in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", FILES)
def test_nonsense_as_model(fails, nonsense, name):
    if name != "pipe.txt":
        fails("show", nonsense / name)


def test_one_for_the_other(fails, place, tmp_path):
    model, corpus, texts = place / "model", place / "corpus.discan", place / "texts.jsonl"
    assert "not a corpus" in fails("fit", model / "model.discan", "-o", tmp_path / "x.discan")
    assert "not a model" in fails("show", corpus)
    assert "not a model" in fails("transform", corpus, texts)
    assert "not a corpus" in fails("transform", model, model / "model.discan")
    assert "is JSON, not a file of discan" in fails("score", texts, texts)
    assert "holds no run" in fails("resume", place, "-o", tmp_path / "x.discan")
    assert "has no option 'nosuch'" in fails("info", texts, "--option", "nosuch=1")


@pytest.mark.parametrize("seed", range(10))
def test_a_flipped_bit(fails, place, tmp_path, seed):
    data = bytearray((place / "model" / "model.discan").read_bytes())
    at = random.Random(seed).randrange(len(data))
    data[at] ^= 1 << random.Random(seed).randrange(8)
    path = tmp_path / "m.discan"
    path.write_bytes(data)
    for command in ("show", "info"):
        assert "m.discan" in fails(command, path)
    path.write_bytes(data[:at])
    fails("show", path)


def test_bombs(fails, tmp_path):
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


def test_a_name_that_ends_in_a_slash_is_a_folder(run, fails, place, tmp_path):
    big = f"{tmp_path}/big/"
    options = ("--max-df", 1.0, "--threads", 1, "--chunk", "1KB")
    out, err = run("convert", place / "texts.jsonl", big, *options, "--json")
    record = json.loads(out)
    assert (record["folder"], record["words"]) == (big, 6)
    assert "converted in" in err
    assert "written to" in err
    assert record["SHA-256"] == discan.read(place / "corpus.discan").digest
    shown = json.loads(run("info", big, "--verify", "--json")[0])
    assert shown["verified"] is True
    assert {**shown, "folder": big} == {**record, "verified": True}
    assert json.loads(run("info", big, "--format", "discan", "--json")[0])["words"] == 6
    shard = next((tmp_path / "big" / "shards").iterdir())
    os.truncate(shard, 1000)
    run("info", big)
    assert "fails its checksum" in fails("info", big, "--verify")


def test_a_data_set_becomes_a_folder(run, fails, tmp_path):
    run("convert", "dataset:senate2005", f"{tmp_path}/big/", "--unit", "person")
    corpus = discan.read(tmp_path / "big")
    assert corpus.nouns.document == "person"
    assert len(corpus) == 100
    (tmp_path / "x").write_text("")
    assert "a file, not a folder" in fails("convert", "dataset:senate2005", f"{tmp_path}/x/")


def test_sizes_of_chunks(run, place, tmp_path):
    run("convert", place / "texts.jsonl", f"{tmp_path}/big/", "--chunk", "large", code=2)
    run("convert", place / "texts.jsonl", f"{tmp_path}/big/", "--threads", -2, code=2)
