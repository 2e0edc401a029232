"""Is the value after a telling name a secret, or a reference, a placeholder, a number, a path?"""

from __future__ import annotations

import re

_REFERENCE = re.compile(r"[$%<{(*@&!|;,):]|\.\.\.|x{3,}$|\[|\\[$]|-{2}|\u2026|#\{", re.IGNORECASE)
_ADDRESS_OR_PATH = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://|\.{0,2}/|~/|[A-Za-z]:[\\/]"
    r"|(?-i:[a-z][a-z._-]*(?:/[a-z0-9][a-z0-9._-]{0,30}){2,}$))",
    re.IGNORECASE,
)
_CALL_OR_LOOKUP = re.compile(
    r"[A-Za-z_][\w.]*(?:\(|\[)|(?:os|process|env|secrets|vars|var|self|config|settings|data)\."
    r"|(?:ConvertTo|ConvertFrom|Get|Read|New|Import)-[A-Z][A-Za-z]+$"
)
_WORDS = frozenset(
    (
        *("none", "null", "nil", "undefined", "true", "false", "yes", "no", "on", "off", "auto", "default"),
        *(
            "string",
            "str",
            "int",
            "bool",
            "bytes",
            "text",
            "file",
            "stdin",
            "env",
            "prompt",
            "keyring",
            "vault",
        ),
        *(
            "required",
            "optional",
            "empty",
            "unset",
            "missing",
            "invalid",
            "expired",
            "unknown",
            "public",
            "ask",
        ),
        *(
            "redacted",
            "masked",
            "hidden",
            "example",
            "sample",
            "placeholder",
            "changeme",
            "change-me",
            "dummy",
        ),
        *("basic", "bearer", "digest", "negotiate", "csrf", "jwt", "session", "cookie", "auth", "reset"),
        *(
            "test",
            "testing",
            "todo",
            "fixme",
            "tbd",
            "n/a",
            "foo",
            "bar",
            "sha1",
            "sha256",
            "sha384",
            "sha512",
            "md5",
        ),
        *("hs256", "rs256", "es256", "ed25519", "hmac-sha256", "rsa-sha256"),
        *("forgot", "user", "username", "login", "option", "options", "flag", "argument", "value"),
    )
)
_TELLING_END = re.compile(r"(?:password|passwd|secret|token|key|credentials?|passphrase)s?$", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"(?:your|my|the|insert|enter|some|replace)[-_ ]|oauth|.*[-_](?:here|placeholder)$", re.IGNORECASE
)
_FILE = re.compile(
    r"[\w./-]+\.(?:pem|key|txt|json|ya?ml|env|crt|cer|p12|pfx|ini|toml|conf|gpg|asc|pub|zip|tar|gz|md|py|sh)$",
    re.IGNORECASE,
)


def is_secret(value: str, *, strong: bool) -> bool:
    """Does `value` look like the real thing? `strong`: the name before it leaves little doubt."""
    if len(value) < 4 or _REFERENCE.match(value) or _ADDRESS_OR_PATH.match(value):
        return False
    if _CALL_OR_LOOKUP.match(value) or _PLACEHOLDER.match(value) or _FILE.match(value):
        return False
    if value.casefold() in _WORDS or not any(char.isalnum() for char in value):
        return False
    if value.isdigit():
        return strong and len(value) >= 6
    if _TELLING_END.search(value.rstrip(":")) and not any(char.isdigit() for char in value):
        return False
    return strong or has_shape(value)


def has_shape(value: str) -> bool:
    """Longer than a word, and made as no word is: digits among letters, or mixed case, or marks."""
    if len(value) < 6:
        return False
    has_digit = any(char.isdigit() for char in value)
    has_letter = any(char.isalpha() for char in value)
    if has_digit and has_letter:
        return True
    mixed = any(char.isupper() for char in value[1:]) and any(char.islower() for char in value)
    return (mixed and len(value) >= 12) or len(value) >= 24
