"""Reading by a language model as a user meets it: by configuration, in recall, and in `memory_status`."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from tests.client import MemoryClient
from tests.llm_server import HANG, MODEL, LlmServer, failure, llm_server, message
from uniko_mcp.config import EmbeddingSettings, ExtractionSettings, Settings
from uniko_mcp.operations.call import open_services

pytestmark = pytest.mark.anyio

PATIENCE = 60
SAID = {"sender": "Ana", "content": "Wir sind jetzt in Porto zu Hause.", "message_id": "m1"}
CLAIM = "Ana ist in Porto zu Hause."
FOUND = message(json.dumps({"claims": [{"message": 1, "text": CLAIM, "subject": "Ana"}]}))


@pytest.fixture(autouse=True)
def key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with llm_server(FOUND) as running:
        yield running


@asynccontextmanager
async def opened(folder: Path, server: LlmServer, *, on: bool = True, **settings: Any) -> AsyncIterator[MemoryClient]:
    """The memory in that folder, whose messages the model reads."""
    configured = Settings(
        data_dir=folder,
        embedding=EmbeddingSettings(model="none"),
        llm=server.settings(timeout=10**6),
        extraction=ExtractionSettings(llm=on),
        **settings,
    )
    async with open_services(configured) as services:
        services.wake()
        yield MemoryClient(services, "assistant")


async def state_of(memory: MemoryClient) -> dict[str, Any]:
    return (await memory("memory_status"))["llm_extraction"]


async def test_recall_finds_what_the_model_found(tmp_path: Path, server: LlmServer) -> None:
    async with opened(tmp_path, server) as memory:
        recorded = await memory("record_messages", session_id="s1", messages=[SAID])
        assert recorded["observations"] == 0
        assert await memory.services.reader.settled(PATIENCE)
        (item,) = (await memory("recall", query="Ana Porto", kinds=["observation"]))["items"]
        assert (item["text"], item["derived"], item["sources"][0]["message_id"]) == (CLAIM, True, "m1")
        observation = await memory("get_memory", id=item["id"])
        assert observation["memory"]["method"] == MODEL
        shown = (await memory("get_memory", id="m1"))["memory"]
        assert "llm_read_at" not in shown
        assert await state_of(memory) == {"state": "idle", "model": MODEL, "pending": 0, "skipped": 0}
    assert len(server.requests) == 1


async def test_by_default_no_model_is_asked(tmp_path: Path, server: LlmServer) -> None:
    async with opened(tmp_path, server, on=False) as memory:
        await memory("record_messages", session_id="s1", messages=[SAID])
        assert await memory.services.reader.settled(PATIENCE)
        assert await state_of(memory) == {"state": "off", "pending": 0, "skipped": 0}
    assert ExtractionSettings().llm is False
    assert server.requests == []


async def test_what_was_recorded_before_it_was_switched_on_is_read_too(tmp_path: Path, server: LlmServer) -> None:
    async with opened(tmp_path, server, on=False) as memory:
        await memory("record_messages", session_id="s1", messages=[SAID])
    async with opened(tmp_path, server) as memory:
        assert await memory.services.reader.settled(PATIENCE)
    async with opened(tmp_path, server) as memory:
        assert await memory.services.reader.settled(PATIENCE)
        assert (await memory("memory_status"))["counts"]["Observation"] == 1
    assert len(server.requests) == 1


async def test_a_memory_that_is_only_read_is_not_read_by_the_model(tmp_path: Path, server: LlmServer) -> None:
    async with opened(tmp_path, server, on=False) as memory:
        await memory("record_messages", session_id="s1", messages=[SAID])
    async with opened(tmp_path, server, read_only=True) as memory:
        assert await memory.services.reader.settled(PATIENCE)
        assert (await state_of(memory))["state"] == "off"
    assert server.requests == []


async def test_a_model_that_hangs_delays_no_call_and_not_the_end(tmp_path: Path) -> None:
    with llm_server(HANG) as server:
        async with asyncio.timeout(PATIENCE), opened(tmp_path, server) as memory:
            await memory("record_messages", session_id="s1", messages=[SAID])
            await to_thread.run_sync(server.called.wait)
            again = {**SAID, "message_id": "m2", "content": "Porto ist schön."}
            assert (await memory("record_messages", session_id="s1", messages=[again]))["created"] == 1
            assert (await memory("recall", query="Porto schön"))["items"][0]["id"] == "m2"
            assert await state_of(memory) == {"state": "reading", "model": MODEL, "pending": 2, "skipped": 0}
        assert len(server.requests) == 1


async def test_a_model_that_fails_is_a_warning(tmp_path: Path) -> None:
    with llm_server(failure(404)) as server:
        async with opened(tmp_path, server) as memory:
            await memory("record_messages", session_id="s1", messages=[SAID])
            async with asyncio.timeout(PATIENCE):
                while (status := await memory("memory_status"))["llm_extraction"]["state"] != "unavailable":
                    await to_thread.run_sync(server.called.wait)
    reason = f"the language model {MODEL} is not known at its provider. Check llm.model and llm.api_base"
    assert status["llm_extraction"] == {
        "state": "unavailable",
        "model": MODEL,
        "pending": 1,
        "skipped": 0,
        "reason": reason,
    }
    assert status["warnings"] == [f"New messages are read by rules alone at present: {reason}"]


PROGRAM = """
import asyncio, sys, threading
import uniko_mcp

importing = threading.Event()
sys.path.insert(0, sys.argv[2])
sys.modules["importing"] = importing


async def main():
    async with uniko_mcp.open(sys.argv[1], embedding={"model": "none"}, llm={"model": "openai/any"},
                              extraction={"llm": True}) as memory:
        said = [{"sender": "Ana", "content": "We are in Porto now."}]
        await memory.agent().record_messages(session_id="s", messages=said)
        await asyncio.to_thread(importing.wait)


asyncio.run(main())
"""


def test_a_program_ends_though_the_library_of_the_model_is_still_being_imported(tmp_path: Path) -> None:
    """The library of this program imports for ever."""
    (tmp_path / "library").mkdir()
    never_done = "import importing, threading\nimporting.set()\nthreading.Event().wait()\n"
    (tmp_path / "library" / "litellm.py").write_text(never_done, encoding="utf-8")
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "memory"), str(tmp_path / "library")]
    ended = subprocess.run(command, timeout=PATIENCE, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
