"""From a press to a decision: claim through the port, ask for words in a modal, answer privately."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog

from channels.slack.client import Clients
from channels.slack.directs import Directs
from channels.slack.entities import escaped
from channels.slack.failures import SDK_ERRORS, error_code
from channels.slack.inbound import NAME, Payload
from channels.slack.modals import MAX_WORDS, context_of, loading, notice, question, words_of
from channels.slack.names import Names
from channels.slack.render import ASK
from echo_bot.channel import Port
from echo_bot.errors import EchoBotError
from echo_bot.events import Address, ButtonPress, Identity, PressReply
from echo_bot.text.language import N_, _

log = structlog.get_logger(__name__)

_NOT_STORED = N_("That could not be stored just now. Press the button again.")
_NOT_OPENED = N_("Slack could not open the question. Press the button again.")
_TOO_LONG = N_(
    "This is longer than the {most} characters that Slack takes, so it cannot be edited here. "
    "Edit it on the web page."
)

TellHome = Callable[[str, str], Awaitable[None]]
"""Shows a person (by id) a text on their App Home."""


class Presses:
    """Hands presses to the port, and tells the presser alone what came of it."""

    def __init__(
        self,
        clients: Clients,
        port: Port,
        account: str,
        names: Names,
        directs: Directs,
        tell_home: TellHome,
        as_taken: Callable[[str], str],
    ) -> None:
        self._clients, self._port, self._account = clients, port, account
        self._names, self._directs, self._tell_home = names, directs, tell_home
        self._as_taken = as_taken

    async def take(self, body: Payload) -> None:
        """Decide with the button that was pressed, or ask for words first."""
        for action in body.get("actions") or ():
            if action.get("value"):
                asks = str(action.get("action_id") or "").startswith(ASK)
                await (self._ask(body, action) if asks else self._decide(body, action))

    async def _decide(self, body: Payload, action: Payload) -> None:
        reply = await self._press(await self._press_of(body, action))
        await self._tell(_where(body), reply)

    async def _ask(self, body: Payload, action: Payload) -> None:
        """A trigger lasts three seconds, so that the modal opens first and is filled afterwards."""
        where = _where(body)
        try:
            opened = await self._clients.web.views_open(
                trigger_id=body.get("trigger_id") or "", view=loading()
            )
        except SDK_ERRORS as error:
            log.info("slack_modal_not_opened", account=self._account, error=error_code(error))
            await self._tell(where, PressReply(_(_NOT_OPENED), ok=False))
            return
        press = await self._press_of(body, action)
        view = await self._question(press, where)
        if not await self._filled(str((opened.get("view") or {}).get("id") or ""), view):
            await self._tell(where, PressReply(_(_NOT_OPENED), ok=False))

    async def _filled(self, view_id: str, view: dict[str, Any]) -> bool:
        """Show `view` in the open modal. Tried twice: without it the modal says "One moment" for ever."""
        for _try in range(2):
            try:
                await self._clients.web.views_update(view_id=view_id, view=view)
            except SDK_ERRORS as error:
                log.info("slack_modal_not_updated", account=self._account, error=error_code(error))
            else:
                return True
        return False

    async def _question(self, press: ButtonPress, where: Mapping[str, str]) -> dict[str, Any]:
        try:
            asked = await self._port.prompt(press)
        except EchoBotError as error:
            log.warning("slack_prompt_failed", account=self._account, error=type(error).__name__)
            return notice(_(_NOT_STORED))
        if isinstance(asked, PressReply):
            return notice(self._as_taken(asked.text))
        if len(asked.initial) > MAX_WORDS:
            return notice(_(_TOO_LONG).format(most=MAX_WORDS), asked.title or "Echo")
        return question(asked, {**where, "token": press.token, "message": press.message_id})

    async def take_words(self, body: Payload) -> None:
        """Decide with the words of a button's modal."""
        view = body.get("view") or {}
        held = context_of(view)
        user = str((body.get("user") or {}).get("id") or "")
        where = {**held, "user": user}
        press = ButtonPress(
            press_id=f"view:{view.get('id')}:{view.get('hash') or ''}",
            token=held.get("token", ""),
            presser=Identity(NAME, user, self._account),
            address=self._address(where),
            message_id=held.get("message", ""),
            presser_name=await self._names.of(user),
            text=words_of(view),
        )
        await self._tell(where, await self._press(press))

    async def _press_of(self, body: Payload, action: Payload) -> ButtonPress:
        where = _where(body)
        container = body.get("container") or {}
        message_id = str(container.get("message_ts") or (body.get("message") or {}).get("ts") or "")
        user = where["user"]
        return ButtonPress(
            press_id=f"action:{message_id}:{action.get('action_ts') or body.get('trigger_id')}:{user}",
            token=str(action["value"]),
            presser=Identity(NAME, user, self._account),
            address=self._address(where),
            message_id=message_id,
            presser_name=await self._names.of(user),
        )

    def _address(self, where: Mapping[str, str]) -> Address:
        """A press on App Home has no chat: it counts as made in the direct one."""
        chat_id = where.get("channel") or self._directs.known(where["user"])
        return Address(NAME, chat_id, where.get("thread", ""), self._account)

    async def _press(self, press: ButtonPress) -> PressReply:
        try:
            return await self._port.press(press)
        except EchoBotError as error:
            log.warning("slack_press_failed", account=self._account, error=type(error).__name__)
            return PressReply(_(_NOT_STORED), ok=False)

    async def _tell(self, where: Mapping[str, str], reply: PressReply) -> None:
        """Best effort: the decision stands whether or not the answer arrives."""
        said = self._as_taken(reply.text or _("Done."))
        text = escaped(said)
        try:
            if not where.get("channel"):
                await self._tell_home(where["user"], said)
                return
            await self._clients.web.chat_postEphemeral(
                channel=where["channel"],
                user=where["user"],
                text=text,
                thread_ts=where.get("thread") or None,
                mrkdwn=False,
            )
        except SDK_ERRORS as error:
            log.info("slack_press_not_answered", account=self._account, error=error_code(error))
            await self._respond(where.get("url", ""), text)

    async def _respond(self, url: str, text: str) -> None:
        message = {"text": text, "response_type": "ephemeral", "replace_original": False}
        try:
            if url:
                await self._clients.respond(url, message)
        except SDK_ERRORS:
            log.info("slack_press_not_answered", account=self._account)


def _where(body: Payload) -> dict[str, str]:
    """Who pressed, and where the answer goes; without a channel the press was made on App Home."""
    container, message = body.get("container") or {}, body.get("message") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id") or ""
    found = {
        "user": (body.get("user") or {}).get("id") or "",
        "channel": channel,
        "thread": container.get("thread_ts") or message.get("thread_ts") or "",
        "url": body.get("response_url") or "",
    }
    return {key: str(value) for key, value in found.items()}
