"""What an adapter may ask of the core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from echo_bot.channel.commands import Command, CommandReply, Completion, Parameter, Prompt
from echo_bot.events import Address, ButtonPress, Card, Identity, InboundEvent, PressReply


@dataclass(frozen=True, slots=True)
class FileLocation:
    """Where the core fetches a received file: a URL with the headers it needs, or a path on this machine.

    `url` and `headers` may hold credentials: they are sent to that URL's origin only and never logged.
    `path` only where the operator runs the platform's server on this machine. `at_platform`: the URL is at
    one of the platform's own file hosts, which the adapter knows by name and reaches by HTTPS; such a host is
    asked through the account's proxy, any other host never.
    """

    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    path: str = ""
    at_platform: bool = False


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """One line of a chat's past: who said it (`role` is "user", "bot" or "card") and when."""

    entry_id: str
    role: str
    text: str
    at: datetime
    card: Card | None = None


class Port(Protocol):
    """What an adapter may ask of the core. Every call is safe to await from the SDK's callbacks."""

    async def receive(self, event: InboundEvent) -> bool:
        """Store the event and queue it; returns once stored. False: not admitted or seen before."""
        ...

    async def turn_down(self, event: InboundEvent) -> bool:
        """Claim an event that could not be answered where it was said: it is not done, and not later either.

        True: whoever sent it is to be told why. False: nothing was claimed, since it is not for the bot, is a
        stranger's or came before; what becomes of it says `receive` or `command`.
        """
        ...

    async def press(self, press: ButtonPress) -> PressReply:
        """Decide with a button; returns what to tell the presser. Never raises for a refused press."""
        ...

    async def prompt(self, press: ButtonPress) -> Prompt | PressReply:
        """What to ask after a press on a button with a `prompt`; a reply if this person may not decide.

        The words come back as `ButtonPress.text` with the same token.
        """
        ...

    async def command(self, event: InboundEvent) -> CommandReply:
        """A native command (its text form is the event's text), whose answer is wanted at once.

        Like `receive` it is claimed and stored first; a repeat answers with nothing, and whoever asked hears
        nothing more. Any message may come this way, where whoever sends it waits for what becomes of it. A
        stranger is told that the bot does not know them, since a platform shows an error where nothing is
        answered.
        """
        ...

    async def complete(self, viewer: Identity, parameter: Parameter, typed: str) -> tuple[Completion, ...]:
        """At most 25 completions of what was typed, best first; none for a stranger."""
        ...

    async def taken_back(self, address: Address, message_id: str) -> bool:
        """Somebody deleted a message: if its turn has not begun, it never does. False where nothing waited.

        `address` is the chat or the thread that the platform says it stood in.
        """
        ...

    async def chat_moved(self, old: Address, new_chat_id: str) -> None:
        """The platform gave a chat a new id: whatever is stored under the old one belongs to the new one."""
        ...

    async def admits(self, sender: Identity) -> bool:
        """May this sender speak here? For typing signs and downloads before `receive`."""
        ...

    async def persons(self, channel: str, account: str) -> tuple[str, ...]:
        """The ids of those who may speak on this account by name: listed or paired, not only by `"*"`."""
        ...

    async def transcript(self, address: Address, limit: int) -> tuple[TranscriptEntry, ...]:
        """The last `limit` entries of a chat, oldest first, open cards included."""
        ...

    async def chats(self, channel: str, account: str) -> tuple[Address, ...]:
        """The chats and threads of this account that have a transcript: the 200 used last, newest first."""
        ...

    async def pending(self, viewer: Identity) -> tuple[Card, ...]:
        """The open cards that `viewer` may decide, oldest first."""
        ...

    def commands(self) -> tuple[Command, ...]:
        """The chat commands, for platform menus and completion."""
        ...
