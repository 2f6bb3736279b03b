"""LoCoMo and BEAM as one shape: a conversation of messages, and questions with the messages that answer them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from uniko_mcp.models.time import SECONDS, to_micros

_TURN_GAP = 60 * SECONDS


@dataclass(frozen=True, slots=True)
class Message:
    """One turn; `timestamp` in microseconds UTC."""

    id: str
    content: str
    sender: str
    role: str
    session: str
    timestamp: int


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    evidence: frozenset[str]
    category: str


@dataclass(frozen=True, slots=True)
class Conversation:
    benchmark: str
    name: str
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]


def load_locomo(path: Path) -> list[Conversation]:
    """The conversations with questions of categories 1 to 4; prints how many evidence ids point nowhere."""
    conversations = [_locomo_conversation(entry) for entry in json.loads(path.read_text(encoding="utf-8"))]
    print(f"LoCoMo: {sum(dropped for _, dropped in conversations)} evidence ids point nowhere and are dropped")
    return [conversation for conversation, _ in conversations]


def load_beam(path: Path) -> list[Conversation]:
    """The chats, each stretch between two time anchors as a session."""
    return [_beam_conversation(entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def _locomo_conversation(entry: dict[str, Any]) -> tuple[Conversation, int]:
    messages: list[Message] = []
    talk = entry["conversation"]
    number = 1
    while f"session_{number}" in talk:
        began = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for place, turn in enumerate(talk[f"session_{number}"]):
            caption = f" [shares a picture: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            moment = to_micros(began) + place * _TURN_GAP
            messages.append(
                Message(turn["dia_id"], turn["text"] + caption, turn["speaker"], "user", f"session {number}", moment)
            )
        number += 1
    known = {message.id for message in messages}
    questions: list[Question] = []
    dropped = 0
    for item in entry["qa"]:
        if item["category"] == 5:
            continue
        named = {f"D{int(a)}:{int(b)}" for id in item["evidence"] for a, b in re.findall(r"D(\d+):(\d+)", id)}
        dropped += len(named - known)
        if named & known:
            questions.append(Question(item["question"], frozenset(named & known), str(item["category"])))
    return Conversation("LoCoMo", entry["sample_id"], tuple(messages), tuple(questions)), dropped


def _beam_conversation(entry: dict[str, Any]) -> Conversation:
    messages: list[Message] = []
    session, moment = 0, 0
    for item in entry["messages"]:
        if item.get("time_anchor"):
            session += 1
            moment = to_micros(datetime.strptime(item["time_anchor"], "%B-%d-%Y").replace(tzinfo=UTC))
        messages.append(
            Message(str(item["id"]), item["content"], item["role"], item["role"], f"session {session}", moment)
        )
        moment += _TURN_GAP
    questions = tuple(
        Question(item["question"], frozenset(map(str, item["evidence"])), item["kind"]) for item in entry["questions"]
    )
    return Conversation("BEAM", str(entry["id"]), tuple(messages), questions)
