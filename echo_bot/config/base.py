"""What every section shares: strict frozen models, ids, secrets, numbers in a range."""

from __future__ import annotations

import re
from typing import Annotated, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from echo_bot.config.written import WrittenInt


class Section(BaseModel):
    """One part of the configuration: unknown keys and wrong types are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


def _as_written(value: object) -> object:
    if isinstance(value, WrittenInt):
        return value.text
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


Id = Annotated[str, BeforeValidator(_as_written)]
"""An id: a whole number in YAML is taken as its digits."""

Secret = Annotated[SecretStr, BeforeValidator(_as_written)]
"""A value that is never shown: not in `repr`, not in an error."""

Item = TypeVar("Item")
Listed = Annotated[tuple[Item, ...], Field(strict=False)]
"""A YAML list, kept as a tuple; its items stay strict."""


def _interval(value: str) -> str:
    if re.fullmatch(r"[1-9][0-9]{0,4}[mhd]", value) is None:
        raise ValueError("write a number and m, h or d, such as 30m or 6h")
    return value


Interval = Annotated[str, AfterValidator(_interval)]
"""A number and its unit: minutes, hours or days."""


def is_http_address(text: str) -> bool:
    """An http or https address with a host."""
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _http_address(value: str) -> str:
    if value and not is_http_address(value):
        raise ValueError("write a whole address, such as http://127.0.0.1:8000/v1 or https://example.com")
    return value


HttpAddress = Annotated[str, AfterValidator(_http_address)]
"""Of a server, with http:// or https://; may be empty."""

Count = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[int, Field(ge=1)]
Port = Annotated[int, Field(ge=0, le=65535)]

EMPTY_SECRET = SecretStr("")
