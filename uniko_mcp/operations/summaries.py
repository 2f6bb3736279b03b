"""Operation that summarizes a session."""

from __future__ import annotations

from dataclasses import replace

from anyio import to_thread
from pydantic import Field

from uniko_mcp.errors import LanguageModelError, MissingExtraError
from uniko_mcp.memory import summaries
from uniko_mcp.memory.summaries import Conversation, Summary
from uniko_mcp.models.fields import Identifier
from uniko_mcp.operations.call import Call, Services
from uniko_mcp.operations.catalogue import CHANGES, Params, Result, serves
from uniko_mcp.recall.language_model import LanguageModel


class SummarizeSession(Params):
    session_id: Identifier


class SessionSummary(Result):
    found: bool = Field(description="False when nothing was said in the session.")
    session_id: str
    summary_id: str | None = None
    text: str | None = None
    method: str | None = Field(default=None, description="lexrank, or the language model that wrote it.")
    covered: int = Field(default=0, description="How many messages it covers.")
    created: bool = False
    refreshed: bool = Field(default=False, description="Whether it replaced an older one.")
    notes: list[str] = Field(default=[], description="Why no language model wrote it, if one should have.")


@serves("Summarize a session", "conversation", CHANGES)
async def summarize_session(services: Services, call: Call, params: SummarizeSession) -> SessionSummary:
    """Summarize a conversation, and keep the summary so that recall finds it.

    Use it when a conversation ends or has become long. Calling it again is free as long as nothing more was said.
    """
    kept = None
    while kept is None:  # again when a message was forgotten while it was being summarized
        kept = await _summarize(services, call, params.session_id)
    return kept


async def _summarize(services: Services, call: Call, session_id: str) -> SessionSummary | None:
    conversation = await services.store.read(lambda view: summaries.read_conversation(view, session_id))
    before = conversation.summary
    model = LanguageModel.of(call.settings.llm)
    if before and conversation.is_covered_by(before) and (model is None or before.method == model.model):
        return _shown(before)
    summary, notes = await _written(conversation, model, call)
    if before and conversation.is_covered_by(before) and notes:
        return _shown(before, notes=notes)
    if not (before or summary.text):
        return SessionSummary(found=False, session_id=session_id)
    if not await services.store.write(lambda draft: summaries.keep_summary(draft, summary, now=call.now)):
        return None
    if not summary.text:
        return SessionSummary(found=False, session_id=session_id)
    return _shown(summary, created=before is None, refreshed=before is not None, notes=notes)


async def _written(conversation: Conversation, model: LanguageModel | None, call: Call) -> tuple[Summary, list[str]]:
    """The summary by the language model if there is one and it answers, else by extraction; and why it did not."""
    extract = await to_thread.run_sync(lambda: summaries.extract_summary(conversation, zone=call.zone))
    if model is None or not extract.text:
        return extract, []
    prompt, read = await to_thread.run_sync(lambda: summaries.summary_prompt(conversation, zone=call.zone))
    try:
        completion = await model.complete(prompt)
    except (LanguageModelError, MissingExtraError) as error:
        return extract, [f"Extracted, since {error.message}. {error.next_step}"]
    return replace(extract, text=completion.text, method=model.model, message_ids=read), []


def _shown(
    summary: Summary, *, created: bool = False, refreshed: bool = False, notes: list[str] | None = None
) -> SessionSummary:
    return SessionSummary(
        found=True,
        session_id=summary.session_id,
        summary_id=summary.summary_id,
        text=summary.text,
        method=summary.method,
        covered=summary.covered,
        created=created,
        refreshed=refreshed,
        notes=notes or [],
    )
