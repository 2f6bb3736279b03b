"""The settings: one frozen model of everything that can be configured."""

from __future__ import annotations

from datetime import tzinfo
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field


class Section(BaseModel):
    """Base of all groups of settings: frozen, and unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class OutputSettings(Section):
    """How much a result may hold."""

    max_tokens: int = Field(default=20_000, ge=1_000, description="Most tokens in one result; whole items are cut.")


class ActionSettings(Section):
    """How actions are kept."""

    overflow_tokens: int = Field(
        default=256, ge=1, description="An action's output above this many tokens is kept whole as an artifact."
    )


class Settings(Section):
    """Everything that can be configured."""

    data_dir: Path
    agent_id: str = "assistant"
    timezone: str = "UTC"
    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    tools: tuple[str, ...] = ()
    read_only: bool = False
    output: OutputSettings = OutputSettings()
    actions: ActionSettings = ActionSettings()

    @property
    def zone(self) -> tzinfo:
        """The zone in which times without an offset are taken."""
        return ZoneInfo(self.timezone)
