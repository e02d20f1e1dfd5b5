# SPDX-License-Identifier: BSD-3-Clause
"""Reuters-21578: stories, split, topics and damaged files."""

import pytest

from discan.errors import InputError
from discan.readers import datasets

REUTERS = """<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="1" NEWID="11">
<TOPICS><D>grain</D><D>wheat</D></TOPICS>
<TEXT>&#2;<TITLE>Wheat up</TITLE><BODY>Wheat prices &lt;up> again, wheat sells</BODY></TEXT>
</REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST" NEWID="12">
<TOPICS></TOPICS><TEXT TYPE="UNPROC">Wheat prices of the prairie</TEXT></REUTERS>
<REUTERS TOPICS="NO" LEWISSPLIT="TRAIN" NEWID="13"><TEXT><BODY>unused</BODY></TEXT></REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="NOT-USED" NEWID="14"><TEXT><BODY>unused</BODY></TEXT></REUTERS>
"""


def test_reuters_folder(tmp_path):
    (tmp_path / "reut2-000.sgm").write_text(REUTERS, encoding="latin-1")
    data = datasets.load_reuters(tmp_path, min_df=1, max_df=1.0)
    assert data.corpus.document_names == ("11", "12")
    assert data.document_table["topics"].tolist() == ["grain wheat", ""]
    assert data.document_table["split"].tolist() == ["train", "test"]
    words = dict(
        zip(data.corpus.layout.word_names, data.corpus.to_csr().toarray()[0], strict=True)
    )  # fmt: skip
    assert words == {"wheat": 3, "prices": 1, "sells": 1, "prairie": 0}
    only = datasets.load_reuters(tmp_path, subset="test", min_df=1, max_df=1.0)
    assert only.corpus.document_names == ("12",)


def test_reuters_damaged(tmp_path):
    file = tmp_path / "reuters21578.tar.gz"
    file.write_bytes(b"\x1f\x8b nonsense")
    with pytest.raises(InputError, match="damaged"):
        datasets.load_reuters(file)
    (tmp_path / "reut2-000.sgm").write_text("nothing")
    with pytest.raises(InputError, match="no story"):
        datasets.load_reuters(tmp_path / "reut2-000.sgm")
