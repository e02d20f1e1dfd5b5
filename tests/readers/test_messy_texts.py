# SPDX-License-Identifier: BSD-3-Clause
"""Texts as people have them: HTML, e-mail, folders of all sorts of files, JSON of any shape."""

import json
from email.message import EmailMessage

import numpy as np
import pandas
import polars
import pytest

import discan
from discan.errors import InputError
from discan.readers import Source, guess, read
from discan.readers.markup import strip_markup

PAGE = (
    "<!DOCTYPE html><html><head><style>p {color: red}</style><script>var x = 1 < 2;</script></head>"
    "<body class='wide'><p>Soup &amp; bread<br/>isn&#39;t&nbsp;cold <!-- hidden --> caf&eacute;</p>"
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (PAGE, "Soup & bread isn't\xa0cold café"),
        ("a <b>bold</b> move", "a bold move"),
        ("<script>never closed", "never closed"),
        ("x < y and y > z, see <joe@x.org>", "x < y and y > z, see <joe@x.org>"),
        ("</script><script>" * 3, ""),
        ("&#xD800; &#0; &bogus;", "� � &bogus;"),
    ],
)
def test_strip_markup(text, wanted):
    assert strip_markup(text).split() == wanted.split()


def test_markup_is_stripped_in_time_that_grows_with_the_text():
    for part in ("<script>", "<!--", "</style><style>", "<p ", "&amp"):
        strip_markup(part * 200_000)  # takes hours if time grows with the square


def test_html_in_a_column_of_texts(tmp_path, write, remarks):
    rows = ["review,label", *(f'"The <br /><br />soup no {n} isn&#39;t good <p>",x' for n in "abc")]
    path = write(tmp_path / "x.csv", "\n".join(rows))
    words = read(path, "texts", field="review", stop_words="none").word_names
    assert "br" not in words
    assert "isn't" in words
    assert "3 documents hold HTML, whose tags and entities were removed" in remarks()
    words = read(path, "texts", field="review", stop_words="none", html=False).word_names
    assert "br" in words


def test_texts_that_only_look_like_html_stay(tmp_path, write, remarks):
    path = write(tmp_path / "x.txt", "if a <b and c> d then stop\nmail to <joe@example.org> now\n")
    assert {"joe", "example"} <= set(read(path).word_names)
    assert "HTML" not in remarks()
    path = write(tmp_path / "y.txt", "salt <b>and</b> pepper\n")
    assert "HTML" not in remarks()
    read(path, html=True)  # asked for, so not said
    assert "HTML" not in remarks()


def test_the_folder_of_a_conversion_holds_no_markup_either(tmp_path, write):
    from discan.readers import convert

    write(tmp_path / "x.txt", f"{PAGE}\n{PAGE}\n")
    convert(tmp_path / "x.txt", tmp_path / "big", stop_words="none")
    words = read(tmp_path / "big").word_names
    assert words == read(tmp_path / "x.txt", stop_words="none").word_names
    assert "amp" not in words


def test_files_that_are_no_texts_are_left_out_of_a_folder(tmp_path, write, remarks):
    write(tmp_path / "a.txt", "red fish")
    write(tmp_path / "b.html", PAGE)
    write(tmp_path / "c.pdf", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj")
    write(tmp_path / "d.docx", b"PK\x03\x04\0\0")
    write(tmp_path / "e.txt", "RDX is an explosive")  # begins as a file of R does
    corpus = read(tmp_path)
    assert corpus.document_names == ("a.txt", "b.html", "e.txt")
    assert "2 files are no text and left out: 'c.pdf', 'd.docx'" in remarks()
    for name in ("a.txt", "b.html", "e.txt"):
        (tmp_path / name).unlink()
    with pytest.raises(InputError, match=r"no text in it; 2 other files, e.g. 'c\.pdf'"):
        read(tmp_path)


def test_a_folder_of_tables_is_no_folder_of_texts(tmp_path, write, fails):
    for name in ("votes.csv", "members.csv", "README.txt"):
        write(tmp_path / name, "fish,bird\n1,2\n")
    fails(tmp_path, "holds no texts but 'members.csv', 'votes.csv'; name one of the files")
    assert len(read(tmp_path, "folder").document_names) == 3
    (tmp_path / "json").mkdir()
    for name in ("a.json", "b.json"):
        write(tmp_path / "json" / name, '{"text": "x"}')
    fails(tmp_path / "json", "join them")


# ---- JSON ----

TEXTS = ["the red fish sings", "a blue bird sings", "one red bird here"]


@pytest.mark.parametrize(
    "content",
    [
        TEXTS,
        {"data": [{"id": n, "text": t} for n, t in enumerate(TEXTS)], "meta": {"n": 3}},
        {f"d{n}": {"text": t, "lang": "en"} for n, t in enumerate(TEXTS)},
        {
            "text": {str(n): t for n, t in enumerate(TEXTS)},
            "lang": {str(n): "en" for n in range(3)},
        },
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_json_of_other_shapes(tmp_path, write, content, indent):
    path = write(tmp_path / "x.json", json.dumps(content, indent=indent))
    corpus = read(path)
    assert corpus.n_documents == 3
    assert {"red", "bird"} <= set(corpus.word_names)


def test_json_of_texts_by_name(tmp_path, write, remarks):
    path = write(tmp_path / "x.json", json.dumps({f"d{n}": TEXTS[n % 3] for n in range(30)}))
    assert read(path).document_names[:2] == ("d0", "d1")
    assert "read as one object of 30 documents" in remarks()
    path = write(tmp_path / "y.json", '{"title": "a", "text": "one red bird here"}')
    assert read(path).n_documents == 1  # one document with two fields


def test_parts_of_nested_objects_are_metadata(tmp_path, write, remarks):
    lines = [{"text": t, "user": {"name": "Ann", "n": n}} for n, t in enumerate(TEXTS)]
    path = write(tmp_path / "x.jsonl", "\n".join(map(json.dumps, lines)))
    corpus = read(path)
    assert list(corpus.metadata["user.name"]) == ["Ann"] * 3
    assert list(map(str, corpus.metadata["user.n"])) == ["0", "1", "2"]
    with pytest.raises(InputError, match=r"'user\.name', 'user\.n'"):
        read(path, field="body")


def test_another_field_of_text_is_named(tmp_path, write, remarks):
    lines = [{"text": t, "full_text": f"{t} again and again, {t}"} for t in TEXTS]
    read(write(tmp_path / "x.jsonl", "\n".join(map(json.dumps, lines))))
    assert "column 'text' holds the text; for another use field='full_text'" in remarks()


# ---- mail ----


def _message(n):
    message = EmailMessage()
    message["From"], message["Subject"] = f"Jörg <j{n}@x.org>", f"Grüße {n} vom Meer"
    message["Date"] = "Mon, 12 Mar 2018 10:00:00 +0000"
    message["Message-ID"] = f"<{n}@x.org>"
    message.set_content(f"The bird sings. Öl {n}\n\nFrom here on, fish.\n")
    message.add_alternative("<html><p>The <b>bird</b></p></html>", subtype="html")
    return message.as_bytes()


def test_mail(tmp_path, write):
    for n in range(3):
        write(tmp_path / f"{n}.", _message(n))
    content = b"".join(
        b"From x@y.z Mon Mar 12 10:00:00 2018\n" + _message(n) + b"\n" for n in range(3)
    )
    box = write(tmp_path / "box.mbox", content)
    (tmp_path / "eml").mkdir()
    write(tmp_path / "eml" / "a.eml", _message(0))
    assert guess(Source(box)) == guess(Source(tmp_path / "eml")) == "mail"
    box.rename(tmp_path.parent / f"{tmp_path.name}.box")
    box = tmp_path.parent / f"{tmp_path.name}.box"
    assert guess(Source(box)) == "mail"
    (tmp_path / "eml" / "a.eml").unlink()
    assert guess(Source(tmp_path)) == "mail"
    for path in (tmp_path, box):
        corpus = read(path, stop_words="none")
        assert corpus.n_documents == 3
        assert corpus.metadata["subject"][1] == "Grüße 1 vom Meer"
        assert corpus.metadata["from"][2] == "Jörg <j2@x.org>"
        assert set(corpus.word_names) == set(
            "the bird sings öl from here on fish grüße vom meer".split()
        )


def test_damaged_mail_is_read_as_far_as_it_goes(tmp_path, write):
    texts = [
        b"Content-Type: text/plain; charset=klingon\nSubject: =?x?q?\xff\n\nred fish \xff\0",
        b"Content-Type: multipart/mixed\nDate: yesterday\nFrom: ,,;<\n\n--x\n",
        b"",
        b"\xff\xfe\xff",
    ]
    for n, text in enumerate(texts):
        write(tmp_path / f"{n}.eml", text + b"\n\nblue bird")
    assert read(tmp_path, "mail", min_df=1).n_documents == 4


def test_a_message_of_very_many_parts_inside_each_other(tmp_path, write, fails):
    inside = b"Content-Type: message/rfc822\n\n"
    path = write(tmp_path / "x.eml", b"Subject: a\n" + inside * 3000 + b"Subject: b\n\nbird\n")
    fails(path, "message 1 cannot be read; leave it out")


IN_MEMORY = ["the red fish", None, "a blue fish sings", "Red birds sing, red fish swim"]


@pytest.mark.parametrize(
    "kind", [list, tuple, pandas.Series, polars.Series, lambda t: np.array(t, dtype=object)],
    ids=["list", "tuple", "pandas", "polars", "array"],
)  # fmt: skip
def test_texts_in_memory_are_counted(tmp_path, write, dense, kind):
    corpus = read(kind(IN_MEMORY), min_df=1)
    expected = read(
        write(tmp_path / "x.txt", "\n".join(text or "" for text in IN_MEMORY)), min_df=1
    )
    assert corpus.word_names == expected.word_names
    assert dense(corpus)[0] == dense(expected)[0]
    assert corpus.n_documents == 4
    assert read(kind(IN_MEMORY[2:]), like=corpus).word_names == corpus.word_names


def test_what_is_no_list_of_texts_is_refused(tmp_path, write):
    path = write(tmp_path / "x.txt", "red fish")
    with pytest.raises(InputError, match="names of files, not texts"):
        read([str(path)])
    with pytest.raises(InputError, match="format='wide' is no format of texts"):
        read(IN_MEMORY, "wide")


@pytest.mark.parametrize("kind", [list, pandas.Series, polars.Series])
def test_a_fit_to_texts_says_how_to_count_them(kind):
    with pytest.raises(InputError, match=r"count their words first, e.g. by discan.read\(texts\)"):
        discan.LDA(2).fit(kind([None, "red fish", "blue bird"]))
