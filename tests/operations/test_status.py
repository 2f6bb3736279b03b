"""The status of the memory: what is at work, what is missing, and how far what takes long is."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from tests.client import MemoryClient
from uniko_mcp.config import EmbeddingSettings, ExtractionSettings, LanguageModelSettings, Settings
from uniko_mcp.extract import extractor_status
from uniko_mcp.memory.indexer import Rebuilding
from uniko_mcp.operations.call import open_services

pytestmark = pytest.mark.anyio


def settings(folder: Path, *, spacy: bool = False) -> Settings:
    return Settings(
        data_dir=folder, embedding=EmbeddingSettings(model="none"), extraction=ExtractionSettings(spacy=spacy)
    )


async def test_without_spacy_the_status_says_what_it_would_add_and_warns_where_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    for asked in (False, True):
        async with open_services(settings(tmp_path, spacy=asked)) as services:
            status = await MemoryClient(services, "assistant")("memory_status")
        assert status["extractor"]["method"] == "rules"
        assert "model" not in status["extractor"]
        assert "Install uniko-mcp[spacy]" in status["extractor"]["missing"]
        assert any("extraction.spacy is on without effect" in warning for warning in status["warnings"]) is asked


@pytest.mark.skipif(extractor_status().model is None, reason="spaCy's English model is not installed")
async def test_with_spacy_the_status_names_its_model_where_it_is_asked_for(tmp_path: Path) -> None:
    for asked, method in ((False, "rules"), (True, "rules, spacy")):
        async with open_services(settings(tmp_path, spacy=asked)) as services:
            status = await MemoryClient(services, "assistant")("memory_status")
        assert status["extractor"]["method"] == method
        assert ("model" in status["extractor"]) is asked
        assert status["warnings"] == []


async def test_an_index_that_is_built_anew_is_shown_with_how_far_it_is(tmp_path: Path) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def wait(rebuilding: Rebuilding) -> None:
        reached.set()
        assert go_on.wait(60)

    async with open_services(settings(tmp_path)) as services:
        memory = MemoryClient(services, "assistant")
        await memory("assert_fact", subject="tram", predicate="is", object="late")
        assert await services.recollection.settled(60)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(services.recollection.reindex, wait)
            assert await to_thread.run_sync(reached.wait, 60)
            during = (await memory("memory_status"))["index"]
            go_on.set()
        after = (await memory("memory_status"))["index"]
    assert (during["catching_up"], during["rebuilding"]) == (True, {"done": 1, "total": 1})
    assert after["catching_up"] is False
    assert "rebuilding" not in after


@pytest.mark.parametrize("llm", [False, True])
async def test_the_status_answers_while_the_graph_cannot_be_repaired_and_says_why(tmp_path: Path, llm: bool) -> None:
    """W7. With a language model too, whose reading of messages is counted in the graph."""
    configured = settings(tmp_path).model_copy(
        update={
            "extraction": ExtractionSettings(llm=llm),
            "llm": LanguageModelSettings(model="openai/none", api_base="http://127.0.0.1:9/v1"),
        }
    )
    async with open_services(configured) as services:
        memory, obstacle = MemoryClient(services, "assistant"), tmp_path / "graph.new"
        await memory("assert_fact", subject="tram", predicate="is", object="late")
        assert await services.recollection.settled(60)
        services.store._writer.graph._writer.close()  # pyright: ignore[reportPrivateUsage]
        obstacle.write_text("in the way", encoding="utf-8")
        await services.store.write(lambda draft: draft.put("Topic", "acknowledged"))
        status = await memory("memory_status")
    assert status["counts"] == {}
    assert status["journal"]["sequence"] == services.store.sequence
    assert status["llm_extraction"]["state"] == ("unavailable" if llm else "off")
    assert any("cannot follow the journal" in warning and "graph.new" in warning for warning in status["warnings"])
    obstacle.unlink()
    async with open_services(configured) as services:
        status = await MemoryClient(services, "assistant")("memory_status")
    assert status["counts"]["Topic"] == 1
