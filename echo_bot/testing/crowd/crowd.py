"""What a crowd is on any platform: what was said in each chat, what was answered, and whether that fits."""

from __future__ import annotations

import asyncio
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import ClassVar, Self, TypeVar

from echo_bot.channel import ChannelSettings

Item = TypeVar("Item")

_MARK = "(possibly repeated)\n"


@dataclass(frozen=True, slots=True)
class Tally:
    """Answers that never came, came more than once, or came before that to an earlier message of the chat.

    `marked` said of themselves that they may be repeated: nobody knew what had become of the first.
    """

    lost: int = 0
    duplicated: int = 0
    out_of_order: int = 0
    marked: int = field(default=0, compare=False)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.lost + other.lost,
            self.duplicated + other.duplicated,
            self.out_of_order + other.out_of_order,
            self.marked + other.marked,
        )


class Crowd(ABC):
    """`chats` people in as many direct chats. The bot is to answer each message with its own text.

    Texts are told apart by their words alone, so each is said once. `settings` and `people` are known once
    the crowd is entered.
    """

    platform: ClassVar[str]

    def __init__(self, chats: int) -> None:
        self.said: list[list[str]] = [[] for _ in range(chats)]
        self.answers: list[list[str]] = [[] for _ in range(chats)]
        self.people: tuple[str, ...] = ()
        self._troubles = itertools.count()
        self._changed = asyncio.Event()

    @property
    @abstractmethod
    def settings(self) -> ChannelSettings:
        """What the channel of the bot under test is built with."""

    def say(self, chat: int, text: str) -> None:
        self.said[chat].append(text)
        self._write(chat, text)

    def trouble(self) -> None:
        """Make the next kind of trouble. None of it loses a message that was sent, or an answer to it."""
        kinds = self._kinds_of_trouble()
        kinds[next(self._troubles) % len(kinds)]()

    async def answered(self, count: int, timeout: float = 60.0) -> None:
        """Until so many answers stand in all chats together. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            while sum(map(len, self.answers)) < count:
                self._changed.clear()
                await self._changed.wait()

    async def settled(self, timeout: float = 60.0, quiet: float = 0.5) -> None:
        """Until all is answered, and for `quiet` seconds nothing more came. Gives up without an error."""
        try:
            await self.answered(sum(map(len, self.said)), timeout)
            while True:
                self._changed.clear()
                await asyncio.wait_for(self._changed.wait(), quiet)
        except TimeoutError:
            return

    def tally(self) -> Tally:
        return sum(map(tally_of, self.said, self.answers), start=Tally())

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    # For each platform

    @abstractmethod
    async def _open(self) -> None: ...

    @abstractmethod
    async def _close(self) -> None: ...

    @abstractmethod
    def _write(self, chat: int, text: str) -> None: ...

    @abstractmethod
    def _kinds_of_trouble(self) -> Sequence[Callable[[], object]]: ...

    def _hear(self, chat: int, text: str) -> None:
        """The bot wrote this."""
        self.answers[chat].append(text)
        self._changed.set()


class Overheard(list[Item]):
    """A list that tells what is appended to it."""

    def __init__(self, tell: Callable[[Item], None]) -> None:
        super().__init__()
        self._tell = tell

    def append(self, item: Item) -> None:
        super().append(item)
        self._tell(item)


def tally_of(said: list[str], answers: list[str]) -> Tally:
    plain = [answer for answer in answers if not answer.startswith(_MARK)]
    marked = [answer.removeprefix(_MARK) for answer in answers if answer.startswith(_MARK)]
    once = list(dict.fromkeys(answer.removeprefix(_MARK) for answer in answers))
    places = {text: place for place, text in enumerate(said)}
    order = [places[text] for text in once if text in places]
    return Tally(
        lost=len(said) - len(order),
        duplicated=len(plain) + len({*marked} - {*plain}) - len(order),
        out_of_order=sum(later < earlier for earlier, later in itertools.pairwise(order)),
        marked=len(marked),
    )
