"""JSON and CSV to text: one line for each value or row, complete by itself, so that it can be found and understood."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any, Final, cast

from uniko_mcp.extract.formats.readable import Readable, one_section
from uniko_mcp.extract.sections import Section

_DELIMITERS: Final = ",;\t|"


def read_json(content: str) -> Readable:
    """Each value on a line behind its path: `server.ports[0]: 8080`. One section for each key at the top.

    JSON Lines are read as an array. What is no JSON is taken as plain text, and the notes say so.
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = _json_lines(content)
    if value is None and content.strip() != "null":
        return one_section(content, notes=("not valid JSON, read as plain text",))
    if not isinstance(value, (dict, list)) or not value:
        return one_section(content)
    return _assembled(_top(cast("dict[str, Any] | list[Any]", value)))


def read_csv(content: str) -> Readable:
    """Each row on a line as `column: value; column: value`, or its cells alone when the first row names no columns."""
    sample = content[:10_000].split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=sample.count)
    try:
        rows = [
            row for row in csv.reader(io.StringIO(content, newline=""), delimiter=delimiter) if any(map(str.strip, row))
        ]
    except csv.Error as error:
        return one_section(content, notes=(f"not valid CSV ({error}), read as plain text",))
    if len(rows) < 2 or not _names_columns(rows[0]):
        return one_section("\n".join(" | ".join(_cell(cell) for cell in row) for row in rows))
    header = [_cell(cell) for cell in rows[0]]
    return one_section("\n".join(_row(header, row) for row in rows[1:]))


def _json_lines(content: str) -> list[Any] | None:
    lines = [line for line in content.splitlines() if line.strip()]
    if len(lines) < 2:
        return None
    try:
        return [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return None


def _top(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, str]]:
    """The name and the lines of each section."""
    members = value.items() if isinstance(value, dict) else ((f"[{index}]", item) for index, item in enumerate(value))
    for name, member in members:
        yield name, "\n".join(_lines(name, member))


def _lines(path: str, value: Any) -> Iterator[str]:
    """Depth first with a stack of its own: documents may be nested deeper than Python recurses."""
    waiting: list[tuple[str, Any]] = [(path, value)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict) and value:
            members = cast("dict[str, Any]", value)
            waiting += [(f"{path}.{key}", member) for key, member in reversed(members.items())]
        elif isinstance(value, list) and value:
            items = cast("list[Any]", value)
            waiting += [(f"{path}[{index}]", item) for index, item in reversed(list(enumerate(items)))]
        else:
            yield f"{path}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"


def _assembled(parts: Iterator[tuple[str, str]]) -> Readable:
    texts: list[str] = []
    sections: list[Section] = []
    start = 0
    for name, text in parts:
        texts.append(text)
        sections.append(Section(name, start, start + len(text)))
        start += len(text) + 1
    return Readable("\n".join(texts), tuple(sections))


def _names_columns(row: list[str]) -> bool:
    cells = [cell.strip() for cell in row]
    plain = all(cell and not cell.lstrip("+-").replace(".", "", 1).isdigit() for cell in cells)
    return plain and len(set(cells)) == len(cells) > 1


def _row(header: list[str], row: list[str]) -> str:
    names = header + [f"column {index + 1}" for index in range(len(header), len(row))]
    return "; ".join(f"{name}: {_cell(cell)}" for name, cell in zip(names, row, strict=False) if cell.strip())


def _cell(cell: str) -> str:
    return " ".join(cell.split())
