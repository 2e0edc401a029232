"""Who is who: display names by user id, asked of Slack once and never waited for long."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping

from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.failures import SDK_ERRORS

_REMEMBERED = 2000
_WAIT_SECONDS = 1.0
_ASK_AGAIN_SECONDS = 60.0
_KEPT_SECONDS = 3600.0
_REST_SECONDS = 30.0
"""Once Slack was too slow nobody is asked for: otherwise each new person would cost another second."""


class Names:
    """A name that Slack does not tell within a second is "" for a minute: no message waits for it."""

    def __init__(self, web: AsyncWebClient, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._web, self._monotonic = web, monotonic
        self._known: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._resting_until = 0.0

    async def of(self, user_id: str) -> str:
        name, until = self._known.get(user_id, ("", 0.0))
        if self._monotonic() < max(until, self._resting_until):
            return name
        asked = await self._ask(user_id)
        self._known[user_id] = (
            asked or name,
            self._monotonic() + (_KEPT_SECONDS if asked else _ASK_AGAIN_SECONDS),
        )
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return asked or name

    async def of_all(self, user_ids: Iterable[str]) -> Mapping[str, str]:
        wanted = list(dict.fromkeys(user_ids))
        return dict(zip(wanted, await asyncio.gather(*map(self.of, wanted)), strict=True))

    async def _ask(self, user_id: str) -> str:
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                user = (await self._web.users_info(user=user_id)).get("user") or {}
        except TimeoutError:
            self._resting_until = self._monotonic() + _REST_SECONDS
            return ""
        except SDK_ERRORS:
            return ""
        profile = user.get("profile") or {}
        names = (
            profile.get("display_name"),
            profile.get("real_name"),
            user.get("real_name"),
            user.get("name"),
        )
        return next((str(name) for name in names if name), "")
