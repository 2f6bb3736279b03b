"""A local server that speaks the OpenAI API for chats and embeddings by a script, for tests of what asks a model."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from uniko_mcp.config import EmbeddingSettings, LanguageModelSettings

MODEL = "openai/test-model"
SERVED_MODEL = "test-model-2026-11"
PROMPT_TOKENS, COMPLETION_TOKENS = 120, 8
EMBEDDING_MODEL = "openai/test-embedding"
DIMENSION = 256
_SAME = {"kitten": "cat", "feline": "cat", "couch": "sofa"}
"""Words that the embedding model takes for one."""


@dataclass(frozen=True)
class Reply:
    """One response: a status and a body; `hangs` sends nothing for as long as the server lives.

    `embeds` answers with the vectors of what was sent.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    hangs: bool = False
    embeds: bool = False


HANG = Reply(hangs=True)
EMBED = Reply(embeds=True)
MALFORMED = Reply(body=b'{"choices": [{"message": {"cont')


def message(content: Any, *, finish_reason: str = "stop", **fields: Any) -> Reply:
    """A chat completion with this message."""
    choice = {
        "index": 0,
        "finish_reason": finish_reason,
        "message": {"role": "assistant", "content": content, **fields},
    }
    usage = {
        "prompt_tokens": PROMPT_TOKENS,
        "completion_tokens": COMPLETION_TOKENS,
        "total_tokens": PROMPT_TOKENS + COMPLETION_TOKENS,
    }
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": SERVED_MODEL,
        "choices": [choice],
        "usage": usage,
    }
    return Reply(body=json.dumps(completion).encode("utf-8"))


def embeddings(vectors: Mapping[int, Sequence[float]]) -> Reply:
    """A response of the embedding model with the vectors of the texts at these places."""
    data = [{"object": "embedding", "index": place, "embedding": list(vector)} for place, vector in vectors.items()]
    usage = {"prompt_tokens": PROMPT_TOKENS, "total_tokens": PROMPT_TOKENS}
    response = {"object": "list", "data": data, "model": "test-embedding", "usage": usage}
    return Reply(body=json.dumps(response).encode("utf-8"))


def embed(text: str, dimension: int = DIMENSION) -> list[float]:
    """The bag of words of a text, hashed into so many places: the same for the same words, in any order."""
    vector = [0.0] * dimension
    for word in re.findall(r"\w+", text.lower()) or [""]:
        digest = sha256(_SAME.get(word, word).encode("utf-8")).digest()
        vector[int.from_bytes(digest[:4], "big") % dimension] += 1.0
    return vector


def failure(status: int, text: str = "no", **headers: str) -> Reply:
    """An error as the API words it; the text quotes what a provider might quote."""
    body = json.dumps({"error": {"message": text, "type": "error", "code": None}}).encode("utf-8")
    return Reply(status, body, headers)


AGAINST_POLICY = failure(400, "Your request was rejected as a result of the safety system.")


@dataclass
class LlmServer:
    """The running server. `script` holds the replies to come, the last one for ever; `requests` what it was asked.

    `called` is set by every request, before it is answered. `dimension` is that of the embedding model.
    """

    port: int
    dimension: int = DIMENSION
    script: list[Reply] = field(default_factory=lambda: [message("Yes [1].")])
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    called: threading.Event = field(default_factory=threading.Event)
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def api_base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def settings(self, timeout: float = 20) -> LanguageModelSettings:
        """The settings under which this server is the language model."""
        return LanguageModelSettings(model=MODEL, api_base=self.api_base, timeout=timeout)

    @property
    def embedding_settings(self) -> EmbeddingSettings:
        """The settings under which this server is the embedding model."""
        return EmbeddingSettings(model=EMBEDDING_MODEL, api_base=self.api_base)

    def reply(self) -> Reply:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    def wait_for_requests(self, count: int) -> None:
        """Wait until so many were made."""
        while len(self.requests) < count:
            assert self.called.wait(60)
            self.called.clear()

    def asked(self) -> str:
        """All of the last prompt."""
        return "\n".join(message["content"] for message in self.requests[-1]["messages"])


@contextmanager
def llm_server(*script: Reply) -> Iterator[LlmServer]:
    """A server on a free port of loopback."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    state = LlmServer(http.server_port)
    if script:
        state.script = list(script)
    http.state = state  # pyright: ignore[reportAttributeAccessIssue]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        state.closing.set()
        http.shutdown()
        thread.join()
        http.server_close()


def refused_port() -> int:
    """A port on loopback where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class _Handler(BaseHTTPRequestHandler):
    """Answers each connection once and closes it, so that no client keeps a connection to a server that is gone."""

    def do_POST(self) -> None:
        state: LlmServer = self.server.state  # pyright: ignore[reportAttributeAccessIssue]
        state.requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        state.called.set()
        reply = state.reply()
        if reply.hangs:
            state.closing.wait()
            return
        if reply.embeds:
            reply = embeddings(
                {place: embed(text, state.dimension) for place, text in enumerate(state.requests[-1]["input"])}
            )
        self.send_response(reply.status)
        for name, value in {"content-type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *_: Any) -> None:
        pass
