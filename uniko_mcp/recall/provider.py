"""litellm, the library that speaks to every provider of models: imported when first needed, and kept quiet."""

from __future__ import annotations

import importlib
import logging
import os
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from anyio import to_thread

from uniko_mcp.errors import MissingExtraError

_OPENAI_KEY: Final = "OPENAI_API_KEY"
_ANY_KEY: Final = "none"
"""For servers of one's own that speak the API of OpenAI and want no key, where the library wants one all the same."""

_ENVIRONMENT: Final = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # or the import fetches a list of prices
    "LITELLM_MODE": "PRODUCTION",  # or the import reads variables from any .env file it finds
}
_CHATTY: Final = {
    "LiteLLM": logging.CRITICAL,  # even its warnings may quote a prompt
    "openai": logging.WARNING,  # at debug it logs whole requests
    "httpx": logging.WARNING,
    "httpcore": logging.WARNING,
}


async def provider_library() -> Any:
    """As `load_provider_library`, in a thread."""
    return await to_thread.run_sync(load_provider_library)


@cache
def load_provider_library() -> Any:
    """The module `litellm`. The first call imports it, which takes some seconds.

    Raises:
        MissingExtraError: It is not installed.
    """
    for variable, value in _ENVIRONMENT.items():
        os.environ.setdefault(variable, value)
    warnings.filterwarnings("ignore", message=".*`ReadOnly` qualifier", category=UserWarning)
    for name, level in _CHATTY.items():  # before the import, which logs to stdout already
        logger = logging.getLogger(name)
        logger.setLevel(max(level, logger.level))
    try:
        litellm: Any = importlib.import_module("litellm")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "models of providers need the package litellm, which is not installed",
            next_step="Install uniko-mcp[llm], or configure none",
        ) from error
    litellm.suppress_debug_info = True  # or it prints advice to stdout
    litellm.telemetry = False
    return litellm


def missing_variables(litellm: Any, model: str, api_base: str | None) -> Sequence[str]:
    """The environment variables from which the key of the model's provider is read, when they are not set."""
    return litellm.validate_environment(model, api_base=api_base)["missing_keys"]


def key_of(litellm: Any, model: str, api_base: str | None) -> str | None:
    """The key to ask with: None leaves it to the provider's variable; a server of one's own is sent any when that is
    not set."""
    keyless = api_base is not None and missing_variables(litellm, model, api_base) == [_OPENAI_KEY]
    return _ANY_KEY if keyless else None
