"""Pausing: nothing begins, everywhere or in one session, until a person resumes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

from echo_bot.events import Identity, SessionKey
from echo_bot.storage.pauses import EVERYWHERE, PAUSED, Pause
from echo_bot.storage.protocol import Values


class Pausing:
    """Whatever begins by itself or anew asks here first: turns, jobs, workers, steps of workflows.

    What runs goes on. Pauses are kept in the store, so that a restart stays paused.
    """

    def __init__(self, values: Values, clock: Callable[[], datetime]) -> None:
        self._values, self._clock = values, clock
        self._pauses: dict[str, Pause] = {}
        self._changed = asyncio.Event()
        self._listeners: list[Callable[[], None]] = []

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call it after every change."""
        self._listeners.append(listener)

    def is_paused(self, session_key: SessionKey | None = None) -> bool:
        """Must what belongs to this session, or to none, not begin now?"""
        return self.pause_of(session_key) is not None

    def pause_of(self, session_key: SessionKey | None = None) -> Pause | None:
        """What holds it: the pause of everything, else the session's own."""
        own = None if session_key is None else self._pauses.get(session_key)
        return self._pauses.get(EVERYWHERE, own)

    async def wait_until_resumed(self, session_key: SessionKey | None = None) -> None:
        """At once when it is not paused."""
        while self.is_paused(session_key):
            await self._changed.wait()

    async def pause(self, by: Identity, session_key: SessionKey | None = None) -> bool:
        """Pause a session, or everything. False if it was; StorageError, and then nothing has changed."""
        key = session_key or EVERYWHERE
        if key in self._pauses:
            return False
        pause = Pause(str(by), self._clock())
        await self._values.put(PAUSED, key, pause.to_json())
        self._set({**self._pauses, key: pause})
        return True

    async def resume(self, session_key: SessionKey | None = None) -> bool:
        """Lift the pause of a session, or that of everything. False if there was none.

        StorageError, and then it still holds.
        """
        key = session_key or EVERYWHERE
        was_stored = await self._values.delete(PAUSED, key)
        was_held = key in self._pauses
        self._set({name: pause for name, pause in self._pauses.items() if name != key})
        return was_stored or was_held

    async def load(self) -> None:
        """Take over what is stored: at the start, and when another process has changed it."""
        stored = await self._values.list(PAUSED)
        self._set({key: Pause.from_json(text) for key, text in stored.items()})

    async def rename(self, old: SessionKey, new: SessionKey) -> None:
        """The sessions of a chat that got a new id stay paused under their new keys."""
        for key in [key for key in self._pauses if key == old or key.startswith(f"{old}:")]:
            pause, renamed = self._pauses[key], new + key.removeprefix(old)
            await self._values.put(PAUSED, renamed, pause.to_json())
            await self._values.delete(PAUSED, key)
            rest = {name: each for name, each in self._pauses.items() if name != key}
            self._set({**rest, renamed: pause})

    def _set(self, pauses: dict[str, Pause]) -> None:
        self._pauses = pauses
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
        for listener in self._listeners:
            listener()
