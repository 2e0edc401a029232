"""Whether the bot works on something in this chat, since when, and how its answer grows."""

from __future__ import annotations

from collections.abc import Callable

SIGN_SECONDS = 6.0
"""A typing sign is repeated every few seconds while a turn runs; this long after the last one it is over."""


class Working:
    """Fed by typing signs, drafts and answers."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._since = 0.0
        self._until = 0.0
        self.draft = ""

    @property
    def is_on(self) -> bool:
        return self._monotonic() < self._until

    @property
    def seconds(self) -> int:
        return int(self._monotonic() - self._since)

    def asked(self) -> None:
        """The person wrote something: a turn that begins now is a new one."""
        if not self.is_on:
            self._since = 0.0

    def sign(self) -> None:
        now = self._monotonic()
        if not self._since or now > self._until + SIGN_SECONDS:
            self._since = now
        self._until = now + SIGN_SECONDS

    def grew(self, draft: str) -> None:
        self.sign()
        self.draft = draft

    def answered(self) -> None:
        """An answer stands. A turn that goes on shows it with its next sign."""
        self._until = 0.0
        self.draft = ""
