"""stdout belongs to the protocol, in any encoding of the terminal, and whatever a client sends."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from .conftest import HERE
from .raw import RawClient

SECRET = "the launch code is 0000"


def test_logs_prints_warnings_children_and_exceptions_go_to_stderr(data_dir: Path, tmp_path: Path) -> None:
    """W9"""
    stderr = tmp_path / "stderr.txt"
    command = [sys.executable, str(HERE / "unruly_server.py"), str(data_dir)]
    with RawClient(command, stderr, PYTHONIOENCODING="cp1252") as client:
        client.initialize()
        failed = client.call("make_noise", {"said": SECRET})
        assert failed["isError"]
        assert failed["content"][0]["text"].startswith("internal_error: make_noise failed")
        assert not client.call("list_goals", {}).get("isError")
        client.stdin.close()
        assert client.rest() == []
        assert client.wait() == 0
    log = stderr.read_bytes().decode("cp1252")
    assert log.count("debug line") == 1_000
    assert "printed by a library" in log
    assert "written to fd 1" in log
    assert "a warning" in log
    assert "EOFError" in log, "the child must not read the client's lines"
    assert "RuntimeError" in log
    assert SECRET not in log


TEXTS = [
    "🚚 emoji",
    "東京に住む",
    "Приве́т",
    "a\u2028b\u0085c\x0bd",
    'quote " \\ tab\t',
    "e\u0301 ≠ é",
    "\u202eright to left",
]


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_every_text_comes_back_unchanged_whatever_the_encoding_of_the_terminal(tmp_path: Path, encoding: str) -> None:
    """W10"""
    with RawClient.of(tmp_path / "memory", PYTHONIOENCODING=encoding, PYTHONUTF8="0", LC_ALL="C") as client:
        client.initialize()
        for number, text in enumerate(TEXTS):
            message = {"sender": "ana", "content": text, "message_id": f"m{number}"}
            recorded = client.call("record_messages", {"session_id": "s", "topic": text, "messages": [message]})
            assert not recorded.get("isError"), recorded
            memory = client.call("get_memory", {"id": f"m{number}"})
            assert memory["structuredContent"]["memory"]["content"] == text
            assert text.split("\n")[0] in memory["content"][0]["text"]


def test_a_lone_surrogate_is_refused_in_a_sentence_and_the_server_goes_on(data_dir: Path) -> None:
    """W10"""
    with RawClient.of(data_dir) as client:
        client.initialize()
        refused = client.call("create_goal", {"title": "half a \ud83d truck"})
        assert refused["isError"]
        assert "title: has a lone surrogate at position 7, which is not a character" in refused["content"][0]["text"]
        unknown = client.request("tools/call", {"name": "\ud83d", "arguments": {}})
        assert unknown["error"]["code"] == -32602
        assert not client.call("create_goal", {"title": "a whole 🚚"}).get("isError")


def test_a_line_that_is_no_message_is_answered_and_the_server_goes_on(data_dir: Path) -> None:
    with RawClient.of(data_dir) as client:
        client.initialize()
        client.send_line(b"what?")
        assert client.receive()["error"]["code"] == -32700
        client.send_line(b'{"jsonrpc":"2.0","id":"x"}')
        answer = client.receive()
        assert (answer["id"], answer["error"]["code"]) == ("x", -32600)
        client.send_line(b"\n  \n")
        long = "x" * 900_000
        created = client.call("create_goal", {"title": "Long", "description": long})
        assert created["structuredContent"]["goal"]["description"].startswith("[left out: a text of 900,000 characters")
        assert len(json.dumps(created)) < 100_000
