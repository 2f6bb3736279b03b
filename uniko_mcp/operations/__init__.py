"""Everything the memory can do, by name. MCP tools, the Python facade, the command line and schemas/ derive from it."""

from __future__ import annotations

from typing import Final

from uniko_mcp.operations import (
    answer,
    conversation,
    curate,
    documents,
    facts,
    goals,
    notes,
    recall,
    record,
    summaries,
    tasks,
)
from uniko_mcp.operations.catalogue import Catalogue

CATALOGUE: Final = Catalogue(
    [
        notes.memory_save,
        notes.my_memory,
        goals.create_goal,
        goals.update_goal,
        goals.list_goals,
        tasks.goal_context,
        tasks.create_task,
        tasks.update_task,
        tasks.list_tasks,
        record.record_action,
        record.record_episode,
        record.add_observation,
        facts.assert_fact,
        facts.invalidate_fact,
        facts.search_facts,
        conversation.record_messages,
        documents.ingest_document,
        summaries.summarize_session,
        recall.recall,
        answer.answer,
        curate.get_memory,
        curate.memory_status,
    ]
)

__all__ = ["CATALOGUE"]
