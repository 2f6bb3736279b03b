"""The language model against a real server on loopback: what it answers, what it does when it does not."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from tests.llm_server import (
    AGAINST_POLICY,
    COMPLETION_TOKENS,
    HANG,
    MALFORMED,
    MODEL,
    PROMPT_TOKENS,
    SERVED_MODEL,
    LlmServer,
    Reply,
    failure,
    llm_server,
    message,
    refused_port,
)
from uniko_mcp.config import LanguageModelSettings
from uniko_mcp.errors import LanguageModelError, RefusedPromptError, UnansweredPromptError, UnusableAnswerError
from uniko_mcp.recall.language_model import Completion, LanguageModel, Prompt

pytestmark = pytest.mark.anyio

KEY = "sk-a-key-that-nobody-may-see"
PROMPT = Prompt("Say where she lives.", "Ana's secret address is 12 Elm Street.", max_tokens=64)


@pytest.fixture(autouse=True)
def key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def model(server: LlmServer, *, seconds: float = 20) -> LanguageModel:
    return LanguageModel(MODEL, api_base=server.api_base, timeout=seconds, backoff=0)


async def failing(*script: Reply, seconds: float = 20) -> tuple[str, int]:
    """What the error says that a script leads to, and how many requests it took."""
    with llm_server(*script) as server:
        error = await error_of(server, seconds=seconds)
    return str(error), len(server.requests)


async def error_of(server: LlmServer, *, seconds: float = 20) -> LanguageModelError:
    with pytest.raises(LanguageModelError) as raised:
        await model(server, seconds=seconds).complete(PROMPT)
    return raised.value


def test_without_a_model_there_is_none() -> None:
    assert LanguageModel.of(LanguageModelSettings()) is None


async def test_an_answer_comes_with_its_model_and_its_tokens() -> None:
    with llm_server(message("  Elm Street [1]. ")) as server:
        configured = LanguageModel.of(server.settings())
        assert configured is not None
        completion = await configured.complete(PROMPT)
    assert completion == Completion("Elm Street [1].", SERVED_MODEL, PROMPT_TOKENS, COMPLETION_TOKENS)
    assert [said["content"] for said in server.requests[0]["messages"]] == [PROMPT.system, PROMPT.user]


async def test_text_in_parts_is_joined_and_thoughts_are_left_out() -> None:
    parts = [{"type": "text", "text": "Elm "}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": "St"}]
    with llm_server(message(parts), message("Elm St", reasoning_content="Where was it?")) as server:
        assert (await model(server).complete(PROMPT)).text == "Elm St"
        assert (await model(server).complete(PROMPT)).text == "Elm St"


async def test_a_call_of_a_tool_beside_the_text_is_passed_over() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    with llm_server(message("Elm Street", tool_calls=[call])) as server:
        assert (await model(server).complete(PROMPT)).text == "Elm Street"


@pytest.mark.parametrize("reply", [failure(429), failure(429, **{"retry-after": "0"}), failure(500), failure(503)])
async def test_a_passing_failure_is_tried_again(reply: Reply) -> None:
    with llm_server(reply, message("Elm Street")) as server:
        assert (await model(server).complete(PROMPT)).text == "Elm Street"
    assert len(server.requests) == 2


async def test_a_failure_that_does_not_pass_ends_after_three_attempts() -> None:
    assert await failing(failure(500)) == (
        f"llm_failed: the language model {MODEL} failed with status 500. Try again later",
        3,
    )


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (failure(401), "refused the key. Check its provider's variable, such as OPENAI_API_KEY"),
        (failure(404), "is not known at its provider. Check llm.model and llm.api_base"),
        (failure(400), "cannot be asked like this. Check that llm.model is written as provider/model"),
        (
            failure(400, "This model's maximum context length is 10 tokens"),
            "cannot hold a prompt of this length. Ask with a smaller token_budget",
        ),
        (failure(413), "cannot hold a prompt of this length. Ask with a smaller token_budget"),
        (failure(422), "cannot be asked like this. Check that llm.model is written as provider/model"),
        (AGAINST_POLICY, "refuses such content by its policy. Use another model"),
        (message(None), "answered without text. Try again, or use another model"),
        (
            message("", finish_reason="length"),
            "used up its 64 tokens before it answered. Use a model that reasons less",
        ),
        (
            message(None, tool_calls=[{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]),
            "answered with a call of a tool and no text. Use a model that follows instructions",
        ),
    ],
)
async def test_a_lasting_failure_is_reported_at_once(reply: Reply, says: str) -> None:
    assert await failing(reply) == (f"llm_failed: the language model {MODEL} {says}", 1)


@pytest.mark.parametrize(
    ("kind", "replies"),
    [
        (UnusableAnswerError, [message(None), AGAINST_POLICY, failure(413)]),
        (RefusedPromptError, [failure(400), failure(422)]),
        (UnansweredPromptError, [failure(500), HANG]),
        (LanguageModelError, [failure(401), failure(404), failure(429), failure(503), MALFORMED]),
    ],
)
async def test_an_error_says_by_its_type_what_the_prompt_has_to_do_with_it(
    kind: type[LanguageModelError], replies: list[Reply]
) -> None:
    for reply in replies:
        with llm_server(reply) as server:
            assert type(await error_of(server, seconds=0.3 if reply.hangs else 20)) is kind


async def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with llm_server(message("Elm Street")) as server:
        assert (await model(server).complete(PROMPT)).text == "Elm Street"


@pytest.mark.parametrize("name", ["openai/gpt-5-mini", "anthropic/claude-sonnet-5"])
async def test_a_missing_key_is_named_by_its_variable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = f"{name.partition('/')[0].upper()}_API_KEY"
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(LanguageModelError, match=f"{name} cannot be asked without a key. Set {variable}"):
        await LanguageModel(name, timeout=20, backoff=0).complete(PROMPT)


@pytest.mark.parametrize("reply", [MALFORMED, Reply(body=b"<html>hello</html>"), Reply(body=b"{}"), Reply(body=b"[]")])
async def test_what_is_no_chat_completion_is_a_clear_error(reply: Reply) -> None:
    error, _ = await failing(reply)
    assert error.startswith(f"llm_failed: the language model {MODEL} ")


async def test_a_model_that_hangs_is_given_up() -> None:
    error, _ = await failing(HANG, seconds=0.2)
    assert error.startswith(f"llm_failed: the language model {MODEL} did not answer within 0.2 seconds")


async def test_a_refused_connection_is_named_as_such() -> None:
    absent = LanguageModel(MODEL, api_base=f"http://127.0.0.1:{refused_port()}/v1", timeout=20, backoff=0)
    with pytest.raises(LanguageModelError, match=r"cannot be reached\. Check llm.api_base and the network") as raised:
        await absent.complete(PROMPT)
    assert type(raised.value) is LanguageModelError


async def test_neither_key_nor_prompt_is_in_an_error_or_a_log_nor_anything_on_stdout(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    quoting = f"bad key {KEY} for {PROMPT.user}"
    with caplog.at_level(logging.DEBUG):
        errors = [await failing(failure(status, quoting)) for status in (400, 401, 500)]
        with llm_server() as server:
            await model(server).complete(PROMPT)
    told = f"{errors}{caplog.text}"
    assert KEY not in told
    assert PROMPT.user not in told
    assert capfd.readouterr().out == ""


def test_without_the_library_the_extra_that_brings_it_is_named() -> None:
    code = """
import asyncio, sys
sys.modules["litellm"] = None
from uniko_mcp.errors import MissingExtraError
from uniko_mcp.recall.language_model import LanguageModel, Prompt
try:
    asyncio.run(LanguageModel("openai/any", timeout=1).complete(Prompt("", "", 1)))
except MissingExtraError as error:
    sys.exit("uniko-mcp[llm]" not in str(error))
sys.exit("no error")
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_importing_the_operations_imports_no_language_model_library() -> None:
    code = "import sys, uniko_mcp.operations; sys.exit('litellm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
