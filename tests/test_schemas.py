"""The published schemas: in step with the code, and in the subset that every known client takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import json5
import jsonschema
import pytest
from click.testing import CliRunner

from uniko_mcp.cli import main
from uniko_mcp.cli.schemas import FILES, mcp_tools, openai_tools
from uniko_mcp.operations import CATALOGUE
from uniko_mcp.server.descriptions import describe

ROOT = Path(__file__).parent.parent
REFUSED_KEYWORDS = {"$ref", "$defs", "anyOf", "oneOf", "allOf", "exclusiveMinimum", "exclusiveMaximum"}
TOOLS: list[dict[str, Any]] = mcp_tools()["tools"]


def lint(schema: Any, path: str) -> Iterator[str]:
    """What a known client would refuse in a schema."""
    if not isinstance(schema, dict):
        yield f"{path}: not an object but {schema!r}"
        return
    yield from (f"{path}: {keyword}" for keyword in REFUSED_KEYWORDS & schema.keys())
    if not isinstance(schema.get("type"), str):
        yield f"{path}: no single type"
    if schema.get("type") == "array":
        yield from lint(schema.get("items"), f"{path}[]")
    for name, inner in schema.get("properties", {}).items():
        yield from lint(inner, f"{path}.{name}")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from lint(schema["additionalProperties"], f"{path}.*")


def test_the_committed_schemas_are_in_step_with_the_code() -> None:
    result = CliRunner().invoke(main, ["schemas", "--check", "--output", str(ROOT / "schemas")])
    assert result.exit_code == 0, result.output


def test_a_stale_file_is_named_and_fails_the_check(tmp_path: Path) -> None:
    runner = CliRunner()
    assert runner.invoke(main, ["schemas", "--output", str(tmp_path / "new folder")]).exit_code == 0
    assert {path.name for path in (tmp_path / "new folder").iterdir()} == set(FILES)
    (tmp_path / "new folder" / "openai-tools.json").write_text("[]", encoding="utf-8")
    result = runner.invoke(main, ["schemas", "--check", "--output", str(tmp_path / "new folder")])
    assert result.exit_code == 1
    assert "openai-tools.json" in result.output
    assert "mcp-tools.json" not in result.output


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool["name"])
def test_no_known_client_refuses_the_tool(tool: dict[str, Any]) -> None:
    assert len(tool["name"]) <= 40
    assert tool["title"]
    assert 0 < len(tool["description"].encode("utf-8")) <= 2_000
    hints = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
    assert all(isinstance(tool["annotations"][hint], bool) for hint in hints)
    faults = [*lint(tool["inputSchema"], "in"), *lint(tool["outputSchema"], "out")]
    assert faults == []
    for schema in (tool["inputSchema"], tool["outputSchema"]):
        assert schema["type"] == "object"
        jsonschema.Draft202012Validator.check_schema(schema)
    assert tool["inputSchema"]["additionalProperties"] is False
    assert isinstance(tool["inputSchema"]["properties"], dict)


def test_the_server_lists_exactly_what_is_published() -> None:
    listed = [
        describe(operation).model_dump(mode="json", by_alias=True, exclude_none=True)
        for operation in CATALOGUE.values()
    ]
    assert listed == TOOLS


def test_the_form_for_the_openai_api_has_the_same_tools_and_parameters() -> None:
    functions = [tool["function"] for tool in openai_tools()]
    assert [(function["name"], function["parameters"]) for function in functions] == [
        (tool["name"], tool["inputSchema"]) for tool in TOOLS
    ]


def test_the_example_configuration_fits_its_schema() -> None:
    schema = json.loads((ROOT / "schemas" / "config.schema.json").read_text(encoding="utf-8"))
    example = json5.loads((ROOT / "config.example.jsonc").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(example, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"agent": "misspelt"}, schema)


def test_the_published_files_depend_on_nothing_of_this_machine() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "schemas").glob("*.json"))
    assert str(Path.home()) not in text
    assert str(ROOT) not in text
