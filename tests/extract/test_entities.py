"""Entities: what a text names, by its form and by the rules for English names."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniko_mcp.errors import MissingExtraError
from uniko_mcp.extract import extract, extractor_status, spacy_name_finder
from uniko_mcp.models.names import entity_id, fold
from uniko_mcp.models.time import to_micros

MONDAY = to_micros(datetime(2023, 5, 8, 13, 56, tzinfo=UTC))


def entities(text: str) -> list[tuple[str, str]]:
    return [(entity.name, entity.entity_type) for entity in extract(text, speaker="Alex", at=MONDAY).entities]


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("See https://example.com/a_(b)?x=1).", "https://example.com/a_(b)?x=1", "url"),
        ("(at www.example.org/x, maybe)", "www.example.org/x", "url"),
        ("try example.com.", "example.com", "url"),
        ("Mail bob.smith+x@mail.example.io.", "bob.smith+x@mail.example.io", "email"),
        ("see src/app/main.py:", "src/app/main.py", "path"),
        ("in /etc/nginx/nginx.conf now", "/etc/nginx/nginx.conf", "path"),
        ("run ./run.sh", "./run.sh", "path"),
        ("the ~/notes/todo.md file", "~/notes/todo.md", "path"),
        (r"open C:\Users\bob\x.txt", r"C:\Users\bob\x.txt", "path"),
        ("edit config.yaml, please", "config.yaml", "path"),
        ("POST /api/v1/users/{id}", "/api/v1/users/{id}", "path"),
        ("we run v2.3.1 now", "v2.3.1", "version"),
        ("we run 2.3.1-rc1.", "2.3.1-rc1", "version"),
        ("on 10.0.0.1:8080", "10.0.0.1:8080", "address"),
        ("call user_id here", "user_id", "code"),
        ("the UserService.getName() call", "UserService.getName", "code"),
        ("use os.path.join there", "os.path.join", "code"),
        ("the retryCount is off", "retryCount", "code"),
        ("run `npm install x` first", "npm install x", "code"),
        ("its __init__ fails", "__init__", "code"),
        ("with --verbose on", "--verbose", "code"),
        ("fixed in JIRA-123", "JIRA-123", "identifier"),
        ("see #4512", "#4512", "identifier"),
        ("commit 9f86d08 broke", "9f86d08", "identifier"),
        ("ask @bob", "@bob", "handle"),
        ("all about #python", "#python", "tag"),
        ('I read "The Great Gatsby" again', "The Great Gatsby", "title"),
        ("We saw 'Home Alone' twice", "Home Alone", "title"),
        ("「君の名は」を見た", "君の名は", "title"),
        ("my sister Ana came", "Ana", "person"),
        ("Woohoo Peter! Well done", "Peter", "person"),
        ("I met Dr. Smith", "Dr. Smith", "person"),
        ("Alex's dog barked", "Alex", "person"),
        ("she lives in Porto", "Porto", "place"),
        ("we moved to Winterfell", "Winterfell", "place"),
        ("the Eiffel Tower is tall", "Eiffel Tower", "place"),
        ("he works at Acme Corp", "Acme Corp", "organization"),
        ("at the University of Toronto", "University of Toronto", "organization"),
        ("we use Postgres 15, mostly", "Postgres 15", "product"),
        ("we went yesterday", "2023-05-07", "date"),
    ],
)
def test_a_named_thing_is_found_with_its_type(text: str, name: str, kind: str) -> None:
    """I3 where it touches extraction: versions, identifiers and names in any script are entities."""
    assert (name, kind) in entities(text)


@pytest.mark.parametrize(
    "text",
    [
        "and/or he/she 24/7 either/or",
        "3.5 and 1,000.50 and 50%",
        "Step 1: Define it. Chapter 3 follows.",
        "e.g. this, i.e. that",
        "Wow! Thanks! That's great. Dancing is life.",
        "Probability is hard. I like probability. THIS IS GREAT",
        'She said "i love you" and "what is it?".',
        "",
        "   \n\t ",
        "*",
        '"',
        "don't",
    ],
)
def test_what_names_nothing_is_no_entity(text: str) -> None:
    """I2: punctuation, stop words and blank text are read and give nothing."""
    assert entities(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ich habe das neue Haus gesehen: https://example.de/pfad und v2.3.1", {"https://example.de/pfad", "v2.3.1"}),
        ("J'ai vu le fichier src/main.rs et il est cassé, voir bob@exemple.fr", {"src/main.rs", "bob@exemple.fr"}),
        ("東京に住む。詳細は https://example.jp。v2.3.1 です", {"https://example.jp", "v2.3.1"}),
        ("Анна живёт в Москве, смотри https://пример.рф/ и v1.2.3", {"https://пример.рф/", "v1.2.3"}),
    ],
)
def test_other_languages_give_what_is_known_by_its_form_and_no_rubbish(text: str, expected: set[str]) -> None:
    assert {name for name, _ in entities(text)} == expected


def test_code_blocks_give_links_and_definitions_but_not_their_every_word() -> None:
    text = "Look:\n```python\nimport os_tools\n\ndef load_data(file_name):\n    return get_it('https://x.io/a')\n```\n"
    assert entities(text) == [("load_data", "code"), ("https://x.io/a", "url")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Café", "cafe"),
        ("STRASSE", "straße"),
        ("Ｐｙｔｈｏｎ", "python"),
        ("São  Paulo", "sao paulo"),
    ],
)
def test_spellings_of_one_name_share_an_id(first: str, second: str) -> None:
    """I3: cafe is café, Strasse is Straße."""
    assert entity_id(first) == entity_id(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("500 ms", "900 ms"),
        ("port 8080", "port 8443"),
        ("v2.3.1", "v2.3.2"),
        ("Postgres 15", "Postgres 16"),
        ("が", "か"),
        ("й", "и"),
    ],
)
def test_names_that_differ_in_a_value_never_share_an_id(first: str, second: str) -> None:
    """T9."""
    assert entity_id(first) != entity_id(second)


@given(st.text(max_size=60))
def test_folding_twice_changes_nothing(name: str) -> None:
    assert fold(fold(name)) == fold(name)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_different_number_is_a_different_entity(first: int, second: int) -> None:
    """T9."""
    assert (entity_id(f"build {first}") == entity_id(f"build {second}")) == (first == second)


@given(st.text(max_size=300))
def test_mentions_lie_in_the_text_without_overlap(text: str) -> None:
    end = 0
    for entity in extract(text, speaker="Alex", at=MONDAY).entities:
        assert end <= entity.start < entity.end <= len(text)
        assert entity.entity_type == "date" or text[entity.start : entity.end].startswith(entity.name)
        end = entity.end


def test_the_status_says_what_finds_names_and_what_is_missing() -> None:
    status = extractor_status()
    assert (status.model is None) == (status.missing is not None)
    assert status.method == ("rules" if status.model is None else "rules, spacy")


def test_without_spacy_the_rules_work_and_the_status_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    status = extractor_status()
    assert (status.method, status.model) == ("rules", None)
    assert "uniko-mcp[spacy]" in (status.missing or "")
    assert entities("my sister Ana came") == [("Ana", "person")]
    with pytest.raises(MissingExtraError, match=r"uniko-mcp\[spacy\]"):
        spacy_name_finder()


@pytest.mark.skipif(extractor_status().model is None, reason="spaCy's English model is not installed")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
def test_the_model_types_names_that_the_rules_only_see() -> None:
    text = "We met Barack Obama in Springfield, see v2.3.1."
    found = extract(text, speaker="Alex", at=MONDAY, name_finder=spacy_name_finder()).entities
    assert ("Barack Obama", "person") in [(entity.name, entity.entity_type) for entity in found]
    assert ("v2.3.1", "version") in [(entity.name, entity.entity_type) for entity in found]
