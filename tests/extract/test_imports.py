"""What importing the package costs."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("spacy", "pypdf", "numpy", "onnxruntime", "fastembed", "litellm", "nltk")


def test_extraction_loads_no_heavy_library() -> None:
    program = f"import sys, uniko_mcp.extract; print([name for name in {HEAVY!r} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert result.stdout.strip() == "[]"
