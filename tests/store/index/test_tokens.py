"""The words of a text as the index sees them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniko_mcp.store.index.tokens import document_tokens, entity_key, fold, query_tokens


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("404", "the page answers 404 since noon"),
        ("1234", "invoice 1234 is paid"),
        ("v2.3.1", "released v2.3.1 today."),
        ("東京", "東京に住む"),
        ("東", "東京に住む"),
        ("cafe", "we met at the café"),
        ("café", "we met at the cafe"),
        ("Strasse", "die Straße ist lang"),
        ("STRASSE", "die Straße ist lang"),
        ("bar.py", "see foo/bar.py"),
        ("foo/bar.py", "see foo/bar.py, line 3"),
        ("snake", "call snake_case_name() first"),
        ("snake_case_name", "call snake_case_name() first"),
        ("http response", "class ParseHTTPResponse"),
        ("go", "she went home"),
        ("children", "one child"),
        ("hike", "hiking in the hills"),
        ("город", "в городе"),
        ("서울", "서울에서 살아요"),
        ("O'Brien", "OBrien called"),
        ("Ana's", "Ana called"),
        ("pre-edit", "the pre-edit hook"),
        ("edit", "the pre-edit hook"),
        ("C++", "written in C++."),
        ("me@example.org", "write to me@example.org"),
        ("Ｆｕｌｌ", "full width"),
    ],
)
def test_a_query_shares_a_token_with_the_text_it_should_find(query: str, text: str) -> None:
    """I3."""
    assert set(query_tokens(query)) & set(document_tokens(text))


@pytest.mark.parametrize(
    ("query", "text"), [("port 8080", "8443"), ("v2.3.1", "v3.3.1"), ("500ms", "900ms"), ("が", "か")]
)
def test_values_that_differ_share_no_token(query: str, text: str) -> None:
    assert not set(query_tokens(query)) & set(document_tokens(text))


@pytest.mark.parametrize("query", ["*", '"', "...", "the of and", "?!", "what is it", "  "])
def test_a_query_without_meaning_has_no_tokens(query: str) -> None:
    """I2."""
    assert query_tokens(query) == []


def test_a_very_long_run_is_cut() -> None:
    assert max(map(len, document_tokens("x" * 10_000))) <= 64


def test_marks_that_carry_meaning_stay() -> None:
    assert fold("が") != fold("か")


def test_the_key_of_an_entity_is_the_same_however_its_name_is_written() -> None:
    assert entity_key("São  Paulo") == entity_key("SAO PAULO")
    assert entity_key("Postgres 15") != entity_key("Postgres 16")


@given(st.text())
def test_any_text_gives_tokens_without_spaces_twice_the_same(text: str) -> None:
    tokens = document_tokens(text)
    assert tokens == document_tokens(text)
    assert all(token and not any(char.isspace() for char in token) for token in tokens)


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)
