"""A channel in memory: says and presses what a test wants, keeps what the core sent, fails on demand."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

from echo_bot.channel import (
    ChannelCapabilities,
    ChannelHealth,
    ChannelState,
    CommandReply,
    FileLocation,
    Port,
    Prompt,
    inbound_event,
)
from echo_bot.errors import ChannelError, TargetGone
from echo_bot.events import (
    Address,
    BlockType,
    Button,
    ButtonPress,
    Card,
    ContentBlock,
    EventType,
    Identity,
    InboundEvent,
    MessageRef,
    OutboundFile,
    OutboundText,
    PressReply,
)
from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually
from echo_bot.text import card_text, measure

Operation = Literal[
    "start", "send_text", "send_card", "send_file", "edit_text", "edit_card", "typing", "locate"
]

FULL_CAPABILITIES = ChannelCapabilities(
    max_length=4096,
    buttons=True,
    edits=True,
    typing=True,
    files=True,
    threads=True,
    groups=True,
    receives_files=True,
)


@dataclass(slots=True)
class FakeMessage:
    """What stands in the chat now: exactly one of text, card and file. `versions` holds it oldest first."""

    ref: MessageRef
    text: OutboundText | None = None
    card: Card | None = None
    file: OutboundFile | None = None
    versions: list[OutboundText | Card | OutboundFile] = field(default_factory=list)

    @property
    def body(self) -> str:
        """The words in it: the text, all of the card, or the file's name."""
        if self.text is not None:
            return self.text.text
        if self.card is not None:
            return card_text(self.card)
        return self.file.name if self.file is not None else ""

    @property
    def buttons(self) -> tuple[Button, ...]:
        return self.card.buttons if self.card is not None else ()


@dataclass(slots=True)
class _Fault:
    error: ChannelError
    times: int
    after: bool


class FakeChannel:
    """A `Channel` without a platform. Everything it shows is in `messages`, typing signs are in `typed`.

    `files` says where the file of a `ref` is; `located` holds the refs that the core asked for. What is sent
    to a person's id lands in the chat that `direct_chats` has for it.
    """

    def __init__(
        self,
        name: str = "fake",
        account: str = "",
        capabilities: ChannelCapabilities = FULL_CAPABILITIES,
    ) -> None:
        self.name, self.account, self.capabilities = name, account, capabilities
        self.messages: list[FakeMessage] = []
        self.typed: list[Address] = []
        self.files: dict[str, FileLocation] = {}
        self.located: list[str] = []
        self.direct_chats: dict[str, str] = {}
        self._port: Port | None = None
        self._state = ChannelState.STOPPED
        self._ids = itertools.count(1)
        self._faults: dict[Operation, deque[_Fault]] = {}
        self._sent_keys: dict[str, MessageRef] = {}
        self._last_event_at: datetime | None = None

    # The Channel protocol

    async def start(self, port: Port) -> None:
        with self._guarded("start"):
            self._port, self._state = port, ChannelState.CONNECTED

    async def stop(self) -> None:
        self._port, self._state = None, ChannelState.STOPPED

    async def send_text(self, address: Address, message: OutboundText) -> MessageRef:
        with self._guarded("send_text"):
            self._require_fits(message.text)
            key = message.dedup_key if self.capabilities.dedups_sends else ""
            return self._post(FakeMessage(self._ref(address), text=message, versions=[message]), key)

    async def send_card(self, address: Address, card: Card) -> MessageRef:
        with self._guarded("send_card"):
            key = card.dedup_key if self.capabilities.dedups_sends else ""
            return self._post(FakeMessage(self._ref(address), card=card, versions=[card]), key)

    async def send_file(self, address: Address, file: OutboundFile) -> MessageRef:
        with self._guarded("send_file"):
            key = file.dedup_key if self.capabilities.dedups_files else ""
            return self._post(FakeMessage(self._ref(address), file=file, versions=[file]), key)

    async def edit_text(self, ref: MessageRef, message: OutboundText) -> None:
        with self._guarded("edit_text"):
            self._require_fits(message.text)
            found = self.message(ref)
            found.text, found.card, found.file = message, None, None
            found.versions.append(message)

    async def edit_card(self, ref: MessageRef, card: Card) -> None:
        with self._guarded("edit_card"):
            found = self.message(ref)
            found.text, found.card, found.file = None, card, None
            found.versions.append(card)

    async def typing(self, address: Address) -> None:
        with self._guarded("typing"):
            self.typed.append(address)

    async def locate(self, block: ContentBlock) -> FileLocation:
        with self._guarded("locate"):
            self.located.append(block.ref)
            if block.ref not in self.files:
                raise TargetGone("no such file")
            return self.files[block.ref]

    def health(self) -> ChannelHealth:
        return ChannelHealth(self._state, last_event_at=self._last_event_at)

    # What a test does

    def fail(self, operation: Operation, error: ChannelError, times: int = 1, after: bool = False) -> None:
        """Let the next `times` calls of `operation` raise `error`; with `after`, once the work is done."""
        self._faults.setdefault(operation, deque()).append(_Fault(error, times, after))

    async def say(
        self,
        text: str,
        *,
        sender_id: str = "1",
        chat_id: str = "1",
        thread_id: str = "",
        event_type: EventType = EventType.MESSAGE,
        event_id: str = "",
        is_group: bool = False,
        mentioned: bool = False,
        from_bot: bool = False,
        sender_name: str = "",
        timestamp: datetime | None = None,
        metadata: dict[str, str] | None = None,
        files: Sequence[ContentBlock] = (),
    ) -> bool:
        """Somebody writes `text`; True once the core stored it. The same `event_id` again is a redelivery."""
        event = inbound_event(
            event_id=event_id or f"e{next(self._ids)}",
            event_type=event_type,
            channel=self.name,
            account=self.account,
            chat_id=chat_id,
            thread_id=thread_id,
            sender_id=sender_id,
            sender_name=sender_name,
            timestamp=timestamp or datetime.now(UTC),
            content=(*((ContentBlock(BlockType.TEXT, text=text),) if text else ()), *files),
            is_group=is_group,
            mentioned=mentioned,
            from_bot=from_bot,
            metadata=metadata,
        )
        return await self.deliver(event)

    async def deliver(self, event: InboundEvent) -> bool:
        """Hand an event of the test's own making to the core."""
        self._last_event_at = event.timestamp
        return await self._connected().receive(event)

    async def command(
        self,
        text: str,
        *,
        sender_id: str = "1",
        chat_id: str = "1",
        event_id: str = "",
        is_group: bool = False,
        timestamp: datetime | None = None,
    ) -> CommandReply:
        """Somebody uses a native command; `text` is its text form."""
        event = inbound_event(
            event_id=event_id or f"c{next(self._ids)}",
            channel=self.name,
            account=self.account,
            chat_id=chat_id,
            sender_id=sender_id,
            timestamp=timestamp or datetime.now(UTC),
            content=(ContentBlock(BlockType.TEXT, text=text),),
            is_group=is_group,
        )
        return await self._connected().command(event)

    async def complete(
        self, command: str, parameter: str, typed: str = "", sender_id: str = "1"
    ) -> list[str]:
        """What the core completes `parameter` of `command` with, as values."""
        port = self._connected()
        wanted = next(
            each
            for known in port.commands()
            if known.name == command
            for each in known.parameters
            if each.name == parameter
        )
        found = await port.complete(Identity(self.name, sender_id, self.account), wanted, typed)
        return [each.value for each in found]

    async def move_chat(self, chat_id: str, new_chat_id: str) -> None:
        """The platform says that a chat got a new id."""
        await self._connected().chat_moved(Address(self.name, chat_id, account=self.account), new_chat_id)

    async def press(
        self,
        label: str,
        *,
        sender_id: str = "1",
        sender_name: str = "",
        message: FakeMessage | None = None,
        text: str = "",
    ) -> PressReply:
        """Press button `label` of `message`, by default the newest that has it. `text` answers a prompt."""
        where = message or self._newest_with(label)
        token = next((button.token for button in where.buttons if button.label == label), None)
        if token is None:
            raise AssertionError(f"no button {label!r} on {where.body!r}")
        return await self.press_token(
            token, where.ref, sender_id=sender_id, sender_name=sender_name, text=text
        )

    async def press_token(
        self, token: str, ref: MessageRef, *, sender_id: str = "1", sender_name: str = "", text: str = ""
    ) -> PressReply:
        """Press with any token, also one of a card that is closed, forged or gone."""
        return await self._connected().press(self._press(token, ref, sender_id, sender_name, text))

    async def ask(self, label: str, *, sender_id: str = "1") -> Prompt | PressReply:
        """What the newest button `label` would ask this person for, before any words are sent."""
        where = self._newest_with(label)
        token = next(button.token for button in where.buttons if button.label == label)
        return await self.ask_token(token, where.ref, sender_id=sender_id)

    async def ask_token(self, token: str, ref: MessageRef, *, sender_id: str = "1") -> Prompt | PressReply:
        return await self._connected().prompt(self._press(token, ref, sender_id))

    async def wait_for(
        self,
        wanted: Callable[[FakeMessage], bool],
        what: str = "a message",
        timeout: float = PATIENCE_SECONDS,
    ) -> FakeMessage:
        """The newest message that `wanted` accepts, as soon as there is one."""
        return await eventually(
            lambda: next((message for message in reversed(self.messages) if wanted(message)), None),
            f"{what} on {self.name}; it shows {[message.body for message in self.messages]}",
            timeout,
        )

    async def wait_for_text(self, part: str, timeout: float = PATIENCE_SECONDS) -> FakeMessage:
        return await self.wait_for(lambda message: part in message.body, f"text {part!r}", timeout)

    async def wait_for_button(self, label: str, timeout: float = PATIENCE_SECONDS) -> FakeMessage:
        return await self.wait_for(
            lambda message: any(button.label == label for button in message.buttons),
            f"button {label!r}",
            timeout,
        )

    @property
    def texts(self) -> list[str]:
        """The text messages as they stand now, oldest first."""
        return [message.text.text for message in self.messages if message.text is not None]

    @property
    def cards(self) -> list[Card]:
        """The cards as they stand now, oldest first."""
        return [message.card for message in self.messages if message.card is not None]

    def message(self, ref: MessageRef) -> FakeMessage:
        """The message at `ref`. Raises TargetGone where there is none, as a platform does."""
        for message in self.messages:
            if message.ref == ref:
                return message
        raise TargetGone(f"no message {ref.message_id} in {ref.address}")

    # Inside

    def _connected(self) -> Port:
        if self._port is None:
            raise AssertionError(f"channel {self.name} is not started")
        return self._port

    def _press(
        self, token: str, ref: MessageRef, sender_id: str, sender_name: str = "", text: str = ""
    ) -> ButtonPress:
        return ButtonPress(
            press_id=f"p{next(self._ids)}",
            token=token,
            presser=Identity(self.name, sender_id, self.account),
            address=ref.address,
            message_id=ref.message_id,
            presser_name=sender_name,
            text=text,
        )

    def _ref(self, address: Address) -> MessageRef:
        chat_id = self.direct_chats.get(address.chat_id, address.chat_id)
        return MessageRef(replace(address, chat_id=chat_id), str(next(self._ids)))

    def _post(self, message: FakeMessage, dedup_key: str = "") -> MessageRef:
        if dedup_key in self._sent_keys:
            return self._sent_keys[dedup_key]
        self.messages.append(message)
        if dedup_key:
            self._sent_keys[dedup_key] = message.ref
        return message.ref

    def _newest_with(self, label: str) -> FakeMessage:
        for message in reversed(self.messages):
            if any(button.label == label for button in message.buttons):
                return message
        raise AssertionError(f"no message has a button {label!r}; shown: {[m.body for m in self.messages]}")

    def _require_fits(self, text: str) -> None:
        length = measure(text, self.capabilities.length_unit)
        if length > self.capabilities.max_length:
            raise AssertionError(
                f"{length} units sent, {self.capabilities.max_length} fit: the core must split"
            )

    def _guarded(self, operation: Operation) -> _FaultGuard:
        return _FaultGuard(self._take_fault(operation))

    def _take_fault(self, operation: Operation) -> _Fault | None:
        queue = self._faults.get(operation)
        if not queue:
            return None
        fault = queue[0]
        fault.times -= 1
        if fault.times <= 0:
            queue.popleft()
        return fault


class _FaultGuard:
    """Raises the injected error before the work, or after it when the answer is what gets lost."""

    def __init__(self, fault: _Fault | None) -> None:
        self._fault = fault

    def __enter__(self) -> None:
        if self._fault is not None and not self._fault.after:
            raise self._fault.error

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._fault is not None and self._fault.after and kind is None:
            raise self._fault.error
