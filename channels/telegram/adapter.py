"""The Telegram channel: the port's calls as the SDK's, and the SDK's updates to the port."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeVar

from telegram import InlineKeyboardMarkup, InputFile, LinkPreviewOptions, Message, ReplyParameters
from telegram.constants import ChatAction
from telegram.error import BadRequest

from channels.telegram.client import DRAFT, TelegramBot, open_bot
from channels.telegram.failures import TOKEN_FIX, is_about_format, is_not_modified, translated
from channels.telegram.files import MAX_UPLOAD_BYTES, locate_file
from channels.telegram.inbound import GENERAL_TOPIC, NAME
from channels.telegram.keyboard import keyboard_of
from channels.telegram.link import Link
from channels.telegram.redaction import TokenFilter
from channels.telegram.render import MAX_UNITS, Rendered, render_card, render_markdown, render_plain
from channels.telegram.standing import Rhythm
from channels.telegram.webhook import answer_unavailable, webhook_of
from echo_bot.channel import (
    AsgiApp,
    Channel,
    ChannelCapabilities,
    ChannelHealth,
    ChannelSettings,
    ChannelState,
    FileLocation,
    LengthUnit,
    Port,
    Prompting,
)
from echo_bot.channel.clock import PlatformClock
from echo_bot.channel.uploads import read_for_upload
from echo_bot.errors import OutcomeUnknown, StartError, TargetGone, TemporaryFailure
from echo_bot.events import Address, Card, ContentBlock, MessageRef, OutboundFile, OutboundText

T = TypeVar("T")

CAPABILITIES = ChannelCapabilities(
    max_length=MAX_UNITS,
    length_unit=LengthUnit.UTF16,
    buttons=True,
    edits=True,
    typing=True,
    files=True,
    threads=True,
    groups=True,
    prompts=Prompting.REPLY,
    private_replies=True,
    receives_files=True,
    reactions=True,
    stream_interval_ms=1000,
    stream_interval_group_ms=3000,
)
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
"""A preview would let Telegram's servers fetch any address a model writes."""


def build(settings: ChannelSettings) -> Channel:
    """Raises StartError without a token, and for a webhook that could not work safely."""
    if not settings.secrets.get("token", "").strip():
        raise StartError(f"Telegram has no bot token. {TOKEN_FIX}")
    return TelegramChannel(settings)


class TelegramChannel:
    """One bot. Nothing is connected before `start`, and nothing remains after `stop`."""

    name = NAME
    capabilities = CAPABILITIES

    def __init__(self, settings: ChannelSettings, rhythm: Rhythm | None = None) -> None:
        self.account = settings.account
        self._settings, self._rhythm = settings, rhythm or Rhythm()
        self._secrecy = TokenFilter(settings.secrets.get("token", "").strip())
        self._webhook = webhook_of(settings)
        self._link: Link | None = None

    async def start(self, port: Port) -> None:
        self._secrecy.install()
        try:
            clock = PlatformClock()
            bot = open_bot(self._settings, clock)
            self._link = Link(bot, port, self.account, self._rhythm, self._webhook, clock)
            await self._link.open()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()
        self._secrecy.remove()

    def health(self) -> ChannelHealth:
        return self._link.health() if self._link is not None else ChannelHealth(ChannelState.STOPPED)

    def hooks(self) -> Mapping[str, AsgiApp]:
        """Where Telegram calls; nothing when it is polled."""
        return {self._webhook.path: self._called} if self._webhook is not None else {}

    # Files that people sent

    async def locate(self, block: ContentBlock) -> FileLocation:
        return await locate_file(self._bot(), block, is_official=not self._settings.api_base)

    # Sending

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        try:
            return await self._send(
                address,
                _rendered(message),
                message.text,
                reply_to_id=message.reply_to_id,
                is_draft=message.is_draft,
            )
        except (OutcomeUnknown, asyncio.CancelledError):
            if message.is_draft:
                self._connected().strays.lost(_number(address.chat_id))
            raise

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        shown = render_card(card)
        return await self._send(address, shown, shown.text, keyboard=keyboard_of(card.buttons))

    async def send_file(self, address: Address, file: OutboundFile) -> MessageRef:
        bot = self._bot()
        content = await read_for_upload(file.path, MAX_UPLOAD_BYTES, "Telegram")

        async def send(to: Address) -> Message:
            return await bot.send_document(
                _number(to.chat_id),
                InputFile(content, filename=file.name),
                message_thread_id=_thread(to),
                disable_content_type_detection=True,
            )

        return await self._post(address, send)

    async def typing(self, address: Address) -> None:
        bot = self._bot()

        async def show(to: Address) -> bool:
            return await bot.send_chat_action(
                _number(to.chat_id), ChatAction.TYPING, message_thread_id=_thread(to)
            )

        with translated(bot.token):
            await self._connected().moves.follow(address, show)

    # Changing what was sent

    async def edit_text(self, ref: MessageRef, message: OutboundText) -> None:
        await self._edit(ref, _rendered(message), message.text, None, is_draft=message.is_draft)

    async def edit_card(self, ref: MessageRef, card: Card) -> None:
        shown = render_card(card)
        await self._edit(ref, shown, shown.text, keyboard_of(card.buttons))

    async def _edit(
        self,
        ref: MessageRef,
        shown: Rendered,
        plain: str,
        keyboard: InlineKeyboardMarkup | None,
        *,
        is_draft: bool = False,
    ) -> None:
        """Put this in the message's place; without a keyboard Telegram takes the old one away."""
        bot = self._bot()

        async def edit(shown: Rendered) -> None:
            await bot.edit_message_text(
                shown.text,
                chat_id=_number(ref.address.chat_id),
                message_id=_number(ref.message_id),
                entities=shown.entities or None,
                reply_markup=keyboard,
                link_preview_options=_NO_PREVIEW,
                rate_limit_args=DRAFT if is_draft else None,
            )

        with translated(bot.token):
            try:
                await _with_plain_fallback(edit, shown, plain)
            except BadRequest as error:
                if not is_not_modified(error):
                    raise

    # Inside

    async def _called(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        link = self._link
        if link is None or link.hook is None:
            await answer_unavailable(send)
        else:
            await link.hook(scope, receive, send)

    async def _send(
        self,
        address: Address,
        shown: Rendered,
        plain: str,
        *,
        reply_to_id: str = "",
        keyboard: InlineKeyboardMarkup | None = None,
        is_draft: bool = False,
    ) -> MessageRef:
        bot = self._bot()

        async def send(to: Address) -> Message:
            async def send_as(form: Rendered) -> Message:
                return await bot.send_message(
                    _number(to.chat_id),
                    form.text,
                    entities=form.entities or None,
                    message_thread_id=_thread(to),
                    reply_parameters=_answering(reply_to_id),
                    reply_markup=keyboard,
                    link_preview_options=_NO_PREVIEW,
                    rate_limit_args=DRAFT if is_draft else None,
                )

            return await _with_plain_fallback(send_as, shown, plain)

        return await self._post(address, send)

    async def _post(self, address: Address, send: Callable[[Address], Awaitable[Message]]) -> MessageRef:
        link = self._connected()
        with translated(link.bot.token):
            with link.strays.sending(_number(address.chat_id)):
                where, sent = await link.moves.follow(address, send)
            link.strays.sent(_number(where.chat_id), sent.message_id)
        return MessageRef(where, str(sent.message_id))

    def _connected(self) -> Link:
        if self._link is None:
            raise TemporaryFailure("Telegram is not started")
        return self._link

    def _bot(self) -> TelegramBot:
        return self._connected().bot


async def _with_plain_fallback(send: Callable[[Rendered], Awaitable[T]], shown: Rendered, plain: str) -> T:
    """Send the formatted text, or the same without formatting when Telegram refuses the formatting."""
    try:
        return await send(shown)
    except BadRequest as error:
        if not shown.entities or not is_about_format(error):
            raise
        return await send(Rendered(plain))


def _rendered(message: OutboundText) -> Rendered:
    return render_markdown(message.text) if message.markdown else render_plain(message.text)


def _number(written: str) -> int:
    """An id as Telegram counts them. Raises TargetGone for a name or a stored id of another kind."""
    try:
        return int(written)
    except ValueError:
        raise TargetGone(f"{written!r} is not a Telegram id: write the number, not a name") from None


def _thread(address: Address) -> int | None:
    return _number(address.thread_id) if address.thread_id not in ("", str(GENERAL_TOPIC)) else None


def _answering(message_id: str) -> ReplyParameters | None:
    return ReplyParameters(_number(message_id), allow_sending_without_reply=True) if message_id else None
