"""`gateway.api_tokens` and `gateway.admin_tokens`: who may use the HTTP API."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, SecretStr, field_validator, model_validator

from echo_bot.config.base import Secret, Section
from echo_bot.config.written import WrittenInt

HASHED = "sha256:"
_HASH = re.compile(r"sha256:[0-9a-fA-F]{64}")
_SENDABLE = re.compile(r"[\x21-\x7e]+")
_NAME_CHARS = 8

TokenName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]


class ApiToken(Section):
    name: TokenName
    """Who holds it: the bot sees its holder as api:<name>."""
    token: Secret
    """The token, or sha256: and the SHA-256 of it in hex."""

    @model_validator(mode="before")
    @classmethod
    def _named(cls, written: object) -> object:
        """A text alone is a token without a name: it is named after its hash, which does not change."""
        values = dict(written) if isinstance(written, Mapping) else {"token": written}
        token = values.get("token")
        text = token.text if isinstance(token, WrittenInt) else token
        if isinstance(text, str) and "name" not in values:
            values["name"] = _digest(text)[:_NAME_CHARS]
        return values

    @field_validator("token")
    @classmethod
    def _usable(cls, token: SecretStr) -> SecretStr:
        text = token.get_secret_value()
        if text.startswith(HASHED) and not _HASH.fullmatch(text):
            raise ValueError("after sha256: belong the 64 hex digits of the token's SHA-256")
        if not _SENDABLE.fullmatch(text):
            raise ValueError("a token is made of printable ASCII characters without spaces")
        return token

    @property
    def digest(self) -> str:
        """The SHA-256 of the token in lower-case hex: all that is compared."""
        return _digest(self.token.get_secret_value())

    @property
    def is_hashed(self) -> bool:
        return self.token.get_secret_value().startswith(HASHED)


def _digest(text: str) -> str:
    if _HASH.fullmatch(text):
        return text.removeprefix(HASHED).lower()
    return hashlib.sha256(text.encode()).hexdigest()
