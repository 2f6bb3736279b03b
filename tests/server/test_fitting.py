from __future__ import annotations

from typing import Any

import pytest

from uniko_mcp.memory.pages import part_of
from uniko_mcp.models.domain import DomainModel
from uniko_mcp.models.fields import JsonObject
from uniko_mcp.models.tokens import estimate_json_tokens, estimate_result_tokens, estimate_tokens
from uniko_mcp.operations.catalogue import Result
from uniko_mcp.server.fitting import fit
from uniko_mcp.server.rendering import render

MOST = 1_000


class Thing(DomainModel):
    title: str = "Short"
    description: str | None = None
    metrics: JsonObject | None = None


class Things(Result):
    things: list[Thing]
    created: bool = True


def fitted(*things: Thing) -> list[dict[str, Any]]:
    """The things in a result of at most `MOST` tokens in either form, still of the types that its schema says."""
    result = Things(things=list(things))
    content = fit(result, MOST)
    assert estimate_json_tokens(content) <= MOST
    assert estimate_tokens(render(content)) <= MOST
    assert Things.model_validate(content).created is True
    return content["things"]


def test_a_result_that_fits_is_left_alone() -> None:
    assert fitted(Thing(metrics={"none": None})) == [{"title": "Short", "metrics": {"none": None}}]


def test_the_longest_text_is_left_out_whole_and_its_length_said_in_its_place() -> None:
    thing = Thing(description="x" * 60_000)
    [shown] = fitted(thing)
    assert shown["title"] == "Short"
    assert shown["description"].startswith("[left out: a text of 60,000 characters")
    assert thing.description == "x" * 60_000


def test_as_few_texts_as_needed_are_left_out() -> None:
    shown = fitted(*(Thing(description=letter * size) for letter, size in (("a", 600), ("b", 9_000), ("c", 600))))
    assert [thing["description"][0] for thing in shown] == ["a", "[", "c"]


def test_lines_count_as_the_text_form_indents_them() -> None:
    [shown] = fitted(Thing(description="x\n" * 700))
    assert shown["description"].startswith("[left out")


@pytest.mark.parametrize(
    ("metrics", "kept"),
    [
        ({"log": list(range(5_000)), "invoices": 12}, {"log": ["left out: "], "invoices": 12}),
        ({"deep": {"log": {str(n): n for n in range(5_000)}, "a": 1}}, {"deep": {"log": {"left out": ""}, "a": 1}}),
        ({"one": "x" * 5_000, "two": ["y" * 5_000]}, {"one": "[left out", "two": ["[left out"]}),
        ({f"key {n}": n for n in range(5_000)}, {"left out": "left out: "}),
        ({"list": [["x" * 40]] * 5_000}, {"list": ["left out: "]}),
    ],
)
def test_of_a_large_object_what_is_large_is_left_out(metrics: Any, kept: Any) -> None:
    [shown] = fitted(Thing(metrics=metrics))
    assert _begins(shown["metrics"], kept)


def _begins(value: Any, expected: Any) -> bool:
    """Whether the value has the shape that is expected, and its texts begin like this."""
    if isinstance(expected, dict):
        return value.keys() == expected.keys() and all(_begins(value[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(value) == len(expected) and all(map(_begins, value, expected))
    return value.startswith(expected) if isinstance(expected, str) else value == expected


@pytest.mark.parametrize("text", ["plain " * 2_000, "\n" * 5_000, '"' * 9_000, "\x00" * 5_000, "東京" * 3_000])
def test_a_long_text_comes_in_parts_that_fit_and_make_it_whole(text: str) -> None:
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        part, offset = part_of(text, offset=offset, max_tokens=MOST)
        assert estimate_result_tokens({"memory": {"text": part}}) <= MOST + 10
        parts.append(part)
    assert "".join(parts) == text
