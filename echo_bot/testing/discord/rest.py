"""The HTTP API: what is asked is checked, recorded and given to simcord's routes, or meets a fault."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from simcord.backend.errors import BackendError
from simcord.enums import ChannelType
from simcord.http import router, routes

from echo_bot.testing.discord import rules
from echo_bot.testing.discord.faults import Fault, Faults
from echo_bot.testing.discord.world import World

assert routes.__name__  # importing it registers simcord's routes

_TOKENLESS = ("/interactions/", "/webhooks/")
_NONCES_KEPT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Upload:
    """One file of a request, in the form in which simcord takes it."""

    filename: str
    content: bytes
    description: str | None = None

    @property
    def fp(self) -> io.BytesIO:
        return io.BytesIO(self.content)


@dataclass(frozen=True, slots=True)
class Call:
    """One request of the bot. `path` is without `/api/v10`; `json` is the body, also of a multipart form."""

    method: str
    path: str
    json: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    uploads: Sequence[Upload] = ()
    authorization: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """`body` None is an empty answer; `is_dropped` breaks the connection instead."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_dropped: bool = False


class Rest:
    """`calls` lists what the bot asked, oldest first."""

    def __init__(self, world: World, faults: Faults) -> None:
        self._world, self._faults = world, faults
        self.calls: list[Call] = []
        self._nonces: dict[tuple[str, str], tuple[float, Any]] = {}

    async def answer(self, call: Call) -> Reply:
        self.calls.append(call)
        await self._faults.wait_if_held(call.method, call.path)
        fault = self._faults.take(call.method, call.path)
        if fault is not None and not fault.after:
            return _reply_of(fault)
        reply = self._work(call)
        return reply if fault is None else _reply_of(fault)

    def called(self, method: str, path: str) -> list[Call]:
        """The calls of `method` whose path matches a pattern with `*`."""
        return [call for call in self.calls if call.method == method and fnmatchcase(call.path, path)]

    def _work(self, call: Call) -> Reply:
        expected = f"Bot {self._world.token}"
        if call.authorization != expected and (call.authorization or not call.path.startswith(_TOKENLESS)):
            return Reply(401, {"message": "401: Unauthorized", "code": 0})
        try:
            result = self._dispatch(call)
        except router.RouteNotImplemented as missing:
            return Reply(501, {"message": str(missing), "code": 0})
        except BackendError as refused:
            return Reply(refused.status, refused.to_json(), _headers(call))
        except ValueError as malformed:
            return Reply(400, rules.invalid("id", str(malformed)).to_json(), _headers(call))
        return Reply(204 if result is None else 200, result, _headers(call))

    def _dispatch(self, call: Call) -> Any:
        if call.path in ("/gateway", "/gateway/bot"):
            return self._gateway()
        rules.check_uploads([len(upload.content) for upload in call.uploads])
        if call.method == "PUT" and call.path.endswith("/commands"):
            rules.check_commands(call.json)
        if call.path.endswith("/callback"):
            rules.check_callback(call.json)
        if call.method == "POST" and fnmatchcase(call.path, "/channels/*/messages"):
            return self._send(call)
        if call.method == "POST" and fnmatchcase(call.path, "/channels/*/typing"):
            self._world.typing.append(int(call.path.split("/")[2]))
        if call.path.endswith("applications/@me"):
            return {**self._route(call), "flags": self._world.application_flags}
        return self._route(call)

    def _send(self, call: Call) -> Any:
        """A message with a nonce that was seen is the same message, if the sender asks for that."""
        body = call.json or {}
        rules.check_nonce(body)
        self._check_blocked(call)
        key = (call.path, str(body.get("nonce")))
        now = time.monotonic()
        if body.get("enforce_nonce") and key in self._nonces:
            seen_at, sent = self._nonces[key]
            if now - seen_at < _NONCES_KEPT_SECONDS:
                return sent
        sent = dict(self._route(call)) | {"nonce": body.get("nonce")}
        self._nonces[key] = (now, sent)
        return sent

    def _check_blocked(self, call: Call) -> None:
        channel = self._world.backend.channels.get(int(call.path.split("/")[2]))
        if channel and channel.type == ChannelType.DM and self._world.blocked & set(channel.recipient_ids):
            raise BackendError(403, 50007, "Cannot send messages to this user")

    def _route(self, call: Call) -> Any:
        return router.dispatch(
            self._world.backend,
            call.method,
            call.path,
            json=call.json,
            params=dict(call.query),
            files=list(call.uploads),
            message_content_access=self._world.message_content_granted,
        )

    def _gateway(self) -> dict[str, object]:
        return {
            "url": self._world.gateway_url,
            "shards": 1,
            "session_start_limit": {"total": 1000, "remaining": 999, "reset_after": 1, "max_concurrency": 1},
        }


def read_form(content_type: str, body: bytes) -> tuple[Any, tuple[Upload, ...]]:
    """The `payload_json` and the files of a multipart form."""
    boundary = content_type.partition("boundary=")[2].strip('"').encode()
    payload: Any = None
    uploads: list[Upload] = []
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        content = content.removesuffix(b"\r\n")
        disposition = head.decode("utf-8", "replace")
        if 'name="payload_json"' in disposition:
            payload = json.loads(content)
        elif 'filename="' in disposition:
            uploads.append(Upload(disposition.partition('filename="')[2].partition('"')[0], content))
    return payload, tuple(uploads)


def _reply_of(fault: Fault) -> Reply:
    return Reply(fault.status, fault.body, fault.headers, is_dropped=fault.status == 0)


def _headers(call: Call) -> dict[str, str]:
    return {
        "X-RateLimit-Limit": "50",
        "X-RateLimit-Remaining": "49",
        "X-RateLimit-Reset": f"{time.time() + 1:.3f}",
        "X-RateLimit-Reset-After": "1.0",
        "X-RateLimit-Bucket": "-".join(part for part in call.path.split("/") if not part.isdigit())[:40],
    }
