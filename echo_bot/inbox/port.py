"""The port's core side: every message and press from a channel comes in here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

import structlog

from echo_bot.agent.directive import split_command
from echo_bot.approval.broker import Broker
from echo_bot.channel import (
    SETUP_TOKEN,
    Command,
    CommandReply,
    Completion,
    Parameter,
    Prompt,
    TranscriptEntry,
)
from echo_bot.delivery import Delivery, StatusLines
from echo_bot.errors import StorageError
from echo_bot.events import (
    Address,
    ButtonPress,
    Card,
    EventType,
    Identity,
    InboundEvent,
    PressReply,
    SessionKey,
)
from echo_bot.inbox.admission import Admission
from echo_bot.inbox.albums import Albums
from echo_bot.inbox.commands import (
    CONTROL,
    TURN_COMMANDS,
    Commands,
    Request,
    commands_shown,
    unknown_command,
    words_of_stop,
)
from echo_bot.inbox.completing import Completing
from echo_bot.inbox.incoming import claim_ids, has_plain_ids, without_trust
from echo_bot.inbox.moving import Moves
from echo_bot.inbox.notices import Notices
from echo_bot.inbox.rate import RateLimit
from echo_bot.inbox.reading import Reading
from echo_bot.inbox.retrying import Again, again
from echo_bot.inbox.second_thoughts import SecondThoughts
from echo_bot.inbox.taken import Taken, reply_of
from echo_bot.session import (
    Pausing,
    SessionQueues,
    event_to_json,
    line_of,
    memory_scope,
    session_key,
    storable,
    turn_id_of,
)
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import TranscriptRow, TurnRecord, TurnState
from echo_bot.text import encodable
from echo_bot.text.language import N_, _

log = structlog.get_logger(__name__)

_TOO_MANY = N_("Too many messages at once; this one was not read. Try again shortly.")
_NOT_STORED = N_("This could not be stored, so nothing was done. Try again; the log says why.")


@dataclass(frozen=True, slots=True)
class InboxSettings:
    shared_groups: bool
    max_backlog: timedelta


class Inbox:
    """Implements `echo_bot.channel.Port`."""

    def __init__(
        self,
        settings: InboxSettings,
        store: Store,
        admission: Admission,
        rate: RateLimit,
        commands: Commands,
        queues: SessionQueues,
        pausing: Pausing,
        albums: Albums,
        broker: Broker,
        delivery: Delivery,
        completing: Completing,
        moves: Moves,
        status: StatusLines,
        *,
        mask: Callable[[str], str],
        clock: Callable[[], datetime],
        monotonic: Callable[[], float],
    ) -> None:
        self._settings, self._store, self._admission, self._rate = settings, store, admission, rate
        self._reading = Reading(store, broker)
        self._commands, self._queues, self._albums, self._broker = commands, queues, albums, broker
        self._completing, self._moves, self._status = completing, moves, status
        self._mask, self._clock, self._monotonic = mask, clock, monotonic
        self._tasks: set[asyncio.Task[None]] = set()
        self._notices = Notices(delivery, pausing)
        self._thoughts = SecondThoughts(store, queues, self._line)

    async def receive(self, event: InboundEvent) -> bool:
        """See `Port.receive`. Trust fields that a channel may have set are reset before anything else."""
        event = storable(without_trust(event))
        if not has_plain_ids(event):
            return False
        if await self._joins_album(event):
            return True
        if not (self._admission.is_for_us(event) or self._albums.goes_on(event)):
            return False
        if not await self._admission.admits(event.sender):
            if event.event_type is EventType.MESSAGE:
                await self._stranger(event)
            return False
        if event.event_type is EventType.EDIT:
            return await self._thoughts.edited(event, self._key(event))
        if self._clock() - event.timestamp > self._settings.max_backlog:
            await self._too_old(event)
            return False
        return await self._accept(event)

    async def turn_down(self, event: InboundEvent) -> bool:
        event = storable(without_trust(event))
        is_heard = has_plain_ids(event) and self._admission.is_for_us(event)
        return is_heard and await self._admission.admits(event.sender) and await self._claim_only(event)

    async def press(self, press: ButtonPress) -> PressReply:
        if press.token == SETUP_TOKEN:
            return PressReply(_("Your press arrived: buttons work here."))
        if self._status.is_stop(press.token):
            return await self._press_stop(press)
        return await self._broker.press(
            replace(press, text=encodable(press.text), presser_name=encodable(press.presser_name))
        )

    async def prompt(self, press: ButtonPress) -> Prompt | PressReply:
        return await self._broker.prompt(press)

    async def command(self, event: InboundEvent) -> CommandReply:
        """See `Port.command`. Never raises: whoever typed it waits for a sentence."""
        event = storable(without_trust(event))
        if not has_plain_ids(event) or event.event_type is not EventType.MESSAGE:
            return CommandReply(_("This command cannot be read. Nothing was done."), ok=False)
        try:
            reply = await self._native(event)
        except StorageError as error:
            log.error("command_failed", error=str(error))
            return CommandReply(_(_NOT_STORED), ok=False, busy=True)
        return replace(reply, text=self._mask(encodable(reply.text)))

    async def complete(self, viewer: Identity, parameter: Parameter, typed: str) -> tuple[Completion, ...]:
        """See `Port.complete`. Never raises: without an answer the platform shows an error while typing."""
        try:
            if not await self._admission.admits(viewer):
                return ()
            return await self._completing.complete(viewer, parameter, encodable(typed))
        except StorageError as error:
            log.warning("completion_failed", error=str(error))
            return ()

    async def taken_back(self, address: Address, message_id: str) -> bool:
        return await self._thoughts.taken_back(address, message_id)

    async def chat_moved(self, old: Address, new_chat_id: str) -> None:
        await self._moves.move(old, new_chat_id)

    async def admits(self, sender: Identity) -> bool:
        return await self._admission.admits(sender)

    async def persons(self, channel: str, account: str) -> tuple[str, ...]:
        return await self._admission.persons(channel, account)

    async def transcript(self, address: Address, limit: int) -> tuple[TranscriptEntry, ...]:
        return await self._reading.transcript(address, limit)

    async def chats(self, channel: str, account: str) -> tuple[Address, ...]:
        return await self._reading.chats(channel, account)

    async def pending(self, viewer: Identity) -> tuple[Card, ...]:
        return await self._reading.pending(viewer)

    def commands(self) -> tuple[Command, ...]:
        return commands_shown()

    async def submit(self, event: InboundEvent) -> bool:
        """Queue an event as a turn, from a channel or an internal producer. False if it was seen before."""
        return await self._queue(event, self._line(event))

    async def close(self) -> None:
        self._albums.close()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _queue(self, event: InboundEvent, said: TranscriptRow, instead: Again | None = None) -> bool:
        key = self._key(event)
        turn = TurnRecord(
            turn_id=turn_id_of(event),
            session_key=key,
            event_id=event.event_id,
            event_json=event_to_json(event),
            state=TurnState.QUEUED,
            created_at=self._clock(),
            memory_scope=self._memory_scope(event),
        )
        earlier = instead.instead_of if instead else None
        if not await self._store.events.claim(claim_ids(event), turn, self._clock(), said, earlier):
            return False
        for file in instead.files if instead else ():
            await self._store.turns.append(turn.turn_id, file)
        before = self._queues.current(key)
        await self._albums.release(key)
        if event.album_id:
            self._albums.begin(turn)
        else:
            self._queues.submit(turn)
        if before is not None and self._broker.is_asking(before.turn_id):
            await self._notices.waits(event, key, before.turn_id)
        return True

    async def _accept(self, event: InboundEvent) -> bool:
        taken = await self._take(event)
        if taken.busy:
            # Claimed, it is not read either when it comes again.
            if await self._claim_only(event) and self._rate.tells(str(event.sender), self._monotonic()):
                await self._notices.say(event, _(_TOO_MANY))
            return False
        if taken.work is not None:
            self._in_background(self._answer(event, taken.work))
        elif taken.text:
            await self._notices.say(event, taken.text)
        return taken.stored

    async def _press_stop(self, press: ButtonPress) -> PressReply:
        """The Stop of a status line: what `/stop` does, for whoever asked and for admins."""
        line = self._status.find(press.token)
        if line is None:
            return PressReply(_("This is not running any more."), ok=False)
        try:
            is_theirs = line.requester == str(press.presser) and await self.admits(press.presser)
            if not (is_theirs or await self._commands.is_admin(press.presser)):
                return PressReply(_("Only whoever asked for this, or an admin, can stop it."), ok=False)
            stopped = await self._commands.halt(SessionKey(line.session_key))
        except StorageError as error:
            log.error("stop_failed", error=str(error))
            return PressReply(_(_NOT_STORED), ok=False)
        return PressReply(words_of_stop(stopped), ok=bool(stopped))

    async def _native(self, event: InboundEvent) -> CommandReply:
        if not self._admission.is_for_us(event):
            return CommandReply(_("I do not answer in this chat."), ok=False)
        if not await self._admission.admits(event.sender):
            name, code = split_command(event.text)
            if name == "pair" and await self._store.people.open_codes(self._clock()):
                return reply_of(await self._paired(event, code))
            return CommandReply(await self._admission.refusal(), ok=False)
        if self._clock() - event.timestamp > self._settings.max_backlog:
            return CommandReply(_("This came too late to act on. Send it again."), ok=False)
        taken = await self._take(event)
        return reply_of(replace(taken, text=await taken.work(), work=None) if taken.work else taken)

    async def _take(self, event: InboundEvent) -> Taken:
        """Claim and store what somebody who may speak wrote; what is left to say comes back."""
        name, rest = split_command(event.text)
        if name in CONTROL:
            return await self._stored(event, name, rest)
        if not self._rate.take(str(event.sender), self._monotonic()):
            return Taken(False, text=_(_TOO_MANY), ok=False, busy=True)
        taken = Taken(False)
        try:
            taken = await self._stored(event, name, rest)
            return taken
        finally:
            if not taken.stored:
                self._rate.give_back(str(event.sender))

    async def _stored(self, event: InboundEvent, name: str, rest: str) -> Taken:
        if name == "pair":
            return await self._paired(event, rest)
        if self._commands.knows(name):
            return await self._command(event, name, rest)
        if name and name not in TURN_COMMANDS:
            claimed = await self._claim_only(event)
            return Taken(claimed, text=unknown_command(name) if claimed else "")
        if not name and await self._answers_question(event):
            return Taken(True)
        if name == "retry":
            return await self._retry(event, rest)
        return await self._queued(event, await self.submit(event))

    async def _retry(self, event: InboundEvent, words: str) -> Taken:
        turns = self._store.turns
        last = await turns.last_message(self._key(event))
        found = await again(event, words, last, turns, turn_commands=TURN_COMMANDS - {"retry"})
        if isinstance(found, str):
            claimed = await self._claim_only(event, said=True)
            return Taken(claimed, text=found if claimed else "")
        return await self._queued(event, await self._queue(found.event, self._line(event), found))

    async def _queued(self, event: InboundEvent, stored: bool) -> Taken:
        if stored:
            await self._notices.is_held(event, self._key(event))
        return Taken(stored, queued=stored)

    async def _command(self, event: InboundEvent, name: str, rest: str) -> Taken:
        if not await self._claim_only(event, said=True):
            return Taken(False)
        key = self._key(event)
        return Taken(True, work=partial(self._answer_to, name, Request(event, key, rest)))

    async def _answer_to(self, name: str, request: Request) -> str:
        try:
            return await self._commands.answer(name, request)
        except StorageError as error:
            log.error("command_failed", command=name, error=str(error))
            told = _("/{name} did not work: the database cannot be used right now. The log says why.")
            return told.format(name=name)

    async def _answer(self, event: InboundEvent, work: Callable[[], Awaitable[str]]) -> None:
        await self._notices.say(event, await work())

    async def _paired(self, event: InboundEvent, code: str) -> Taken:
        if not await self._claim_only(event):
            return Taken(False)
        pairing = await self._admission.pair(event, code)
        return Taken(True, text=pairing.sentence, ok=pairing.paired)

    async def _stranger(self, event: InboundEvent) -> None:
        name, code = split_command(event.text)
        line = await self._admission.stranger_line(event.sender) if name != "pair" else ""
        if name == "pair" and await self._store.people.open_codes(self._clock()):
            await self._notices.say(event, (await self._paired(event, code)).text)
        elif line:
            await self._notices.say(event, line)

    async def _joins_album(self, event: InboundEvent) -> bool:
        """Whoever sent the first part was admitted, and a part needs no mention of its own."""
        return await self._albums.join(event, self._key(event), self._line)

    async def _answers_question(self, event: InboundEvent) -> bool:
        """Plain text from the person who was asked, in the chat of the question, answers it."""
        places = self._moves.all_of(event.address)
        asked = (self._broker.question_to(event.sender, place) for place in places)
        question = next((each for each in asked if each is not None), None)
        if question is None or not event.text.strip():
            return False
        if await self._claim_only(event, said=True):
            answer, name = event.text.strip(), event.sender_name
            await self._broker.answer(question.approval_id, event.sender, answer, name=name)
        return True

    async def _too_old(self, event: InboundEvent) -> None:
        if await self._claim_only(event):
            await self._notices.too_late(event, self._clock(), self._settings.max_backlog)

    async def _claim_only(self, event: InboundEvent, *, said: bool = False) -> bool:
        line = self._line(event) if said else None
        return await self._store.events.claim(claim_ids(event), None, self._clock(), line)

    def _line(self, event: InboundEvent) -> TranscriptRow:
        return line_of(event, self._mask, self._memory_scope(event))

    def _key(self, event: InboundEvent) -> SessionKey:
        return session_key(event, shared_groups=self._settings.shared_groups)

    def _memory_scope(self, event: InboundEvent) -> str:
        return memory_scope(event, shared_groups=self._settings.shared_groups)

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work, name="command")
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("command_failed", error=str(task.exception()))
