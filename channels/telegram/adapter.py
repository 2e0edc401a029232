"""The Telegram channel: the port's calls as the SDK's, and the SDK's updates to the port."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog
from telegram import InlineKeyboardMarkup, InputFile, LinkPreviewOptions, Message, ReplyParameters
from telegram.constants import ChatAction
from telegram.error import BadRequest, ChatMigrated

from channels.telegram.client import TelegramBot, open_bot
from channels.telegram.failures import TOKEN_FIX, is_about_format, is_not_modified, translated
from channels.telegram.files import read_for_upload
from channels.telegram.inbound import GENERAL_TOPIC, NAME
from channels.telegram.keyboard import keyboard_of
from channels.telegram.link import Link
from channels.telegram.polling import Rhythm
from channels.telegram.redaction import TokenFilter
from channels.telegram.render import MAX_UNITS, Rendered, render_card, render_markdown
from echo_bot.channel import (
    Channel,
    ChannelCapabilities,
    ChannelHealth,
    ChannelSettings,
    ChannelState,
    LengthUnit,
    Port,
)
from echo_bot.errors import StartError, TargetGone, TemporaryFailure
from echo_bot.events import Address, Card, MessageRef, OutboundFile, OutboundText

log = structlog.get_logger(__name__)

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
    stream_interval_ms=1000,
    stream_interval_group_ms=3000,
)
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
"""A preview would let Telegram's servers fetch any address a model writes."""


def build(settings: ChannelSettings) -> Channel:
    """Raises StartError without a token: there is nothing to connect with."""
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
        self._link: Link | None = None

    async def start(self, port: Port) -> None:
        self._secrecy.install()
        try:
            self._link = Link(open_bot(self._settings), port, self.account, self._rhythm)
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

    # Sending

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        return await self._send(address, _rendered(message), message.text, reply_to_id=message.reply_to_id)

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        self._connected().presses.remember(card.buttons)
        shown = render_card(card)
        return await self._send(address, shown, shown.text, keyboard=keyboard_of(card.buttons))

    async def send_file(self, address: Address, file: OutboundFile) -> MessageRef:
        bot = self._bot()
        content = await read_for_upload(file.path)

        async def send(to: Address, _: Rendered) -> Message:
            return await bot.send_document(
                _number(to.chat_id),
                InputFile(content, filename=file.name),
                message_thread_id=_thread(to),
                disable_content_type_detection=True,
            )

        return await self._post(address, Rendered(""), "", send)

    async def typing(self, address: Address) -> None:
        bot = self._bot()
        with translated(bot.token):
            await bot.send_chat_action(
                _number(address.chat_id), ChatAction.TYPING, message_thread_id=_thread(address)
            )

    # Changing what was sent

    async def edit_text(self, ref: MessageRef, message: OutboundText) -> None:
        await self._edit(ref, _rendered(message), message.text, None)

    async def edit_card(self, ref: MessageRef, card: Card) -> None:
        self._connected().presses.remember(card.buttons)
        shown = render_card(card)
        await self._edit(ref, shown, shown.text, keyboard_of(card.buttons))

    async def _edit(
        self, ref: MessageRef, shown: Rendered, plain: str, keyboard: InlineKeyboardMarkup | None
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
            )

        with translated(bot.token):
            try:
                await _with_plain_fallback(edit, shown, plain)
            except BadRequest as error:
                if not is_not_modified(error):
                    raise

    # Inside

    async def _send(
        self,
        address: Address,
        shown: Rendered,
        plain: str,
        *,
        reply_to_id: str = "",
        keyboard: InlineKeyboardMarkup | None = None,
    ) -> MessageRef:
        bot = self._bot()

        async def send(to: Address, shown: Rendered) -> Message:
            return await bot.send_message(
                _number(to.chat_id),
                shown.text,
                entities=shown.entities or None,
                message_thread_id=_thread(to),
                reply_parameters=_answering(reply_to_id),
                reply_markup=keyboard,
                link_preview_options=_NO_PREVIEW,
            )

        return await self._post(address, shown, plain, send)

    async def _post(
        self,
        address: Address,
        shown: Rendered,
        plain: str,
        send: Callable[[Address, Rendered], Awaitable[Message]],
    ) -> MessageRef:
        """Send to the chat, and once more under its new id where a group became a supergroup."""
        with translated(self._bot().token):
            try:
                sent = await _with_plain_fallback(lambda form: send(address, form), shown, plain)
            except ChatMigrated as moved:
                address = Address(NAME, str(moved.new_chat_id), address.thread_id, address.account)
                log.info("telegram_chat_moved", account=self.account, chat=address.chat_id)
                sent = await send(address, shown)
        return MessageRef(address, str(sent.message_id))

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
    return render_markdown(message.text) if message.markdown else Rendered(message.text)


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
