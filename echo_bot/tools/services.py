"""Services that the operator configured for tools: where they are, their keys, and whether that is enough."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import httpx

from echo_bot.net import Fetch, Fetched, FetchLimits
from echo_bot.net.clients import GuardedClients
from echo_bot.policy.decision import Finding
from echo_bot.policy.guards.network import NetworkRules, parse_url
from echo_bot.tools.base import ToolResult
from echo_bot.tools.web.failures import not_fetched, status_kind, status_words
from echo_bot.tools.web.written import clean_line

_IN_A_HEADER = re.compile(r"[\x20-\x7e]+")
_MAX_MESSAGE = 300
_MESSAGE_KEYS = ("error", "detail", "message")


@dataclass(frozen=True, slots=True)
class Service:
    """`key` is the configuration key of the API key, `base_key` that of the address `base`."""

    name: str
    base: str
    base_key: str
    key: str = ""
    api_key: str = field(default="", repr=False)

    def at(self, path: str) -> str:
        """The address of one of its calls, whether the base ends in a slash or not."""
        return f"{self.base.rstrip('/')}/{path}"

    def problem(self, rules: NetworkRules | None, *, needs_key: bool) -> str:
        """What is missing or wrong, as a sentence; "" when a call may be tried.

        `rules` are given for a tool that the network policy governs: `restricted` must name the service too.
        """
        if not self.base:
            return f"no address: set {self.base_key}"
        target = parse_url(self.base)
        if isinstance(target, Finding):
            return f"{self.base_key} is no address: {target.sentence}"
        if needs_key and not self.api_key:
            variable = "ECHO_BOT_" + self.key.upper().replace(".", "__")
            return f"no key for {self.name}: set {self.key} ({variable})"
        if self.api_key and not _IN_A_HEADER.fullmatch(self.api_key):
            return f"{self.key} holds characters that no key has; set it again"
        if rules is not None and rules.policy == "restricted" and not rules.permits(target.host):
            return f"execution.network_policy is restricted: add {target.host} to execution.network_allow"
        return ""


@dataclass(frozen=True, slots=True)
class Form:
    """`fields`, and beside them one file under the name "file"."""

    fields: Mapping[str, str]
    name: str
    mime: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a service: `path` below its base; a `body` is sent by POST, as JSON or as a form."""

    path: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Mapping[str, object] | Form | None = None


async def call(
    clients: GuardedClients, service: Service, wanted: Call, limits: FetchLimits
) -> Fetched | ToolResult:
    """The service's answer of a good status, else the result that says what went wrong, without the key.

    The client is bound to the service's origin: a redirect elsewhere meets the whole guard, without headers.
    """
    body, mime = _encoded(wanted.body)
    headers = {"accept": "application/json", **wanted.headers}
    if body:
        headers["content-type"] = mime
    fetch = Fetch(service.at(wanted.path), "POST" if body else "GET", headers, body)
    async with clients.opened(limits, service.base) as client:
        outcome = await client.fetch(fetch)
    if not isinstance(outcome, Fetched):
        return without_key(not_fetched(outcome, service.name), service)
    if 200 <= outcome.status < 300:
        return outcome
    return without_key(_refused(service, outcome), service)


def _encoded(body: Mapping[str, object] | Form | None) -> tuple[bytes, str]:
    """The content of a request, and its type."""
    match body:
        case None:
            return b"", ""
        case Form():
            file = {"file": (body.name, body.data, body.mime)}
            encoded = httpx.Request("POST", "http://form", data=dict(body.fields), files=file)
            return encoded.read(), encoded.headers["content-type"]
        case _:
            return json.dumps(body).encode(), "application/json"


def bearer(service: Service) -> dict[str, str]:
    """The header of the key; none without one."""
    return {"authorization": f"Bearer {service.api_key}"} if service.api_key else {}


def json_object(answer: Fetched) -> Mapping[str, object] | None:
    """The answer's JSON object; None when it is none."""
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def not_understood(service: Service) -> ToolResult:
    return ToolResult(
        False,
        error=f"{service.name} answered with something else than expected; check {service.base_key}",
        error_kind="dependency",
    )


def without_key(result: ToolResult, service: Service) -> ToolResult:
    """A service may repeat the key it was given."""
    if not service.api_key or service.api_key not in result.error:
        return result
    return replace(result, error=result.error.replace(service.api_key, "***"))


def _refused(service: Service, answer: Fetched) -> ToolResult:
    hint = ""
    if answer.status in (401, 403):
        hint = f"; check {service.key}" if service.key else ""
    elif answer.status == 404:
        hint = f"; check {service.base_key}"
    elif answer.status == 429:
        hint = "; wait, or look whether the plan is used up"
    message = _message(json_object(answer))
    said = f": {message}" if message else ""
    return ToolResult(
        False,
        error=f"{service.name} answered {status_words(answer.status)}{said}{hint}",
        error_kind=status_kind(answer.status),
        metadata={"status": answer.status},
    )


def _message(body: Mapping[str, object] | None) -> str:
    """The sentence in an error's body, in the forms that services use."""
    value: object = body
    while isinstance(value, Mapping):
        value = next((value[name] for name in _MESSAGE_KEYS if name in value), None)
    return clean_line(value, _MAX_MESSAGE) if isinstance(value, str) else ""
