"""Discord's rules that simcord does not enforce: nonces, upload sizes, application commands, completions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from simcord.backend.errors import BackendError

MAX_UPLOAD_BYTES = 10 * 1024 * 1024
MAX_NONCE = 25
_COMMAND_NAME = re.compile(r"[-_'\w]{1,32}")
_AUTOCOMPLETE_RESULT = 8


def invalid(path: str, why: str) -> BackendError:
    return BackendError(
        400,
        50035,
        "Invalid Form Body",
        errors={path: {"_errors": [{"code": "INVALID", "message": why}]}},
    )


def check_uploads(sizes: Sequence[int]) -> None:
    if any(size > MAX_UPLOAD_BYTES for size in sizes):
        raise BackendError(413, 40005, "Request entity too large")


def check_nonce(body: Mapping[str, Any]) -> None:
    nonce = body.get("nonce")
    if nonce is not None and len(str(nonce)) > MAX_NONCE:
        raise invalid("nonce", f"Must be {MAX_NONCE} or fewer in length.")


def check_commands(commands: Any) -> None:
    if not isinstance(commands, list) or len(commands) > 100:
        raise invalid("commands", "Must be between 0 and 100 in length.")
    names = [command.get("name") for command in commands]
    if len(set(names)) != len(names):
        raise invalid("name", "Application command names must be unique.")
    for command in commands:
        _check_words(command)
        options = command.get("options", [])
        if len(options) > 25:
            raise invalid("options", "Must be between 0 and 25 in length.")
        required = [bool(option.get("required")) for option in options]
        if required != sorted(required, reverse=True):
            raise invalid("options", "Required options must be placed before non-required options.")
        for option in options:
            _check_option(option)


def check_callback(body: Mapping[str, Any]) -> None:
    if body.get("type") != _AUTOCOMPLETE_RESULT:
        return
    choices = body.get("data", {}).get("choices", [])
    if len(choices) > 25:
        raise invalid("choices", "Must be between 0 and 25 in length.")
    _check_choices(choices)


def _check_option(option: Mapping[str, Any]) -> None:
    _check_words(option)
    choices = option.get("choices", [])
    if len(choices) > 25:
        raise invalid("choices", "Must be between 0 and 25 in length.")
    if choices and option.get("autocomplete"):
        raise invalid("autocomplete", "Autocomplete options cannot have choices.")
    _check_choices(choices)


def _check_choices(choices: Sequence[Mapping[str, Any]]) -> None:
    for choice in choices:
        for key in ("name", "value"):
            if not 1 <= len(str(choice.get(key, ""))) <= 100:
                raise invalid(key, "Must be between 1 and 100 in length.")


def _check_words(named: Mapping[str, Any]) -> None:
    name, description = str(named.get("name", "")), str(named.get("description", ""))
    if not _COMMAND_NAME.fullmatch(name) or name != name.lower():
        raise invalid("name", "Application command name is invalid.")
    if not 1 <= len(description) <= 100:
        raise invalid("description", "Must be between 1 and 100 in length.")
