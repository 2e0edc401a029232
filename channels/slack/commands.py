"""The slash command and the shortcuts: text in, a private answer back, or a message to the bot."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime

import structlog

from channels.slack.client import Clients
from channels.slack.directs import Directs, is_direct
from channels.slack.entities import escaped, people_in, readable
from channels.slack.failures import SDK_ERRORS, error_code
from channels.slack.inbound import NAME, Payload
from channels.slack.modals import ASK_DIRECT, ASK_HERE, ask, context_of, notice, words_of
from channels.slack.names import Names
from channels.slack.render import render_text
from echo_bot.channel import Command, CommandReply, Port, inbound_event
from echo_bot.errors import EchoBotError
from echo_bot.events import BlockType, ContentBlock, Identity, InboundEvent, OutboundText
from echo_bot.text.language import N_, _

log = structlog.get_logger(__name__)

SHORTCUT_MESSAGE, SHORTCUT_ANYWHERE = "echo_ask_about", "echo_ask"
"""Callback ids of the shortcuts in the app's manifest."""

_NOT_STORED = N_("That could not be stored just now. Try again.")
_NOT_TAKEN = N_("I did not take that: either I do not know you, or I am not to answer here.")
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

    async def take(self, body: Payload) -> None:
        """A slash command; the answer goes to its response URL."""
        user, typed = str(body.get("user_id") or ""), str(body.get("text") or "")
        text = text_form(readable(typed, await self._names.of_all(people_in(typed))), self._port.commands())
        channel = str(body.get("channel_id") or "")
        if is_direct(channel):
            self._directs.learn(user, channel)
        event = await self._event(_id_of(body), user, channel, "", text)
        reply = await self._handed_over(event)
        public = reply.queued and not is_direct(channel)
        shown = f"<@{user}>: {escaped(text)}" if reply.queued else render_text(OutboundText(reply.text)).text
        if shown:
            message = {"text": shown, "response_type": "in_channel" if public else "ephemeral"}
            await self._respond(str(body.get("response_url") or ""), message)

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
                "quote": said[:_MAX_QUOTE],
                "url": str(body.get("response_url") or ""),
            }
            view = ask(said, context, ASK_HERE)
        else:
            view = ask("", {}, ASK_DIRECT)
        if not await self._port.admits(Identity(NAME, user, self._account)):
            view = notice(_(_NOT_TAKEN))
        try:
            await self._clients.web.views_open(trigger_id=str(body.get("trigger_id") or ""), view=view)
        except SDK_ERRORS as error:
            log.info("slack_modal_not_opened", account=self._account, error=error_code(error))

    async def take_question(self, body: Payload) -> None:
        """The modal of a shortcut was sent: its words become a message, shown to the others in its thread."""
        view = body.get("view") or {}
        held, text = context_of(view), words_of(view).strip()
        user = str((body.get("user") or {}).get("id") or "")
        channel = held.get("channel") or user
        try:
            channel = await self._directs.channel_of(channel)
            thread = held.get("thread") or ("" if is_direct(channel) else held.get("ts", ""))
            event = await self._event(f"view:{view.get('id')}", user, channel, thread, text, held)
            reply = await self._handed_over(event)
            said = f"<@{user}>: {escaped(text)}" if reply.queued else escaped(reply.text)
            if reply.repeated:
                return
            if not reply.queued:
                await self._clients.web.chat_postEphemeral(
                    channel=channel, user=user, text=said, thread_ts=thread or None
                )
                return
            await self._clients.web.chat_postMessage(
                channel=channel, text=said, thread_ts=thread or None, unfurl_links=False, unfurl_media=False
            )
        except SDK_ERRORS as error:
            log.warning("slack_question_not_shown", account=self._account, error=error_code(error))

    async def _event(
        self,
        event_id: str,
        user: str,
        channel: str,
        thread: str,
        text: str,
        about: dict[str, str] | None = None,
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
            reply_to_text=about.get("quote", ""),
            reply_to_sender=about.get("author", ""),
            is_group=not is_direct(channel),
            mentioned=True,
        )

    async def _respond(self, url: str, message: dict[str, str]) -> None:
        try:
            if url and await self._clients.respond(url, message):
                return
        except SDK_ERRORS:
            pass
        log.warning("slack_command_not_answered", account=self._account)
