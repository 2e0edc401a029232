"""What the Web API answers when it refuses: `{"ok": false, "error": …}`, mostly with status 200."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from echo_bot.testing.loopback import HttpResponse


class ApiError(Exception):
    """A refused call: Slack's word for it, the HTTP status, and how long to wait where that applies."""

    def __init__(
        self, code: str, status: int = 200, retry_after: int = 0, more: Mapping[str, Any] | None = None
    ) -> None:
        self.code, self.status, self.retry_after = code, status, retry_after
        self.more = dict(more or {})
        super().__init__(code)

    @classmethod
    def too_many(cls, seconds: int) -> ApiError:
        return cls("ratelimited", 429, seconds)

    def response(self) -> HttpResponse:
        body = json.dumps({"ok": False, "error": self.code, **self.more}).encode()
        headers = {"Retry-After": str(self.retry_after)} if self.status == 429 else {}
        return HttpResponse(body, status=self.status, headers=headers)
