"""The world behind the emulator: simcord's backend on real time, and what tests may change in it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from simcord._clock import Clock
from simcord.backend import Backend, serializers
from simcord.backend.cdn import CDN_BASE

_ATTACHMENT = re.compile(rf"{re.escape(CDN_BASE)}/(attachments/[^\"?]+)")
_URL_LIFE = timedelta(hours=24)
_MAY_READ_MESSAGES = 1 << 19


class RealClock(Clock):
    """Now, plus what a test added: Discord's clock need not be ours."""

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.elapsed)


class World:
    """`blocked` holds people who take no direct messages of the bot; `url` and `gateway_url` are
    where the servers listen."""

    def __init__(self, token: str, name: str, first_answer_seconds: float) -> None:
        self.first_answer_seconds = first_answer_seconds
        self.backend = Backend(clock=RealClock())
        self.backend.bot_user.name = name
        self.token = token
        self.message_content_granted = True
        self.blocked: set[int] = set()
        self.url = self.gateway_url = ""
        self.typing: list[int] = []

    @property
    def now(self) -> datetime:
        return self.backend.clock.now()

    @property
    def application_flags(self) -> int:
        """Bits of what the owner switched on for the application."""
        return _MAY_READ_MESSAGES if self.message_content_granted else 0

    def on_the_wire(self, text: str) -> str:
        """JSON with links to files as they are now: they are signed, and expire after a day."""
        expiry = int((self.now + _URL_LIFE).timestamp())
        return _ATTACHMENT.sub(rf"{self.url}/cdn/\1?ex={expiry:x}", text)

    def stored_file(self, path: str, expiry: str) -> bytes | None:
        """The bytes behind a link, None when it is unknown or expired."""
        try:
            if int(expiry, 16) < self.now.timestamp():
                return None
        except ValueError:
            return None
        return self.backend.cdn.get(f"{CDN_BASE}/{path}")

    def as_user(self, user_id: int) -> dict[str, Any]:
        return dict(serializers.user_payload(self.backend.users[user_id]))
