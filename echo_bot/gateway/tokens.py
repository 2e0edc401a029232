"""API tokens: whose a presented one is, and what its holder may do. Only hashes are kept."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from echo_bot.events import Identity
from echo_bot.policy.settings import API


class Scope(StrEnum):
    """What a token is good for: its holder's own messages and chats, or everything."""

    READ = "read"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Token:
    """One entry of the configuration; `digest` is the SHA-256 of the token in lower-case hex."""

    name: str
    scope: Scope
    digest: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever presented a token. A request has no other identity."""

    name: str
    scope: Scope

    @property
    def identity(self) -> Identity:
        return Identity(API, self.name)

    @property
    def is_admin(self) -> bool:
        return self.scope is Scope.ADMIN


class Tokens:
    """All tokens of the configuration."""

    def __init__(self, tokens: Iterable[Token] = ()) -> None:
        self._tokens = tuple(tokens)

    def __bool__(self) -> bool:
        return bool(self._tokens)

    def caller(self, presented: str) -> Caller | None:
        """Whose it is. Every entry is compared to its end, so that time tells nothing."""
        digest = hashlib.sha256(presented.encode("utf-8", "surrogatepass")).hexdigest()
        found: Caller | None = None
        for token in self._tokens:
            if hmac.compare_digest(token.digest, digest):
                found = Caller(token.name, token.scope)
        return found
