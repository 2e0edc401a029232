"""Log-in by a one-time link, then by a cookie. The store sees only SHA-256 hashes of both."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from echo_bot.events import Identity
from echo_bot.storage.protocol import Logins

COOKIE_NAME = "echo_bot_session"
LINK_LIFETIME = timedelta(minutes=10)
COOKIE_LIFETIME = timedelta(days=30)
_SECRET_BYTES = 32

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class NewCookie:
    """What the browser keeps: the value itself is nowhere else."""

    value: str
    lifetime: timedelta = COOKIE_LIFETIME


@dataclass(frozen=True, slots=True)
class Login:
    """Who is logged in, and until when."""

    viewer: Identity
    ends_at: datetime


class LoginDesk:
    """Issues links, exchanges a link for a cookie once, and knows whose cookie is whose."""

    def __init__(self, logins: Logins, clock: Clock) -> None:
        self._logins = logins
        self._clock = clock

    async def new_secret(self, identity: str) -> str:
        """A secret for a link that logs `identity` in once within 10 minutes."""
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        await self._logins.add_link(
            hash_of(secret), str(Identity.parse(identity)), self._clock() + LINK_LIFETIME
        )
        return secret

    async def is_open(self, secret: str) -> bool:
        return await self._logins.link_is_open(hash_of(secret), self._clock())

    async def exchange(self, secret: str) -> NewCookie | None:
        """Spend the link. None if it was spent before, has expired, or was never made."""
        identity = await self._logins.spend_link(hash_of(secret), self._clock())
        if identity is None:
            return None
        cookie = NewCookie(secrets.token_urlsafe(_SECRET_BYTES))
        await self._logins.add_cookie(hash_of(cookie.value), identity, self._clock() + cookie.lifetime)
        return cookie

    async def login_of(self, cookie: str) -> Login | None:
        """Whose cookie this is; None for an unknown or expired one."""
        found = await self._logins.cookie(hash_of(cookie), self._clock()) if cookie else None
        return Login(Identity.parse(found[0]), found[1]) if found is not None else None

    def has_run_out(self, login: Login) -> bool:
        return login.ends_at <= self._clock()

    async def end(self, cookie: str) -> None:
        await self._logins.drop_cookie(hash_of(cookie))


def hash_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
