# SPDX-License-Identifier: BSD-3-Clause
"""Votes, surveys and logs as people have them: codes, lists in a cell, titles in several rows."""

import random

import pytest

from discan.readers import Source, guess, read

VOTES = "congress,chamber,rollnumber,icpsr,cast_code,prob\n"


def _votes(congresses=(117,), chambers=("Senate",)):
    rows = [
        f"{c},{chamber},{call},{10 * n + person},{1 if person < 3 else 6},99.9"
        for c in congresses
        for n, chamber in enumerate(chambers, start=1)
        for call in (1, 2)
        for person in (1, 2, 3)
    ]
    return VOTES + "\n".join(rows) + "\n"


def _members(congresses=(117,), chambers=("Senate",)):
    rows = ["congress,chamber,icpsr,state_abbrev,party_code,bioname,nominate_dim1"]
    for c in congresses:
        for n, chamber in enumerate(chambers, start=1):
            rows += [
                f'{c},{chamber},{10 * n + p},AL,{p}00,"S{n}{p}, John",0.{p}' for p in (1, 2, 3)
            ]
    return "\n".join(rows) + "\n"


def test_votes_of_voteview_under_another_name(tmp_path, write, remarks):
    path = write(tmp_path / "S117_votes (1).csv", _votes())
    assert guess(Source(path)) == "voteview"
    assert read(path).document_names == ("11", "12", "13")
    assert remarks().count("no file of members is beside it") == 1
    write(tmp_path / "S117_members (1).csv", _members())
    corpus = read(path)
    assert corpus.document_names[0] == "S11 (D-AL)"
    assert corpus.metadata["nominate_dim1"].tolist() == [0.1, 0.2, 0.3]


def test_several_congresses_and_chambers_of_voteview(tmp_path, write, dense):
    kinds = ((117, 118), ("House", "Senate"))
    write(tmp_path / "HSall_votes.csv", _votes(*kinds))
    write(tmp_path / "HSall_members.csv", _members(*kinds))
    corpus = read(tmp_path)
    assert corpus.n_documents == 12
    assert corpus.n_groups == 8, "a number of a roll call is used by both chambers"
    assert corpus.document_names[0] == "S11 (D-AL) 117"
    assert {"117-House-1=yea", "118-Senate-2=nay"} <= set(corpus.word_names)
    assert set(corpus.metadata) == {"party", "congress", "chamber", "nominate_dim1"}


def _rows(*columns, n=60):
    rng = random.Random(1)
    titles, kinds = zip(*columns, strict=True)
    rows = [[str(kind(rng, r)) for kind in kinds] for r in range(n)]
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in [titles, *rows]) + "\n"


def _choice(*values):
    return lambda rng, _: rng.choice(values)


NAME = ("Fullname", lambda _, row: f"person {row}")


def test_a_minus_beside_a_plus_is_a_vote(tmp_path, write, remarks):
    calls = [(f"{n}", _choice("+", "-", "0", "")) for n in range(1, 9)]
    party = ("EPG", _choice("EPP", "S&D"))
    corpus = read(write(tmp_path / "x.csv", _rows(NAME, party, *calls)))
    assert {"1=+", "1=-", "1=0"} <= set(corpus.word_names)
    assert "EPG" in corpus.metadata
    calls = [(f"q{n}", _choice("yes", "no", "-")) for n in range(1, 9)]
    corpus = read(write(tmp_path / "y.csv", _rows(NAME, *calls)))
    assert not any(name.endswith("=-") for name in corpus.word_names)


def test_codes_of_absence_in_roll_calls_are_named(tmp_path, write, remarks):
    calls = [(f"Vote {n}", _choice(*"1111166666", "9", "0")) for n in range(1, 9)]
    read(write(tmp_path / "x.csv", _rows(NAME, *calls)))
    assert "to read them as missing use missing=" in remarks()
    assert "'9' (" in remarks()


def test_codes_of_missing_answers_are_named(tmp_path, write, remarks):
    items = [(f"v{n}", _choice(*"1234512345", "-9", "-8", "99")) for n in range(1, 6)]
    read(write(tmp_path / "x.csv", _rows(NAME, *items)))
    for code in ("'-9' (", "'-8' (", "'99' ("):
        assert code in remarks()


def test_a_scale_around_zero_has_no_missing_codes(tmp_path, write, remarks):
    items = [(f"v{n}", _choice("-2", "-1", "0", "1", "2")) for n in range(1, 6)]
    read(write(tmp_path / "x.csv", _rows(NAME, *items)))
    assert "counted as answers" not in remarks()


def test_answers_with_commas_between(tmp_path, write, remarks):
    media = (
        "media",
        lambda rng, _: ", ".join(rng.sample(["TV", "Radio", "Web"], rng.randint(1, 3))),
    )
    often = ("often", _choice("Yes, often", "Yes, sometimes", "No, never", "Agree, strongly"))
    both = ("both", _choice("Agree, a lot", "Agree, a bit", "Disagree, a lot", "Disagree, a bit"))
    corpus = read(write(tmp_path / "x.csv", _rows(NAME, media, often, both)))
    names = set(corpus.word_names)
    assert {"media=TV", "media=Radio", "media=Web"} <= names
    assert len([name for name in names if name.startswith("media=")]) == 3
    assert {"often=Yes, often", "often=No, never", "both=Agree, a lot"} <= names
    assert "in column 'media' is read as several answers" in remarks()


def test_rows_of_titles_of_qualtrics(tmp_path, write, remarks):
    text = _rows(("Q1", _choice("yes", "no")), ("Q2", _choice("red", "blue")))
    heading, rest = text.split("\n", 1)
    more = '"Do you, agree?","Which colour?"\n"{""ImportId"":""QID1""}","{""ImportId"":""QID2""}"\n'
    corpus = read(write(tmp_path / "x.csv", f"{heading}\n{more}{rest}"))
    assert corpus.n_documents == 60
    assert corpus.word_names == ("Q1=no", "Q1=yes", "Q2=blue", "Q2=red")
    assert "2 more rows of titles are left out" in remarks()


def test_missing_alleles_are_not_said_to_be_counted(tmp_path, write, remarks):
    sides = [(f"L{n}_{s}", _choice("150", "152", "154", "-9")) for n in range(1, 4) for s in (1, 2)]
    read(write(tmp_path / "x.csv", _rows(("Ind", lambda _, row: f"i{row}"), *sides)))
    assert "alleles '-9' are read as missing" in remarks()
    assert "counted as answers" not in remarks()


def test_one_vote_per_row_among_many_columns(tmp_path, write, remarks):
    rng = random.Random(1)
    rows = ["session,rcid,ccode,member,vote,Country,year,date"]
    for call in range(20):
        for country in range(12):
            vote = rng.choice("123")
            rows.append(
                f"{call // 5},{call},{country + 100},1,{vote},C{country},{1990 + call // 5},x"
            )
    read(write(tmp_path / "x.csv", "\n".join(rows) + "\n"))
    assert "each row seems to hold one answer, 'vote', of 'Country' to 'rcid'" in remarks()


@pytest.mark.parametrize(
    "titles",
    ["timestamp,visitorid,event,itemid,price", "order_id,product_id,add_to_cart_order,reordered,x"],
)
def test_logs_of_shops(tmp_path, write, titles):
    rows = [",".join(str((n + 1) * 7 + j) for j in range(5)) for n in range(30)]
    path = write(tmp_path / "x.csv", "\n".join([titles, *rows]) + "\n")
    assert guess(Source(path)) == "long"
    assert read(path).shape == (30, 30)


def test_empty_rows_at_the_end_are_no_rows(tmp_path, write):
    text = "id,q1,q2\r\na,yes,no\r\n,,\r\nb,no,no\r\n,,\r\n,,\r\n"
    corpus = read(write(tmp_path / "x.csv", text), "categorical")
    assert corpus.n_documents == 3  # one in the middle is a row without answers
    assert read(write(tmp_path / "y.csv", 'q1\nyes\n""\n'), "categorical").n_documents == 2


def test_a_file_that_is_not_utf8_is_remarked_on_once(tmp_path, write, remarks):
    rows = "".join(f"{n},Gut gekocht und sch\xf6n serviert {n}\n" for n in range(9))
    read(write(tmp_path / "x.csv", f"no,text\n{rows}".encode("cp1252")))
    assert remarks().count("9 lines are not UTF-8") == 1


@pytest.mark.parametrize("title", ["Review ID", "review_id", "ReviewId", "id"])
def test_a_column_of_ids_names_the_texts(tmp_path, write, title):
    rows = "".join(f"{n + 70},The soup was cold and late {n}\n" for n in range(9))
    assert read(write(tmp_path / "x.csv", f"{title},text\n{rows}")).document_names[0] == "70"
    assert read(write(tmp_path / "y.csv", f"paid,text\n{rows}")).document_names is None
