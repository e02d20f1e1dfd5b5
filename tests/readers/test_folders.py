# SPDX-License-Identifier: BSD-3-Clause
"""Folders and archives of texts become the same counts, or one clear line."""

import bz2
import gzip
import io
import logging
import lzma
import os
import tarfile
import warnings
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discan
from discan.errors import LimitError, StorageError
from discan.readers import read

TEXTS = ["red fish, blue fish", "one red bird and the blue bird", "", "Fish don't sing"]


def words_of(corpus):
    return corpus.layout.word_names


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "texts"
    (root / "b").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("hidden")
    (root / ".DS_Store").write_bytes(b"\0\0")
    for name, text in zip(("a.txt", "b/1.txt", "b/2.txt", "c"), TEXTS, strict=True):
        (root / name).write_text(text, "utf-8")
    return root


def test_folder(folder, is_example):
    corpus = read(folder)
    assert is_example(corpus)
    assert corpus.document_names == ("a.txt", "b/1.txt", "b/2.txt", "c")


def test_folder_passes_over_what_is_no_file(folder, is_example):
    os.symlink(folder, folder / "loop")
    os.mkfifo(folder / "pipe")
    os.symlink("/nowhere", folder / "broken")
    assert is_example(read(folder, format="folder"))


def test_folder_follows_no_link_out_of_it(folder, tmp_path, is_example, caplog):
    secret = tmp_path / "texts-secret"
    secret.write_text("secret")
    os.symlink(secret, folder / "d.txt")
    os.symlink("../texts-secret", folder / "e.txt")
    with caplog.at_level(logging.WARNING, "discan"):
        assert is_example(read(folder))
    assert "2 links that lead out of the folder were skipped" in caplog.text
    os.symlink("a.txt", folder / "f.txt")  # inside
    assert read(folder).n_documents == 5
    os.rename(folder, tmp_path / "moved")
    os.symlink(tmp_path / "moved", folder)  # the folder itself may be a link
    assert read(folder).n_documents == 5


def test_folder_encodings(folder, caplog, fails):
    (folder / "a.txt").write_bytes(b"\xef\xbb\xbf" + TEXTS[0].encode())
    (folder / "d").write_bytes("café".encode("latin-1"))
    with caplog.at_level(logging.WARNING, "discan"):
        assert "café" in words_of(read(folder))
    assert len(caplog.records) == 1
    assert "1 files are not UTF-8 and were read as Windows-1252 (Latin-1)" in caplog.text
    assert "café" in words_of(read(folder, encoding="latin-1"))
    message = fails(folder, "use encoding='latin-1'", encoding="utf-8")
    assert str(folder / "d") in message
    fails(folder, "encoding='klingon'", encoding="klingon")
    fails(folder, "encoding='base64'", encoding="base64")


def test_folder_utf16(tmp_path, fails):
    (tmp_path / "a").write_bytes("red fish".encode("utf-16"))
    assert words_of(read(tmp_path)) == ("fish", "red")
    (tmp_path / "a").write_bytes("red fish".encode("utf-16-le"))  # nothing says what it is
    fails(tmp_path, "encoding='utf-16'")
    assert words_of(read(tmp_path, encoding="utf-16-le")) == ("fish", "red")


def test_folder_of_compressed_files(folder, fails, is_example):
    for name, packed in (("a.txt", gzip), ("c", bz2), ("b/1.txt", lzma)):
        (folder / name).write_bytes(packed.compress((folder / name).read_bytes()))
    assert is_example(read(folder))
    (folder / "c").write_bytes((folder / "c").read_bytes()[:-7])
    assert "c:" in fails(folder, "damaged")


def test_folder_of_nonsense(folder, tmp_path, fails):
    (folder / "z.bin").write_bytes(b"abc\0\xff\x00")
    assert str(folder / "z.bin") in fails(folder, "NUL", pattern="*.bin")
    assert len(read(folder, pattern="*.txt")) == 3
    fails(folder, "no files", pattern="*.html")
    (tmp_path / "none").mkdir()
    fails(tmp_path / "none", "no files")
    (tmp_path / "none" / "a").touch()
    fails(tmp_path / "none", "no word is left of 1 documents")
    fails(folder / "c", "not a folder", format="folder")
    fails(folder, "has no option", min_dff=3)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_folder_without_permission(folder, fails):
    (folder / "c").chmod(0)
    fails(folder, "cannot be read")
    (folder / "b").chmod(0)
    fails(folder, "cannot be listed", kind=StorageError)
    (folder / "b").chmod(0o700)


def test_file_names_of_any_bytes(folder):
    (folder / os.fsdecode(b"z\xff\n\x1b.txt")).write_text("fish")
    names = read(folder).document_names
    assert names[-1] == "z\ufffd\ufffd\ufffd.txt"


def tar_of(folder, path, mode="w"):
    with tarfile.open(path, mode) as archive:
        archive.add(folder, ".")
    return path


@pytest.mark.parametrize(("ending", "mode"), [("tar", "w"), ("tar.gz", "w:gz"), ("tgz", "w:gz")])
def test_tar(folder, tmp_path, ending, mode, is_example):
    os.symlink("a.txt", folder / "link")
    corpus = read(tar_of(folder, tmp_path / f"x.{ending}", mode))
    names = list(corpus.document_names)
    assert sorted(names) == ["a.txt", "b/1.txt", "b/2.txt", "c"]
    assert is_example(corpus.select([names.index(name) for name in sorted(names)]))


def test_zip(folder, tmp_path, is_example):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in zip(("../a", "/b", "c/c", "c/c"), TEXTS, strict=True):
            with warnings.catch_warnings(action="ignore"):
                archive.writestr(name, text)
        archive.writestr("__MACOSX/._c", b"\0")
        archive.writestr("c/.hidden", b"\0")
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    before = sorted(tmp_path.rglob("*"))
    corpus = read(path)
    assert is_example(corpus)
    assert corpus.document_names == ("../a", "/b", "c/c", "c/c")
    assert sorted(tmp_path.rglob("*")) == before


def test_bombs(tmp_path, fails):
    small = {"max_unpacked": 10_000, "kind": LimitError}
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in "abc":
            archive.writestr(name, "fish " * 20_000)
    fails(path, "unpacks to more", **small)
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("a")
        member.size = 500_000
        archive.addfile(member, io.BytesIO(bytes(member.size)))
    fails(tmp_path / "x.tar.gz", "unpacks to more", **small)
    (tmp_path / "y.txt.gz").write_bytes(gzip.compress(b"fish\n" * 100_000, mtime=0))
    fails(tmp_path / "y.txt.gz", "unpacks to more", **small)
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "y").write_bytes(b"fish " * 3000)
    fails(tmp_path / "f", "split it", **small)


def test_damaged_archives(folder, tmp_path, fails):
    packed = tar_of(folder, tmp_path / "x.tar.gz", "w:gz").read_bytes()
    plain = gzip.decompress(packed)
    broken = tmp_path / "broken.tar"
    bad = bytearray(plain)
    start = plain.index(b"./b/1.txt")
    bad[start + 150] ^= 0xFF  # the checksum of a header in the middle
    for content in (packed[:-20], packed[: len(packed) // 2], plain[:700], bytes(bad), b"no tar"):
        broken.write_bytes(content)
        fails(broken, "damaged")
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a", "red fish")
    content = (tmp_path / "x.zip").read_bytes()
    for bad_content in (content.replace(b"red fish", b"red bird", 1), content[:-10], b"PK\x03\x04"):
        (tmp_path / "x.zip").write_bytes(bad_content)
        fails(tmp_path / "x.zip", "damaged")
    encrypted = bytearray(content)
    encrypted[6] |= 1
    encrypted[content.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "x.zip").write_bytes(encrypted)
    fails(tmp_path / "x.zip", "encrypted")
    tar_of(tmp_path / "x.tar.gz", tmp_path / "nested.tar")
    fails(tmp_path / "nested.tar", "no files", pattern="*.txt")


def test_archive_in_an_archive(folder, tmp_path, fails):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a.gz", gzip.compress(b"fish", mtime=0))
    fails(tmp_path / "x.zip", "member 'a.gz': compressed inside")


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_archives_with_wrong_bytes(tmp_path_factory, data, survives):
    path = tmp_path_factory.mktemp("x") / "x"
    texts = {"a": b"red fish", "b": b"blue fish " * 100}
    if data.draw(st.booleans()):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in texts.items():
                archive.writestr(name, text)
    else:
        with tarfile.open(path, "w:gz" if data.draw(st.booleans()) else "w") as archive:
            for name, text in texts.items():
                member = tarfile.TarInfo(name)
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    survives(path, format="archive")


def test_a_zip_bomb_is_refused_by_its_directory(tmp_path, monkeypatch):
    """Nothing of it is unpacked: the sizes that it states are enough."""
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for n in range(40):
            archive.writestr(f"{n}.txt", b"a" * 2**25)

    def unpacked(*arguments):
        raise AssertionError("a member was unpacked")

    monkeypatch.setattr(zipfile.ZipFile, "open", unpacked)
    with pytest.raises(LimitError, match="unpacks to more than"):
        read(path)


def test_files_come_in_the_order_of_their_paths(tmp_path):
    names = ["a/x", "a-b", "a.txt", "a/b/c", "a/b-c", "ab/y", "b", "a/z", "A/q", "é/1", "a b/2"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("some words here")
    assert discan.read(tmp_path, "folder").document_names == tuple(sorted(names))


def test_letters_of_windows_and_rich_text(tmp_path, write, remarks):
    write(tmp_path / "a.txt", "the soup\u2019s \u201ccold\u201d".encode("cp1252"))
    write(tmp_path / "b.txt", "the soup\u2019s \u201ccold\u201d")
    write(tmp_path / "c.rtf", r"{\rtf1\ansi the soup}")
    corpus = read(tmp_path)
    assert corpus.document_names == ("a.txt", "b.txt")
    assert corpus.to_csr()[[0]].toarray().tolist() == corpus.to_csr()[[1]].toarray().tolist()
    assert "1 file is no text and left out: 'c.rtf'" in remarks()


def test_a_folder_above_that_of_the_cells(tmp_path, write, fails):
    inside = tmp_path / "outs" / "filtered"
    inside.mkdir(parents=True)
    for name in ("matrix.mtx.gz", "barcodes.tsv.gz", "features.tsv.gz"):
        write(inside / name, gzip.compress(b"1\n"))
    fails(tmp_path / "outs", "name the folder 'filtered' in it, or use format='folder'")
