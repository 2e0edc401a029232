"""Direct chats by person: opened once, remembered, and learnt from what arrives."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.failures import SDK_ERRORS
from echo_bot.errors import TargetGone

_REMEMBERED = 2000
_WAIT_SECONDS = 1.0


class Directs:
    """The ids of direct channels (`D…`) by user id (`U…`, `W…`)."""

    def __init__(self, web: AsyncWebClient) -> None:
        self._web = web
        self._known: OrderedDict[str, str] = OrderedDict()

    def learn(self, user_id: str, channel_id: str) -> None:
        self._known[user_id] = channel_id
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    def known(self, user_id: str) -> str:
        """The direct channel, or the user's id, under which it can be found later."""
        return self._known.get(user_id, user_id)

    async def is_own(self, user_id: str, channel_id: str) -> bool:
        """Is this the direct chat of that person with the bot? One of two people looks the same.

        Where Slack does not say within a second, it is taken for one: it is the usual case.
        """
        if not is_direct(channel_id):
            return False
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                return await self.channel_of(user_id) == channel_id
        except (*SDK_ERRORS, TargetGone):
            return True

    async def channel_of(self, chat_id: str) -> str:
        """`chat_id`, or the direct channel of the person it names. Raises the SDK's errors and TargetGone."""
        if not is_user(chat_id):
            return chat_id
        if chat_id not in self._known:
            channel = (await self._web.conversations_open(users=[chat_id])).get("channel") or {}
            if not channel.get("id"):
                raise TargetGone(f"Slack opens no direct chat with {chat_id}")
            self.learn(chat_id, str(channel["id"]))
        return self._known[chat_id]


def is_user(chat_id: str) -> bool:
    return chat_id.startswith(("U", "W"))


def is_direct(channel_id: str) -> bool:
    return channel_id.startswith("D")
