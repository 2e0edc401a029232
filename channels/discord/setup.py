"""Help with the set-up: what the token is worth, which intents are off, and the link that invites the bot."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import discord
from discord import Message, PartialMessageable, Permissions
from discord.utils import MISSING

from channels.discord.buttons import view_of
from channels.discord.client import DiscordClient
from channels.discord.endpoints import endpoints_of
from channels.discord.failures import INTENTS_FIX, PORTAL, translated
from channels.discord.places import NAME
from channels.discord.rooms import Rooms
from echo_bot.channel import ChannelSettings, SetupReport, Wanted
from echo_bot.events import Address, Card
from echo_bot.text import encode_card_discord

PERMISSIONS = Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    read_message_history=True,
    attach_files=True,
)
"""What the bot needs in a server; never an administrator."""

_CALL_SECONDS = 10.0
_TOKEN = Wanted("token", "Bot token", f"Open {PORTAL}, make an application, and press Reset Token under Bot.")


class DiscordSetup:
    """See `ChannelSetup`."""

    def wanted(self, options: Mapping[str, str]) -> tuple[Wanted, ...]:
        return (_TOKEN,)

    async def check(self, settings: ChannelSettings) -> SetupReport:
        async with _logged_in(settings) as client:
            application = await client.application_info()
        flags = application.flags
        may_read = flags.gateway_message_content or flags.gateway_message_content_limited
        invite = discord.utils.oauth_url(
            application.id, permissions=PERMISSIONS, scopes=("bot", "applications.commands")
        )
        return SetupReport(
            f"{client.user} (application {application.id})",
            problems=() if may_read else (f"Message Content Intent is off. {INTENTS_FIX}",),
            steps=(f"Invite it to a server: {invite}",),
        )

    async def send_card(self, settings: ChannelSettings, to: str, card: Card) -> None:
        async def send(room: PartialMessageable) -> Message:
            view = view_of(card.buttons) or MISSING
            return await room.send(encode_card_discord(card), view=view, suppress_embeds=True)

        async with _logged_in(settings) as client:
            await Rooms().at(client, Address(NAME, to), send)


SETUP = DiscordSetup()


class _Nobody:
    """Hears nothing: no session is opened."""

    def connected(self) -> None: ...

    def resumed(self) -> None: ...

    def disconnected(self) -> None: ...

    def lost(self, server: discord.Guild) -> None: ...

    def returned(self, server: discord.Guild) -> None: ...

    def message(self, message: discord.Message) -> None: ...

    def edited(self, message: discord.Message) -> None: ...

    def deleted(self, channel_id: int, message_id: int) -> None: ...

    def interaction(self, interaction: discord.Interaction[Any]) -> None: ...


@asynccontextmanager
async def _logged_in(settings: ChannelSettings) -> AsyncIterator[DiscordClient]:
    """A client for calls, without the gateway. Raises the port's errors for whatever is asked of it."""
    endpoints = endpoints_of(settings)
    endpoints.claim()
    client = DiscordClient(settings, _Nobody(), 0.0)
    try:
        async with translated(_CALL_SECONDS, "Send Messages"):
            await client.login(settings.secrets.get("token", "").strip())
            yield client
    finally:
        await client.close()
        endpoints.release()
