"""A core in memory for tests of adapters: keeps events and presses, drops repeats, answers, fails."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from echo_bot.channel import (
    Command,
    CommandReply,
    Completes,
    Completion,
    Parameter,
    Prompt,
    TranscriptEntry,
)
from echo_bot.errors import EchoBotError
from echo_bot.events import Address, ButtonPress, Card, Identity, InboundEvent, PressReply
from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually

COMMANDS = (
    Command("help", "What I can do"),
    Command("run", "Run a command", (Parameter("command", "A shell command"),), starts_turn=True),
    Command(
        "approve",
        "Approve an open call",
        (
            Parameter("id", "The id on the card", completes=Completes.APPROVALS),
            Parameter("scope", "How far it reaches", required=False, choices=("once", "always")),
        ),
    ),
    Command("status", "How I am"),
)


class FakePort:
    """A `Port` that admits everybody but `strangers` and answers every press with `reply`.

    `stored` holds what was taken, oldest first and each once; `seen` holds repeats too. `on_press`, when
    set, makes the answer to a press. `asks` is what a button with a prompt asks for. `commanded` holds native
    commands, which are answered with `answer` (a message that comes this way is stored); `completions`
    completes whatever is typed; `moved` holds chats that got a new id, and `gone` messages that were deleted.
    `places` are the chats with a transcript, and `entries` what each of them holds. `known` are the ids that
    are admitted by name.
    """

    def __init__(
        self, reply: PressReply | None = None, on_press: Callable[[ButtonPress], PressReply] | None = None
    ) -> None:
        self.stored: list[InboundEvent] = []
        self.seen: list[InboundEvent] = []
        self.presses: list[ButtonPress] = []
        self.commanded: list[InboundEvent] = []
        self.moved: list[tuple[Address, str]] = []
        self.gone: list[tuple[Address, str]] = []
        self.asks: Prompt | PressReply = Prompt("Why?")
        self.answer = CommandReply("All is well.")
        self.completions: tuple[Completion, ...] = ()
        self.strangers: set[str] = set()
        self.open_cards: tuple[Card, ...] = ()
        self.entries: tuple[TranscriptEntry, ...] = ()
        self.places: tuple[Address, ...] = ()
        self.known: tuple[str, ...] = ()
        self._reply = reply or PressReply("Approved once")
        self._on_press = on_press
        self._known: set[str] = set()
        self._failures: deque[EchoBotError] = deque()

    # The Port protocol

    async def receive(self, event: InboundEvent) -> bool:
        self.seen.append(event)
        self._fail_if_told()
        ids = {event.event_id, *event.dedup_ids}
        if event.sender_id in self.strangers or ids & self._known:
            return False
        self._known |= ids
        self.stored.append(event)
        return True

    async def turn_down(self, event: InboundEvent) -> bool:
        self._fail_if_told()
        ids = {event.event_id, *event.dedup_ids}
        if event.sender_id in self.strangers or ids & self._known:
            return False
        self._known |= ids
        return True

    async def press(self, press: ButtonPress) -> PressReply:
        self._fail_if_told()
        self.presses.append(press)
        return self._on_press(press) if self._on_press is not None else self._reply

    async def prompt(self, press: ButtonPress) -> Prompt | PressReply:
        self._fail_if_told()
        return self.asks

    async def command(self, event: InboundEvent) -> CommandReply:
        self.seen.append(event)
        self._fail_if_told()
        ids = {event.event_id, *event.dedup_ids}
        if ids & self._known:
            return CommandReply(repeated=True)
        if event.sender_id in self.strangers:
            return CommandReply("This bot does not know you.", ok=False)
        self._known |= ids
        if not event.text.startswith("/"):
            self.stored.append(event)
            return CommandReply(queued=True)
        self.commanded.append(event)
        name = event.text.removeprefix("/").partition(" ")[0]
        queued = any(command.starts_turn for command in COMMANDS if command.name == name)
        return CommandReply(queued=True) if queued else self.answer

    async def complete(self, viewer: Identity, parameter: Parameter, typed: str) -> tuple[Completion, ...]:
        return self.completions

    async def taken_back(self, address: Address, message_id: str) -> bool:
        self._fail_if_told()
        self.gone.append((address, message_id))
        return True

    async def chat_moved(self, old: Address, new_chat_id: str) -> None:
        self.moved.append((old, new_chat_id))

    async def admits(self, sender: Identity) -> bool:
        return sender.sender_id not in self.strangers

    async def persons(self, channel: str, account: str) -> tuple[str, ...]:
        return self.known

    async def transcript(self, address: Address, limit: int) -> tuple[TranscriptEntry, ...]:
        return self.entries[-limit:]

    async def chats(self, channel: str, account: str) -> tuple[Address, ...]:
        return self.places

    async def pending(self, viewer: Identity) -> tuple[Card, ...]:
        return self.open_cards

    def commands(self) -> tuple[Command, ...]:
        return COMMANDS

    # What a test does

    def fail(self, error: EchoBotError, times: int = 1) -> None:
        """The next `times` calls of `receive` or `press` raise `error` and store nothing."""
        self._failures.extend([error] * times)

    async def wait_for_event(self, part: str = "", timeout: float = PATIENCE_SECONDS) -> InboundEvent:
        """The newest stored event whose text contains `part`."""
        return await eventually(
            lambda: next((event for event in reversed(self.stored) if part in event.text), None),
            f"an event with {part!r}; stored: {[event.text for event in self.stored]}",
            timeout,
        )

    async def wait_for_press(self, count: int = 1, timeout: float = PATIENCE_SECONDS) -> ButtonPress:
        """The newest press, once there are `count`."""
        await eventually(lambda: len(self.presses) >= count, f"{count} presses", timeout)
        return self.presses[-1]

    def _fail_if_told(self) -> None:
        if self._failures:
            raise self._failures.popleft()
