"""A message by HTTP: handed to the inbox like any other, then watched until its turn has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from uuid import uuid4

from echo_bot.agent.directive import split_command
from echo_bot.channel import inbound_event
from echo_bot.delivery.body import Body
from echo_bot.events import BlockType, ContentBlock, InboundEvent, TurnId
from echo_bot.gateway.api.channel import Said
from echo_bot.gateway.api.failures import ApiFailure
from echo_bot.gateway.api.models import (
    Accepted,
    ApprovalView,
    MessageView,
    ReplyPart,
    SaidView,
    StreamedMessage,
)
from echo_bot.gateway.api.parts import ApiParts
from echo_bot.gateway.api.pending import Pending
from echo_bot.gateway.tokens import Caller
from echo_bot.policy.settings import API
from echo_bot.session import event_from_json, turn_id_of
from echo_bot.storage.records import TurnRecord

_KEEP_ALIVE_SECONDS = 15.0

_NOT_THERE = "No message of yours has that id."
_USED_ID = "This id was used before, for a command or an answer, so nothing was done now."
_NO_PAIRING = "A token is its own introduction: /pair is for people in chats."

Happening = Accepted | SaidView | ApprovalView | MessageView | None
"""What a stream tells, in this order: taken, what is said and asked, the end. None: nothing for a while."""


class Messages:
    """Takes messages of token holders and says what became of them. Refusals are ApiFailure."""

    def __init__(self, parts: ApiParts) -> None:
        self._parts, self._pending = parts, Pending(parts)

    async def post(self, caller: Caller, wanted: StreamedMessage, wait_seconds: float) -> MessageView:
        """Hand it over and wait for its turn's end, or until this very caller has to decide something."""
        event = self._event(caller, wanted)
        with self._parts.channel.listening(event.address) as heard:
            taken = await self._take(caller, event)
            if isinstance(taken, MessageView):
                return taken
            with suppress(TimeoutError):
                async with (
                    asyncio.timeout(wait_seconds),
                    aclosing(self._until_ended(taken, heard)) as all_said,
                ):
                    async for _ in all_said:
                        if any(approval.may_decide for approval in await self._asked(caller, taken)):
                            break
        return await self._view(caller, event, taken)

    async def stream(self, caller: Caller, wanted: StreamedMessage) -> AsyncGenerator[Happening, None]:
        """Everything as it comes. The first is `Accepted`, or the failure; the last the whole message."""
        event = self._event(caller, wanted)
        with self._parts.channel.listening(event.address) as heard:
            taken = await self._take(caller, event)
            yield Accepted(id=event.message_id, thread=event.thread_id)
            if isinstance(taken, MessageView):
                yield taken
                return
            told: set[str] = set()
            async with aclosing(self._until_ended(taken, heard)) as all_said:
                async for said in all_said:
                    yield _said_view(said) if said is not None else None
                    for approval in await self._asked(caller, taken):
                        if approval.id not in told:
                            told.add(approval.id)
                            yield approval
            yield await self._view(caller, event, taken)

    async def show(self, caller: Caller, message_id: str) -> MessageView:
        """What became of an earlier message."""
        turn = await self._parts.store.turns.get(
            turn_id_of(self._event(caller, StreamedMessage(text="-", id=message_id)))
        )
        if turn is None:
            raise ApiFailure(404, "not_found", _NOT_THERE)
        return await self._view(caller, event_from_json(turn.event_json), turn.turn_id)

    async def _take(self, caller: Caller, event: InboundEvent) -> TurnId | MessageView:
        """The turn that it became or answered, or what was answered at once."""
        name, _ = split_command(event.text)
        if name == "pair":
            raise ApiFailure(403, "forbidden", _NO_PAIRING)
        question = None if name else self._parts.broker.question_to(caller.identity, event.address)
        reply = await self._parts.port.command(event)
        if not reply.ok:
            status, code = (429, "too_many") if reply.busy else (403, "forbidden")
            raise ApiFailure(status, code, reply.text)
        if reply.queued:
            return turn_id_of(event)
        if reply.repeated:
            turn = await self._parts.store.turns.get(turn_id_of(event))
            if turn is None:
                raise ApiFailure(409, "conflict", _USED_ID)
            return turn.turn_id
        if question is not None and not reply.text:
            return question.turn_id
        said = [ReplyPart(text=reply.text, markdown=True)] if reply.text else []
        return MessageView(id=event.message_id, thread=event.thread_id, state="done", reply=said)

    async def _until_ended(
        self, turn_id: TurnId, heard: asyncio.Queue[Said]
    ) -> AsyncGenerator[Said | None, None]:
        """What is said in the chat until the turn has ended; None when nothing was said for a while."""
        ended = asyncio.create_task(self._parts.queues.ended(turn_id), name="api message")
        try:
            while not (ended.done() and heard.empty()):
                said = asyncio.create_task(heard.get(), name="api message")
                try:
                    await asyncio.wait(
                        {ended, said}, timeout=_KEEP_ALIVE_SECONDS, return_when="FIRST_COMPLETED"
                    )
                finally:
                    said.cancel()
                if said.done() and not said.cancelled():
                    yield said.result()
                elif not ended.done():
                    yield None
        finally:
            ended.cancel()

    async def _asked(self, caller: Caller, turn_id: TurnId) -> list[ApprovalView]:
        return await self._pending.of_turn(caller, turn_id)

    async def _view(self, caller: Caller, event: InboundEvent, turn_id: TurnId) -> MessageView:
        turn = await self._parts.store.turns.get(turn_id)
        if turn is None:
            raise ApiFailure(404, "not_found", _NOT_THERE)
        return MessageView(
            id=event.message_id,
            thread=event.thread_id,
            state=turn.state.value,
            reply=await self._reply(turn),
            error=self._parts.mask(turn.error),
            approvals=[] if turn.state.is_final else await self._asked(caller, turn_id),
        )

    async def _reply(self, turn: TurnRecord) -> list[ReplyPart]:
        """What the turn said in its own chat: it is stored before the turn counts as done."""
        here = event_from_json(turn.event_json).address
        rows = await self._parts.store.outbox.of_turn(turn.turn_id)
        bodies = [Body.from_json(row.body_json) for row in rows if row.address == here]
        return [ReplyPart(text=b.text, markdown=b.markdown) for b in bodies if b.kind == "text"]

    def _event(self, caller: Caller, wanted: StreamedMessage) -> InboundEvent:
        """The sender and the chat are the token's, whatever else the body may say."""
        message_id = wanted.id or uuid4().hex
        return inbound_event(
            event_id=f"{caller.name}/{message_id}",
            channel=API,
            chat_id=caller.name,
            thread_id=wanted.thread,
            sender_id=caller.name,
            sender_name=caller.name,
            timestamp=self._parts.clock(),
            content=(ContentBlock(BlockType.TEXT, wanted.text),),
            message_id=message_id,
        )


def _said_view(said: Said) -> SaidView:
    return SaidView(
        message_id=said.message_id, text=said.text, markdown=said.markdown, is_draft=said.is_draft
    )
