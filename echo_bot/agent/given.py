"""What a model is given beside the conversation: documents, never instructions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart

from echo_bot.agent.document import workspace_document
from echo_bot.agent.remembered import remembered_note
from echo_bot.agent.skilled import skills_note
from echo_bot.policy.settings import PlaceSettings
from echo_bot.skills.catalog import SkillCatalog
from echo_bot.storage.protocol import Memories

_NOTED = "I have read it."


class GivenDocuments:
    """The workspace's AGENTS.md, the skills and what is remembered."""

    def __init__(
        self, places: PlaceSettings, skills: SkillCatalog, memories: Memories, mask: Callable[[str], str]
    ) -> None:
        self._places, self._skills, self._memories, self._mask = places, skills, memories, mask

    async def messages(self, tools: Collection[str], memory_scope: str) -> Sequence[ModelMessage]:
        """For a turn with these tools; empty when there is nothing."""
        notes = [await asyncio.to_thread(workspace_document, self._places, self._mask)]
        if "skill_view" in tools:
            notes.append(await asyncio.to_thread(skills_note, self._skills, self._mask))
        if "memory" in tools:
            notes.append(await remembered_note(self._memories, memory_scope, self._mask))
        return told(*notes)


def told(*notes: str) -> Sequence[ModelMessage]:
    """What the model has read. The answer keeps it apart: requests that follow one another are merged."""
    parts = [UserPromptPart(note) for note in notes if note]
    if not parts:
        return ()
    return ModelRequest(parts=parts), ModelResponse(parts=[TextPart(_NOTED)])
