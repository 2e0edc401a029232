"""The Discord channel: the port's calls as the SDK's, and the SDK's events to the port."""

from __future__ import annotations

import base64
import hashlib
import io
import secrets
from collections.abc import Awaitable, Callable
from typing import TypeVar

from discord import AllowedMentions, File, Message, MessageReference, PartialMessageable

from channels.discord.attachments import all_attachments, ids_of, location_of
from channels.discord.buttons import view_of
from channels.discord.client import DiscordClient
from channels.discord.connection import Connection, Rhythm
from channels.discord.endpoints import endpoints_of
from channels.discord.failures import TOKEN_FIX, translated
from channels.discord.places import NAME
from channels.discord.reception import Reception
from channels.discord.redaction import TokenFilter
from channels.discord.render import MAX_CHARACTERS, literal, render_markdown
from channels.discord.rooms import Rooms, number
from echo_bot.channel import (
    Channel,
    ChannelCapabilities,
    ChannelHealth,
    ChannelSettings,
    ChannelState,
    FileLocation,
    Port,
    Prompting,
)
from echo_bot.channel.errands import Errands
from echo_bot.channel.uploads import read_for_upload
from echo_bot.errors import FormatRejected, StartError, TargetGone, TemporaryFailure
from echo_bot.events import Address, Card, ContentBlock, MessageRef, OutboundFile, OutboundText
from echo_bot.text import encode_card_discord

T = TypeVar("T")

CAPABILITIES = ChannelCapabilities(
    max_length=MAX_CHARACTERS,
    buttons=True,
    edits=True,
    typing=True,
    files=True,
    threads=True,
    groups=True,
    dedups_sends=True,
    dedups_files=True,
    prompts=Prompting.MODAL,
    private_replies=True,
    native_commands=True,
    completes_commands=True,
    receives_files=True,
    stream_interval_ms=1000,
    stream_interval_group_ms=1000,
)
NOBODY = AllowedMentions.none()
MAX_UPLOAD_BYTES = 10 * 1024 * 1024
_NONCE_CHARACTERS = 25
_ERRANDS_PATIENCE_SECONDS = 0.3


def build(settings: ChannelSettings) -> Channel:
    """Raises StartError without a token: there is nothing to connect with."""
    if not settings.secrets.get("token", "").strip():
        raise StartError(f"Discord has no bot token. {TOKEN_FIX}")
    return DiscordChannel(settings)


class DiscordChannel:
    """One bot. Nothing is connected before `start`, and nothing remains after `stop`."""

    name = NAME
    capabilities = CAPABILITIES

    def __init__(self, settings: ChannelSettings, rhythm: Rhythm | None = None) -> None:
        self.account = settings.account
        self._settings, self._rhythm = settings, rhythm or Rhythm()
        self._token = settings.secrets.get("token", "").strip()
        self._endpoints = endpoints_of(settings)
        self._secrecy = TokenFilter(self._token)
        self._rooms = Rooms()
        self._connection: Connection | None = None
        self._reception: Reception | None = None
        self._errands = Errands()

    async def start(self, port: Port) -> None:
        self._endpoints.claim()
        try:
            self._secrecy.install()
            reception = Reception(port, self.account, self._rooms, self._errands, self._rhythm)
            connection = Connection(
                lambda: DiscordClient(self._settings, reception, self._rhythm.guild_ready),
                self._token,
                self._endpoints,
                self.account,
                self._rhythm,
            )
            reception.attach(connection)
            self._reception, self._connection = reception, connection
            reception.intake.open()
            await connection.open()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        connection, self._connection = self._connection, None
        reception, self._reception = self._reception, None
        if reception is not None:
            await reception.intake.close()
        await self._errands.close(_ERRANDS_PATIENCE_SECONDS)
        if connection is not None:
            await connection.close()
            self._endpoints.release()
        self._secrecy.remove()

    def health(self) -> ChannelHealth:
        if self._connection is None or self._reception is None:
            return ChannelHealth(ChannelState.STOPPED)
        health = self._connection.health()
        error = health.error or self._reception.intake.error
        return ChannelHealth(health.state, health.last_event_at, error, health.next_retry_at)

    # Sending

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        content, nonce = _content(message), _nonce(message.dedup_key)

        async def send(room: PartialMessageable) -> Message:
            answered = _answering(room, message.reply_to_id)
            if answered is None:
                return await room.send(content, nonce=nonce, allowed_mentions=NOBODY, suppress_embeds=True)
            return await room.send(
                content, nonce=nonce, reference=answered, allowed_mentions=NOBODY, suppress_embeds=True
            )

        return await self._post(address, send, "Send Messages")

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        content, view, nonce = _card_content(card), view_of(card.buttons), _nonce(card.dedup_key)

        async def send(room: PartialMessageable) -> Message:
            if view is None:
                return await room.send(content, nonce=nonce, allowed_mentions=NOBODY, suppress_embeds=True)
            return await room.send(
                content, nonce=nonce, view=view, allowed_mentions=NOBODY, suppress_embeds=True
            )

        return await self._post(address, send, "Send Messages")

    async def send_file(self, address: Address, file: OutboundFile) -> MessageRef:
        content, nonce = await read_for_upload(file.path, MAX_UPLOAD_BYTES, "Discord"), _nonce(file.dedup_key)

        async def send(room: PartialMessageable) -> Message:
            return await room.send(
                file=File(io.BytesIO(content), filename=file.name), nonce=nonce, allowed_mentions=NOBODY
            )

        return await self._post(address, send, "Attach Files", self._rhythm.upload)

    async def typing(self, address: Address) -> None:
        async def show(room: PartialMessageable) -> None:
            await room.typing()

        await self._at(address, show, "Send Messages")

    # Changing what was sent

    async def edit_text(self, ref: MessageRef, message: OutboundText) -> None:
        async def edit(room: PartialMessageable) -> None:
            standing = room.get_partial_message(number(ref.message_id))
            await standing.edit(content=_content(message), allowed_mentions=NOBODY)

        await self._at(ref.address, edit, "View Channel")

    async def edit_card(self, ref: MessageRef, card: Card) -> None:
        content, view = _card_content(card), view_of(card.buttons)

        async def edit(room: PartialMessageable) -> None:
            standing = room.get_partial_message(number(ref.message_id))
            await standing.edit(content=content, view=view, allowed_mentions=NOBODY)

        await self._at(ref.address, edit, "View Channel")

    # What people sent

    async def locate(self, block: ContentBlock) -> FileLocation:
        channel_id, message_id, attachment_id = ids_of(block)
        client = self._client()
        async with translated(self._rhythm.call, "Read Message History"):
            message = await client.get_partial_messageable(channel_id).fetch_message(message_id)
        for attachment in all_attachments(message):
            if attachment.id == attachment_id:
                return location_of(attachment.url)
        raise TargetGone("the file was taken out of the message")

    # Inside

    async def _post(
        self,
        address: Address,
        send: Callable[[PartialMessageable], Awaitable[Message]],
        permission: str,
        seconds: float = 0.0,
    ) -> MessageRef:
        sent_to, sent = await self._at(address, send, permission, seconds)
        return MessageRef(sent_to, str(sent.id))

    async def _at(
        self,
        address: Address,
        call: Callable[[PartialMessageable], Awaitable[T]],
        permission: str,
        seconds: float = 0.0,
    ) -> tuple[Address, T]:
        client = self._client()
        if address.thread_id and permission == "Send Messages":
            permission = "Send Messages in Threads"
        async with translated(seconds or self._rhythm.call, permission):
            return await self._rooms.at(client, address, call)

    def _client(self) -> DiscordClient:
        if self._connection is None:
            raise TemporaryFailure("Discord is not started")
        return self._connection.client


def _content(message: OutboundText) -> str:
    text = render_markdown(message.text) if message.markdown else literal(message.text)
    if not text.strip():
        raise FormatRejected("Discord takes no empty message")
    return text


def _card_content(card: Card) -> str:
    content = encode_card_discord(card)
    if len(content) > MAX_CHARACTERS:
        raise FormatRejected(f"the card is longer than the {MAX_CHARACTERS} characters of a message")
    return content


def _answering(room: PartialMessageable, message_id: str) -> MessageReference | None:
    """Never an error: the message may be gone, and a command or a press is no message at all."""
    if not message_id.isdecimal():
        return None
    return MessageReference(message_id=int(message_id), channel_id=room.id, fail_if_not_exists=False)


def _nonce(dedup_key: str) -> str:
    """What makes Discord send a message once, however often it is asked within some minutes."""
    if not dedup_key:
        return secrets.token_urlsafe(_NONCE_CHARACTERS)[:_NONCE_CHARACTERS]
    digest = hashlib.sha256(dedup_key.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode()[:_NONCE_CHARACTERS]
