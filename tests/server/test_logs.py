from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr

from uniko_mcp.server.logs import configure_logging


@contextmanager
def logging_from(level: str) -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, before = root.handlers[:], root.level
    stream = io.StringIO()
    with redirect_stderr(stream):
        configure_logging(level)
        yield stream
    root.handlers[:] = handlers
    root.setLevel(before)
    logging.captureWarnings(False)


def test_an_exception_is_logged_with_its_lines_and_without_its_message() -> None:
    said = "the launch code is 0000"
    with logging_from("info") as stderr:
        try:
            raise ValueError(said)
        except ValueError:
            logging.getLogger("uniko_mcp.test").exception("it failed")
    assert "it failed" in stderr.getvalue()
    assert "ValueError" in stderr.getvalue()
    assert "test_logs.py" in stderr.getvalue()
    assert "0000" not in stderr.getvalue()


def test_the_protocol_librarys_debug_lines_stay_off() -> None:
    with logging_from("debug") as stderr:
        logging.getLogger("mcp.server").debug("a whole message")
        logging.getLogger("uniko_mcp").debug("ours")
    assert "a whole message" not in stderr.getvalue()
    assert "ours" in stderr.getvalue()
