"""String tokens of other languages, and the values they stand for."""

from __future__ import annotations

import base64
import re

from echo_bot.policy.guards.shell.marks import HOME, UNKNOWN
from echo_bot.policy.guards.shell.unescape import ansi_c

DECODERS = (
    "b64decode",
    "decode_base64",
    "decode64",
    "base64_decode",
    "atob",
    "fromhex",
    "hex2bin",
    "urlsafe_b64decode",
    "strict_decode64",
    "unhexlify",
    "from",
)
"""Functions that give text back from its base64 or hexadecimal form; `from` is Buffer.from's."""


def decoded(name: str, values: list[str]) -> str | None:
    text = values[0]
    form = values[1].lower() if name == "from" and len(values) > 1 else ""
    if name == "from" and form not in ("base64", "hex", "base64url"):
        return text
    try:
        raw = bytes.fromhex(text) if "hex" in name + form else base64.b64decode(text)
    except ValueError:
        return None
    return raw.decode("utf-8", "replace")


def home(text: str) -> str:
    return HOME + text[1:] if text == "~" or text.startswith("~/") else text


def string_value(token: str) -> str:
    prefix = re.match(r"[A-Za-z]*", token)
    assert prefix is not None
    body = token[prefix.end() :]
    raw = "r" in prefix.group().lower()
    width = 3 if body[:3] in ('"""', "'''") and len(body) >= 6 else 1
    body = body[width:-width]
    if "f" in prefix.group().lower():
        body = re.sub(r"\{[^{}]*\}", UNKNOWN, body)
    return body if raw else re.sub(r"\\([$@#])", r"\1", ansi_c(body))


def delimited(token: str) -> str:
    if token[:1] == "`":
        return re.sub(r"\$\{[^{}]*\}", UNKNOWN, token[1:-1])
    body = re.sub(r"^%?[a-zA-Z]*\s*", "", token)
    return body[1:-1]
