"""An embedding model behind an API, against a real server on loopback: its vectors, its failures, recall through it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import numpy as np
import pytest

from tests.llm_server import (
    DIMENSION,
    EMBED,
    EMBEDDING_MODEL,
    HANG,
    MALFORMED,
    LlmServer,
    Reply,
    embed,
    embeddings,
    failure,
    llm_server,
    refused_port,
)
from tests.recall.memories import ids, message, recall
from uniko_mcp.errors import ModelUnavailableError
from uniko_mcp.recall.embedder import EmbeddingChoice, LitellmEmbedder, load_embedder
from uniko_mcp.recall.worker import IndexWorker
from uniko_mcp.store.index.rank_index import RankIndex

KEY = "sk-a-key-that-nobody-may-see"
SECRET = "the safe opens with 4711"
PATIENCE = 60


@pytest.fixture(autouse=True)
def key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture(autouse=True)
def loop_of_the_main_thread() -> Iterator[None]:
    """The library would make one there and leave it open. The product calls it from other threads."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with llm_server(EMBED) as running:
        yield running


def embedder(server: LlmServer, **patience: float) -> LitellmEmbedder:
    return LitellmEmbedder(EMBEDDING_MODEL, api_base=server.api_base, **patience)


def loaded(server: LlmServer, *then: Reply, **patience: float) -> LitellmEmbedder:
    """An embedder whose service answers like this from now on."""
    model = embedder(server, **patience)
    server.script = list(then)
    server.requests.clear()
    return model


def failing(server: LlmServer, *script: Reply) -> str:
    """The error that a script leads to."""
    with pytest.raises(ModelUnavailableError) as raised:
        loaded(server, *script).embed_documents([SECRET])
    return str(raised.value)


def test_texts_become_unit_vectors_in_their_order(server: LlmServer) -> None:
    texts = [f"a cat and {number} mice" for number in range(70)]
    model = load_embedder(EmbeddingChoice(EMBEDDING_MODEL, api_base=server.api_base))
    assert (model.model, model.dimension) == (EMBEDDING_MODEL, DIMENSION)
    vectors = model.embed_documents(texts)
    expected = np.array([embed(text) for text in texts])
    assert np.allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True))
    assert [len(request["input"]) for request in server.requests] == [1, 64, 6]
    assert np.allclose(model.embed_query(texts[3]), vectors[3])


def test_vectors_that_come_in_another_order_go_to_their_texts(server: LlmServer) -> None:
    model = loaded(server, embeddings({1: [0.0] * (DIMENSION - 1) + [1.0], 0: [1.0] + [0.0] * (DIMENSION - 1)}))
    assert model.embed_documents(["first", "second"]).argmax(axis=1).tolist() == [0, DIMENSION - 1]


def test_the_address_may_come_from_the_variable_that_the_library_reads(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_BASE", server.api_base)
    assert load_embedder(EmbeddingChoice(EMBEDDING_MODEL)).dimension == DIMENSION
    assert len(server.requests) == 1


def test_a_server_of_ones_own_needs_no_key(server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert embedder(server).dimension == DIMENSION


@pytest.mark.parametrize("reply", [failure(429), failure(500), failure(503)])
def test_a_passing_failure_is_tried_again(server: LlmServer, reply: Reply) -> None:
    model = loaded(server, reply, EMBED)
    assert model.embed_documents(["a cat"]).shape == (1, DIMENSION)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (failure(401, f"bad key {KEY} for {SECRET}"), "did not answer (AuthenticationError)"),
        (failure(400, SECRET), "did not answer (BadRequestError)"),
        (MALFORMED, "did not answer"),
        (Reply(body=b"<html>"), "did not answer"),
        (Reply(body=b"{}"), "did not answer"),
        (embeddings(dict.fromkeys(range(2), [1.0] * DIMENSION)), "gave 2 vectors for 1 texts"),
        (embeddings({}), "gave 0 vectors for 1 texts"),
        (embeddings({0: [1.0, 2.0]}), f"gave vectors of dimension 2, and {DIMENSION} before"),
        (embeddings({0: [0.0] * DIMENSION}), "a vector without direction"),
        (embeddings({0: [float("nan")] * DIMENSION}), "a vector without direction"),
        (embeddings({0: ["much", "little"]}), "did not answer"),  # type: ignore[list-item]
        (embeddings({0: []}), "a vector without direction"),
    ],
)
def test_whatever_is_no_answer_is_a_model_that_is_unavailable(server: LlmServer, reply: Reply, says: str) -> None:
    error = failing(server, reply)
    assert says in error
    assert KEY not in error
    assert SECRET not in error


def test_vectors_of_several_dimensions_are_none(server: LlmServer) -> None:
    model = loaded(server, embeddings({0: [1.0, 2.0], 1: [1.0, 2.0, 3.0]}))
    with pytest.raises(ModelUnavailableError, match="no vectors of one dimension"):
        model.embed_documents(["a", "b"])


def test_a_failure_that_does_not_pass_ends_after_three_attempts(server: LlmServer) -> None:
    assert "did not answer (InternalServerError)" in failing(server, failure(500))
    assert len(server.requests) == 3


def test_a_refused_connection_is_a_model_that_is_unavailable() -> None:
    with pytest.raises(ModelUnavailableError, match=r"embedding\.api_base"):
        LitellmEmbedder(EMBEDDING_MODEL, api_base=f"http://127.0.0.1:{refused_port()}/v1")


def test_texts_that_hang_are_given_up(server: LlmServer) -> None:
    model = loaded(server, HANG, seconds=0.05)
    with pytest.raises(ModelUnavailableError, match="did not answer"):
        model.embed_documents(["a cat"])


def test_a_query_is_given_up_long_before_the_attempts_are_used_up(server: LlmServer) -> None:
    model = loaded(server, HANG, query_seconds=0.05)
    with pytest.raises(ModelUnavailableError, match=r"did not answer within 0\.05 seconds"):
        model.embed_query("a cat")
    assert len(server.requests) <= 1


def test_nothing_of_it_is_logged_or_printed(
    server: LlmServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG):
        model = loaded(server, failure(400, f"{KEY} {SECRET}"))
        with pytest.raises(ModelUnavailableError):
            model.embed_documents([SECRET])
        server.script = [EMBED]
        model.embed_query(SECRET)
    assert KEY not in caplog.text
    assert SECRET not in caplog.text
    assert capfd.readouterr().out == ""


def test_recall_finds_by_its_meaning_and_says_when_it_is_gone(index: RankIndex, server: LlmServer) -> None:
    """C4"""
    index.put([message("wanted", "My kitten sleeps on the sofa"), message("other", "The invoice is overdue")])
    with IndexWorker(index, lambda: embedder(server), retry_seconds=PATIENCE) as worker:
        assert worker.wait_until_idle(PATIENCE)
        found = recall(index, "a feline and its couch", embedder=worker)
        assert ids(found)[0] == "wanted"
        assert found.notes == ()
        server.script = [embeddings({0: [1.0, 2.0]})]
        by_words = recall(index, "kitten", embedder=worker)
    assert ids(by_words)[0] == "wanted"
    assert any("found by their words" in note and "dimension 2" in note for note in by_words.notes)
