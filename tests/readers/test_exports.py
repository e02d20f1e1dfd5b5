# SPDX-License-Identifier: BSD-3-Clause
"""Tables as other programs export them are read as their users mean them, and guesses are said."""

import zipfile

import pytest

from discan.errors import InputError, LimitError
from discan.readers import Source, guess, read

REVIEWS = 'ID;Datum;Text\n1;01.02.2020;"Ein gutes Buch,\nsehr schön zu lesen für alle"\n'
REVIEWS += '2;03.02.2020;"Das Essen war kalt und der Kellner sehr langsam"\n' * 2


def test_a_table_after_excels_line_of_the_separator(tmp_path, write):
    path = write(tmp_path / "x.csv", ("sep=;\n" + REVIEWS).encode("cp1252"))
    assert guess(Source(path)) == "texts"
    corpus = read(path, stop_words="none")
    assert corpus.n_documents == 3
    assert "schön" in corpus.word_names


def test_excels_unicode_text(tmp_path, write, remarks):
    text = REVIEWS.replace(";", "\t")
    for number, data in enumerate((text.encode("utf-16"), b"\xfe\xff" + text.encode("utf-16-be"))):
        corpus = read(write(tmp_path / f"{number}.txt", data), stop_words="none")
        assert corpus.n_documents == 3
        assert "schön" in corpus.word_names
        assert "Datum" in corpus.metadata
    assert "column 'Text' holds the text" in remarks()


def test_half_a_character_at_the_end_of_utf_16_is_an_error(tmp_path, write, fails):
    fails(write(tmp_path / "x.csv", "a,b,c\n1,2,3\n".encode("utf-16")[:-1]), "utf-16", "wide")


def test_a_zip_archive_of_one_table_is_that_table(tmp_path, write, dense, remarks):
    path = tmp_path / "download.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ratings.csv", "user,item,count\na,x,1\na,y,2\nb,x,3\n")
        archive.writestr("__MACOSX/._ratings.csv", b"\0\5\x16\7")
    assert dense(read(path)) == [[1, 2], [3, 0]]
    assert "holds one file, ratings.csv, which is read" in remarks()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.csv", b"a,b,1\n" * 2**20)
    with pytest.raises(LimitError, match="unpacks to more"):
        read(path, "long", max_unpacked=2**10)


def test_comments_above_a_table(tmp_path, write, dense):
    path = write(
        tmp_path / "counts.txt", "# made by a program\n# in 2020\nx\ta\tb\nr\t1\t20\ns\t0\t13\n"
    )
    assert dense(read(path, "wide")) == [[1, 20], [0, 13]]
    path = write(
        tmp_path / "otu.txt", "# from biom\n#OTU ID\tS1\tS2\nt1\t5\t0\nt2\t0\t77\nt3\t1\t30\n"
    )
    corpus = read(path)
    assert corpus.document_names == ("S1", "S2")  # columns are samples
    assert corpus.word_names == ("t1", "t2", "t3")


TABLE = [[12, 0, 7], [0, 31, 5], [14, 2, 0], [1, 15, 0]]


@pytest.mark.parametrize("delimiter", [" ", "\t", "   "])
def test_tables_of_r_have_a_heading_one_shorter(tmp_path, write, dense, delimiter):
    rows = [delimiter.join([f'"row {n}"', *map(str, row)]) for n, row in enumerate(TABLE)]
    heading = delimiter.join(['"a"', '"b"', '"c"'])
    path = write(tmp_path / "x.txt", "\n".join([heading, *rows, ""]))
    corpus = read(path)
    assert dense(corpus) == TABLE
    assert corpus.word_names == ("a", "b", "c")
    assert corpus.document_names[0] == "row 0"


def test_lines_of_prose_are_no_table(tmp_path, write):
    path = write(tmp_path / "x.txt", "one two three\nfour five six\nseven eight nine\n")
    assert guess(Source(path)) == "lines"


RATINGS = [(1, 31, 2.5, 1260759144), (1, 1029, 3.0, 1260759179), (2, 31, 4.0, 835355493)] * 4
RATINGS = [(user + 3 * (n // 3), *rest) for n, (user, *rest) in enumerate(RATINGS)]


@pytest.mark.parametrize(("name", "delimiter"), [("u.data", "\t"), ("r.dat", "::"), ("r.csv", ",")])
def test_ratings_without_titles(tmp_path, write, remarks, name, delimiter):
    lines = [delimiter.join(map(str, row)) for row in RATINGS]
    corpus = read(write(tmp_path / name, "\n".join(lines) + "\n"))
    assert corpus.shape == (8, 2)
    assert corpus.n_tokens == 38
    assert (
        "document, word and count are the columns 'column 1', 'column 2', 'column 3'" in remarks()
    )


def test_a_rating_is_said_to_be_a_count(tmp_path, write, remarks):
    lines = [",".join(map(str, row)) for row in RATINGS]
    path = write(tmp_path / "x.csv", "\n".join(["userId,movieId,rating,timestamp", *lines, ""]))
    read(path)
    assert "a rating of 5 counts as five events" in remarks()
    assert read(path, "long", columns=("userId", "movieId")).n_tokens == 12


# ---- genes by cells ----

CELLS = ["AAACCTGAGAAACCAT-1", "AAACCTGAGAAACCGC-1", "AAACCTGAGAAACCTA-1"]


def _genes_by_cells(titles, first=""):
    rows = [",".join([f"GENE{n}", *map(str, row)]) for n, row in enumerate(TABLE)]
    return "\n".join([",".join([first, *titles]), *rows, ""])


def test_genes_by_cells_are_turned(tmp_path, write, dense, remarks):
    turned = [list(column) for column in zip(*TABLE, strict=True)]
    path = write(tmp_path / "x.csv", _genes_by_cells(CELLS))
    corpus = read(path)
    assert dense(corpus) == turned
    assert corpus.document_names == tuple(CELLS)
    assert corpus.word_names == ("GENE0", "GENE1", "GENE2", "GENE3")
    assert "rows are read as words (genes), columns as documents (cells)" in remarks()
    assert dense(read(path, transpose=False)) == TABLE
    assert read(path).nouns.documents == "cells"
    path = write(tmp_path / "y.csv", _genes_by_cells(["s1", "s2", "s3"], "gene_id"))
    assert dense(read(path)) == turned
    path = write(tmp_path / "z.csv", _genes_by_cells(["s1", "s2", "s3"]))
    assert dense(read(path)) == TABLE  # nothing tells
    assert dense(read(path, transpose=True)) == turned


def test_new_cells_are_turned_as_the_names_of_the_model_tell(tmp_path, write, dense):
    like = read(write(tmp_path / "x.csv", _genes_by_cells(CELLS)))
    path = write(tmp_path / "y.csv", _genes_by_cells(["s1", "s2", "s3"]))
    assert dense(read(path, like=like)) == dense(like)


def test_a_transposed_table_is_converted_in_pieces(tmp_path, write, dense):
    from discan.readers import convert

    path = write(tmp_path / "x.csv", _genes_by_cells(CELLS))
    convert(path, tmp_path / "big")
    assert dense(read(tmp_path / "big")) == dense(read(path))


def test_files_of_a_matrix_with_a_prefix(tmp_path, write, dense):
    matrix = "%%MatrixMarket matrix coordinate integer general\n2 3 3\n1 1 5\n2 2 6\n2 3 1\n"
    write(tmp_path / "GSM1_s_matrix.mtx", matrix)
    write(tmp_path / "GSM1_s_features.tsv", "E1\tg1\tGene Expression\nE2\tg2\tGene Expression\n")
    write(tmp_path / "GSM1_s_barcodes.tsv", "c1\nc2\nc3\n")
    for path in (tmp_path, tmp_path / "GSM1_s_matrix.mtx"):
        corpus = read(path)
        assert corpus.document_names == ("c1", "c2", "c3")
        assert corpus.word_names == ("g1", "g2")
        assert dense(corpus) == [[5, 0], [0, 6], [0, 1]]
    write(tmp_path / "GSM2_matrix.mtx", matrix)
    with pytest.raises(InputError, match="holds 2 matrices, GSM1_s_matrix"):
        read(tmp_path)


def _write_tenx(h5py, path, place="matrix", types=None):
    with h5py.File(path, "w") as file:
        group = file.create_group(place)
        group["data"], group["indices"], group["indptr"] = [5, 6, 1], [0, 1, 1], [0, 1, 2, 3]
        group["shape"], group["barcodes"] = [2, 3], [b"c1", b"c2", b"c3"]
        if place == "matrix":
            group["features/name"] = [b"g1", b"g2"]
            group["features/feature_type"] = types or [b"Gene Expression"] * 2
        else:
            group["gene_names"] = [b"g1", b"g2"]
    return path


def test_an_h5_file_of_cell_ranger(tmp_path, dense, fails, remarks):
    h5py = pytest.importorskip("h5py")
    for n, place in enumerate(("matrix", "GRCh38")):
        corpus = read(_write_tenx(h5py, tmp_path / f"{n}.h5", place))
        assert dense(corpus) == [[5, 0], [0, 6], [0, 1]]
        assert corpus.document_names == ("c1", "c2", "c3")
        assert corpus.word_names == ("g1", "g2")
        assert corpus.nouns.document == "cell"
    path = _write_tenx(h5py, tmp_path / "x.h5", types=[b"Gene Expression", b"Antibody Capture"])
    assert read(path).word_names == ("g1",)
    assert "1 features are left out: Antibody Capture" in remarks()
    with h5py.File(tmp_path / "y.h5", "w") as file:
        file["other"] = [1, 2]
    fails(tmp_path / "y.h5", "no matrix of Cell Ranger")
    with h5py.File(path, "a") as file:
        del file["matrix/barcodes"]
        file["matrix/barcodes"] = [b"c1"]
    fails(path, "has 1 names, expected 3")


def test_a_loom_file(tmp_path, dense, fails):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "x.loom"
    with h5py.File(path, "w") as file:
        file["matrix"] = [[5, 0, 0], [0, 6, 1]]
        file["row_attrs/Gene"] = [b"g1", b"g1"]
        file["col_attrs/CellID"], file["col_attrs/Age"] = [b"c1", b"c2", b"c3"], [1, 2, 3]
    corpus = read(path)
    assert dense(corpus) == [[5, 0], [0, 6], [0, 1]]
    assert corpus.document_names == ("c1", "c2", "c3")
    assert corpus.word_names == ("g1", "g1-1")
    assert list(corpus.metadata) == ["Age"]
    path.write_bytes(path.read_bytes()[:600])
    fails(path, "cannot be read as HDF5")
