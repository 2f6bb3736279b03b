"""Tests with other people's clients are skipped, not failed, where those cannot be had."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.llm_server import refused_port

from .conftest import install_packages


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_without_a_network_the_tests_that_need_packages_are_skipped(tmp_path: Path) -> None:
    npm = shutil.which("npm") or ""
    nowhere = (f"--registry=http://127.0.0.1:{refused_port()}", f"--cache={tmp_path / 'cache'}", "--fetch-retries=0")
    with pytest.raises(pytest.skip.Exception, match="registry cannot be reached"):
        install_packages(npm, tmp_path, *nowhere)
    assert not (tmp_path / "installed").exists()
