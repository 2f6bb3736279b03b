"""The settings: one frozen model of everything that can be configured."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias
from zoneinfo import ZoneInfo, available_timezones

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
)
from pydantic.config import JsonDict

from uniko_mcp.models.nearest import nearest


def split(value: Any) -> Any:
    """Lists may come as one text with commas, as environment variables and the command line have it."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _known_zone(name: str) -> str:
    try:
        zone_named(name)
    except (OSError, ValueError, LookupError):
        raise ValueError(f"is not a time zone of this machine. {_zone_hint(name)}") from None
    return name


def _zone_hint(name: str) -> str:
    known = available_timezones()
    if not known:
        return "It has no time zone data: install the package tzdata, or use UTC"
    return nearest(name, known, otherwise="Use an IANA name, such as Europe/Berlin")


def zone_named(name: str) -> tzinfo:
    """The time zone of an IANA name. UTC needs no time zone data."""
    return UTC if name.upper() == "UTC" else ZoneInfo(name)


def default_data_dir() -> Path:
    """Where this platform keeps the data of a user's programs."""
    from platformdirs import user_data_dir

    return Path(user_data_dir("uniko-mcp", appauthor=False))


Name: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=512)]
Names: TypeAlias = Annotated[tuple[Name, ...], BeforeValidator(split)]
Paths: TypeAlias = Annotated[tuple[Path, ...], BeforeValidator(split)]
LogLevel: TypeAlias = Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(_lower)]
TimeZone: TypeAlias = Annotated[Name, AfterValidator(_known_zone)]
_SECRET_SCHEMA: Final[JsonDict] = {"pattern": "^file:", "examples": ["file:path/to/file"]}


class Section(BaseModel):
    """Base of all groups of settings: frozen, and unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class EmbeddingSettings(Section):
    """The model that finds memories by meaning."""

    model: Name = Field(
        default="BAAI/bge-small-en-v1.5",
        description="A fastembed model, a litellm embedding model as provider/name, or none to search by words alone.",
    )
    api_base: Name | None = Field(
        default=None, description="The address of a server that runs the model and speaks the provider's API."
    )
    path: Path | None = Field(default=None, description="A local folder with the model; used instead of a download.")
    download: bool = Field(default=True, description="Whether the model may be fetched once, in the background.")


class LanguageModelSettings(Section):
    """The language model that answers, summarises and reads. Its key is in the provider's own environment variable."""

    model: Name | None = Field(
        default=None, description="A litellm model, such as openai/gpt-5-mini; null works without."
    )
    api_base: Name | None = Field(default=None, description="The address of a server that speaks the provider's API.")
    timeout: float = Field(default=45.0, gt=0, description="Seconds until a request is given up.")


class NostrSettings(Section):
    """Where the encrypted notes go, and who signs them. Without relays nothing touches the network."""

    relays: Names = Field(default=(), description="Relays that keep a copy, as wss:// addresses.")
    app_tag: Name = Field(
        default="didactyl", description="The app tag of the events; agents that share it share notes."
    )
    keyring: bool = Field(default=False, description="Whether the key is taken from the keyring of the system.")
    bunker: SecretStr | None = Field(
        default=None,
        description="A remote signer (NIP-46): file: and the path of a file with its bunker:// URI.",
        json_schema_extra=_SECRET_SCHEMA,
    )
    nsec: SecretStr | None = Field(
        default=None,
        description="The key: file: and the path of a file with it. One is made when none is given.",
        json_schema_extra=_SECRET_SCHEMA,
    )


class RecallSettings(Section):
    """How much recall returns when the call does not say."""

    limit: int = Field(default=10, ge=1, le=200, description="Most items.")
    token_budget: int = Field(default=4_000, ge=100, description="Most tokens in all items together.")
    rerank: bool = Field(default=False, description="Whether a cross-encoder reorders the best; slower, more exact.")


class OutputSettings(Section):
    """How much a result may hold."""

    max_tokens: int = Field(default=20_000, ge=1_000, description="Most tokens in one result; whole items are cut.")


class ActionSettings(Section):
    """How actions are kept."""

    overflow_tokens: int = Field(
        default=256, ge=1, description="An action's output above this many tokens is kept whole as an artifact."
    )


class ExtractionSettings(Section):
    """How messages are read for what they mention."""

    spacy: bool = Field(
        default=False, description="Whether spaCy finds further names, beside the rules; needs uniko-mcp[spacy]."
    )
    llm: bool = Field(
        default=False,
        description="Whether the language model of llm.model reads messages too, in the background, beside the rules.",
    )


class DocumentSettings(Section):
    """Which files may become part of the memory."""

    folders: Paths = Field(
        default=(), description="Folders whose files may be ingested by path; empty: none, only content that is sent."
    )


class PromptSection(Section):
    """One section of the prompt `agent_context`: a heading, and under it what a tool answers."""

    section: Name = Field(description="The heading.")
    role: Literal["system", "user", "assistant"] = Field(default="user", description="Who says it.")
    tool: Name = Field(description="The tool that is called.")
    arguments: Mapping[str, Any] = Field(default={}, description="What it is called with.")
    skip_if_empty: bool = Field(default=True, description="Whether it is left out when there is nothing to say.")


DEFAULT_SECTIONS: Final = (
    PromptSection(section="Short-Term Memory", role="system", tool="memory_short_term_read"),
    PromptSection(section="Active Goals", tool="list_goals", arguments={"phase": "active", "limit": 20}),
    PromptSection(section="Tasks in Progress", tool="list_tasks", arguments={"phase": "active", "limit": 20}),
    PromptSection(section="Planned Tasks", tool="list_tasks", arguments={"phase": "planned", "limit": 20}),
    PromptSection(section="Known Facts", tool="search_facts", arguments={"limit": 20}),
)


class PromptSettings(Section):
    """What the prompt `agent_context` is made of."""

    sections: tuple[PromptSection, ...] = Field(default=DEFAULT_SECTIONS, description="Its sections, in order.")


class Settings(Section):
    """Everything that can be configured."""

    data_dir: Path = Field(
        default_factory=default_data_dir,
        description="The folder that holds the memory; made when missing. Default: where the platform keeps user data.",
    )
    agent_id: Name = Field(default="assistant", description="The agent that this server remembers for.")
    timezone: TimeZone = Field(default="UTC", description="The IANA zone of times that are given without an offset.")
    log_level: LogLevel = Field(default="warning", description="What is logged to stderr: this level and above.")
    tools: Names = Field(default=(), description="Tools or families of tools to offer; empty offers all.")
    read_only: bool = Field(default=False, description="Whether every tool that writes is left out.")
    embedding: EmbeddingSettings = EmbeddingSettings()
    llm: LanguageModelSettings = LanguageModelSettings()
    nostr: NostrSettings = NostrSettings()
    recall: RecallSettings = RecallSettings()
    output: OutputSettings = OutputSettings()
    actions: ActionSettings = ActionSettings()
    extraction: ExtractionSettings = ExtractionSettings()
    documents: DocumentSettings = DocumentSettings()
    prompt: PromptSettings = PromptSettings()

    @property
    def zone(self) -> tzinfo:
        """The zone in which times without an offset are taken."""
        return zone_named(self.timezone)
