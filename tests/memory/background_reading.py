"""A store that a background reader reads, with a server on loopback for its model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC
from typing import Any

from tests.llm_server import MODEL, LlmServer, Reply, llm_server, message
from uniko_mcp.memory import conversation
from uniko_mcp.memory.background_reader import BackgroundReader, ReaderStatus
from uniko_mcp.memory.conversation import NewMessage, Unit
from uniko_mcp.memory.reading import read_unit, record_findings
from uniko_mcp.models.time import parse_span
from uniko_mcp.recall.language_model import LanguageModel
from uniko_mcp.store import Store

KEY = "sk-a-key-that-nobody-may-see"
PATIENCE = 60
NOTHING = message('{"claims": []}')
AT = parse_span("2026-05-06T12:00:00Z").start


def claims(*texts: str, number: int = 1, **more: Any) -> Reply:
    """An answer with these claims about Ana of one message."""
    return message(json.dumps({"claims": [{"message": number, "text": t, "subject": "Ana", **more} for t in texts]}))


def said(id: str, text: str, *, at: int = AT, sender: str = "Ana", role: str | None = "user") -> NewMessage:
    return NewMessage(id, sender, text, at, role)


async def record(store: Store, *messages: NewMessage, session: str = "s1") -> None:
    """Record messages as the product does, with what the rules find."""
    unit = Unit(session, messages)
    found = read_unit(unit, zone=UTC, progress=lambda done, total: None)

    def plan(draft: Any) -> None:
        conversation.record_messages(draft, unit, now=AT)
        record_findings(draft, found, agent_id="assistant", now=AT)

    await store.write(plan)


@asynccontextmanager
async def reading(
    store: Store, server: LlmServer | None, *, seconds: float = 60, retry_seconds: float = 0.01
) -> AsyncGenerator[BackgroundReader]:
    model = LanguageModel(MODEL, api_base=server.api_base, timeout=seconds, backoff=0) if server else None
    reader = BackgroundReader(store, model, agent_id="assistant", zone=UTC, retry_seconds=retry_seconds)
    reader.start()
    try:
        yield reader
    finally:
        async with asyncio.timeout(PATIENCE):
            await reader.close()


async def read_all(store: Store, *script: Reply) -> tuple[ReaderStatus, list[dict[str, Any]]]:
    """How the reading ends with a server that answers so, and what it was asked."""
    with llm_server(*script) as server:
        async with reading(store, server) as reader:
            assert await reader.settled(PATIENCE)
            return await reader.status(), server.requests


async def observations(store: Store, method: str = MODEL) -> dict[str, dict[str, Any]]:
    """The observations of that origin by their text."""
    rows = await store.read(
        lambda view: view.rows("MATCH (o:Observation) WHERE o.method = $method RETURN o", method=method)
    )
    return {row["o"]["content"]: row["o"] for row in rows}


async def failed(reader: BackgroundReader) -> ReaderStatus:
    """The status once it says what failed."""
    async with asyncio.timeout(PATIENCE):
        while not (status := await reader.status()).reason:
            pass
    return status


def asked(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The numbered messages of a request."""
    lines = request["messages"][1]["content"].splitlines()
    return [line for line in map(json.loads, (line for line in lines if line.startswith("{"))) if "message" in line]
