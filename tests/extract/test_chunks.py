"""Chunks: along the structure of the text, whole, and never through a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniko_mcp.extract import chunk, guess_mime, read_document
from uniko_mcp.extract.blocks import LONGEST_HEADING
from uniko_mcp.extract.chunks import TARGET

PARAGRAPH = "The quick brown fox jumps over the lazy dog. " * 12
CODE = "```python\n" + "\n".join(f"value_{index} = compute({index})" for index in range(30)) + "\n```"


def test_chunks_carry_the_path_of_their_headings() -> None:
    text = f"# Guide\n\n{PARAGRAPH}\n\n## Setup\n\n{PARAGRAPH}\n\n### Database\n\n{PARAGRAPH}\n\n## Use\n\n{PARAGRAPH}"
    headings = [part.heading for part in chunk(text)]
    assert headings == ["Guide", "Guide > Setup", "Guide > Setup > Database", "Guide > Use"]


def test_small_sections_share_a_chunk_under_their_common_heading() -> None:
    (part,) = chunk("# Guide\n\n## One\n\nText.\n\n## Two\n\nMore text.")
    assert part.heading == "Guide"


def test_a_heading_is_never_left_alone() -> None:
    text = f"# Title\n\n{PARAGRAPH}{PARAGRAPH[:200]}"
    assert all(len(part.text) > len("# Title") for part in chunk(text))


def test_a_code_fence_is_kept_whole_when_it_fits() -> None:
    text = f"{PARAGRAPH}\n\n{CODE}\n\n{PARAGRAPH}"
    assert any(CODE in part.text for part in chunk(text))


def test_a_long_code_fence_is_cut_between_lines() -> None:
    text = "```\n" + "\n".join(f"line number {index} of the listing" for index in range(200)) + "\n```"
    parts = chunk(text)
    assert len(parts) > 1
    assert all(part.text.startswith(("```", "line number")) for part in parts)


def test_a_hash_inside_code_is_no_heading() -> None:
    (part,) = chunk("# Real\n\n```sh\n# not a heading\n```")
    assert part.heading == "Real"


def test_text_without_spaces_is_cut_between_sentences_or_characters() -> None:
    sentences = "東京に住んでいます。" * 300
    assert all(part.text.endswith("。") for part in chunk(sentences))
    unbroken = "東" * 3_000
    assert max(len(part.text) for part in chunk(unbroken)) <= 1.5 * TARGET


def test_chunks_are_about_as_long_as_asked() -> None:
    text = "\n\n".join([PARAGRAPH] * 30)
    assert all(TARGET / 3 <= len(part.text) <= 1.5 * TARGET for part in chunk(text))


@pytest.mark.parametrize("text", ["", " \n\n ", "\ufeff"])
def test_nothing_gives_at_most_what_is_there(text: str) -> None:
    assert "".join(part.text for part in chunk(text)) == text.strip()


def test_the_definitions_of_source_code_are_its_sections() -> None:
    source = "import os\n\n" + "\n\n".join(
        f"@decorated\ndef function_{index}():\n" + "    call_something(with_arguments)\n" * 15 for index in range(4)
    )
    document = read_document(source, guess_mime("module.py"))
    parts = chunk(document.text, document.sections)
    assert [part.heading for part in parts] == [f"function_{index}" for index in range(4)]
    assert parts[1].text.startswith("@decorated\ndef function_1")


_BLOCKS = st.sampled_from(
    [
        "# One\n",
        "## Two\n\n",
        "Title\n=====\n",
        "- item\n",
        "> quote\n",
        "| a | b |\n",
        "```\ncode\n\nmore\n```\n",
        "```\nopen",
        "word " * 50,
        "Sentence one. Sentence two! ",
        "x" * 900,
        "漢字" * 500,
        "\n",
        "\r\n",
        "\t",
        "café ",
        "a\u2028b",
        "    indented()\n",
        "---\n",
    ]
)


@given(st.one_of(st.lists(_BLOCKS, max_size=15).map("".join), st.text(max_size=400)), st.sampled_from([20, 100, 700]))
def test_chunks_hold_all_of_the_text_in_order(text: str, target: int) -> None:
    parts = chunk(text, target=target)
    assert parts == chunk(text, target=target)
    rest = list(text)
    end = 0
    for index, part in enumerate(parts):
        assert part.index == index
        assert end <= part.start < part.end
        assert text[part.start : part.end] == part.text
        assert not _cuts_a_word(text, part.start)
        rest[part.start : part.end] = [" "] * len(part.text)
        end = part.end
    assert not "".join(rest).strip()


def _cuts_a_word(text: str, position: int) -> bool:
    pair = text[position - 1 : position + 1] if position else ""
    return len(pair) == 2 and pair.isascii() and pair.isalnum()


def test_a_heading_as_long_as_a_book_is_not_repeated_in_every_chunk() -> None:
    text = f"# {'word ' * 50_000}\n\n" + "\n\n".join(f"Paragraph {number}. {'x' * 600}" for number in range(20))
    assert max(len(piece.heading) for piece in chunk(text)) <= LONGEST_HEADING
