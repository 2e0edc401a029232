"""Targets of the configuration, read as they are now: a chat that got a new id since they were written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import overload

from echo_bot.events import Address
from echo_bot.policy.targets import parse_address

Now = Callable[[Address], Address]


class MovedAliases(Mapping[str, str]):
    """`delivery.targets`, each under its chat's present id."""

    def __init__(self, written: Mapping[str, str], now: Now) -> None:
        self._written, self._now = written, now

    def __getitem__(self, alias: str) -> str:
        return _present(self._written[alias], self._now)

    def __iter__(self) -> Iterator[str]:
        return iter(self._written)

    def __len__(self) -> int:
        return len(self._written)


class MovedTargets(Sequence[str]):
    """`delivery.allowed_targets`, each as it was written and then under its chat's present id."""

    def __init__(self, written: Sequence[str], aliases: Mapping[str, str], now: Now) -> None:
        self._written = tuple(aliases.get(entry, entry) for entry in written)
        self._now = now

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return tuple(self)[index]

    def __iter__(self) -> Iterator[str]:
        yield from self._written
        yield from (_present(entry, self._now) for entry in self._written)

    def __len__(self) -> int:
        return 2 * len(self._written)


def _present(text: str, now: Now) -> str:
    try:
        return str(now(parse_address(text)))
    except ValueError:
        return text
