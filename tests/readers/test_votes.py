# SPDX-License-Identifier: BSD-3-Clause
"""Roll calls in both layouts: names, codes, sessions and wrong files."""

import pytest

from discan.data.nouns import Nouns
from discan.readers import Source, guess, read

MEMBERS = """congress,chamber,icpsr,state_abbrev,party_code,district_code,bioname
108,President,99910,USA,200,0,"BUSH, George Walker"
108,Senate,1,AZ,200,0,"McCAIN, John Sidney, III"
108,Senate,2,FL,100,0,"NELSON, Clarence William (Bill)"
108,Senate,3,FL,100,0,"NELSON, Benjamin"
108,Senate,4,VT,328,0,"O'HARA-DeWINE, Jo"
"""


ROLLCALLS = """congress,chamber,rollnumber,date,session,bill_number,vote_question
108,Senate,1,2003-01-07,1,,On the Motion
108,Senate,2,2004-01-16,2,HJRES2,On the Amendment
"""


VOTES = """congress,chamber,rollnumber,icpsr,cast_code,prob
108,Senate,1,99910,1,1.0
108,Senate,1,4,6,1.0
108,Senate,1,1,1,1.0
108,Senate,1,2,9,1.0
108,Senate,2,1,5,1.0
108,Senate,2,2,3,1.0
108,Senate,2,3,7,1.0
"""


def write_votes(folder, votes=VOTES, members=MEMBERS, rollcalls=ROLLCALLS):
    for name, text in (("members", members), ("rollcalls", rollcalls), ("votes", votes)):
        if text is not None:
            (folder / f"S108_{name}.csv").write_text(text)
    return folder / "S108_votes.csv"


def test_voteview(tmp_path, dense):
    path = write_votes(tmp_path)
    assert guess(Source(path)) == guess(Source(tmp_path)) == "voteview"
    corpus = read(path)
    assert corpus.document_names == (
        "McCain (R-AZ)",
        "Nelson, Clarence William (Bill) (D-FL)",
        "Nelson, Benjamin (D-FL)",
        "O'Hara-DeWine (I-VT)",
    )
    assert corpus.layout.word_names == ("1=yea", "1=nay", "2=yea", "2=nay")
    assert corpus.layout.group_names == (
        "1 2003-01-07 On the Motion",
        "2 2004-01-16 HJRES2 On the Amendment",
    )
    assert dense(corpus) == [[1, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]]
    assert corpus.exposures.tolist() == [[1, 1], [0, 1], [0, 0], [1, 0]]
    assert read(tmp_path, session=1).n_words == 2
    turned = read(tmp_path, orientation="rollcalls")
    assert turned.layout.word_names[:2] == ("McCain (R-AZ)=yea", "McCain (R-AZ)=nay")
    assert dense(turned) == [[1, 0, 0, 0, 0, 0, 0, 1], [0, 1, 1, 0, 0, 0, 0, 0]]


def test_a_table_of_votes_is_not_voteviews(tmp_path, write):
    """Voteview's nays are 4 to 6, its 0 is no vote; other tables may be called votes.csv, too."""
    rows = "".join(f"{i},{'DR'[i % 2]},{i % 2},{1 - i % 2},1\n" for i in range(30))
    path = write(tmp_path / "votes.csv", "id,party,v1,v2,v3\n" + rows)
    assert guess(Source(path)) == "categorical"
    plain = "".join(f"m{i},{i % 2},{1 - i % 2},{i % 3 % 2}\n" for i in range(30))
    path = write(tmp_path / "votes.csv", "member,v1,v2,v3\n" + plain)
    assert guess(Source(path)) == "categorical"
    assert read(path).layout.word_names[:2] == ("v1=0", "v1=1")


def test_legislators_have_a_table(tmp_path):
    write_votes(tmp_path)
    corpus = read(tmp_path)
    assert corpus.metadata["party"].tolist() == ["R", "D", "D", "I"]
    assert corpus.metadata["state"].tolist() == ["AZ", "FL", "FL", "VT"]
    assert "district" not in corpus.metadata, "all are the same"
    assert corpus.nouns == Nouns("senator", "vote", "bloc")
    turned = read(tmp_path, orientation="rollcalls")
    assert (turned.metadata, turned.nouns.document) == ({}, "roll call")


def test_voteview_alone(tmp_path, fails):
    corpus = read(write_votes(tmp_path, members=None, rollcalls=None))
    assert corpus.document_names == ("4", "1", "2", "3")
    assert corpus.layout.group_names == ("1", "2")
    fails(tmp_path, "no roll calls of session 1", session=1)


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("4,6,1.0", "4,x,1.0", "line 3: vote 'x' is no code"),
        ("4,6,1.0", "4,-1,1.0", "line 3: vote '-1'"),
        ("4,6,1.0", "4,nan,1.0", "line 3: vote 'nan'"),
        ("4,6,1.0", "77,6,1.0", "line 3: legislator '77' is not in"),
        ("4,6,1.0", "y,6,1.0", "line 3: 'y' is not a whole number"),
        ("2,3,7,1.0", "2,2,7,1.0", "line 8: a second vote"),
        ("4,6,1.0", "4,6", "line 3: 5 cells"),
        ("icpsr", "who", "line 1: no column icpsr"),
        (VOTES[VOTES.index("\n") + 1 :], "", "no votes"),
    ],
)
def test_bad_voteview(tmp_path, old, new, match, fails):
    assert old in VOTES
    fails(write_votes(tmp_path, VOTES.replace(old, new)), match)


def test_voteview_folder_of_several(tmp_path, write, fails):
    write_votes(tmp_path)
    write(tmp_path / "H108_votes.csv", VOTES)
    fails(tmp_path, "2 congresses")
    assert read(tmp_path / "S108_votes.csv").n_documents == 4
    fails(tmp_path / "S108_votes.csv", "orientation=", orientation="up")
    (tmp_path / "empty").mkdir()
    fails(tmp_path / "empty", "no roll calls found", "voteview")


def test_plain_votes(tmp_path, write, fails, dense):
    votes = ",1-1,1-2\nBUSH (R USA),1,9\nSHELBY (R AL),1,6\nMCCAIN (R AZ),9,4\n"
    path = write(tmp_path / "votes.csv", votes)
    assert guess(Source(path)) == "voteview"
    corpus = read(path)
    assert corpus.document_names == ("Shelby (R-AL)", "McCain (R-AZ)")
    assert dense(corpus) == [[1, 0, 0, 1], [0, 0, 0, 1]]
    fails(write(path, votes.replace("1,6", "1,66")), "line 3: vote '66'", "voteview")
    fails(write(path, votes.replace("1,6", "1")), "line 3: 2 cells", "voteview")


def test_senate_of_2003(real):
    folder = real("senate2003")
    corpus = read(folder / "S108_votes.csv", session=1)
    assert (corpus.n_documents, corpus.n_groups, corpus.n_tokens) == (100, 459, 28517 + 15574)
    assert corpus.to_csr()[:, ::2].sum() == 28517
    assert {"McCain (R-AZ)", "Jeffords (I-VT)", "Nelson (D-FL)"} <= set(corpus.document_names)
    meta = ["date", "bill", "question", "result", "outcome", "yea", "nay"]
    table = read(folder / "senate2003.csv", drop=meta)
    assert (table.n_documents, table.n_groups, table.n_tokens) == (459, 100, 28517 + 15574)
    assert (table.exposures == 0).sum() == 1809


def test_senate_of_2005(real):
    corpus = read(real("senate109"), session=1)
    assert (corpus.n_documents, corpus.n_groups) == (101, 366)
    assert not any("Bush" in name for name in corpus.document_names)
    assert "McCain (R-AZ)" in corpus.document_names
