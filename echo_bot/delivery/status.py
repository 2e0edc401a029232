"""Status lines: a call that takes long is shown as one message with its time, its last output and a Stop.

A line is for people only: it may be late or missing, never holds up the call, and is not a message of the
chat's transcript. Where its message stands is stored, so that a bot that starts again ends what was left.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import count
from typing import Literal

import structlog

from echo_bot.backoff import backoff
from echo_bot.channel import Channel, ChannelCapabilities
from echo_bot.delivery.card_json import transcript_row
from echo_bot.delivery.outbox import Delivery
from echo_bot.errors import ChannelError, OutcomeUnknown, RetryAfter, StorageError, TemporaryFailure
from echo_bot.events import (
    Address,
    Button,
    ButtonStyle,
    Card,
    CardState,
    CodeBlock,
    MessageRef,
    Paragraph,
    SessionKey,
)
from echo_bot.storage.protocol import Store
from echo_bot.text.language import N_, _

log = structlog.get_logger(__name__)

Ending = Literal["done", "failed", "stopped"]

_SHOWN_AFTER_SECONDS = 5.0
_BETWEEN_SECONDS = 5.0
_LAST_EDITS_SECONDS = 2.0
_LONGEST_PAUSE_SECONDS = 60.0
_KEPT_CHARS = 16_000
_SHOWN_LINES = 3
_SHOWN_CHARS = 400
_SCOPE = "status_lines"
_TOKEN_HEAD = "stop:"
_STOPPED_WITH_THE_BOT = N_("The bot stopped while this ran; its outcome is not known here.")
_ENDED = {
    "done": N_("{tool} is done after {time}"),
    "failed": N_("{tool} failed after {time}"),
    "stopped": N_("{tool} was stopped after {time}"),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One line as it is stored: whose call it is, and where its message stands."""

    tool: str
    token: str
    session_key: str
    requester: str
    channel: str
    account: str
    chat_id: str
    thread_id: str
    message_id: str = ""

    @property
    def address(self) -> Address:
        return Address(self.channel, self.chat_id, self.thread_id, self.account)


@dataclass(slots=True)
class _Running:
    """`is_astray`: a line may stand in the chat, nobody knows where, and another would stand beside it."""

    shown: Shown
    started: float
    output: str = ""
    ref: MessageRef | None = None
    is_astray: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    how: Ending = "done"


class StatusLines:
    """`now` is monotonic seconds; `mask` hides secrets in what commands print."""

    def __init__(
        self,
        delivery: Delivery,
        store: Store,
        *,
        now: Callable[[], float],
        clock: Callable[[], datetime],
        mask: Callable[[str], str],
    ) -> None:
        self._delivery, self._store, self._mask = delivery, store, mask
        self._now, self._clock = now, clock
        self._running: dict[str, _Running] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """End, in the background, the lines that an earlier run left standing."""
        for call_id, text in (await self._store.values.list(_SCOPE)).items():
            self._in_background(self._end_left(call_id, Shown(**json.loads(text))))

    async def close(self) -> None:
        """Let the last edits out, for a moment."""
        for running in self._running.values():
            running.how = "stopped"
            running.ended.set()
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=_LAST_EDITS_SECONDS)
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(tuple(self._tasks))

    def began(
        self, call_id: str, tool: str, address: Address, session_key: SessionKey, requester: str
    ) -> None:
        """A call runs. Nothing is shown of one that ends within seconds."""
        token = _TOKEN_HEAD + secrets.token_urlsafe(18)
        shown = Shown(
            tool,
            token,
            session_key,
            requester,
            address.channel,
            address.account,
            address.chat_id,
            address.thread_id,
        )
        running = self._running[call_id] = _Running(shown, self._now())
        self._in_background(self._follow(call_id, running))

    def printed(self, call_id: str, text: str) -> None:
        """The call printed this."""
        if (running := self._running.get(call_id)) is not None:
            running.output = (running.output + text)[-_KEPT_CHARS:]

    def ended(self, call_id: str, how: Ending) -> None:
        if (running := self._running.pop(call_id, None)) is not None:
            running.how = how
            running.ended.set()

    @staticmethod
    def is_stop(token: str) -> bool:
        return token.startswith(_TOKEN_HEAD)

    def find(self, token: str) -> Shown | None:
        """The running call that a Stop button belongs to."""
        lines = (running.shown for running in self._running.values())
        return next((line for line in lines if line.token == token), None)

    async def _follow(self, call_id: str, running: _Running) -> None:
        if await _ends_within(running, _SHOWN_AFTER_SECONDS):
            return
        address = self._delivery.now(running.shown.address)
        channel = self._delivery.channel(address)
        if channel is None or not _can_show(channel.capabilities):
            return
        while not (running.ended.is_set() or running.is_astray):
            pause = self._delivery.pace.take(address, _BETWEEN_SECONDS) or await self._draw(
                channel, address, call_id, running
            )
            await _ends_within(running, pause)
        if running.ref is not None:
            seconds = self._now() - running.started
            title = _(_ENDED[running.how]).format(tool=running.shown.tool, time=_time(seconds))
            await self._finish(channel, running.ref, call_id, _closed(running.shown, title))

    async def _draw(self, channel: Channel, address: Address, call_id: str, running: _Running) -> float:
        """Returns the seconds until the next time."""
        card = self._open_card(running)
        try:
            if running.ref is None:
                ref = await channel.send_card(address, card)
                if not ref.message_id:
                    running.is_astray = True
                    return _BETWEEN_SECONDS
                running.ref = ref
                await self._remember(call_id, running)
                await self._keep(running.ref.address, card)
            else:
                await channel.edit_card(running.ref, card)
        except RetryAfter as error:
            self._delivery.pace.hold(address, error.seconds)
            return max(error.seconds, _BETWEEN_SECONDS)
        except ChannelError as error:
            log.debug("status_line_dropped", address=str(address), error=str(error))
            may_stand = isinstance(error, OutcomeUnknown) and running.ref is None
            running.is_astray = may_stand and not channel.capabilities.dedups_sends
        return _BETWEEN_SECONDS

    def _open_card(self, running: _Running) -> Card:
        shown = running.shown
        lines = self._last_lines(running.output)
        output = (CodeBlock(lines, label=_("Last output")),) if lines else ()
        so_far = _time(self._now() - running.started)
        title = _("{tool} is running, {time} so far").format(tool=shown.tool, time=so_far)
        return Card(
            card_id=_card_id(shown),
            title=title,
            blocks=output,
            buttons=(Button(_("Stop"), shown.token, ButtonStyle.DANGER),),
            fallback=title,
            dedup_key=_card_id(shown),
        )

    def _last_lines(self, output: str) -> str:
        """Whole lines only, masked together: half a secret is not recognised as one."""
        whole = output.rpartition("\n")[0]
        lines = [line for line in self._mask(whole).splitlines() if line.strip()]
        return "\n".join(lines[-_SHOWN_LINES:])[-_SHOWN_CHARS:]

    async def _remember(self, call_id: str, running: _Running) -> None:
        assert running.ref is not None
        place = running.ref.address
        stored = asdict(running.shown) | {
            "chat_id": place.chat_id,
            "thread_id": place.thread_id,
            "message_id": running.ref.message_id,
        }
        try:
            await self._store.values.put(_SCOPE, call_id, json.dumps(stored))
        except StorageError as error:
            log.warning("status_line_unstored", error=str(error))

    async def _end_left(self, call_id: str, shown: Shown) -> None:
        address = self._delivery.now(shown.address)
        if (channel := self._delivery.channel(address)) is not None:
            ref = MessageRef(address, shown.message_id)
            title = _("{tool} is not running any more").format(tool=shown.tool)
            await self._finish(channel, ref, call_id, _closed(shown, title, _(_STOPPED_WITH_THE_BOT)))

    async def _finish(self, channel: Channel, ref: MessageRef, call_id: str, card: Card) -> None:
        """Take the button away; until that is done, or can never be, the line is remembered."""
        await _edit(channel, ref, card)
        await self._keep(ref.address, card)
        try:
            await self._store.values.delete(_SCOPE, call_id)
        except StorageError as error:
            log.warning("status_line_unstored", error=str(error))

    async def _keep(self, address: Address, card: Card) -> None:
        """For whoever opens the chat anew: the line as it began, later as it ended."""
        try:
            await self._store.sessions.put_transcript(transcript_row(address, card, self._clock()))
        except StorageError as error:
            log.warning("status_line_unstored", error=str(error))

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work, name="status line")
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("status_line_failed", error=f"{type(error).__name__}: {error}")


async def _edit(channel: Channel, ref: MessageRef, card: Card) -> None:
    """As long as it takes for a platform to come back; what it refuses is let be."""
    for attempt in count():
        try:
            await channel.edit_card(ref, card)
            return
        except (RetryAfter, TemporaryFailure) as error:
            log.debug("status_line_not_ended", address=str(ref.address), error=str(error))
            pause = backoff(attempt, 1.0, _LONGEST_PAUSE_SECONDS)
            await asyncio.sleep(error.seconds + 0.1 if isinstance(error, RetryAfter) else pause)
        except ChannelError as error:
            log.info("status_line_not_ended", address=str(ref.address), error=str(error))
            return


def _can_show(bears: ChannelCapabilities) -> bool:
    return bears.buttons and bears.edits and bears.redraws


def _closed(shown: Shown, title: str, more: str = "") -> Card:
    blocks = (Paragraph(more),) if more else ()
    return Card(
        _card_id(shown),
        title,
        blocks,
        state=CardState.CLOSED,
        fallback="\n".join(filter(None, (title, more))),
    )


def _card_id(shown: Shown) -> str:
    return f"status-{shown.token[-12:]}"


def _time(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return _("{seconds} s").format(seconds=whole)
    return _("{minutes} min {seconds} s").format(minutes=whole // 60, seconds=whole % 60)


async def _ends_within(running: _Running, seconds: float) -> bool:
    try:
        await asyncio.wait_for(running.ended.wait(), seconds)
    except TimeoutError:
        return False
    return True
