"""The parameters of a Web API call: from the query, a form or a JSON body, values inside forms as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from echo_bot.testing.loopback import HttpRequest
from echo_bot.testing.slack.errors import ApiError


class Parameters(dict[str, Any]):
    """One call's parameters; `token` is what came with it, in the header or as a parameter."""

    token: str = ""

    @classmethod
    def read(cls, request: HttpRequest) -> Parameters:
        found = cls(parse_qsl(request.query, keep_blank_values=True))
        kind = request.headers.get("content-type", "")
        if kind.startswith("application/json"):
            found.update(_object(request.body))
        elif request.body:
            found.update(parse_qsl(request.body.decode(), keep_blank_values=True))
        found.token = request.headers.get("authorization", "").removeprefix("Bearer ") or str(
            found.get("token", "")
        )
        return found

    def text(self, name: str) -> str:
        value = self.get(name)
        return "" if value is None else str(value)

    def needed(self, name: str, code: str = "invalid_arguments") -> str:
        if not (value := self.text(name)):
            raise ApiError(code)
        return value

    def decoded(self, name: str) -> Any:
        """A value with structure, also where a form carries it as JSON."""
        value = self.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            raise ApiError("invalid_arguments") from None

    def flag(self, name: str, default: bool) -> bool:
        value = self.get(name, default)
        return value if isinstance(value, bool) else str(value).lower() in ("1", "true")


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body or b"{}")
    except ValueError:
        raise ApiError("invalid_json") from None
    if not isinstance(found, dict):
        raise ApiError("json_not_object")
    return found
