"""Operation that answers a question from the memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import Field

from uniko_mcp.errors import LanguageModelError, MissingExtraError, UnikoError
from uniko_mcp.memory import episodes
from uniko_mcp.memory.pages import ENVELOPE_TOKENS, fitting, item_tokens
from uniko_mcp.models.domain import DomainModel
from uniko_mcp.models.fields import Identifier, Instant, Required, TimeSpan
from uniko_mcp.models.ids import new_id
from uniko_mcp.models.time import day_of
from uniko_mcp.models.tokens import estimate_result_tokens, estimate_tokens
from uniko_mcp.operations.call import Call, Services
from uniko_mcp.operations.catalogue import ADDS, Params, Result, serves
from uniko_mcp.operations.evidence import answer_prompt, cited, instruction, numbered, source
from uniko_mcp.operations.recall import Kind, Recall, RecalledItem, RecallResult, Source, first_items, recall_items
from uniko_mcp.recall.language_model import Completion, LanguageModel
from uniko_mcp.store import Draft

EPISODE: Final = "answer"
"""The action type of the episodes that record answers."""

_NOTHING_FOUND: Final = "The memory holds nothing on this question."
_NO_MODEL: Final = "No language model is configured (llm.model), and the client lends none."
_DECLINED: Final = "The client's language model gave no answer."
_LEFT_TO_YOU: Final = "Answer the question yourself from the sources in context, and cite them as [1]."


class Answer(Params):
    question: Required
    record: bool = Field(default=False, description="Keep question and answer as an episode.")
    limit: int | None = Field(default=None, ge=1, le=200)
    token_budget: int | None = Field(default=None, ge=100, le=100_000)
    kinds: list[Kind] = Field(default=[])
    session_ids: list[Identifier] = Field(default=[])
    participants: list[Identifier] = Field(default=[])
    since: TimeSpan | None = None
    until: TimeSpan | None = None
    reference_time: TimeSpan | None = None
    goal_id: Identifier | None = None
    include_superseded: bool = False

    def recall(self) -> Recall:
        """What to recall for it."""
        shared = {name: value for name, value in self.values().items() if name in Recall.model_fields}
        return Recall.model_construct(query=self.question, **shared)  # the same fields, validated already


class Citation(DomainModel):
    """A source that was shown to the model, by its number in `context`; `used` when the answer cites it."""

    number: int
    kind: str
    id: str
    used: bool
    timestamp: Instant
    sources: list[Source]
    more_sources: int | None = None


class AnswerResult(Result):
    text: str = Field(description="The answer, citing sources as [1]; without a model, how to answer from context.")
    citations: list[Citation]
    context: str = Field(description="The numbered sources.")
    truncated: bool = Field(description="Whether more sources were found than are shown.")
    model: str | None = Field(default=None, description="The language model that answered, if one did.")
    tokens: int = Field(description="Used by the model; without one, the size of the context.")
    recorded_episode: str | None = None
    notes: list[str] = Field(description="What limits the answer, such as a model that failed.")


@serves("Answer a question", "recall", ADDS)
async def answer(services: Services, call: Call, params: Answer) -> AnswerResult:
    """Answer a question from what recall finds, with citations, by the configured language model or your own.

    Use it for a question that wants an answer rather than memories. All parameters but question and record are those
    of recall. Without a language model it returns the sources for you to answer from.
    """
    found = await _sources(services, call, params)
    context = numbered(found.items)
    completion, failure = await _complete(call, params, context) if found.items else (None, None)
    episode_id, fault = await _record(services, call, params, completion) if params.record else (None, None)
    return AnswerResult(
        text=completion.text if completion else instruction() if found.items else _NOTHING_FOUND,
        citations=_citations(found.items, completion),
        context=context,
        truncated=found.truncated,
        model=completion.model if completion else None,
        tokens=completion.tokens if completion else estimate_tokens(context),
        recorded_episode=episode_id,
        notes=[*found.notes, *(note for note in (failure, fault) if note)],
    )


async def _sources(services: Services, call: Call, params: Answer) -> RecallResult:
    """What is found, the best of it that fits into three quarters of a result, both cited and shown. The answer has the
    rest."""
    most = call.settings.output.max_tokens
    found = await recall_items(services, call, params.recall(), most_text=most // 3)
    sizes = (
        item_tokens(citation) + estimate_result_tokens({"": source(citation.number, item)})
        for citation, item in zip(_citations(found.items, None), found.items, strict=True)
    )
    return first_items(found, fitting(sizes, most * 3 // 4 - ENVELOPE_TOKENS))


def _today(call: Call, params: Answer) -> str:
    """The day that the question is asked on, or as if."""
    return day_of(params.reference_time.start if params.reference_time else call.now, call.zone).isoformat()


async def _complete(call: Call, params: Answer, context: str) -> tuple[Completion | None, str | None]:
    """The answer of the configured model, or else of the client's; or why there is none and what to do."""
    prompt = answer_prompt(params.question, context, today=_today(call, params))
    if model := LanguageModel.of(call.settings.llm):
        try:
            return await model.complete(prompt), None
        except (LanguageModelError, MissingExtraError) as error:
            return None, f"{error}. {_LEFT_TO_YOU}"
    if call.ask_client is None:
        return None, f"{_NO_MODEL} {_LEFT_TO_YOU}"
    completion = await call.ask_client(prompt)
    return completion, None if completion else f"{_DECLINED} {_LEFT_TO_YOU}"


def _citations(items: Sequence[RecalledItem], completion: Completion | None) -> list[Citation]:
    used = cited(completion.text, len(items)) if completion else set[int]()
    return [
        Citation(
            number=number,
            kind=item.kind,
            id=item.id,
            used=number in used,
            timestamp=item.timestamp,
            sources=item.sources,
            more_sources=item.more_sources,
        )
        for number, item in enumerate(items, 1)
    ]


async def _record(
    services: Services, call: Call, params: Answer, completion: Completion | None
) -> tuple[str | None, str | None]:
    """The episode that keeps question and answer, or why it could not be kept."""
    episode_id = new_id()

    def plan(draft: Draft) -> None:
        known = draft.existing("Session", params.session_ids)
        goal = {"goal_id": params.goal_id} if params.goal_id else {}
        new = episodes.NewEpisode(
            episode_id=episode_id,
            action_type=EPISODE,
            outcome=completion.text if completion else None,
            state={"question": params.question, **goal},
            session_id=params.session_ids[0] if len(params.session_ids) == 1 and known else None,
        )
        episodes.record_episode(draft, new, agent_id=call.agent_id, now=call.now)

    try:
        await services.store.write(plan)
    except UnikoError as error:
        return None, f"The answer was not recorded: {error}"
    return episode_id, None
