"""The slash command and the shortcuts: text in, a private answer back, or a message to the bot."""

from __future__ import annotations

import asyncio
import difflib
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import structlog

from channels.slack.client import Clients
from channels.slack.directs import Directs
from channels.slack.entities import escaped, people_in, readable
from channels.slack.failures import SDK_ERRORS, error_code
from channels.slack.inbound import NAME, Payload
from channels.slack.modals import ASK_DIRECT, ASK_HERE, QUOTE, ask, context_of, notice, words_of
from channels.slack.names import Names
from channels.slack.render import MAX_CHARACTERS, render_text
from echo_bot.channel import Command, CommandReply, LengthUnit, Port, inbound_event, starts_turn
from echo_bot.errors import EchoBotError
from echo_bot.events import BlockType, ContentBlock, Identity, InboundEvent, OutboundText
from echo_bot.text import split_markdown
from echo_bot.text.language import N_, _

log = structlog.get_logger(__name__)

SHORTCUT_MESSAGE, SHORTCUT_ANYWHERE = "echo_ask_about", "echo_ask"
"""Callback ids of the shortcuts in the app's manifest."""

_NOT_STORED = N_("That could not be stored just now. Try again.")
_NOT_TAKEN = N_("I did not take that: either I do not know you, or I am not to answer here.")
_NOT_OPENED = N_("Slack could not open the window. Try again.")
_NOT_IN_CHAT = N_(
    "I am not in this chat, so my answer cannot appear here. "
    "Write to me directly, or invite me to a channel with `/invite` and ask again."
)
_ABSENT = frozenset({"not_in_channel", "channel_not_found"})
_WAIT_SECONDS = 1.0
_HELP = "help"
_ALIKE = 0.75
_MAX_QUOTE = 2000


def text_form(typed: str, commands: Sequence[Command]) -> str:
    """`/echo status` as `/status`, `/echo` as `/help`, anything else as the message it is.

    What looks like a mistyped command is `/help` too, rather than a question to the model.
    """
    words = typed.strip().removeprefix("/").split(None, 1)
    known = {command.name for command in commands}
    if not words:
        return f"/{_HELP}"
    name = words[0].lower()
    if name in known:
        return " ".join([f"/{name}", *words[1:]])
    mistyped = len(words) == 1 and difflib.get_close_matches(name, known, n=1, cutoff=_ALIKE)
    return f"/{_HELP}" if typed.strip().startswith("/") or mistyped else typed.strip()


def slack_form(text: str, commands: Sequence[Command]) -> str:
    """Our own words with the commands that they name as Slack takes them: `/help` as `/echo help`.

    In code only what begins with a command is one, and blocks stay as they are: they may quote a call.
    """
    name = "|".join(re.escape(command.name) for command in commands)
    return re.sub(
        rf"(?P<block>```.*?```)|`/(?P<code>(?:{name})(?: [^`\n]*)?)`|(?P<other>`[^`\n]*`)"
        rf"|(?<![\w/.~-])/(?P<word>{name})(?![\w/-])",
        lambda found: (
            f"`/echo {found['code']}`"
            if found["code"]
            else f"/echo {found['word']}"
            if found["word"]
            else found[0]
        ),
        text,
        flags=re.DOTALL,
    )


def _id_of(command: Payload) -> str:
    """The same when it is delivered again. Slack gives commands no id, only what belongs to this one."""
    told = [command.get(key) for key in ("trigger_id", "response_url", "user_id", "channel_id", "text")]
    return f"command:{hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]}"


class Commands:
    """Hands commands and what shortcuts ask to the port, and answers whoever used them."""

    def __init__(
        self,
        clients: Clients,
        port: Port,
        account: str,
        names: Names,
        directs: Directs,
    ) -> None:
        self._clients, self._port, self._account = clients, port, account
        self._names, self._directs = names, directs

    def as_taken(self, text: str) -> str:
        """Our own words with the commands that they name as Slack takes them."""
        return slack_form(text, self._port.commands())

    async def take(self, body: Payload) -> None:
        """A slash command; the answer goes to its response URL."""
        user, typed = str(body.get("user_id") or ""), str(body.get("text") or "")
        text = text_form(readable(typed, await self._names.of_all(people_in(typed))), self._port.commands())
        channel = str(body.get("channel_id") or "")
        direct = await self._directs.is_own(user, channel)
        url = str(body.get("response_url") or "")
        event = await self._event(_id_of(body), user, channel, "", text, direct=direct)
        if await self._is_turned_down(event):
            await self._respond(url, _(_NOT_IN_CHAT))
            return
        reply = await self._handed_over(event)
        if reply.queued and not direct:
            await self._show(channel, "", f"<@{user}>: {escaped(text)}", url)
        elif reply.queued:
            await self._respond(url, f"<@{user}>: {escaped(text)}")
        else:
            await self._answer(url, reply)

    async def _is_turned_down(self, event: InboundEvent) -> bool:
        """Would it start work in a chat that the bot is not in?"""
        if not event.is_group or not starts_turn(event.text, self._port.commands()):
            return False
        if not await self._cannot_answer(event.sender_id, event.chat_id):
            return False
        try:
            return await self._port.turn_down(event)
        except EchoBotError as error:
            log.warning("slack_command_not_turned_down", account=self._account, error=type(error).__name__)
            return False

    async def _cannot_answer(self, user: str, channel: str) -> bool:
        """Is this a chat that the bot is not in? A stranger is told nothing of it.

        Where Slack does not say so within a second, the bot is taken to be there.
        """
        if not await self._port.admits(Identity(NAME, user, self._account)):
            return False
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                await self._clients.web.conversations_history(channel=channel, limit=1)
        except SDK_ERRORS as error:
            return error_code(error) in _ABSENT
        return False

    async def _show(self, channel: str, thread: str, said: str, url: str) -> None:
        """Tell the channel what was asked; who asked where the bot is not, and so cannot answer, is told."""
        try:
            await self._clients.web.chat_postMessage(
                channel=channel, text=said, thread_ts=thread or None, unfurl_links=False, unfurl_media=False
            )
        except SDK_ERRORS as error:
            log.info("slack_question_not_shown", account=self._account, error=error_code(error))
            if error_code(error) in _ABSENT:
                await self._respond(url, _(_NOT_IN_CHAT))
            elif error_code(error):
                await self._respond(url, said, public=True)

    async def _handed_over(self, event: InboundEvent) -> CommandReply:
        try:
            return await self._port.command(event)
        except EchoBotError as error:
            log.warning("slack_command_failed", account=self._account, error=type(error).__name__)
            return CommandReply(_(_NOT_STORED), ok=False)

    async def take_shortcut(self, body: Payload) -> None:
        """Open the modal: about a message, or from anywhere."""
        user = str((body.get("user") or {}).get("id") or "")
        message = body.get("message") or {}
        if body.get("callback_id") == SHORTCUT_MESSAGE and message:
            said = readable(str(message.get("text") or ""), {})
            context = {
                "channel": str((body.get("channel") or {}).get("id") or ""),
                "ts": str(message.get("ts") or ""),
                "thread": str(message.get("thread_ts") or ""),
                "author": str(message.get("user") or message.get("bot_id") or ""),
                QUOTE: said[:_MAX_QUOTE],
                "url": str(body.get("response_url") or ""),
            }
            view = ask(said, context, ASK_HERE)
            if await self._cannot_answer(user, context["channel"]):
                view = notice(_(_NOT_IN_CHAT))
        else:
            view = ask("", {}, ASK_DIRECT)
        if not await self._port.admits(Identity(NAME, user, self._account)):
            view = notice(_(_NOT_TAKEN))
        try:
            await self._clients.web.views_open(trigger_id=str(body.get("trigger_id") or ""), view=view)
        except SDK_ERRORS as error:
            log.info("slack_modal_not_opened", account=self._account, error=error_code(error))
            await self._respond(str(body.get("response_url") or ""), _(_NOT_OPENED))

    async def take_question(self, body: Payload) -> None:
        """The modal of a shortcut was sent: its words become a message, shown to the others in its thread."""
        view = body.get("view") or {}
        held, text = context_of(view), words_of(view).strip()
        user = str((body.get("user") or {}).get("id") or "")
        channel = held.get("channel") or user
        reply: CommandReply | None = None
        try:
            channel = await self._directs.channel_of(channel)
            direct = await self._directs.is_own(user, channel)
            thread = held.get("thread") or ("" if direct else held.get("ts", ""))
            view_id = f"view:{view.get('id')}"
            event = await self._event(view_id, user, channel, thread, text, held, direct=direct)
            if await self._is_turned_down(event):
                await self._respond(held.get("url", ""), _(_NOT_IN_CHAT))
                return
            reply = await self._handed_over(event)
            if reply.repeated:
                return
            if reply.queued:
                await self._show(channel, thread, f"<@{user}>: {escaped(text)}", held.get("url", ""))
                return
            for part in self._parts(reply):
                await self._clients.web.chat_postEphemeral(
                    channel=channel, user=user, thread_ts=thread or None, **part
                )
        except SDK_ERRORS as error:
            log.warning("slack_question_not_answered", account=self._account, error=error_code(error))
            await self._answer(held.get("url", ""), reply or CommandReply(_(_NOT_STORED), ok=False))

    async def _answer(self, url: str, reply: CommandReply) -> None:
        """Whole, in as many answers as it takes; a response URL has five."""
        for part in self._parts(reply):
            await self._respond(url, **part)

    def _parts(self, reply: CommandReply) -> Iterator[dict[str, Any]]:
        """The answer to a command, in Slack's markup and with commands as Slack takes them."""
        text = self.as_taken(reply.text)
        for piece in split_markdown(text, MAX_CHARACTERS, LengthUnit.CHARACTERS) if text.strip() else ():
            shown = render_text(OutboundText(piece))
            blocks = {"blocks": list(shown.blocks)} if shown.blocks else {}
            yield {"text": shown.text, "mrkdwn": not shown.literal, **blocks}

    async def _event(
        self,
        event_id: str,
        user: str,
        channel: str,
        thread: str,
        text: str,
        about: dict[str, str] | None = None,
        *,
        direct: bool,
    ) -> InboundEvent:
        """Whoever uses a command or a shortcut speaks to the bot, so that it counts as a mention."""
        about = about or {}
        return inbound_event(
            event_id=event_id,
            channel=NAME,
            account=self._account,
            chat_id=channel,
            thread_id=thread,
            sender_id=user,
            sender_name=await self._names.of(user),
            timestamp=datetime.now(UTC),
            content=(ContentBlock(BlockType.TEXT, text=text),),
            reply_to_id=about.get("ts", ""),
            reply_to_text=about.get(QUOTE, ""),
            reply_to_sender=about.get("author", ""),
            is_group=not direct,
            mentioned=True,
        )

    async def _respond(self, url: str, text: str, *, public: bool = False, **more: Any) -> None:
        message = {"text": text, "response_type": "in_channel" if public else "ephemeral", **more}
        try:
            if url and await self._clients.respond(url, message):
                return
        except SDK_ERRORS:
            pass
        log.warning("slack_command_not_answered", account=self._account)
