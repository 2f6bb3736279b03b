"""litellm, the library that speaks to every provider of models: imported when first needed, and kept quiet."""

from __future__ import annotations

import importlib
import logging
import os
import warnings
from functools import cache
from typing import Any, Final

from anyio import to_thread

from uniko_mcp.errors import MissingExtraError

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
    try:
        litellm: Any = importlib.import_module("litellm")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "models of providers need the package litellm, which is not installed",
            next_step="Install uniko-mcp[llm], or configure none",
        ) from error
    litellm.suppress_debug_info = True  # or it prints advice to stdout
    litellm.telemetry = False
    for name, level in _CHATTY.items():
        logger = logging.getLogger(name)
        logger.setLevel(max(level, logger.level))
    return litellm
