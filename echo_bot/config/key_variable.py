"""The variable that holds the credential key, and what is said when it is missing or empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from echo_bot.called import command

KEY_VARIABLE = "ECHO_BOT_CREDENTIAL_KEY"
"""Read besides the name in `credentials.encryption_key_env`."""


def make_key() -> str:
    """The line that makes a key."""
    return f'export {KEY_VARIABLE}="$({command("credentials key")})"'


def has_key(environ: Mapping[str, str], name: str = KEY_VARIABLE) -> bool:
    """Is there something in a variable for a key?"""
    return any(environ.get(each, "").strip() for each in (KEY_VARIABLE, name))


def empty_variables(environ: Mapping[str, str], name: str = KEY_VARIABLE) -> tuple[str, ...]:
    """The variables for a key that are set to nothing, as a command that failed leaves them."""
    return tuple(each for each in dict.fromkeys((KEY_VARIABLE, name)) if not environ.get(each, "x").strip())


def empty_hint(variables: Sequence[str]) -> str:
    """What a refusal for want of a key adds when a variable for it is there and empty."""
    if not variables:
        return ""
    verb = "is set but empty" if len(variables) == 1 else "are set but empty"
    return f" ({' and '.join(variables)} {verb}: did the command that makes the key fail?)"
