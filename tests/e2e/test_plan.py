"""Every tool with every parameter, every resource and every prompt, through clients in two languages and two eras."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from uniko_mcp.operations import CATALOGUE
from uniko_mcp.operations.json_schema import params_schema
from uniko_mcp.server.addresses import SINGLE, TEMPLATES, parse

from . import plan
from .conftest import ERAS, Node, server_command, server_parameters


@pytest.fixture
def options(tmp_path: Path) -> list[str]:
    """The options of a server that may read the plan's document and fetches no model."""
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / plan.DOCUMENT).write_text(plan.DOCUMENT_TEXT, encoding="utf-8")
    config = tmp_path / "config.jsonc"
    config.write_text(
        json.dumps({"documents": {"folders": ["documents"]}, "embedding": {"model": "none"}}), encoding="utf-8"
    )
    return ["--config", str(config)]


def test_the_plan_names_every_parameter_of_every_tool() -> None:
    for operation in CATALOGUE.values():
        used = {"type": "object", "properties": {}}
        for step in plan.TOOLS:
            if step.tool == operation.name:
                _merge(used, step.arguments)
        assert _names(used) == _names(params_schema(operation)), operation.name


def test_the_plan_reads_every_kind_of_resource() -> None:
    places = {address.place for uri in plan.RESOURCES if (address := parse(uri))}
    assert places == {*SINGLE, *TEMPLATES}


def _merge(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    for name, value in arguments.items():
        items = value if isinstance(value, list) else []
        known = schema["properties"].setdefault(name, {"properties": {}})
        for item in items:
            if isinstance(item, dict):
                _merge(known, item)


def _names(schema: dict[str, Any]) -> set[str]:
    """The parameters, with those of objects in lists; an object of the caller's own shape has none."""
    names: set[str] = set()
    for name, inner in schema.get("properties", {}).items():
        names.add(name)
        names |= {f"{name}.{nested}" for nested in _names(inner.get("items", inner))}
    return names


def _assert_played(played: dict[str, Any]) -> None:
    """What a client saw: everything is listed, called, read and got, with the same content as text and structured."""
    assert {tool["name"] for tool in played["tools"]} == set(CATALOGUE)
    assert {prompt["name"] for prompt in played["prompts"]} == {name for name, _ in plan.PROMPTS}
    assert len(played["templates"]) == len(TEMPLATES)
    assert plan.GOAL_URI in {resource["uri"] for resource in played["resources"]}
    for step, result in zip(plan.TOOLS, played["calls"], strict=True):
        text = result["content"][0]["text"]
        assert not result.get("isError"), f"{step.tool}: {text}"
        assert plan.contains(result["structuredContent"], step.contains), (step.tool, result["structuredContent"])
        for leaf in _leaves(result["structuredContent"]):
            assert leaf in text, (step.tool, leaf)
    for read in played["reads"]:
        assert read["contents"][0]["mimeType"] == "text/markdown"
        assert read["contents"][0]["text"]
    for got in played["gets"]:
        assert all(message["content"]["text"] for message in got["messages"])


def _leaves(value: Any) -> list[str]:
    """Every text and number of a result, line by line."""
    if isinstance(value, dict):
        return [leaf for name, inner in value.items() for leaf in [name, *_leaves(inner)]]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in _leaves(inner)]
    return value.split("\n") if isinstance(value, str) else [json.dumps(value)]


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_the_python_sdk_plays_the_plan(era: str, data_dir: Path, options: list[str]) -> None:
    async with Client(server_parameters(data_dir, *options), mode=era) as client:
        played: dict[str, Any] = {
            "tools": _dump((await client.list_tools()).tools),
            "prompts": _dump((await client.list_prompts()).prompts),
            "templates": _dump((await client.list_resource_templates()).resource_templates),
            "calls": [],
        }
        results: dict[str, dict[str, Any]] = {}
        for step in plan.TOOLS:
            result = await client.call_tool(step.tool, plan.resolve(step.arguments, results))
            results[step.tool] = result.structured_content or {}
            played["calls"].append(result.model_dump(by_alias=True, mode="json"))
        played["resources"] = _dump((await client.list_resources()).resources)
        played["reads"] = _dump([await client.read_resource(uri) for uri in plan.RESOURCES])
        played["gets"] = _dump([await client.get_prompt(name, arguments) for name, arguments in plan.PROMPTS])
    _assert_played(played)


def _dump(models: list[Any]) -> list[dict[str, Any]]:
    return [model.model_dump(by_alias=True, mode="json") for model in models]


def test_the_typescript_sdk_plays_the_plan(node: Node, data_dir: Path, options: list[str], tmp_path: Path) -> None:
    plan_file = tmp_path / "plan.json"
    plan_file.write_text(json.dumps(plan.as_json()), encoding="utf-8")
    done = node.run(node.folder / "client.mjs", str(plan_file), *server_command(data_dir, *options))
    assert done.returncode == 0, done.stderr
    played = json.loads(done.stdout)
    _assert_played(played)
    assert len(played["instructions"]) <= 1_200
