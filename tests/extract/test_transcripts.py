"""Transcripts as people paste them."""

from __future__ import annotations

import pytest

from uniko_mcp.extract.transcripts import SpokenTurn, lines_before_first_turn, read_transcript


@pytest.mark.parametrize(
    ("line", "turn"),
    [
        ("Ana: Is it done?", SpokenTurn("Ana", "Is it done?", None)),
        ("[2026-03-01 10:00] Ana: Hi", SpokenTurn("Ana", "Hi", "2026-03-01 10:00")),
        ("2026-03-01T10:00:05Z Ana: Hi", SpokenTurn("Ana", "Hi", "2026-03-01T10:00:05Z")),
        ("2026-03-01 - Ana Maria O'Neil: Hi", SpokenTurn("Ana Maria O'Neil", "Hi", "2026-03-01")),
        ("[10:00] Ana: Hi", SpokenTurn("Ana", "Hi", None)),
        ("**Ben**: what", SpokenTurn("Ben", "what", None)),
        ("**Ben:** what", SpokenTurn("Ben", "what", None)),
        ("Jürgen (QA): läuft: 3 Fehler", SpokenTurn("Jürgen (QA)", "läuft: 3 Fehler", None)),
    ],
)
def test_a_line_names_its_speaker_and_perhaps_the_time(line: str, turn: SpokenTurn) -> None:
    assert read_transcript(line) == [turn]


def test_lines_without_a_speaker_go_on_with_the_turn_before() -> None:
    text = "Exported today\n\nAna: The log says\n  error 77\n\nhttps://example.org/a:b is down\nBen:\nFine."
    assert lines_before_first_turn(text) == 1
    assert read_transcript(text) == [
        SpokenTurn("Ana", "The log says\n  error 77\n\nhttps://example.org/a:b is down", None),
        SpokenTurn("Ben", "Fine.", None),
    ]


def test_a_turn_without_a_time_was_said_at_the_time_before_it() -> None:
    turns = read_transcript("Ana: Hi\n[2026-03-01] Ben: Hi\nAna: Well?\n[2026-03-02] Ben: Done.")
    assert [turn.time for turn in turns] == [None, "2026-03-01", "2026-03-01", "2026-03-02"]


@pytest.mark.parametrize("text", ["", "no speaker here", "10:30 is the time", ": nobody", f"{'x' * 50}: too long"])
def test_text_without_speakers_has_no_turns(text: str) -> None:
    assert read_transcript(text) == []
