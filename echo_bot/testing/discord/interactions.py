"""What people do beyond writing: presses, slash commands, completions, modals, and the bot's answers."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simcord.backend import models, serializers
from simcord.enums import InteractionType
from simcord.interactions import base_payload, check_options

from echo_bot.testing.discord.shown import Shown
from echo_bot.testing.discord.world import World
from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually

_STRING = 3


@dataclass(frozen=True, slots=True)
class Interaction:
    """One interaction of a person: what the bot answers to it arrives later, or never."""

    world: World
    record: models.Interaction

    @property
    def acknowledged(self) -> bool:
        """Did the bot answer in any way, so that Discord shows no failure?"""
        return self.record.responded

    @property
    def answers(self) -> list[Shown]:
        """What the bot wrote in answer, oldest first, private or not. A "thinking…" is none yet."""
        record = self.record
        is_original = record.message_id != record.source_message_id and not record.loading
        ids = [record.message_id] if is_original and record.message_id is not None else []
        messages = self.world.backend.messages.get(record.channel_id, {})
        return [Shown(messages[each]) for each in (*ids, *record.followup_ids) if each in messages]

    async def acknowledgement(self, timeout: float = PATIENCE_SECONDS) -> None:
        """Wait until the bot has acknowledged it."""
        await eventually(lambda: self.acknowledged, "an acknowledgement", timeout)

    async def answer(self, timeout: float = PATIENCE_SECONDS) -> str:
        """The words of the first answer, as the person reads them."""
        shown = await eventually(lambda: self.answers, "an answer to the interaction", timeout)
        return shown[0].text

    async def choices(self, timeout: float = PATIENCE_SECONDS) -> list[tuple[str, str]]:
        """The completions that are offered, as (label, value)."""
        record = self.record
        await eventually(lambda: record.autocomplete_choices is not None, "completions", timeout)
        return [(str(each["name"]), str(each["value"])) for each in record.autocomplete_choices or ()]

    async def modal(self, timeout: float = PATIENCE_SECONDS) -> dict[str, Any]:
        """The modal that opened, as the bot described it."""
        return await eventually(lambda: self.record.modal, "a modal", timeout)

    @property
    def input(self) -> dict[str, Any]:
        """The first text input of the modal: its label, `value` to begin with and limits."""
        return next(_inputs(self.record.modal or {}))

    def fill(self, text: str) -> Interaction:
        """Write `text` into the modal's first field and submit it."""
        modal = copy.deepcopy(self.record.modal or {})
        field = next(_inputs(modal))
        if len(text) > field.get("max_length", 4000):
            raise AssertionError(f"the field takes {field.get('max_length', 4000)} characters")
        field["value"] = text
        data = {"custom_id": modal["custom_id"], "components": modal["components"]}
        return begin(
            self.world,
            InteractionType.MODAL_SUBMIT,
            self.record.channel_id,
            self.record.user_id,
            data,
            self.record.source_message_id,
        )

    def expire(self) -> None:
        """Too late: whatever the bot answers from now on is refused."""
        self.record.initial_response_deadline = self.record.expires_at = "1970-01-01T00:00:00+00:00"


def begin(
    world: World,
    kind: InteractionType,
    channel_id: int,
    user_id: int,
    data: dict[str, Any],
    source_message_id: int | None = None,
) -> Interaction:
    """Start an interaction and tell the bot of it."""
    backend = world.backend
    guild_id = backend.get_channel(channel_id).guild_id
    record, payload = base_payload(
        backend, type=kind, channel_id=channel_id, guild_id=guild_id, user_id=user_id, data=data
    )
    record.initial_response_deadline = backend.iso_after(world.first_answer_seconds)
    source = backend.messages[channel_id].get(source_message_id) if source_message_id else None
    if source is not None:
        record.source_message_id = source.id
        payload["message"] = dict(serializers.message_payload(backend, source))
    backend.emit("INTERACTION_CREATE", payload)
    return Interaction(world, record)


def command_data(
    world: World, guild_id: int | None, name: str, given: Mapping[str, str], focused: str = ""
) -> dict[str, Any]:
    """What Discord sends of a slash command. Raises where Discord's own client would not let it be sent."""
    command = world.backend.find_command(name, guild_id)
    if command is None:
        known = sorted(key for key, _ in world.backend.commands.get(None, {}))
        raise AssertionError(f"no command /{name} is registered; there are {known}")
    check_options(name, command, dict(given), partial=bool(focused))
    options = [
        {"name": key, "type": _STRING, "value": value} | ({"focused": True} if key == focused else {})
        for key, value in given.items()
    ]
    return {"id": command["id"], "name": name, "type": 1, "options": options}


def _inputs(modal: Mapping[str, Any]) -> Any:
    for outer in modal.get("components", ()):
        if "component" in outer:
            yield outer["component"]
        yield from outer.get("components", ())
