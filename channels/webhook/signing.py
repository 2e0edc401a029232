"""The signature of a request: HMAC-SHA256 over its time and its raw body, in both directions."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping

TIMESTAMP_HEADER = "X-Echo-Timestamp"
SIGNATURE_HEADER = "X-Echo-Signature"
WINDOW_SECONDS = 300

_TIMESTAMP = re.compile(r"[0-9]{1,12}")
_SIGNATURE = re.compile(r"sha256=[0-9a-f]{64}")


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """`sha256=` and the HMAC of `<timestamp>.<body>` in lower-case hex."""
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return f"sha256={digest.hexdigest()}"


def signed_headers(secret: str, now: float, body: bytes) -> dict[str, str]:
    """What a request with this body is sent with; `now` is Unix time."""
    timestamp = str(int(now))
    return {TIMESTAMP_HEADER: timestamp, SIGNATURE_HEADER: signature(secret, timestamp, body)}


def is_signed(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """Is it signed with this secret, at most five minutes ago or ahead? Header names are in lower case."""
    timestamp = headers.get(TIMESTAMP_HEADER.lower(), "")
    given = headers.get(SIGNATURE_HEADER.lower(), "")
    if not (_TIMESTAMP.fullmatch(timestamp) and _SIGNATURE.fullmatch(given)):
        return False
    is_genuine = hmac.compare_digest(signature(secret, timestamp, body), given)
    return is_genuine and abs(now - int(timestamp)) <= WINDOW_SECONDS
