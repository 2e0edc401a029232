"""What the Bot API answers when it refuses, worded as Telegram words it."""

from __future__ import annotations

import json

from echo_bot.testing.loopback import HttpResponse


class ApiError(Exception):
    """A refused method call: status and description; where it applies, how long to wait or the new chat.

    With `page` it is not Telegram that answers but a gateway before it, with a web page.
    """

    def __init__(
        self, status: int, description: str, retry_after: int = 0, moved_to: int = 0, page: str = ""
    ) -> None:
        self.page = page
        self.status, self.description = status, description
        self.retry_after, self.moved_to = retry_after, moved_to
        super().__init__(f"{status} {description}")

    @classmethod
    def bad_request(cls, reason: str) -> ApiError:
        return cls(400, f"Bad Request: {reason}")

    @classmethod
    def too_many(cls, seconds: int) -> ApiError:
        return cls(429, f"Too Many Requests: retry after {seconds}", seconds)

    @classmethod
    def moved(cls, chat_id: int) -> ApiError:
        return cls(400, "Bad Request: group chat was upgraded to a supergroup chat", moved_to=chat_id)

    @classmethod
    def other_poller(cls) -> ApiError:
        return cls(
            409,
            "Conflict: terminated by other getUpdates request; "
            "make sure that only one bot instance is running",
        )

    @classmethod
    def webhook_is_set(cls) -> ApiError:
        return cls(
            409,
            "Conflict: can't use getUpdates method while webhook is active; "
            "use deleteWebhook to delete the webhook first",
        )

    def response(self) -> HttpResponse:
        if self.page:
            return HttpResponse(self.page.encode(), status=self.status, content_type="text/html")
        answer: dict[str, object] = {"ok": False, "error_code": self.status, "description": self.description}
        if self.retry_after:
            answer["parameters"] = {"retry_after": self.retry_after}
        if self.moved_to:
            answer["parameters"] = {"migrate_to_chat_id": self.moved_to}
        return HttpResponse(json.dumps(answer).encode(), status=self.status)
