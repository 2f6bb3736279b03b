"""Transcripts as people paste them."""

from __future__ import annotations

import pytest

from uniko_mcp.errors import InvalidArgumentsError
from uniko_mcp.extract.transcripts import SpokenTurn, read_transcript


def times(*lines: str) -> list[str | None]:
    return [turn.time for turn in read_transcript("\n".join(lines)).turns]


@pytest.mark.parametrize(
    ("line", "turn"),
    [
        ("Ana: Is it done?", SpokenTurn("Ana", "Is it done?", None)),
        ("[2026-03-01 10:00] Ana: Hi", SpokenTurn("Ana", "Hi", "2026-03-01T10:00")),
        ("2026-03-01T10:00:05Z Ana: Hi", SpokenTurn("Ana", "Hi", "2026-03-01T10:00:05Z")),
        ("2026-03-01 - Ana Maria O'Neil: Hi", SpokenTurn("Ana Maria O'Neil", "Hi", "2026-03-01")),
        ("2026-05-10, 09:15 - Ana: Hi", SpokenTurn("Ana", "Hi", "2026-05-10T09:15")),
        ("2026/05/10, 09:15 - Ana: Hi", SpokenTurn("Ana", "Hi", "2026-05-10T09:15")),
        ("10/05/26, 09:15 - Ana: hi there", SpokenTurn("Ana", "hi there", "2026-05-10T09:15")),
        ("10/05/2026, 09:15 - Ana: Hi", SpokenTurn("Ana", "Hi", "2026-05-10T09:15")),
        ("10/05/26, 09:15 - +49 170 1234567: Hi", SpokenTurn("+49 170 1234567", "Hi", "2026-05-10T09:15")),
        ("[10/05/26, 09:15:02] Ana: Hi", SpokenTurn("Ana", "Hi", "2026-05-10T09:15:02")),
        ("\u200e[10/05/26, 09:15:02] ~\u202fAna: Hi", SpokenTurn("Ana", "Hi", "2026-05-10T09:15:02")),
        ("10.05.26, 09:15 - Ana: Hi", SpokenTurn("Ana", "Hi", "2026-05-10T09:15")),
        ("5/10/26, 9:15 AM - Ana: Hi", SpokenTurn("Ana", "Hi", "2026-05-10T09:15")),
        ("5/10/26, 12:05\u202fPM - Ana: Hi", SpokenTurn("Ana", "Hi", "2026-05-10T12:05")),
        ("5/10/26, 12:05 a.m. - Ana: Hi", SpokenTurn("Ana", "Hi", "2026-05-10T00:05")),
        ("Ana (2026-05-10 09:15): hallo", SpokenTurn("Ana", "hallo", "2026-05-10T09:15")),
        ("Ana (09:15): hallo", SpokenTurn("Ana", "hallo", None)),
        ("[10:00] Ana: Hi", SpokenTurn("Ana", "Hi", None)),
        ("**Ben**: what", SpokenTurn("Ben", "what", None)),
        ("**Ben:** what", SpokenTurn("Ben", "what", None)),
        ("Jürgen (QA): läuft: 3 Fehler", SpokenTurn("Jürgen (QA)", "läuft: 3 Fehler", None)),
    ],
)
def test_a_line_names_its_speaker_and_perhaps_the_time(line: str, turn: SpokenTurn) -> None:
    assert read_transcript(line).turns == (turn,)


def test_lines_without_a_speaker_go_on_with_the_turn_before() -> None:
    text = "Exported today\n\nAna: The log says\n  error 77\n\nhttps://example.org/a:b is down\nBen:\nFine."
    chat = read_transcript(text)
    assert chat.unspoken == 1
    assert chat.turns == (
        SpokenTurn("Ana", "The log says\n  error 77\n\nhttps://example.org/a:b is down", None),
        SpokenTurn("Ben", "Fine.", None),
    )


def test_in_an_export_a_line_without_a_date_goes_on_with_the_turn_before() -> None:
    chat = read_transcript(
        "10/05/26, 09:14 - Messages and calls are end-to-end encrypted.\n"
        "10/05/26, 09:15 - Ana: hi there\n"
        "and a second line: with colon\n"
        "[10:00] Cleo: quoted\n"
        "10/05/26, 09:16 - Ben: hello\n"
    )
    assert [(turn.speaker, turn.text) for turn in chat.turns] == [
        ("Ana", "hi there\nand a second line: with colon\n[10:00] Cleo: quoted"),
        ("Ben", "hello"),
    ]
    assert chat.unspoken == 1


def test_a_turn_without_a_time_was_said_at_the_time_before_it() -> None:
    assert times("Ana: Hi", "[2026-03-01] Ben: Hi", "Ana: Well?", "[2026-03-02] Ben: Done.") == [
        *(None, "2026-03-01"),
        *("2026-03-01", "2026-03-02"),
    ]


def test_a_clock_time_is_of_the_day_before_it_or_of_the_next_when_it_went_back() -> None:
    lines = ("[2026-05-10 23:50] Ana: late", "[23:55] Ben: yes", "Ana (00:05): good night")
    assert times(*lines) == ["2026-05-10T23:50", "2026-05-10T23:55", "2026-05-11T00:05"]


def test_clock_times_of_no_known_day_are_counted() -> None:
    assert read_transcript("[10:00] Ana: Hi\nBen (10:01): Hi\nAna: So?").dayless == 2


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        (("05/10/26, 09:15 - Ana: Hi", "05/13/26, 09:15 - Ana: Hi"), "2026-05-10T09:15"),
        (("5/10/26, 9:15 AM - Ana: Hi", "13/10/26, 9:15 AM - Ana: Hi"), "2026-10-05T09:15"),
        (("05.10.26, 09:15 - Ana: Hi", "06.10.26, 09:15 - Ana: Hi"), "2026-10-05T09:15"),
    ],
)
def test_a_part_over_12_decides_the_order_of_day_and_month(lines: tuple[str, ...], first: str) -> None:
    assert times(*lines)[0] == first


def test_dates_in_two_orders_are_refused() -> None:
    with pytest.raises(InvalidArgumentsError, match="now with the day and now with the month"):
        read_transcript("25/12/26, 09:15 - Ana: Hi\n12/26/26, 09:15 - Ana: Hi")


@pytest.mark.parametrize(
    "line",
    [
        "10 May 2026, 09:15 - Ana: Hi",
        "[May 10, 2026 at 9:15 AM] Ana: Hi",
        "10/05/26, 25:15 - Ana: Hi",
        "31/02/26, 09:15 - Ana: Hi",
        "10.5.2026 klo 9.15 - Ana: moi",
    ],
)
def test_a_turn_whose_date_cannot_be_read_is_refused_and_never_dropped(line: str) -> None:
    with pytest.raises(InvalidArgumentsError, match="line 2 of the transcript"):
        read_transcript(f"Ana: Hi\n{line}")


@pytest.mark.parametrize("text", ["", "no speaker here", "10:30 is the time", ": nobody", f"{'x' * 50}: too long"])
def test_text_without_speakers_has_no_turns(text: str) -> None:
    assert read_transcript(text).turns == ()
