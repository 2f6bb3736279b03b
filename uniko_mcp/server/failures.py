"""Failures as clients are told of them: always with a code, and outside of tools as errors of the protocol."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from uniko_mcp.errors import InternalError, InvalidArgumentsError, UnikoError, UnknownOperationError

logger = logging.getLogger(__name__)

_RESOURCE_NOT_FOUND: Final = -32002
"""The code of the handshake era; since 2026-07-28 it is reserved, and an unknown resource is an invalid parameter."""


def named(error: Exception, what: str) -> UnikoError:
    """The failure of `what` as a client is told of it. One without a name is logged, and its own words stay here."""
    if isinstance(error, UnikoError):
        return error
    logger.error("%s failed", what, exc_info=error)
    return InternalError(f"{what} failed", next_step="The server's log on stderr says where")


@contextmanager
def protocol_errors(what: str) -> Generator[None]:
    """Raise every failure of the body as an `MCPError`. `what` names the request in the log."""
    try:
        yield
    except MCPError:
        raise
    except Exception as error:
        failure = named(error, what)
        code = INVALID_PARAMS if isinstance(failure, InvalidArgumentsError | UnknownOperationError) else INTERNAL_ERROR
        raise MCPError(code, str(failure)) from None


def resource_not_found(uri: str, protocol_version: str) -> MCPError:
    """The error for a resource that does not exist, in the code of the client's era."""
    code = INVALID_PARAMS if protocol_version in MODERN_PROTOCOL_VERSIONS else _RESOURCE_NOT_FOUND
    return MCPError(code, f"Resource not found: {uri}", {"uri": uri})
