"""Failures outside of tools, as errors of the protocol: the code says what kind, the message what to do next."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from uniko_mcp.errors import InvalidArgumentsError, UnikoError, UnknownOperationError

logger = logging.getLogger(__name__)

_RESOURCE_NOT_FOUND: Final = -32002
"""The code of the handshake era; since 2026-07-28 it is reserved, and an unknown resource is an invalid parameter."""


@contextmanager
def protocol_errors(what: str) -> Generator[None]:
    """Raise every failure of the body as an `MCPError`. `what` names the request in the log."""
    try:
        yield
    except MCPError:
        raise
    except (InvalidArgumentsError, UnknownOperationError) as error:
        raise MCPError(INVALID_PARAMS, str(error)) from None
    except UnikoError as error:
        raise MCPError(INTERNAL_ERROR, str(error)) from None
    except Exception:
        logger.exception("%s failed", what)
        raise MCPError(
            INTERNAL_ERROR, f"internal_error: {what} failed. The server's log on stderr says where"
        ) from None


def resource_not_found(uri: str, protocol_version: str) -> MCPError:
    """The error for a resource that does not exist, in the code of the client's era."""
    code = INVALID_PARAMS if protocol_version in MODERN_PROTOCOL_VERSIONS else _RESOURCE_NOT_FOUND
    return MCPError(code, f"Resource not found: {uri}", {"uri": uri})
