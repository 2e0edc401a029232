"""Running a session's last message again: whoever asks for it speaks, in the words of the earlier one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from echo_bot.agent.directive import split_command
from echo_bot.agent.received.files import ReceivedFile, heard_key
from echo_bot.events import BlockType, ContentBlock, InboundEvent, TurnId
from echo_bot.session import event_from_json
from echo_bot.storage.protocol import Turns
from echo_bot.storage.records import JournalEntry, TurnRecord
from echo_bot.text.language import N_, _

_NOTHING = N_("There is no message in this conversation to run again.")
_RUNNING = N_("Something runs or waits in this conversation: `/stop` it first, or wait for its end.")
_COMMAND = N_("`/retry` takes words for the agent, `/run …` or `/tool …`; other commands are written alone.")


@dataclass(frozen=True, slots=True)
class Again:
    """What is run in the place of an earlier turn, and what that one has already received."""

    event: InboundEvent
    instead_of: TurnId
    files: tuple[JournalEntry, ...] = ()


async def again(
    asked: InboundEvent, words: str, last: TurnRecord | None, turns: Turns, *, turn_commands: frozenset[str]
) -> Again | str:
    """The event to run, or the sentence that refuses. `words` replace those of the earlier message."""
    if last is None:
        return _(_NOTHING)
    if not last.state.is_final:
        return _(_RUNNING)
    command = split_command(words)[0]
    if command and command not in turn_commands:
        return _(_COMMAND)
    earlier = event_from_json(last.event_json)
    content = earlier.content
    if words:
        files = (block for block in content if block.type is not BlockType.TEXT)
        content = (ContentBlock(BlockType.TEXT, text=words), *files)
    event = replace(
        asked,
        content=content,
        reply_to_id=earlier.reply_to_id,
        reply_to_text=earlier.reply_to_text,
        reply_to_sender=earlier.reply_to_sender,
        reply_to_is_own=earlier.reply_to_is_own,
    )
    received = await _received(last, earlier, event, turns)
    return Again(event, last.turn_id, received)


async def _received(
    last: TurnRecord, earlier: InboundEvent, event: InboundEvent, turns: Turns
) -> tuple[JournalEntry, ...]:
    """The files that are there already, under their places in the new event; voices with their words."""
    journal = {each.key: each.payload for each in await turns.journal(last.turn_id) if each.kind == "file"}
    before, after = _file_places(earlier), _file_places(event)
    found = ((new, _received_at(old, journal)) for old, new in zip(before, after, strict=True))
    return tuple(JournalEntry("file", new, payload) for new, payload in found if payload)


def _received_at(place: str, journal: Mapping[str, str]) -> str:
    """Of a voice that was not understood only the file, so that somebody listens again."""
    for payload in (journal.get(heard_key(place)), journal.get(place)):
        file = ReceivedFile.from_json(payload) if payload else None
        if payload and file and file.path and not file.unheard:
            return payload
    return ""


def _file_places(event: InboundEvent) -> list[str]:
    return [str(index) for index, block in enumerate(event.content) if block.type is not BlockType.TEXT]
