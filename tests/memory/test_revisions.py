from __future__ import annotations

from itertools import pairwise

import pytest

from uniko_mcp.memory.revisions import is_older


@pytest.mark.parametrize(
    "in_order",
    [
        ["1", "2", "9", "10", "100"],
        ["v1", "v1.2", "v1.2.1", "v1.10", "V2"],
        ["2.0-dev", "2.0-alpha.1", "2.0-alpha.2", "2.0beta1", "2.0rc1", "2.0", "2.0.1"],
        ["2024", "2025-01", "2025-02-03", "2025-02-04T10:00:00Z", "2026"],
        ["2025-03-01T10:00:00+02:00", "2025-03-01T09:00:00Z"],
        ["2024-1", "2024-2", "2025-1"],
        ["rev 3", "Revision 12", "r13"],
        ["999", "1000", "20250131", "20250201"],
    ],
)
def test_dates_numbers_and_versions_tell_their_order(in_order: list[str]) -> None:
    for older, newer in pairwise(in_order):
        assert is_older(older, newer)
        assert not is_older(newer, older)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.0", "1"),
        ("1.0+build.5", "1.0+build.7"),
        ("2025-03", "2025-03-14"),
        ("2025-03-14", "7"),
        ("draft", "final"),
        ("1a2b3c4", "9f8e7d6"),
        ("", "1"),
        (None, "2"),
        ("1", None),
        ("1.2.3.final", "1.2.4.final"),
    ],
)
def test_of_all_else_neither_is_older(one: str | None, other: str | None) -> None:
    assert not is_older(one, other)
    assert not is_older(other, one)
