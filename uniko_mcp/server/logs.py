"""Logging: everything to stderr, since stdout belongs to the protocol, and never a value of a call."""

from __future__ import annotations

import logging
import sys
import traceback
from types import TracebackType

from uniko_mcp.notes import RedactingFormatter

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def configure_logging(level: str) -> None:
    """Log from `level` on (`debug` to `error`) to stderr.

    The protocol library's own debug lines hold whole messages, that is memory text: they stay off at every level.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_DiscreetFormatter(_FORMAT))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)
    for name in ("mcp", "asyncio"):
        logging.getLogger(name).setLevel(max(logging.INFO, logging.getLogger().level))


class _DiscreetFormatter(RedactingFormatter):
    """Redacts keys. Of an exception it prints the type and where it came through: its message may hold memory text."""

    def formatException(  # noqa: N802 - the name is logging's
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None],
    ) -> str:
        kind, _, trace = ei
        name = kind.__name__ if kind else "no exception"
        return f"{''.join(traceback.format_tb(trace))}{name}"
