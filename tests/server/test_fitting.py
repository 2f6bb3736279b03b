from __future__ import annotations

from uniko_mcp.models.tokens import estimate_json_tokens
from uniko_mcp.server.fitting import fit


def test_a_result_that_fits_is_left_alone() -> None:
    content = {"text": "short", "items": [{"text": "also short"}]}
    assert fit(content, 1_000) is content


def test_the_longest_text_is_left_out_whole_and_its_length_said_in_its_place() -> None:
    content = {"goal": {"title": "Short", "description": "x" * 60_000}, "created": True}
    fitted = fit(content, 1_000)
    assert estimate_json_tokens(fitted) <= 1_000
    assert fitted["goal"]["title"] == "Short"
    assert fitted["created"] is True
    assert fitted["goal"]["description"].startswith("[left out: a text of 60,000 characters")
    assert content["goal"]["description"] == "x" * 60_000


def test_as_few_texts_as_needed_are_left_out() -> None:
    fitted = fit({"items": [{"text": "a" * 2_000}, {"text": "b" * 9_000}, {"text": "c" * 2_000}]}, 2_000)
    assert [item["text"][0] for item in fitted["items"]] == ["a", "[", "c"]
