"""A cross-encoder small enough to be written by hand: a real ONNX network that likes short texts best.

Its file is a protocol buffer: each field is a key (number and wire type), then a number or the length and the bytes of
what it holds. The field numbers are those of `onnx.proto`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.model import build_minilm
from uniko_mcp.recall.reranker import DEFAULT_CROSS_ENCODER

_INT64, _FLOAT = 7, 1
_INT, _INTS = 2, 7
_REVISION: Final = "0" * 40


def cache_cross_encoder(cache: Path) -> Path:
    """Put it where the Hugging Face cache would hold the default cross-encoder; the cache itself."""
    repository = cache / f"models--{DEFAULT_CROSS_ENCODER.replace('/', '--')}"
    snapshot = repository / "snapshots" / _REVISION
    build_minilm(snapshot)  # for its tokenizer
    (snapshot / "model.onnx").unlink()
    (snapshot / "onnx").mkdir()
    (snapshot / "onnx" / "model.onnx").write_bytes(_network())
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(_REVISION, encoding="utf-8")
    return cache


def _network() -> bytes:
    """The score of each pair of texts: minus the number of tokens of the second."""
    nodes = (
        _node("Cast", "token_type_ids", "counted", _attribute("to", _INT, _field(3, _FLOAT))),
        _node("ReduceSum", "counted", "length", _attribute("axes", _INTS, _field(8, 1))),
        _node("Neg", "length", "logits"),
    )
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"likes short texts")
    graph += _field(11, _tensor("input_ids", _INT64)) + _field(11, _tensor("token_type_ids", _INT64))
    graph += _field(12, _tensor("logits", _FLOAT))
    return _field(1, 7) + _field(7, graph) + _field(8, _field(2, 11))  # IR version 7, operator set 11


def _node(operator: str, given: str, made: str, *attributes: bytes) -> bytes:
    names = _field(1, given.encode()) + _field(2, made.encode()) + _field(4, operator.encode())
    return names + b"".join(_field(5, attribute) for attribute in attributes)


def _attribute(name: str, kind: int, value: bytes) -> bytes:
    return _field(1, name.encode()) + value + _field(20, kind)


def _tensor(name: str, elements: int) -> bytes:
    """A matrix of any size."""
    shape = b"".join(_field(1, _field(2, dimension)) for dimension in (b"pairs", b"tokens"))
    return _field(1, name.encode()) + _field(2, _field(1, _field(1, elements) + _field(2, shape)))


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])
