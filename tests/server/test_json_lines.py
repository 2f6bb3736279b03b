from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCRequest, JSONRPCResponse

from uniko_mcp.server.json_lines import MalformedLineError, decode, encode


def test_a_request_is_read_as_it_was_written() -> None:
    request = JSONRPCRequest(jsonrpc="2.0", id="1", method="tools/call", params={"name": "x", "arguments": {"a": None}})
    assert decode(encode(request)) == request


@given(st.dictionaries(st.text(), st.none() | st.text() | st.integers()))
def test_every_answer_is_one_line_of_ascii_or_utf8(result: dict[str, object]) -> None:
    line = encode(JSONRPCResponse(jsonrpc="2.0", id=1, result=result))
    assert line.count(b"\n") == 1
    assert json.loads(line)["result"] == result


def test_a_lone_surrogate_passes_in_and_out_escaped() -> None:
    """W10"""
    message = decode(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800"}}')
    assert isinstance(message, JSONRPCRequest)
    assert message.params == {"name": "\ud800"}
    assert b"\\ud800" in encode(JSONRPCResponse(jsonrpc="2.0", id=1, result={"name": "\ud800", "é": "é"}))


@pytest.mark.parametrize("line", [b"not json", b"{", b"\xff\xfe", b"[" * 100_000])
def test_what_is_not_json_is_answered_with_a_parse_error(line: bytes) -> None:
    with pytest.raises(MalformedLineError) as raised:
        decode(line)
    assert raised.value.answer.error.code == -32700
    assert json.loads(encode(raised.value.answer))["id"] is None


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (b"[]", None),
        (b"1", None),
        (b'{"jsonrpc":"1.0","id":7,"method":"x"}', 7),
        (b'{"jsonrpc":"2.0","id":"a"}', "a"),
    ],
)
def test_json_that_is_no_message_is_answered_as_an_invalid_request(line: bytes, request_id: int | str | None) -> None:
    with pytest.raises(MalformedLineError) as raised:
        decode(line)
    assert raised.value.answer.error.code == -32600
    assert raised.value.answer.id == request_id
