"""Fixtures that every test may use."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """asyncio: the only event loop that all of the libraries underneath support."""
    return "asyncio"
