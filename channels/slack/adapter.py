"""The Slack channel: the port's calls as the SDK's, and the SDK's deliveries to the port."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.failures import (
    APP_TOKEN_FIX,
    BOT_TOKEN_FIX,
    SDK_ERRORS,
    SIGNING_SECRET_FIX,
    error_code,
    nothing_shown,
    translated,
)
from channels.slack.files import MAX_UPLOAD_BYTES, locate, upload
from channels.slack.hook import Hook
from channels.slack.inbound import NAME
from channels.slack.line import Rhythm
from channels.slack.link import Link
from channels.slack.redaction import Redaction
from channels.slack.render import MAX_CHARACTERS, Rendered, literal_blocks, render_card, render_text
from echo_bot.channel import (
    AsgiApp,
    Channel,
    ChannelCapabilities,
    ChannelHealth,
    ChannelSettings,
    ChannelState,
    FileLocation,
    Port,
    Prompting,
)
from echo_bot.channel.uploads import read_for_upload
from echo_bot.errors import StartError, TemporaryFailure
from echo_bot.events import Address, Card, ContentBlock, MessageRef, OutboundFile, OutboundText
from echo_bot.text.language import N_, _

log = structlog.get_logger(__name__)

CAPABILITIES = ChannelCapabilities(
    max_length=MAX_CHARACTERS,
    buttons=True,
    edits=True,
    typing=True,
    files=True,
    threads=True,
    groups=True,
    pending_list=True,
    dedups_sends=True,
    prompts=Prompting.MODAL,
    private_replies=True,
    native_commands=True,
    receives_files=True,
    stream_interval_ms=1200,
    stream_interval_group_ms=1200,
)
_STATUS = N_("is thinking …")
_MESSAGE_IDS = uuid.UUID("6f1c6a0e-5b0e-4c39-9f5b-0f0a3d1f5e57")
_ALREADY_SENT = frozenset({"duplicate_message_not_allowed", "duplicate_message"})


def build(settings: ChannelSettings) -> Channel:
    """Raises StartError for a missing token or secret: there is nothing to connect with, or to trust."""
    secrets = settings.secrets
    if not secrets.get("bot_token", "").strip():
        raise StartError(f"Slack has no bot token. {BOT_TOKEN_FIX}")
    if _is_http(settings) and not secrets.get("signing_secret", "").strip():
        raise StartError(f"Slack has no signing secret, so that anybody could call it. {SIGNING_SECRET_FIX}")
    if not _is_http(settings) and not secrets.get("app_token", "").strip():
        raise StartError(f"Slack has no app token for Socket Mode. {APP_TOKEN_FIX}")
    return SlackChannel(settings)


class SlackChannel:
    """One workspace. Nothing is connected before `start`, and nothing remains after `stop`."""

    name = NAME
    capabilities = CAPABILITIES

    def __init__(self, settings: ChannelSettings, rhythm: Rhythm | None = None) -> None:
        self.account = settings.account
        self._settings, self._rhythm = settings, rhythm or Rhythm()
        self._redaction = Redaction([*map(str.strip, settings.secrets.values()), settings.proxy])
        secret = settings.secrets.get("signing_secret", "").strip()
        self._hook = Hook(secret) if _is_http(settings) else None
        self._link: Link | None = None
        self._shows_status = True

    async def start(self, port: Port) -> None:
        self._shows_status = True
        try:
            self._link = Link(self._settings, port, self._hook, self._redaction, self._rhythm)
            await self._link.open()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    def health(self) -> ChannelHealth:
        return self._link.health() if self._link is not None else ChannelHealth(ChannelState.STOPPED)

    def hooks(self) -> Mapping[str, AsgiApp]:
        """See `Hooked`: in HTTP mode Slack calls here."""
        path = f"/slack/{self.account}/events" if self.account else "/slack/events"
        return {path: self._hook} if self._hook is not None else {}

    # Sending

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        message = self._as_taken(message)
        key = _message_id(message.dedup_key)
        return await self._post(address, render_text(message), key, is_draft=message.is_draft)

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        return await self._post(address, render_card(card), _message_id(card.dedup_key))

    async def send_file(self, address: Address, file: OutboundFile) -> MessageRef:
        content = await read_for_upload(file.path, MAX_UPLOAD_BYTES, "Slack")
        with nothing_shown(), translated(self._redaction.clean):
            to = await self._reachable(address)
            file_id = await upload(self._connected().clients, file.name, content)
        with translated(self._redaction.clean):
            await self._web().files_completeUploadExternal(
                files=[{"id": file_id, "title": file.name}],
                channel_id=to.chat_id,
                thread_ts=to.thread_id or None,
            )
        return MessageRef(to, file_id)

    async def typing(self, address: Address) -> None:
        """In a thread, the status that Slack shows for assistants; elsewhere there is no sign for bots."""
        if not (address.thread_id and self._shows_status):
            return
        try:
            await self._web().assistant_threads_setStatus(
                channel_id=address.chat_id, thread_ts=address.thread_id, status=_(_STATUS)
            )
        except SDK_ERRORS as error:
            if error_code(error) not in ("", "ratelimited"):
                self._shows_status = False
                log.info("slack_status_not_shown", account=self.account, error=error_code(error))

    # Changing what was sent

    async def edit_text(self, ref: MessageRef, message: OutboundText) -> None:
        message = self._as_taken(message)
        shown = render_text(message)
        if shown.literal and not shown.blocks:
            # Only a new message can have its formatting switched off.
            shown = replace(shown, blocks=tuple(literal_blocks(message.text)))
        await self._edit(ref, shown)

    async def edit_card(self, ref: MessageRef, card: Card) -> None:
        await self._edit(ref, render_card(card))

    # What else the core asks

    async def locate(self, block: ContentBlock) -> FileLocation:
        """See `FileSource`."""
        with translated(self._redaction.clean):
            return await locate(block.ref, self._web(), self._settings.api_base)

    async def pending_changed(self) -> None:
        """See `PendingBoard`: App Home is published again, in the background."""
        if self._link is not None:
            self._link.home.changed()

    # Inside

    async def _post(
        self, address: Address, shown: Rendered, client_msg_id: str = "", *, is_draft: bool = False
    ) -> MessageRef:
        identified: dict[str, Any] = {"client_msg_id": client_msg_id} if client_msg_id else {}
        strays = self._connected().strays
        with translated(self._redaction.clean):
            to = await self._reachable(address)
        with strays.sending(to, shown.text, is_draft=is_draft), translated(self._redaction.clean):
            try:
                sent = await self._web().chat_postMessage(
                    channel=to.chat_id,
                    text=shown.text,
                    blocks=list(shown.blocks) or None,
                    thread_ts=to.thread_id or None,
                    mrkdwn=not shown.literal,
                    parse="none",
                    link_names=False,
                    unfurl_links=False,
                    unfurl_media=False,
                    **identified,
                )
            except SDK_ERRORS as error:
                if not client_msg_id or error_code(error) not in _ALREADY_SENT:
                    raise
                return MessageRef(to, "")
            stands_in = replace(to, chat_id=str(sent.get("channel") or to.chat_id))
            ref = MessageRef(stands_in, str(sent.get("ts") or ""))
            strays.stands(ref.address.chat_id, ref.message_id)
        return ref

    async def _edit(self, ref: MessageRef, shown: Rendered) -> None:
        with translated(self._redaction.clean):
            to = await self._reachable(ref.address)
            await self._web().chat_update(
                channel=to.chat_id,
                ts=ref.message_id,
                text=shown.text,
                blocks=list(shown.blocks),
                parse="none",
                link_names=False,
            )

    def _as_taken(self, message: OutboundText) -> OutboundText:
        """Our own words name commands as Slack takes them."""
        if not message.is_own:
            return message
        return replace(message, text=self._connected().commands.as_taken(message.text))

    async def _reachable(self, address: Address) -> Address:
        """The address with a direct chat in place of a person."""
        return replace(address, chat_id=await self._connected().directs.channel_of(address.chat_id))

    def _connected(self) -> Link:
        if self._link is None:
            raise TemporaryFailure("Slack is not started")
        return self._link

    def _web(self) -> AsyncWebClient:
        return self._connected().clients.web


def _message_id(dedup_key: str) -> str:
    """The id under which Slack takes a message only once; "" where none is wanted."""
    return str(uuid.uuid5(_MESSAGE_IDS, dedup_key)) if dedup_key else ""


def _is_http(settings: ChannelSettings) -> bool:
    return settings.options.get("mode", "socket") == "http"
