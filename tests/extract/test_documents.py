"""Documents of each type, whole and broken, read into text with sections."""

from __future__ import annotations

import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pdf import pdf
from uniko_mcp.errors import DocumentError, MissingExtraError
from uniko_mcp.extract import Document, guess_mime, read_document

pypdf = pytest.importorskip("pypdf")


def headings(document: Document) -> list[str]:
    return [section.heading for section in document.sections]


def test_markdown_keeps_its_text_and_takes_its_title_from_the_first_heading() -> None:
    text = "# The Guide\n\nIntro.\n\n## Setup\n\nDo it."
    document = read_document(text, "text/markdown")
    assert (document.title, document.text, headings(document)) == (
        "The Guide",
        text,
        ["The Guide", "The Guide > Setup"],
    )


def test_html_is_read_as_a_reader_sees_it() -> None:
    page = (
        "<html><head><title>My  Page</title><style>x{}</style></head><body><h1>Hello <b>World</b></h1>"
        "<p>First<br>line</p>"
        "<ul><li>one<li>two</ul><pre>a\n  b</pre><table><tr><th>Key</th><td>value</td></tr></table>"
        "<script>bad()</script><h2>Sub</h2>text &amp; more<img alt='a dog'>"
    )
    document = read_document(page, "text/html; charset=utf-8")
    assert document.title == "My Page"
    assert document.text == (
        "Hello World\n\nFirst\nline\n\n- one\n- two\n\na\n  b\n\nKey | value\n\nSub\n\ntext & more[a dog]"
    )
    assert headings(document) == ["Hello World", "Hello World > Sub"]


def test_json_values_stand_behind_their_paths() -> None:
    document = read_document('{"server": {"ports": [8080, 8443], "name": "x"}, "on": true}', "application/json")
    assert document.text == "server.ports[0]: 8080\nserver.ports[1]: 8443\nserver.name: x\non: true"
    assert headings(document) == ["server", "on"]


def test_json_lines_are_read_as_an_array() -> None:
    assert read_document('{"a": 1}\n{"a": 2}\n', guess_mime("x.jsonl")).text == "[0].a: 1\n[1].a: 2"


def test_json_nested_deeper_than_python_recurses_is_read() -> None:
    deep = "[" * 900 + "1" + "]" * 900
    assert read_document(deep, "application/json").text.endswith(": 1")


@pytest.mark.parametrize("broken", ['{"a": ', "not json", "[" * 100_000])
def test_broken_json_is_read_as_text_and_says_so(broken: str) -> None:
    document = read_document(broken, "application/json")
    assert document.text == broken
    assert document.notes == ("not valid JSON, read as plain text",)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_rows_name_their_columns(delimiter: str) -> None:
    rows = "name,port\nweb,8080\n\ndb,5432\n".replace(",", delimiter)
    assert read_document(rows, "text/csv").text == "name: web; port: 8080\nname: db; port: 5432"


def test_csv_without_a_header_keeps_its_cells() -> None:
    assert read_document("1,2\n3,4\n", "text/csv").text == "1 | 2\n3 | 4"


def test_source_code_keeps_its_text() -> None:
    source = "import x\n\n\ndef foo(a):\n    pass\n\n\nclass Bar:\n    def z(self): ...\n"
    document = read_document(source, guess_mime("a.py"))
    assert (document.text, headings(document)) == (source, ["", "foo", "Bar"])


@pytest.mark.parametrize(
    ("content", "text", "notes"),
    [
        ("Grüße 東京".encode(), "Grüße 東京", ()),
        (b"\xef\xbb\xbfhi", "hi", ()),
        ("\ufeffGrüße".encode("utf-16-le"), "Grüße", ()),
        ("\ufeffGrüße".encode("utf-16-be"), "Grüße", ()),
        ("Grüße – €".encode("cp1252"), "Grüße – €", ("not UTF-8, read as Windows-1252",)),
        (b"\x81\x8d", "\ufffd\ufffd", ("not UTF-8, read as Windows-1252",)),
        (b"", "", ()),
    ],
)
def test_bytes_are_decoded_by_their_own_signs(content: bytes, text: str, notes: tuple[str, ...]) -> None:
    document = read_document(content)
    assert (document.text, document.notes) == (text, notes)


def test_binary_content_is_refused_with_what_to_do() -> None:
    with pytest.raises(DocumentError, match="binary"):
        read_document(b"\x89PNG\r\n\x1a\n\0\0")


def test_each_page_of_a_pdf_is_a_section() -> None:
    document = read_document(pdf("Hello page one", "And page two"))
    assert document.mime == "application/pdf"
    assert headings(document) == ["Page 1", "Page 2"]
    first = document.sections[0]
    assert document.text[first.start : first.end] == "Hello page one"


def test_without_pypdf_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(MissingExtraError, match=r"uniko-mcp\[pdf\]"):
        read_document(pdf("Hello"))


def test_a_pdf_of_pictures_says_that_it_holds_no_text() -> None:
    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    stream = io.BytesIO()
    writer.write(stream)
    document = read_document(stream.getvalue(), "application/pdf", "Scan")
    assert (document.title, document.text) == ("Scan", "")
    assert document.notes == ("1 of 1 pages hold no text, only pictures",)


@pytest.mark.parametrize("content", [b"%PDF-1.4 garbage", b"%PDF-", b"no pdf at all"])
def test_a_damaged_pdf_is_an_error_of_ours(content: bytes) -> None:
    with pytest.raises(DocumentError, match="PDF"):
        read_document(content, "application/pdf")


@pytest.mark.parametrize(
    ("path", "mime"),
    [
        ("notes/README.MD", "text/markdown"),
        ("a.py", "text/x-py"),
        ("a.tar.gz", None),
        ("noext", None),
        ("x.htm", "text/html"),
        ("Größe 1.csv", "text/csv"),
    ],
)
def test_the_suffix_tells_the_type(path: str, mime: str | None) -> None:
    assert guess_mime(path) == mime


def test_the_title_given_wins_over_the_one_found() -> None:
    assert read_document("# A", "text/markdown", "B").title == "B"
    assert read_document("first line\nsecond").title == "first line"
    assert read_document("").title == "Untitled"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(_JSON)
def test_any_json_is_read_with_sections_that_hold_all_of_its_text(value: object) -> None:
    _assert_sections_hold_all(read_document(json.dumps(value), "application/json"))


@given(
    st.text(max_size=300), st.sampled_from(["text/html", "text/csv", "text/markdown", "text/x-py", "text/plain", "x/y"])
)
def test_any_text_is_read_as_any_type(content: str, mime: str) -> None:
    _assert_sections_hold_all(read_document(content, mime))


@given(
    st.lists(
        st.sampled_from(
            ["<h1>", "</h1>", "<h3>a", "<p>", "x ", "<pre>", "</pre>", "<td>", "<script>", "</script>", "<li>", "<svg>"]
        ),
        max_size=20,
    ).map("".join)
)
def test_broken_markup_is_read_as_far_as_it_goes(page: str) -> None:
    _assert_sections_hold_all(read_document(page, "text/html"))


def _assert_sections_hold_all(document: Document) -> None:
    rest = list(document.text)
    end = 0
    for section in document.sections:
        assert end <= section.start <= section.end <= len(document.text)
        rest[section.start : section.end] = [" "] * (section.end - section.start)
        end = section.end
    assert not "".join(rest).strip()
