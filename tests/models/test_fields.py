from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from uniko_mcp.models.fields import Identifier, Text

ADAPTER = TypeAdapter[str](Identifier)


@pytest.mark.parametrize("separator", ["\n", "\r", "\t", "\0", "\x1b", "\x85", "\u2028", "\u2029"])
def test_an_id_of_more_than_one_line_is_refused_with_the_place_and_what_to_do(separator: str) -> None:
    with pytest.raises(ValidationError, match=rf"U\+{ord(separator):04X}, at position 3; .* one line\. Remove it"):
        ADAPTER.validate_python(f"ana{separator}[2] bob")
    assert TypeAdapter[str](Text).validate_python(f"ana{separator}bob") == f"ana{separator}bob"


@pytest.mark.parametrize("name", ["Ana María", "東京", "👩‍💻", "می‌خواهم", "a/b:c#d"])
def test_names_of_every_script_are_ids(name: str) -> None:
    assert ADAPTER.validate_python(name) == name
