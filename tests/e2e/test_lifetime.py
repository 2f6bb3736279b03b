"""How the process begins, and how it ends: with its client, with its parent, by signal, and never with work undone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from uniko_mcp.config import EmbeddingSettings, Settings
from uniko_mcp.operations.call import open_services
from uniko_mcp.store import StoreStatus

from .conftest import HERE, server_command
from .raw import INITIALIZE, RawClient

MODEL_LIBRARIES = {"fastembed", "onnxruntime", "spacy", "litellm", "tokenizers", "nostr_sdk", "pyarrow", "tiktoken"}


async def status_of(data_dir: Path) -> StoreStatus:
    """What the next one to open the store finds."""
    async with open_services(Settings(data_dir=data_dir, embedding=EmbeddingSettings(model="none"))) as services:
        return services.store.status()


def goals_of(data_dir: Path) -> set[str]:
    with RawClient.of(data_dir) as client:
        client.initialize()
        listed = client.call("list_goals", {"limit": 200})["structuredContent"]
    return {goal["goal_id"] for goal in listed["goals"]}


def test_twenty_writes_at_once_are_all_stored_and_answered(data_dir: Path) -> None:
    """W1"""
    with RawClient.of(data_dir) as client:
        client.initialize()
        goals = {f"goal-{number}" for number in range(20)}
        sent = {
            client.send("tools/call", {"name": "create_goal", "arguments": {"title": goal, "goal_id": goal}})
            for goal in goals
        }
        answers = [client.receive() for _ in sent]
        assert {answer["id"] for answer in answers} == sent
        assert {answer["result"]["structuredContent"]["goal"]["goal_id"] for answer in answers} == goals
        client.stdin.close()
        client.wait()
    assert goals_of(data_dir) == goals


@pytest.mark.anyio
async def test_closing_stdin_ends_the_process_with_the_store_closed(data_dir: Path) -> None:
    """W5"""
    with RawClient.of(data_dir) as client:
        client.initialize()
        client.call("create_goal", {"title": "Outlive the session"})
        client.stdin.close()
        assert client.rest() == []
        assert client.wait() == 0
    assert (await status_of(data_dir)).recoveries == ()


def test_requests_that_were_sent_before_stdin_closed_are_answered(data_dir: Path) -> None:
    goals = {f"goal-{number}" for number in range(10)}
    with RawClient.of(data_dir) as client:
        client.initialize()
        client.call("memory_status", {})
        for goal in goals:
            client.send("tools/call", {"name": "create_goal", "arguments": {"title": goal, "goal_id": goal}})
        client.stdin.close()
        answers = client.rest()
        assert client.wait() == 0
    assert [answer for answer in answers if "error" in answer] == []
    assert len(answers) == 10
    assert goals_of(data_dir) == goals


@pytest.mark.anyio
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_process_with_the_store_closed(data_dir: Path, number: int) -> None:
    """W5"""
    with RawClient.of(data_dir) as client:
        client.initialize()
        client.call("create_goal", {"title": "Outlive the session"})
        client.process.send_signal(number)
        assert client.wait() == 0
    assert (await status_of(data_dir)).recoveries == ()


PARENT = """
import subprocess, sys
read, write = int(sys.argv[1]), int(sys.argv[2])
server = subprocess.Popen(sys.argv[3:], stdin=read, stdout=write)
server.wait()
"""


def test_the_death_of_the_parent_ends_the_process_though_its_stdin_stays_open(data_dir: Path) -> None:
    """W5"""
    server_reads, we_write = os.pipe()
    we_read, server_writes = os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(server_reads), str(server_writes), *server_command(data_dir)],
        pass_fds=(server_reads, server_writes),
    )
    os.close(server_reads)
    os.close(server_writes)
    with open(we_write, "wb") as stdin, open(we_read, "rb") as stdout:
        request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
        stdin.write(json.dumps(request).encode("utf-8") + b"\n")
        stdin.flush()
        assert json.loads(stdout.readline())["id"] == 1
        parent.kill()
        parent.wait()
        assert stdout.read() == b""  # ends when the last process that could write has ended
    assert anyio.run(status_of, data_dir).recoveries == ()


@pytest.mark.anyio
async def test_a_call_that_hangs_in_a_thread_does_not_keep_the_process(data_dir: Path, tmp_path: Path) -> None:
    """W5"""
    command = [sys.executable, str(HERE / "unruly_server.py"), str(data_dir)]
    with RawClient(command, tmp_path / "stderr.txt") as client:
        client.initialize()
        client.call("create_goal", {"title": "Outlive the session"})
        client.send("tools/call", {"name": "hang", "arguments": {}})
        client.request("ping", {})
        client.stdin.close()
        assert client.wait() == 0
    assert (await status_of(data_dir)).recoveries == ()


@pytest.mark.parametrize(
    ("option", "code", "message"),
    [
        (("--tools", "golas"), 2, "unknown_operation: "),
        (("--agent", ""), 78, "invalid_configuration: "),
    ],
)
def test_settings_that_cannot_be_served_are_said_in_a_line(
    data_dir: Path, option: tuple[str, ...], code: int, message: str
) -> None:
    refused = subprocess.run(
        server_command(data_dir, *option), stdin=subprocess.PIPE, capture_output=True, encoding="utf-8", timeout=30
    )
    assert refused.returncode == code
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr
    assert refused.stdout == ""


def test_a_killed_server_leaves_no_lock_and_every_acknowledged_write(data_dir: Path) -> None:
    """W4"""
    acknowledged: set[str] = set()
    with RawClient.of(data_dir) as client:
        client.initialize()
        for number in range(40):
            client.send("tools/call", {"name": "create_goal", "arguments": {"title": "x", "goal_id": f"goal-{number}"}})
        for _ in range(20):
            acknowledged.add(client.receive()["result"]["structuredContent"]["goal"]["goal_id"])
        client.process.kill()
        client.wait()
    assert acknowledged <= goals_of(data_dir)


def test_a_write_that_is_sent_again_is_stored_once_and_answered_as_the_first_time(data_dir: Path) -> None:
    """W6"""
    message = {"message_id": "m1", "sender": "user", "content": "Hello", "timestamp": "2026-11-30T10:00:00Z"}
    calls = [
        ("create_goal", {"title": "Once", "goal_id": "g1"}),
        ("record_messages", {"session_id": "s1", "messages": [message]}),
        ("record_action", {"action_type": "call", "action_id": "a1", "output": "ok"}),
    ]
    with RawClient.of(data_dir) as client:
        client.initialize()
        first = [client.call(*call) for call in calls]
        client.process.kill()
    with RawClient.of(data_dir) as client:
        client.initialize()
        again = [client.call(*call) for call in calls]
        conflict = client.call("create_goal", {"title": "Twice", "goal_id": "g1"})
        counts = client.call("memory_status", {})["structuredContent"]["counts"]
    assert again[0]["structuredContent"]["created"] is False
    assert again[0]["structuredContent"]["goal"] == first[0]["structuredContent"]["goal"]
    assert again[1]["structuredContent"]["message_ids"] == ["m1"]
    assert again[2]["structuredContent"]["action_id"] == "a1"
    assert conflict["isError"]
    assert conflict["content"][0]["text"].startswith("id_conflict: ")
    assert (counts["Goal"], counts["Message"], counts["Action"]) == (1, 1, 1)


def test_the_start_loads_no_model_and_no_language_model_library(data_dir: Path, tmp_path: Path) -> None:
    """W8"""
    script = tmp_path / "modules.py"
    script.write_text(
        "import atexit, sys\n"
        "from uniko_mcp.cli import main\n"
        "atexit.register(lambda: print('MODULES', *sorted(sys.modules), file=sys.stderr))\n"
        "main()\n",
        encoding="utf-8",
    )
    stderr = tmp_path / "stderr.txt"
    with RawClient([sys.executable, str(script), "--data-dir", str(data_dir), "serve"], stderr) as client:
        client.initialize()
        assert client.request("tools/list", {})["result"]["tools"]
        client.stdin.close()
        assert client.wait() == 0
    log = stderr.read_text(encoding="utf-8")
    loaded = log[log.index("MODULES") :].split()
    assert "kuzu" in loaded
    assert not MODEL_LIBRARIES & {name.partition(".")[0] for name in loaded}


def test_what_the_first_answer_waits_for_loads_neither_a_model_nor_the_graph_nor_arrays() -> None:
    """W8"""
    script = (
        "import asyncio, sys\n"
        "import uniko_mcp.server.stdio, uniko_mcp.server.wire\n"
        "from uniko_mcp.config import Settings\n"
        "from uniko_mcp.operations import CATALOGUE\n"
        "from uniko_mcp.server.app import build_server\n"
        "server = build_server(Settings(), CATALOGUE, asyncio.Event().wait)\n"
        "handler = server.get_request_handler('tools/list').handler\n"
        "assert asyncio.run(handler(None, None)).tools\n"
        "print(*sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", timeout=60, check=True)
    assert not (MODEL_LIBRARIES | {"numpy", "kuzu"}) & {name.partition(".")[0] for name in done.stdout.split()}


def test_a_second_process_says_who_holds_the_memory_and_exits_75(data_dir: Path) -> None:
    with RawClient.of(data_dir) as first:
        first.initialize()
        first.call("memory_status", {})
        second = subprocess.run(
            server_command(data_dir),
            stdin=subprocess.PIPE,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=30,
        )
    assert second.returncode == 75
    assert second.stderr.startswith("store_locked: ") or "store_locked: " in second.stderr
    assert str(first.process.pid) in second.stderr
    assert "Traceback" not in second.stderr
