"""The turn's journal: model responses before their calls run, every call's start, every result."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from echo_bot.events import TurnId
from echo_bot.storage.protocol import Turns
from echo_bot.storage.records import JournalEntry
from echo_bot.tools.base import ToolResult

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage


class Journal:
    """One turn's journal, read once at its start and appended to as it goes on."""

    def __init__(self, turns: Turns, turn_id: TurnId, entries: tuple[JournalEntry, ...]) -> None:
        self._turns, self.turn_id, self.is_revived = turns, turn_id, bool(entries)
        self._responses = [entry.payload for entry in entries if entry.kind == "response"]
        self._started = {entry.key for entry in entries if entry.kind == "call"}
        self._results = {entry.key: entry.payload for entry in entries if entry.kind == "result"}
        self._files = {entry.key: entry.payload for entry in entries if entry.kind == "file"}
        self._notes = {entry.key: entry.payload for entry in entries if entry.kind == "note"}
        messages = self.messages() if self._responses else []
        self.message_count = len(messages)
        self.response_count = sum(message.kind == "response" for message in messages)
        self._count_before_last = self.message_count - (_count(self._responses[-1]) if self._responses else 0)

    def result(self, key: str) -> ToolResult | None:
        """The stored result of a finished call."""
        payload = self._results.get(key)
        return ToolResult(**json.loads(payload)) if payload is not None else None

    def refusals(self) -> tuple[str, ...]:
        """What the calls heard that were not run because nobody allowed them, each sentence once."""
        results = (json.loads(payload) for payload in self._results.values())
        return tuple(dict.fromkeys(each["error"] for each in results if each["error_kind"] == "denied"))

    def was_started(self, key: str) -> bool:
        return key in self._started

    async def start_call(self, key: str, tool: str) -> None:
        """Must return before the call has any effect."""
        self._started.add(key)
        await self._turns.append(self.turn_id, JournalEntry("call", key, json.dumps({"tool": tool})))

    async def finish_call(self, key: str, result: ToolResult) -> None:
        payload = _dumped(result)
        self._results[key] = payload
        await self._turns.append(self.turn_id, JournalEntry("result", key, payload))

    def file(self, key: str) -> str | None:
        """What became of a received file, as JSON."""
        return self._files.get(key)

    async def add_file(self, key: str, payload: str) -> None:
        self._files[key] = payload
        await self._turns.append(self.turn_id, JournalEntry("file", key, payload))

    def draft(self) -> str:
        """The message id of the draft that an earlier run left for the answer that is due now."""
        return self._notes.get(f"draft:{self.message_count}", "")

    def answered_draft(self) -> str:
        """The same of the last answer that is in the journal."""
        return self._notes.get(f"draft:{self._count_before_last}", "")

    async def note_draft(self, message_id: str) -> None:
        await self._turns.append(
            self.turn_id, JournalEntry("note", f"draft:{self.message_count}", message_id)
        )

    def was_begun(self) -> bool:
        """Did an earlier run note that it began?"""
        return "begun" in self._notes

    async def note_begun(self) -> None:
        await self._turns.append(self.turn_id, JournalEntry("note", "begun", ""))

    def results_cut(self) -> int:
        """Results before this message of the turn are sent to the model shortened."""
        return int(self._last("results_cut") or 0)

    async def note_results_cut(self, before: int) -> None:
        await self._note("results_cut", str(before))

    def left_out(self) -> str:
        """The last turn of the session that this one's model is not told of, for want of room."""
        return self._last("left_out")

    async def note_left_out(self, through_turn: str) -> None:
        await self._note("left_out", through_turn)

    def _last(self, what: str) -> str:
        """What was noted last of something that changes as the turn goes on."""
        noted = [payload for key, payload in self._notes.items() if key.startswith(f"{what}:")]
        return noted[-1] if noted else ""

    async def _note(self, what: str, value: str) -> None:
        key = f"{what}:{value}"
        if key not in self._notes:
            self._notes[key] = value
            await self._turns.append(self.turn_id, JournalEntry("note", key, value))

    def messages(self) -> list[ModelMessage]:
        """All messages journalled so far, oldest first."""
        from pydantic_ai.messages import ModelMessagesTypeAdapter

        return [m for payload in self._responses for m in ModelMessagesTypeAdapter.validate_json(payload)]

    async def add_messages(self, messages: list[ModelMessage]) -> None:
        """Append what came since the last time, ending in a model response."""
        from pydantic_ai.messages import ModelMessagesTypeAdapter

        self._count_before_last = self.message_count
        self.message_count += len(messages)
        self.response_count += sum(message.kind == "response" for message in messages)
        payload = ModelMessagesTypeAdapter.dump_json(messages).decode()
        key = str(len(self._responses))
        self._responses.append(payload)
        await self._turns.append(self.turn_id, JournalEntry("response", key, payload))


def _count(payload: str) -> int:
    return len(json.loads(payload))


def _dumped(result: ToolResult) -> str:
    """A tool's metadata may hold anything; what JSON cannot say is left out rather than losing the result."""
    try:
        return json.dumps(asdict(result), default=str)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(asdict(replace(result, metadata={})))
