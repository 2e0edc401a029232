"""A method's parameters as the Bot API takes them: query, form, JSON or multipart, read as typed values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from echo_bot.testing.loopback import HttpRequest
from echo_bot.testing.telegram.errors import ApiError

JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True)
class Upload:
    name: str
    mime: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Parameters:
    """What was sent. Form values are strings with nested objects as JSON; JSON bodies are as they are."""

    values: Mapping[str, object]
    uploads: Mapping[str, Upload] = field(default_factory=dict)

    @classmethod
    def read(cls, request: HttpRequest) -> Parameters:
        """Everything the request carries; a body wins over the query."""
        values: JsonObject = dict(parse_qsl(request.query, keep_blank_values=True))
        kind = request.headers.get("content-type", "")
        if kind.startswith("application/json"):
            values.update(json.loads(request.body or b"{}"))
        elif kind.startswith("multipart/form-data"):
            fields, uploads = _read_multipart(request.body, kind)
            return cls(values | fields, uploads)
        elif request.body:
            values.update(parse_qsl(request.body.decode(), keep_blank_values=True))
        return cls(values)

    def text(self, name: str, default: str = "") -> str:
        value = self.values.get(name, default)
        return value if isinstance(value, str) else json.dumps(value)

    def integer(self, name: str, default: int = 0) -> int:
        try:
            return int(self.text(name, str(default)))
        except ValueError:
            raise ApiError.bad_request(f"{name} must be an Integer") from None

    def flag(self, name: str) -> bool:
        return self.text(name).lower() in ("true", "1")

    def decoded(self, name: str) -> object:
        """A nested object or list, None when absent or empty."""
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value) if value else None
        except ValueError:
            raise ApiError.bad_request(f"can't parse {name} JSON object") from None

    def mapping(self, name: str) -> JsonObject | None:
        value = self.decoded(name)
        if value is not None and not isinstance(value, dict):
            raise ApiError.bad_request(f"{name} must be an object")
        return value

    def objects(self, name: str) -> list[JsonObject]:
        value = self.decoded(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise ApiError.bad_request(f"{name} must be an array of objects")
        return value


def _read_multipart(body: bytes, content_type: str) -> tuple[JsonObject, dict[str, Upload]]:
    boundary = b"--" + content_type.partition("boundary=")[2].strip('" ').encode("latin-1")
    fields: JsonObject = {}
    uploads: dict[str, Upload] = {}
    for part in body.split(boundary)[1:-1]:
        head, _, content = part[2:-2].partition(b"\r\n\r\n")
        headers = _headers(head.decode())
        disposition = _disposition(headers["content-disposition"])
        if "filename" in disposition:
            mime = headers.get("content-type", "application/octet-stream")
            uploads[disposition["name"]] = Upload(disposition["filename"], mime, content)
        else:
            fields[disposition["name"]] = content.decode()
    return fields, uploads


def _headers(head: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in head.split("\r\n"))
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _disposition(value: str) -> dict[str, str]:
    pairs = (item.strip().partition("=") for item in value.split(";")[1:])
    return {name: word.strip('"') for name, _, word in pairs}
