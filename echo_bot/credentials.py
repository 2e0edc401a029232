"""Credentials at rest: AES-GCM under one key from the environment, each value bound to where it belongs."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from echo_bot.called import command
from echo_bot.config.key_variable import KEY_VARIABLE, empty_hint, make_key
from echo_bot.errors import StartError, StorageError
from echo_bot.policy.call import canonical_json
from echo_bot.storage.protocol import SealedValues
from echo_bot.storage.records import SealedValue

_KEY_BYTES = 32
_NONCE_BYTES = 12


@dataclass(frozen=True, slots=True)
class Key:
    """A credential key. Its id may be shown, the key itself never is."""

    raw: bytes = field(repr=False)

    @property
    def key_id(self) -> str:
        return hashlib.sha256(self.raw).hexdigest()[:8]

    @classmethod
    def parse(cls, text: str) -> Key | None:
        """32 bytes in URL-safe base64, with or without its padding; None for anything else."""
        body = text.removesuffix("=")
        try:
            raw = base64.b64decode(body + "=", altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        return cls(raw) if len(raw) == _KEY_BYTES and _encoded(raw) == body else None

    @classmethod
    def generate(cls) -> Key:
        return cls(os.urandom(_KEY_BYTES))

    def reveal(self) -> str:
        """The text to put into the environment: the one place where the key leaves the process."""
        return _encoded(self.raw)


def take_key(environ: MutableMapping[str, str], name: str = KEY_VARIABLE) -> Key | None:
    """Take the key out of the environment, so that no child inherits it. Raises StartError for a bad one."""
    found = {variable: environ.pop(variable, "") for variable in (KEY_VARIABLE, name)}
    keys: dict[str, Key] = {}
    for variable, text in found.items():
        if not text.strip():
            continue
        key = Key.parse(text.strip())
        if key is None:
            raise StartError(
                f"{variable} is not a credential key: it must be 32 random bytes in URL-safe base64. "
                f"Make one with `{command('credentials key')}`"
            )
        keys[variable] = key
    if len(set(keys.values())) > 1:
        raise StartError(f"{' and '.join(keys)} hold different keys. Unset one of them")
    return next(iter(keys.values()), None)


def require_key(
    key: Key | None, stored: Iterable[str], *, require_encryption: bool = True, empty: tuple[str, ...] = ()
) -> None:
    """Refuse to start with stored credentials, by their names, and no key that opens them.

    `empty` are the variables for a key that hold nothing.
    """
    names = sorted(stored)
    if key is None and names and require_encryption:
        raise StartError(
            f"credentials are stored encrypted ({', '.join(names)}), and the key that opens them is not set"
            f"{empty_hint(empty)}. Set {KEY_VARIABLE} to it; where it is lost, make another with "
            f"`{command('credentials key')}` and store them anew"
        )


@dataclass(frozen=True, slots=True)
class SealedName:
    """What may be told of a stored credential."""

    owner: str
    field: str
    key_id: str
    updated_at: datetime


class Vault:
    """The stored credentials. Without a key their names can be listed and deleted, nothing more."""

    def __init__(
        self,
        values: SealedValues,
        key: Key | None,
        clock: Callable[[], datetime],
        *,
        empty: tuple[str, ...] = (),
    ) -> None:
        self._values, self._key, self._clock, self._empty = values, key, clock, empty

    async def set(self, owner: str, field: str, value: str) -> None:
        """Encrypt and store. Raises StartError without a key."""
        await self._values.put(
            self._sealed(self._need_key(f"to store {stored_name(owner, field)}"), owner, field, value)
        )

    async def get(self, owner: str, field: str) -> str | None:
        """None when nothing is stored. Raises StartError without the right key, StorageError if altered."""
        stored = await self._values.get(owner, field)
        return None if stored is None else self._opened(stored)

    async def of_owner(self, owner: str) -> dict[str, str]:
        """Every value of one owner, by field."""
        return {v.field: self._opened(v) for v in await self._values.list() if v.owner == owner}

    async def list(self) -> tuple[SealedName, ...]:
        return tuple(SealedName(v.owner, v.field, v.key_id, v.updated_at) for v in await self._values.list())

    async def delete(self, owner: str, field: str) -> bool:
        return await self._values.delete(owner, field)

    async def rotate(self, new: Key) -> int:
        """Encrypt everything anew; returns how many values changed. May be repeated after an interruption."""
        old = [stored for stored in await self._values.list() if stored.key_id != new.key_id]
        opened = [(stored, self._opened(stored)) for stored in old]
        for stored, value in opened:
            fresh = self._sealed(new, stored.owner, stored.field, value)
            await self._values.put(replace(fresh, updated_at=stored.updated_at))
        self._key = new
        return len(opened)

    def _sealed(self, key: Key, owner: str, field: str, value: str) -> SealedValue:
        nonce = os.urandom(_NONCE_BYTES)
        ciphertext = AESGCM(key.raw).encrypt(nonce, value.encode(), _bound_to(owner, field))
        return SealedValue(owner, field, key.key_id, nonce, ciphertext, self._clock())

    def _opened(self, stored: SealedValue) -> str:
        name = stored_name(stored.owner, stored.field)
        key = self._need_key(f"to read {name}")
        if stored.key_id != key.key_id:
            raise StartError(
                f"{name} was encrypted with key {stored.key_id}, but the key that is "
                f"set is {key.key_id}. Set the old key again, or store the value anew"
            )
        try:
            plain = AESGCM(key.raw).decrypt(
                stored.nonce, stored.ciphertext, _bound_to(stored.owner, stored.field)
            )
        except (InvalidTag, ValueError) as error:
            raise StorageError(
                f"the stored {name} was altered or moved and cannot be trusted. "
                f"Store it anew with `{command('credentials set')}`"
            ) from error
        return plain.decode()

    def _need_key(self, purpose: str) -> Key:
        if self._key is None:
            raise StartError(
                f"there is no credential key {purpose}{empty_hint(self._empty)}. "
                f"Set it, or make one: {make_key()}"
            )
        return self._key


def stored_name(owner: str, field: str) -> str:
    """What people call a stored value: its configuration key, or tool:NAME.FIELD."""
    if owner.startswith("channel:"):
        channel, _, account = owner.removeprefix("channel:").partition("/")
        return f"channels.{channel}.accounts.{account}.{field}" if account else f"channels.{channel}.{field}"
    return f"{owner}.{field}"


def _bound_to(owner: str, field: str) -> bytes:
    """A value copied to another owner or field does not decrypt there."""
    return canonical_json(["echo-bot credential", owner, field]).encode()


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
