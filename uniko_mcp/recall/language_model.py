"""The configured language model: a prompt in, a text out, within a time limit and with a clear error."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import anyio

from uniko_mcp.config import LanguageModelSettings
from uniko_mcp.errors import LanguageModelError, RefusedPromptError, UnansweredPromptError, UnusableAnswerError
from uniko_mcp.recall.provider import key_of, missing_variables, provider_library

logger = logging.getLogger(__name__)

_ATTEMPTS: Final = 3
_BACKOFF_SECONDS: Final = 0.5
"""The pause before the second attempt; it doubles with each one more."""

_OLLAMA: Final = "ollama"

_TOO_MANY_REQUESTS: Final = 429
_INTERNAL_ERROR: Final = 500
_UNREACHABLE: Final = "APIConnectionError"
_UNREADABLE: Final = "JSONDecodeError"
_TOO_LONG: Final = "ContextWindowExceededError"
_AGAINST_POLICY: Final = "ContentPolicyViolationError"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a language model is asked: what it is to do, with what, and how many tokens it may answer in."""

    system: str
    user: str
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Completion:
    """What a language model answered, and the tokens that took where it says so. `text` is never blank."""

    text: str
    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def tokens(self) -> int:
        """All tokens that it took."""
        return self.prompt_tokens + self.completion_tokens


class LanguageModel:
    """A language model behind litellm. Its key comes from the provider's own environment variable."""

    def __init__(
        self, model: str, *, api_base: str | None = None, timeout: float, backoff: float = _BACKOFF_SECONDS
    ) -> None:
        """`timeout` and `backoff` are in seconds; the timeout holds for all attempts of a completion together."""
        self.model = model
        self._api_base = api_base
        self._timeout = timeout
        self._backoff = backoff

    @classmethod
    def of(cls, settings: LanguageModelSettings) -> LanguageModel | None:
        """The configured model; None when none is configured."""
        if settings.model is None:
            return None
        return cls(settings.model, api_base=settings.api_base, timeout=settings.timeout)

    async def complete(self, prompt: Prompt) -> Completion:
        """The model's answer. Too many requests, faults of the server and lost connections are tried again.

        Raises:
            LanguageModelError: There is none; the message says why and never what was asked. Its subclasses say what
                the prompt may have to do with it.
            MissingExtraError: litellm is not installed.
        """
        litellm = await provider_library()
        if self._api_base and self.model.startswith(_OLLAMA):
            os.environ.setdefault("OLLAMA_API_BASE", self._api_base)  # or it also looks for a server on this machine
        try:
            with anyio.fail_after(self._timeout):
                return self._completion(await self._respond(litellm, prompt), prompt)
        except TimeoutError:
            raise self._timed_out() from None

    async def _respond(self, litellm: Any, prompt: Prompt) -> Any:
        """The response of the first attempt that succeeds."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return await self._request(litellm, prompt)
            except Exception as error:  # providers raise whatever they like; all of it means that there is no answer
                if attempt == _ATTEMPTS or not _is_transient(error):
                    raise self._failure(error, missing_variables(litellm, self.model, self._api_base)) from None
                logger.info("attempt %d at the language model failed: %s", attempt, type(error).__name__)
                await anyio.sleep(max(self._backoff * 2 ** (attempt - 1), _retry_after(error)))
        raise AssertionError("unreachable")

    async def _request(self, litellm: Any, prompt: Prompt) -> Any:
        return await litellm.acompletion(
            model=self.model,
            messages=[{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            max_tokens=prompt.max_tokens,
            api_base=self._api_base,
            api_key=key_of(litellm, self.model, self._api_base),
            timeout=self._timeout,
            num_retries=0,
            max_retries=0,
            drop_params=True,
        )

    def _completion(self, response: Any, prompt: Prompt) -> Completion:
        choice: Any = response.choices[0] if response.choices else None
        text = _text(choice.message.content) if choice else ""
        if not text:
            raise self._without_text(choice, prompt)
        usage: Any = getattr(response, "usage", None)
        return Completion(
            text=text,
            model=response.model or self.model,
            prompt_tokens=getattr(usage, "prompt_tokens", None) or 0,
            completion_tokens=getattr(usage, "completion_tokens", None) or 0,
        )

    def _without_text(self, choice: Any, prompt: Prompt) -> LanguageModelError:
        if choice and choice.message.tool_calls:
            what, next_step = "answered with a call of a tool and no text", "Use a model that follows instructions"
        elif choice and choice.finish_reason == "length":
            what, next_step = (
                f"used up its {prompt.max_tokens} tokens before it answered",
                "Use a model that reasons less",
            )
        else:
            what, next_step = "answered without text", "Try again, or use another model"
        return self._error(what, next_step, UnusableAnswerError)

    def _failure(self, error: Exception, missing: Sequence[str]) -> LanguageModelError:
        """What a provider's exception means. Its own text is left out: it may quote the key or the prompt."""
        kinds = _kinds(error)
        if _UNREACHABLE in kinds:
            return self._error("cannot be reached", "Check llm.api_base and the network")
        if _UNREADABLE in kinds:
            return self._error("answered what is no JSON", "Check that llm.api_base is where its API is")
        match getattr(error, "status_code", None):
            case 401 | 403 | 500 if missing:
                return self._error("cannot be asked without a key", f"Set {' or '.join(missing)}")
            case 401 | 403:
                return self._error("refused the key", "Check its provider's variable, such as OPENAI_API_KEY")
            case 404:
                return self._error("is not known at its provider", "Check llm.model and llm.api_base")
            case 408:
                return self._timed_out()
            case 429:
                return self._error("takes no more requests now", "Try again later, or check the limits of the account")
            case 400 if _AGAINST_POLICY in kinds:
                return self._error("refuses such content by its policy", "Use another model", UnusableAnswerError)
            case 413:
                return self._too_long()
            case 400 if _TOO_LONG in kinds:
                return self._too_long()
            case 400 | 422:
                return self._error(
                    "cannot be asked like this", "Check that llm.model is written as provider/model", RefusedPromptError
                )
            case int(status):
                kind = UnansweredPromptError if status == _INTERNAL_ERROR else LanguageModelError
                return self._error(f"failed with status {status}", "Try again later", kind)
            case _:
                return self._error(f"failed ({type(error).__name__})", "Check llm.model and llm.api_base")

    def _too_long(self) -> LanguageModelError:
        return self._error(
            "cannot hold a prompt of this length", "Ask with a smaller token_budget", UnusableAnswerError
        )

    def _timed_out(self) -> LanguageModelError:
        return self._error(
            f"did not answer within {self._timeout:g} seconds",
            "Raise llm.timeout, or try again later",
            UnansweredPromptError,
        )

    def _error(
        self, what: str, next_step: str, kind: type[LanguageModelError] = LanguageModelError
    ) -> LanguageModelError:
        return kind(f"the language model {self.model} {what}", next_step=next_step)


def _text(content: object) -> str:
    """The text of a message, which may come in parts; None, images and the like have none."""
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, list):
        return ""
    parts = cast("list[object]", content)
    texts = (cast("dict[str, object]", part).get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str)).strip()


def _is_transient(error: Exception) -> bool:
    status: int = getattr(error, "status_code", None) or 0
    return status == _TOO_MANY_REQUESTS or status >= 500 or _UNREACHABLE in _kinds(error)


def _kinds(error: BaseException | None) -> set[str]:
    """The names of the types of an exception and of those that led to it."""
    return {kind.__name__ for cause in _causes(error) for kind in type(cause).__mro__}


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _retry_after(error: Exception) -> float:
    """The seconds that the server asks to wait, 0 when it does not say."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after", 0)))
    except (TypeError, ValueError):
        return 0.0
