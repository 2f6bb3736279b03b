"""Settings: where they come from, which of them wins, and how a mistake is explained."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import UTC
from pathlib import Path
from typing import Any

import json5
import pytest
from pydantic import BaseModel, ValidationError

from uniko_mcp.config import Settings, zone_named
from uniko_mcp.errors import ConfigError
from uniko_mcp.settings_sources import load_settings, setting_fields, variable_of

EXAMPLE = Path(__file__).parent.parent / "config.example.jsonc"
NSEC = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def load(environ: dict[str, str] | None = None, **options: Any) -> Settings:
    return load_settings(options, environ=environ or {})


def failure(environ: dict[str, str] | None = None, **options: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        load(environ, **options)
    return str(caught.value)


def flat(model: BaseModel, prefix: str = "") -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key in type(model).model_fields:
        value = getattr(model, key)
        values |= flat(value, f"{prefix}{key}.") if isinstance(value, BaseModel) else {f"{prefix}{key}": value}
    return values


def names(content: dict[str, Any], prefix: str = "") -> set[str]:
    found: set[str] = set()
    for key, value in content.items():
        found |= names(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}"}
    return found


# Precedence


def test_options_win_over_variables_and_these_over_the_file_and_this_over_the_defaults(tmp_path: Path) -> None:
    file = write(tmp_path / "c.jsonc", '{"agent_id": "file", "timezone": "Europe/Berlin", "log_level": "info"}')
    environ = {"UNIKO_AGENT_ID": "variable", "UNIKO_LOG_LEVEL": "error"}
    settings = load_settings({"agent_id": "option"}, config_file=file, environ=environ)
    assert (settings.agent_id, settings.log_level, settings.timezone) == ("option", "error", "Europe/Berlin")
    assert settings.output.max_tokens == 20_000


def test_one_setting_of_a_group_from_each_source_leaves_the_others_of_the_group(tmp_path: Path) -> None:
    file = write(tmp_path / "c.jsonc", '{"recall": {"limit": 3, "token_budget": 500}}')
    settings = load_settings(
        {"recall": {"rerank": True}}, config_file=file, environ={"UNIKO_RECALL__TOKEN_BUDGET": "900"}
    )
    assert (settings.recall.limit, settings.recall.token_budget, settings.recall.rerank) == (3, 900, True)


def test_a_variable_may_name_the_configuration_file(tmp_path: Path) -> None:
    file = write(tmp_path / "c.jsonc", '{"agent_id": "file"}')
    assert load({"UNIKO_CONFIG": str(file)}).agent_id == "file"


def test_an_empty_variable_counts_as_not_set() -> None:
    assert load({"UNIKO_AGENT_ID": "", "UNIKO_DATA_DIR": " "}) == load()


def test_variables_of_other_programs_are_none_of_our_business() -> None:
    assert load({"UNIKORN": "1", "PATH": "/bin"}) == load()


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        load().agent_id = "other"  # pyright: ignore[reportAttributeAccessIssue]


# Reading values


def test_the_file_may_have_comments_trailing_commas_a_byte_order_mark_and_a_schema(tmp_path: Path) -> None:
    text = '\ufeff{ // who\n "$schema": "x", "agent_id": "ä", /* and */ "tools": ["goals",], }'
    settings = load_settings(config_file=write(tmp_path / "c.jsonc", text), environ={})
    assert (settings.agent_id, settings.tools) == ("ä", ("goals",))


@pytest.mark.parametrize("text", ["goals,record", " goals , record ,", '["goals", "record"]'])
def test_a_list_in_a_variable_is_separated_by_commas_or_json(text: str) -> None:
    assert load({"UNIKO_TOOLS": text}).tools == ("goals", "record")


def test_numbers_booleans_and_objects_are_read_from_variables() -> None:
    settings = load(
        {
            "UNIKO_OUTPUT__MAX_TOKENS": "5000",
            "UNIKO_READ_ONLY": "true",
            "UNIKO_LOG_LEVEL": "DEBUG",
            "UNIKO_PROMPT__SECTIONS": '[{"section": "Goals", "tool": "list_goals"}]',
        }
    )
    assert (settings.output.max_tokens, settings.read_only, settings.log_level) == (5000, True, "debug")
    assert [section.tool for section in settings.prompt.sections] == ["list_goals"]


@pytest.mark.parametrize("folder", ["plain", "with spaces", "Übergrößen/日本", "missing/parents/here"])
def test_a_relative_path_starts_from_the_working_directory(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C2."""
    monkeypatch.chdir(tmp_path)
    assert load({"UNIKO_DATA_DIR": folder}).data_dir == tmp_path.resolve() / folder
    assert load(data_dir=folder).data_dir == tmp_path.resolve() / folder


def test_a_relative_path_in_a_file_starts_from_the_folder_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C2."""
    (tmp_path / "Größe 1").mkdir()
    write(tmp_path / "Größe 1" / "c.jsonc", '{"data_dir": "../my data", "embedding": {"path": "model"}}')
    monkeypatch.chdir(tmp_path)
    settings = load_settings(config_file="Größe 1/c.jsonc", environ={})
    assert settings.data_dir == tmp_path.resolve() / "my data"
    assert settings.embedding.path == tmp_path.resolve() / "Größe 1" / "model"


def test_folders_are_resolved_like_every_path_and_may_come_as_one_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "etc").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    file = write(tmp_path / "etc" / "c.jsonc", '{"documents": {"folders": ["notes", "~/papers"]}}')
    root = tmp_path.resolve()
    assert load_settings(config_file=file, environ={}).documents.folders == (
        root / "etc" / "notes",
        root / "home" / "papers",
    )
    assert load({"UNIKO_DOCUMENTS__FOLDERS": "notes, etc/../up"}).documents.folders == (root / "notes", root / "up")
    assert "documents.folders" in failure(documents={"folders": 5})


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert load(data_dir="~/memory").data_dir == tmp_path.resolve() / "memory"


def test_the_default_data_folder_is_absolute_and_named_after_the_program() -> None:
    folder = load().data_dir
    assert folder.is_absolute()
    assert folder.name == "uniko-mcp"


# Mistakes


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        ("UNIKO_DATADIR", "UNIKO_DATA_DIR"),
        ("UNIKO_NOSTR_RELAYS", "UNIKO_NOSTR__RELAYS"),
        ("UNIKO_LOGLEVEL", "UNIKO_LOG_LEVEL"),
        ("uniko_agent_id", "UNIKO_AGENT_ID"),
        ("UNIKO_CONFIG_FILE", "UNIKO_CONFIG"),
    ],
)
def test_an_unknown_variable_is_refused_with_the_nearest_known_one(variable: str, nearest: str) -> None:
    """C1."""
    message = failure({variable: "1"})
    assert f"unknown environment variable {variable}" in message
    assert message.endswith(f"Did you mean {nearest}?")


@pytest.mark.parametrize(
    ("text", "name", "nearest"),
    [
        ('{"dat_dir": "x"}', "dat_dir", "data_dir"),
        ('{"nostr": {"relay": []}}', "nostr.relay", "nostr.relays"),
        ('{"recal": {"limit": 3}}', "recal", "recall.limit"),
    ],
)
def test_an_unknown_key_in_the_file_is_refused_with_the_nearest_known_one(
    text: str, name: str, nearest: str, tmp_path: Path
) -> None:
    """C1."""
    file = write(tmp_path / "c.jsonc", text)
    with pytest.raises(ConfigError) as caught:
        load_settings(config_file=file, environ={})
    assert f"unknown setting {name} in {file}" in str(caught.value)
    assert str(caught.value).endswith(f"Did you mean {nearest}?")


def test_a_wrong_value_is_named_with_its_setting_and_where_it_was_set(tmp_path: Path) -> None:
    assert failure({"UNIKO_LOG_LEVEL": "loud"}) == (
        "invalid_configuration: log_level 'loud' (UNIKO_LOG_LEVEL): must be 'debug', 'info', 'warning' or 'error'"
    )
    assert "recall.limit 0 (option): must be greater than or equal to 1" in failure(recall={"limit": 0})
    file = write(tmp_path / "c.jsonc", '{"prompt": {"sections": [{"section": "A", "tool": "b", "rol": "user"}]}}')
    with pytest.raises(ConfigError, match=re.escape(f"rol 'user' ({file}): is not a known key. Did you mean role?")):
        load_settings(config_file=file, environ={})


def test_an_unknown_time_zone_is_refused_with_the_nearest_known_one() -> None:
    assert failure({"UNIKO_TIMEZONE": "Europe/Berln"}).endswith("Did you mean Europe/Berlin?")
    assert "Use an IANA name" in failure(timezone="%%%")
    assert "is not a time zone" in failure(timezone="../../etc/passwd")


def test_utc_needs_no_time_zone_data() -> None:
    assert zone_named("UTC") is UTC
    assert zone_named("utc") is UTC


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"agent_id": "a"', "is not valid JSON"),
        ('{"agent_id": "a", "agent_id": "b"}', "is not valid JSON"),
        ("[]", "does not hold an object"),
        ('{"nostr": "wss://a"}', "nostr in "),
        ('{"data_dir": "a\\u0000b"}', "is not a usable path"),
        ('{"data_dir": "a\\udcff"}', "is not a usable path"),
        ('{"data_dir": "~nobody-of-this-name/a"}', "is not a usable path"),
        ('{"agent_id": "a\\udcff"}', "is not valid UTF-8"),
        ('{"agent_id": " "}', "is blank"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(text: str, problem: str, tmp_path: Path) -> None:
    file = write(tmp_path / "c.jsonc", text)
    with pytest.raises(ConfigError) as caught:
        load_settings(config_file=file, environ={})
    assert problem in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_or_undecodable_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(config_file=tmp_path / "none.jsonc", environ={})
    (tmp_path / "latin.jsonc").write_bytes('{"agent_id": "ä"}'.encode("latin-1"))
    with pytest.raises(ConfigError, match="it is not UTF-8"):
        load_settings(config_file=tmp_path / "latin.jsonc", environ={})


def test_reading_by_a_language_model_needs_one() -> None:
    environ = {"UNIKO_EXTRACTION__LLM": "true"}
    assert failure(environ) == (
        "invalid_configuration: extraction.llm True (UNIKO_EXTRACTION__LLM): needs llm.model, the language model that"
        " reads. Name one, or leave extraction.llm out"
    )
    assert load(environ, llm={"model": "ollama/llama3.2"}).extraction.llm is True


# Secrets


def test_a_secret_comes_from_a_variable_or_from_a_file_that_is_named(tmp_path: Path) -> None:
    write(tmp_path / "key", f"{NSEC}\n")
    file = write(tmp_path / "c.jsonc", '{"nostr": {"nsec": "file:key"}}')
    for settings in (load({"UNIKO_NOSTR__NSEC": NSEC}), load_settings(config_file=file, environ={})):
        assert settings.nostr.nsec is not None
        assert settings.nostr.nsec.get_secret_value() == NSEC


def test_a_secret_is_never_shown(tmp_path: Path) -> None:
    settings = load({"UNIKO_NOSTR__NSEC": NSEC})
    assert NSEC not in f"{settings!r}{settings}{settings.model_dump_json()}"


def test_a_secret_written_into_the_configuration_file_is_refused_without_being_repeated(tmp_path: Path) -> None:
    file = write(tmp_path / "c.jsonc", json.dumps({"nostr": {"nsec": NSEC}}))
    with pytest.raises(ConfigError) as caught:
        load_settings(config_file=file, environ={})
    assert "nostr.nsec" in str(caught.value)
    assert "UNIKO_NOSTR__NSEC" in str(caught.value)
    assert NSEC not in str(caught.value)


def test_a_secret_of_the_wrong_type_is_not_shown() -> None:
    assert "41424344" not in failure(nostr={"nsec": 41424344})


# The example


def test_the_example_names_every_setting_and_no_other() -> None:
    active = EXAMPLE.read_text(encoding="utf-8")
    all_active = re.sub(r'^(\s*)// ("\w+": .*,)$', r"\1\2", active, flags=re.MULTILINE)
    assert names(json5.loads(all_active)) - {"$schema"} == set(setting_fields())


def test_every_value_in_the_example_is_the_default() -> None:
    assert flat(load_settings(config_file=EXAMPLE, environ={})) == flat(load())


def test_every_setting_describes_itself_and_has_a_variable() -> None:
    for name, field in setting_fields().items():
        assert field.description, name
        assert variable_of(name).isupper()


def test_loading_imports_nothing_heavy() -> None:
    script = (
        "import sys; from uniko_mcp.settings_sources import load_settings; load_settings(environ={});"
        "print([name for name in ('kuzu', 'mcp', 'json5', 'numpy', 'pydantic_settings') if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert printed.stdout.strip() == "[]"
