"""`record`, `recall` and `reindex`: a transcript goes in, cited evidence comes out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.model import build_minilm

CHAT = """\
[2026-03-01 10:00] Ana: Is the export done?
Ben: Nearly. It stops at invoice 4812
with error E-77.
[2026-03-02 09:00] Ana: We moved the deadline to next Friday.
"""

WORDS_ALONE = {"UNIKO_EMBEDDING__MODEL": "none"}


def test_a_pasted_chat_is_kept_once_and_its_evidence_is_cited(run: Run) -> None:
    first = run("record", "-", "--session", "export", stdin=CHAT, variables=WORDS_ALONE)
    assert first.stdout.startswith("3 of 3 messages are new in conversation export: ")
    assert run("record", "-", "--session", "export", stdin=CHAT, variables=WORDS_ALONE).stdout.startswith("0 of 3")

    answer = run("recall", "Which error stopped the export?", variables=WORDS_ALONE).stdout.splitlines()
    assert answer[0] == "1. Nearly. It stops at invoice 4812"
    assert " · Ben · export · export-" in answer[2]
    found = json.loads(run("recall", "deadline", "--limit", "1", "--json", variables=WORDS_ALONE).stdout)
    assert found["items"][0]["sources"][0]["sender"] == "Ana"


def test_a_reindex_without_its_model_fails_and_says_why(run: Run, tmp_path: Path) -> None:
    failed = run("reindex", variables={"UNIKO_EMBEDDING__PATH": str(tmp_path)})
    assert failed.returncode != 0
    assert "memories are indexed" in failed.stdout
    assert "found by their words alone" in failed.stderr
    assert "holds no model.onnx" in failed.stderr


def test_a_transcript_that_grew_adds_only_what_is_new(run: Run) -> None:
    run("record", "-", "--session", "export", stdin=CHAT, variables=WORDS_ALONE)
    longer = f"Ben: Good morning.\n{CHAT}Ben: Good.\nBen: Good.\n"
    grown = run("record", "-", "--session", "export", stdin=longer, variables=WORDS_ALONE)
    assert grown.stdout.startswith("3 of 6 messages are new")


def test_a_file_gives_its_name_to_the_conversation(run: Run, tmp_path: Path) -> None:
    chat = tmp_path / "stand-up.txt"
    chat.write_text(CHAT, encoding="utf-8")
    assert "in conversation stand-up" in run("record", str(chat), variables=WORDS_ALONE).stdout


def test_text_without_speakers_is_refused(run: Run) -> None:
    result = run("record", "-", stdin="no names here", variables=WORDS_ALONE)
    assert result.returncode == 2
    assert "the transcript names no speaker" in result.stderr


def test_an_export_of_a_phone_is_kept_with_its_times(run: Run) -> None:
    chat = "10/05/26, 09:15 - Ana: the code of the gate is 4711\nand a second line: with colon\n"
    assert run("record", "-", stdin=chat, variables=WORDS_ALONE).stdout.startswith("1 of 1")
    answer = run("recall", "gate code", "--limit", "1", variables=WORDS_ALONE).stdout
    assert "2026-05-10T09:15:00Z · Ana" in answer


def test_clock_times_without_a_day_are_left_out_aloud(run: Run) -> None:
    result = run("record", "-", stdin="[10:00] Ana: Hello\n", variables=WORDS_ALONE)
    assert "The clock times of 1 messages were left out" in result.stderr


def test_an_export_that_cannot_be_read_is_refused_whole(run: Run) -> None:
    result = run("record", "-", stdin="Ana: Hi\n10 May 2026, 09:15 - Ana: Hello\n", variables=WORDS_ALONE)
    assert result.returncode == 2
    assert "line 2 of the transcript" in result.stderr


@pytest.mark.parametrize("model", [True, False])
def test_reindex_counts_what_it_indexed_and_embedded(run: Run, tmp_path: Path, model: bool) -> None:
    """C3: `reindex` runs with progress."""
    variables = {"UNIKO_EMBEDDING__PATH": str(build_minilm(tmp_path / "minilm"))} if model else WORDS_ALONE
    run("record", "-", stdin=CHAT, variables=variables)
    result = run("reindex", variables=variables)
    assert result.returncode == 0
    indexed, embedded = (int(word) for word in result.stdout.split() if word.isdigit())
    assert indexed >= 3
    assert embedded == (indexed if model else 0)
