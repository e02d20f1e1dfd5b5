# SPDX-License-Identifier: BSD-3-Clause
"""Files of STRUCTURE: one and two rows per individual, with and without titles and labels."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discan.data.nouns import ALLELES
from discan.readers import Source, guess, read

RNG = np.random.default_rng(0)
N, LOCI = 12, ["Aa", "Bb", "Cc", "Dd"]
GENOTYPES = 100 + 2 * RNG.integers(0, 4, (N, len(LOCI), 2))
GENOTYPES[3, 1] = -9  # a missing genotype
GENOTYPES[5, 2, 1] = -9  # a missing allele
POPULATIONS = [1 + i // 4 for i in range(N)]
TITLES = {
    "plain": " ".join(LOCI),
    "none": None,
    "tabs": "\t\t" + "\t".join(LOCI),
    "full": "Ind Pop " + " ".join(LOCI),
    "distances": " ".join(LOCI) + "\n" + " ".join(["-1"] * len(LOCI)),
    "twice": " ".join(name for name in LOCI for _ in range(2)),
}


def structure(rows, titles="plain", before=lambda i: f"ind{i:02d} {POPULATIONS[i]} ", sep=" "):
    lines = [] if TITLES[titles] is None else [TITLES[titles]]
    for i in range(N):
        if rows == 2:
            lines += [before(i) + sep.join(map(str, GENOTYPES[i, :, p])) for p in (0, 1)]
        else:
            lines.append(before(i) + sep.join(map(str, GENOTYPES[i].ravel())))
    return "\n".join(lines) + "\n"


def expected():
    """Alleles of the first locus, and exposures."""
    alleles = sorted(set(GENOTYPES[:, 0].ravel()) - {-9})
    counts = [[list(pair).count(a) for a in alleles] for pair in GENOTYPES[:, 0]]
    return alleles, counts, (GENOTYPES > 0).any(axis=2)


@pytest.mark.parametrize("titles", ["plain", "none", "full", "distances"])
@pytest.mark.parametrize("rows", [1, 2])
def test_rows_and_titles(tmp_path, write, dense, rows, titles):
    path = write(tmp_path / "x.str", structure(rows, titles))
    assert guess(Source(path)) == "structure"
    corpus = read(path)
    alleles, counts, observed = expected()
    loci = [f"locus {n}" for n in range(1, 5)] if titles == "none" else LOCI
    assert corpus.layout.group_names == tuple(loci)
    assert corpus.layout.word_names[: len(alleles)] == tuple(f"{loci[0]}={a}" for a in alleles)
    assert [row[: len(alleles)] for row in dense(corpus)] == counts
    assert np.array_equal(corpus.exposures, observed)
    assert corpus.lengths[5] == 2 * len(LOCI) - 1
    assert corpus.document_names[:2] == ("ind00", "ind01")
    assert corpus.metadata["population"].tolist() == [str(p) for p in POPULATIONS]
    assert corpus.nouns == ALLELES


def test_titles_of_both_columns_of_a_locus(tmp_path, write):
    corpus = read(write(tmp_path / "x.stru", structure(1, "twice")))
    assert corpus.layout.group_names == tuple(LOCI)


def test_tabs_and_labels_with_spaces(tmp_path, write):
    text = structure(2, "tabs", lambda i: f"ind {i}\t{POPULATIONS[i]}\t", "\t")
    corpus = read(write(tmp_path / "x.str", text))
    assert corpus.document_names[0] == "ind 0"
    assert corpus.layout.group_names == tuple(LOCI)


@pytest.mark.parametrize(
    ("before", "names", "metadata"),
    [
        (lambda i: f"ind{i} ", ("ind0", "ind1"), []),
        (lambda i: f"{POPULATIONS[i]} ", ("1", "2"), ["population"]),
        (lambda i: "", ("1", "2"), []),
        (lambda i: f"ind{i} {POPULATIONS[i]} {i % 2} ", ("ind0", "ind1"), ["population", "flag"]),
    ],
)
def test_columns_before_the_genotypes(tmp_path, write, before, names, metadata, remarks):
    corpus = read(write(tmp_path / "x.str", structure(2, "plain", before)))
    assert corpus.document_names[:2] == names
    assert list(corpus.metadata) == metadata
    assert corpus.n_documents == N
    assert "12 individuals, 4 loci, 2 rows each; columns before the genotypes: " in remarks()


def test_other_marks_of_missing_alleles(tmp_path, write, remarks):
    corpus = read(write(tmp_path / "x.str", structure(2).replace("-9", "0")))
    assert np.array_equal(corpus.exposures, expected()[2])
    assert "alleles '0' are read as missing" in remarks()
    corpus = read(write(tmp_path / "x.str", structure(2).replace("-9", "777")), missing="777")
    assert np.array_equal(corpus.exposures, expected()[2])


def test_wrong_files(tmp_path, write, fails):
    text = structure(2)
    cut = text.replace("ind04 2 ", "ind04 ", 1)
    fails(write(tmp_path / "x.str", cut), "line 10: 5 cells, expected 6")
    fails(
        write(tmp_path / "x.str", text.replace("ind03", "other", 1)), "line 9: label 'ind03' after"
    )
    fails(write(tmp_path / "x.str", text), "before", before=5)
    fails(write(tmp_path / "x.str", text), "rows", rows=3)
    fails(write(tmp_path / "x.str", "a\n"), "too few lines")
    missing = "Aa Bb\n" + "i 1 -9 -9\n" * 2
    fails(write(tmp_path / "x.str", missing), "every genotype is missing")


@settings(max_examples=40, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(data=st.data())
def test_any_damage_is_survived(tmp_path, write, data, changed_at_random):
    changed_at_random(write(tmp_path / "x.str", structure(2)), "structure", data)


@pytest.mark.parametrize(
    "text",
    [
        "a x y\nb x y\nc z y\n",  # nothing that may be an allele
        f"i1 {'9' * 5000} 120\ni2 101 122\n",  # more digits than Python parses
        "a\nb\n",
        "x" * 300 + " 1\n",
    ],
)
def test_tables_without_genotypes(tmp_path, write, survives, text):
    for rows in (1, 2, None):
        survives(write(tmp_path / "x.str", text), "structure", rows=rows)


def test_structure_in_a_file_of_text(tmp_path, write):
    people = [
        f"ind{n} {1 + n // 3} " + " ".join(f"{100 + n + j} -9" for j in range(5)) for n in range(6)
    ]
    path = write(
        tmp_path / "x.txt", " ".join(f"L{j}" for j in range(5)) + "\n" + "\n".join(people) + "\n"
    )
    assert guess(Source(path)) == "structure"
    corpus = read(path)
    assert corpus.document_names[:2] == ("ind0", "ind1")
    assert corpus.n_groups == 5
    text = "on 9 May the 7 of us walked 20 miles from 3 to 8 in the rain\n"
    assert guess(Source(write(tmp_path / "y.txt", 9 * text))) == "lines"
