"""What Slack delivers, by kind: a bolt app whose listeners see to it before it is acknowledged."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from weakref import WeakValueDictionary

import structlog
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.client import Self
from channels.slack.commands import Commands
from channels.slack.directs import Directs
from channels.slack.entities import people_in
from channels.slack.files import with_files_told
from channels.slack.home import Home
from channels.slack.inbound import (
    NAME,
    Payload,
    deleted_in,
    event_of,
    is_direct_message,
    is_own,
    message_in,
    sender_of,
)
from channels.slack.modals import ASK_DIRECT, ASK_HERE, PROMPT
from channels.slack.names import Names
from channels.slack.presses import Presses
from channels.slack.strays import Strays
from channels.slack.twins import Twins
from echo_bot.channel import Port
from echo_bot.channel.clock import PlatformClock
from echo_bot.channel.errands import Errands
from echo_bot.errors import TemporaryFailure
from echo_bot.events import Address, Identity

log = structlog.get_logger(__name__)

_ANY = re.compile(".*", re.DOTALL)
_ENVELOPE = "envelope_id"
_NO_LISTENER = 404
_PATIENCE_SECONDS = 1.0
"""How long an interaction is worked on before it is acknowledged; Slack waits three seconds."""


@dataclass(frozen=True, slots=True)
class Desks:
    """Who sees to what."""

    port: Port
    web: AsyncWebClient
    clock: PlatformClock
    names: Names
    directs: Directs
    presses: Presses
    commands: Commands
    home: Home
    strays: Strays
    errands: Errands


class Intake:
    """Takes envelopes of Socket Mode and requests of HTTP mode alike. `own` is unknown until connected."""

    def __init__(
        self,
        desks: Desks,
        account: str,
        own: Callable[[], Self | None],
        nobody: AsyncWebClient,
        logger: logging.Logger,
    ) -> None:
        self._desks, self._account, self._own = desks, account, own
        self._orders: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._twins = Twins()
        self.last_event_at: datetime | None = None
        self._app = AsyncApp(
            name="slack_bolt",
            logger=logger,
            client=nobody,
            authorize=_authority(own),
            process_before_response=True,
            # The hook checks signatures on the raw body, before anything is parsed; own events are known by
            # both ids of the bot.
            request_verification_enabled=False,
            ignoring_self_events_enabled=False,
        )
        self._app.event(_ANY)(self._event)
        self._app.action(_ANY)(self._action)
        self._app.view_submission(_ANY)(self._submission)
        self._app.view_closed(_ANY)(self._ignored)
        self._app.command(_ANY)(self._command)
        self._app.shortcut(_ANY)(self._shortcut)
        self._app.options(_ANY)(self._ignored)
        self._app.error(self._failed)

    async def envelope(self, request: SocketModeRequest) -> SocketModeResponse | None:
        """Handle one; returns its acknowledgement, None when it could not be stored and must come again."""
        context = {_ENVELOPE: request.envelope_id}
        bolt = AsyncBoltRequest(mode="socket_mode", body=request.payload, context=context)
        response = await self.request(bolt)
        if response.status == _NO_LISTENER:
            return SocketModeResponse(request.envelope_id)
        if response.status != 200:
            return None
        payload = json.loads(response.body) if response.body.startswith("{") else None
        return SocketModeResponse(request.envelope_id, payload)

    async def request(self, request: AsyncBoltRequest) -> BoltResponse:
        """Handle one; what is of no known kind is acknowledged too, since repeating it would help nobody."""
        try:
            response = await self._app.async_dispatch(request)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            # Bolt itself cannot read it; what goes wrong in a listener comes as a response.
            log.warning("slack_delivery_not_read", account=self._account, error=type(error).__name__)
            return BoltResponse(status=200)
        if response.status == _NO_LISTENER and request.body:
            response = BoltResponse(status=200)
        if response.status == 200:
            self.last_event_at = datetime.now(UTC)
        return response

    # Listeners

    async def _event(self, body: Payload, context: AsyncBoltContext) -> None:
        event: Payload = body.get("event") or {}
        if event.get("type") == "app_home_opened":
            self._home_opened(event)
        elif message_in(body) is not None:
            await self._message(body, str(context.get(_ENVELOPE) or ""))
        else:
            channel, ts = deleted_in(body)
            if ts:
                await self._taken_back(channel, ts)

    async def _message(self, body: Payload, envelope_id: str) -> None:
        """Store it. Messages of one chat keep their order, whatever names must be asked for first."""
        found, own = message_in(body), self._known()
        if found is None:
            return
        if is_own(found[0], own):
            self._hear_own(*found)
            return
        message, desks = found[0], self._desks
        channel, sender = str(message.get("channel") or ""), sender_of(message)
        if (body.get("event") or {}).get("type") == "app_mention" and not message.get("files"):
            await self._twins.wait(_place(message))
        order = self._orders.setdefault(channel, asyncio.Lock())
        async with order:
            if message.get("type") == "message":
                self._twins.has_come(_place(message))
            names = {}
            if await desks.port.admits(Identity(NAME, sender, self._account)):
                mentioned = people_in(str(message.get("text") or ""))
                names = dict(await desks.names.of_all((sender, *mentioned)))
                body = await with_files_told(body, desks.web)
                if is_direct_message(message):
                    desks.directs.learn(sender, channel)
            event = event_of(body, own, self._account, names, envelope_id, desks.clock.ahead)
            if event is not None:
                await desks.port.receive(event)

    async def _taken_back(self, channel: str, ts: str) -> None:
        """In its order: the message itself may still be on its way into the store."""
        async with self._orders.setdefault(channel, asyncio.Lock()):
            await self._desks.port.taken_back(Address(NAME, channel, account=self._account), ts)

    def _hear_own(self, message: Payload, is_edit: bool) -> None:
        if not is_edit and message.get("type") == "message":
            told = [str(message.get(key) or "") for key in ("channel", "thread_ts", "ts", "text")]
            self._desks.strays.heard(*told)

    def _home_opened(self, event: Payload) -> None:
        user, channel = str(event.get("user") or ""), str(event.get("channel") or "")
        if channel:
            self._desks.directs.learn(user, channel)
        if event.get("tab") == "home":
            self._desks.home.opened(user)

    async def _action(self, ack: AsyncAck, body: Payload) -> None:
        await self._see_to(self._desks.presses.take(body), "slack:press")
        await ack()

    async def _submission(self, ack: AsyncAck, body: Payload) -> None:
        callback_id = (body.get("view") or {}).get("callback_id")
        if callback_id == PROMPT:
            await self._see_to(self._desks.presses.take_words(body), "slack:words")
        elif callback_id in (ASK_HERE, ASK_DIRECT):
            await self._see_to(self._desks.commands.take_question(body), "slack:question")
        await ack()

    async def _command(self, ack: AsyncAck, body: Payload) -> None:
        await self._see_to(self._desks.commands.take(body), "slack:command")
        await ack()

    async def _shortcut(self, ack: AsyncAck, body: Payload) -> None:
        await self._see_to(self._desks.commands.take_shortcut(body), "slack:shortcut")
        await ack()

    async def _ignored(self, ack: AsyncAck) -> None:
        await ack()

    async def _failed(self, error: Exception) -> None:
        """Not acknowledged: Slack delivers an event again, and shows whoever pressed that it failed."""
        log.error("slack_event_not_handled", account=self._account, error=type(error).__name__)

    # Inside

    async def _see_to(self, work: Coroutine[object, object, None], name: str) -> None:
        """Do the work, waiting only so long that Slack still hears in time."""
        await asyncio.wait({self._desks.errands.run(work, name)}, timeout=_PATIENCE_SECONDS)

    def _known(self) -> Self:
        own = self._own()
        if own is None:
            raise TemporaryFailure("Slack has not said yet who this bot is")
        return own


def _place(message: Payload) -> str:
    return f"{message.get('channel')}:{message.get('ts')}"


def _authority(known: Callable[[], Self | None]) -> Callable[[], Awaitable[AuthorizeResult]]:
    """Slack's signature or the socket itself is the proof; there is one workspace and one token."""

    async def authorize() -> AuthorizeResult:
        own = known()
        return AuthorizeResult(
            enterprise_id=None,
            team_id=own.team_id if own else "",
            bot_id=own.bot_id if own else "",
            bot_user_id=own.user_id if own else "",
        )

    return authorize
