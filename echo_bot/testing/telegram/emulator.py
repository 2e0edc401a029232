"""The emulator: a Bot API server on loopback and the driver for the people on its other side."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from types import TracebackType

import httpx

from echo_bot.channel import AsgiApp
from echo_bot.testing.loopback import HttpRequest, HttpResponse, HttpServer
from echo_bot.testing.telegram.api import BotApi
from echo_bot.testing.telegram.errors import ApiError
from echo_bot.testing.telegram.faults import Fault, Faults
from echo_bot.testing.telegram.model import Chat, JsonObject, Message, User
from echo_bot.testing.telegram.parameters import Parameters
from echo_bot.testing.telegram.people import Person
from echo_bot.testing.telegram.updates import Update
from echo_bot.testing.telegram.webhooks import Proxied, WebhookDelivery
from echo_bot.testing.telegram.world import World

TOKEN = "123456789:TEST-token-of-the-emulator-0123456789"


class TelegramEmulator:
    """A Bot API server that enforces the real limits. Use as `async with TelegramEmulator() as telegram:`.

    Point the SDK at `url` with `token`, then drive it: `telegram.user(42).chat().say("hello")`.
    `calls` lists every method the bot called, with its parameters, for tests that must look at the wire.
    """

    def __init__(
        self,
        token: str = TOKEN,
        username: str = "EchoTestBot",
        query_seconds: float = 15.0,
        clock: Callable[[], float] | None = None,
        local_folder: Path | None = None,
    ) -> None:
        """`clock` is what Telegram takes for now, in seconds; `local_folder` switches local mode on."""
        self.token = token
        bot_id, _, _ = token.partition(":")
        bot = User(int(bot_id), "Echo", username, is_bot=True)
        self.world = World(bot, query_seconds, local_folder=local_folder)
        if clock is not None:
            self.world.clock = clock
        self.calls: list[tuple[str, Parameters]] = []
        self.webhooks = WebhookDelivery(self.world.updates)
        self._api = BotApi(self.world, self.webhooks)
        self._faults = Faults()
        self._server = HttpServer(self._dated)

    # Life

    async def start(self, port: int = 0) -> None:
        """Listen on loopback; 0 takes any free port."""
        await self._server.start(port)

    async def stop(self) -> None:
        await self.webhooks.stop()
        await self._server.stop()

    async def __aenter__(self) -> TelegramEmulator:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def url(self) -> str:
        """What `channels.telegram.api_base` takes."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def port(self) -> int:
        return self._server.port

    @property
    def bot(self) -> User:
        return self.world.bot

    # People and groups

    def user(self, user_id: int, first_name: str = "", username: str = "", is_bot: bool = False) -> Person:
        return Person(self.world, User(user_id, first_name or f"User {user_id}", username, is_bot))

    def group(self, chat_id: int = -1001, title: str = "Group", forum: bool = False) -> Chat:
        """A group the bot is a member of; `forum` gives it topics."""
        chat = Chat(chat_id, "supergroup", title, is_forum=forum, topics={1} if forum else set())
        return self.world.chats.setdefault(chat_id, chat)

    def upgrade(self, group: Chat, new_id: int) -> Chat:
        """The group becomes a supergroup under a new id, both chats say so, and the old id only tells so."""
        old = self._service_message(group, {"migrate_to_chat_id": new_id})
        group.moved_to = new_id
        supergroup = self.group(new_id, group.title)
        new = self._service_message(supergroup, {"migrate_from_chat_id": group.id})
        for message in (old, new):
            self.put_update("message", message.to_json())
        return supergroup

    def close_topic(self, forum: Chat, thread_id: int) -> None:
        """Nobody but administrators writes there any more."""
        forum.closed_topics.add(thread_id)

    def delete_topic(self, forum: Chat, thread_id: int) -> None:
        forum.topics.discard(thread_id)

    def channel(self, chat_id: int = -1009, title: str = "Channel") -> Chat:
        """A broadcast channel the bot administers."""
        return self.world.chats.setdefault(chat_id, Chat(chat_id, "channel", title))

    # What the bot did

    @property
    def messages(self) -> list[Message]:
        """Every message in every chat, oldest first."""
        return self.world.messages

    def called(self, method: str) -> list[Parameters]:
        """The parameters of every call of `method`, oldest first."""
        return [parameters for name, parameters in self.calls if name == method.lower()]

    # Faults

    def fail(
        self,
        method: str,
        status: int,
        description: str = "Internal Server Error",
        *,
        retry_after: int = 0,
        times: int = 1,
        after: bool = False,
    ) -> Fault:
        """The next `times` calls of `method` ("*": any) are refused; with `after` the work is done first."""
        error = ApiError.too_many(retry_after) if retry_after else ApiError(status, description)
        return self._faults.add(Fault(method.lower(), error, times, after))

    def fail_with_page(
        self, method: str, page: str, *, status: int = 502, times: int = 1, after: bool = False
    ) -> Fault:
        """A gateway before Telegram answers the next `times` calls with a web page; see `fail`."""
        return self._faults.add(Fault(method.lower(), ApiError(status, "", page=page), times, after))

    def drop(self, method: str, *, times: int = 1, after: bool = False) -> Fault:
        """The connection breaks instead of an answer; with `after` once the work is done."""
        return self._faults.add(Fault(method.lower(), None, times, after))

    def conflict(self, times: int = 1_000_000) -> Fault:
        """Another program polls: getUpdates is refused with 409 until `heal`."""
        error = ApiError.other_poller()
        self.drop_connections()
        return self._faults.add(Fault("getupdates", error, times))

    def slow(self, method: str, seconds: float) -> None:
        """Calls of `method` ("*": any) take that long until `heal`."""
        self._faults.delays[method.lower()] = seconds

    def hold(self, method: str) -> asyncio.Event:
        """Calls of `method` wait for the event that is returned."""
        return self._faults.hold(method.lower())

    def heal(self) -> None:
        """No more faults."""
        self._faults.clear()

    def drop_connections(self) -> None:
        """Cut all open connections at once."""
        self._server.drop_connections()

    def redeliver(self, update: Update | None = None) -> None:
        """Deliver an update again (by default the last one), as Telegram may."""
        again = update or self.world.updates.last
        if again is not None:
            self.world.updates.redeliver(again)

    def put_update(self, kind: str, payload: JsonObject) -> Update:
        """Deliver an update of any kind and content."""
        return self.world.updates.put(kind, payload)

    def deliver_to(self, where: AsgiApp | str) -> None:
        """Webhooks reach this ASGI app, or the server at this address, whatever their own host is."""
        self.webhooks.transport = Proxied(where) if isinstance(where, str) else httpx.ASGITransport(app=where)

    # The server

    def _service_message(self, chat: Chat, extra: JsonObject) -> Message:
        sender = User(1087968824, "Group", "GroupAnonymousBot", is_bot=True)
        return Message(self.world.next_id(), self.world.now(), chat, sender, sender_chat=chat, extra=extra)

    async def _answer(self, request: HttpRequest) -> HttpResponse | None:
        try:
            area, token, name = _split_path(request.path)
            if token != self.token:
                malformed = ":" not in token
                raise ApiError(404, "Not Found") if malformed else ApiError(401, "Unauthorized")
            return self._file(name) if area == "file" else await self._call(name.lower(), request)
        except ApiError as refused:
            return refused.response()

    async def _dated(self, request: HttpRequest) -> HttpResponse | None:
        answer = await self._answer(request)
        date = {"Date": formatdate(self.world.clock(), usegmt=True)}
        return replace(answer, headers={**answer.headers, **date}) if answer is not None else None

    def _file(self, path: str) -> HttpResponse:
        for stored in self.world.files.values():
            if stored.path == path:
                return HttpResponse(stored.content, content_type=stored.mime)
        raise ApiError(404, "Not Found")

    async def _call(self, name: str, request: HttpRequest) -> HttpResponse | None:
        method = self._api.methods.get(name)
        if method is None:
            raise ApiError(404, "Not Found")
        parameters = Parameters.read(request)
        self.calls.append((name, parameters))
        await self._faults.wait_if_held(name)
        fault = self._faults.take(name)
        if fault is None or fault.after:
            answer = HttpResponse(json.dumps({"ok": True, "result": await method(parameters)}).encode())
            if fault is None:
                return answer
        if fault.error is None:
            return None
        raise fault.error


def _split_path(path: str) -> tuple[str, str, str]:
    """`/bot<token>/<method>` or `/file/bot<token>/<path>`: the area, the token and the rest."""
    area, rest = ("file", path[5:]) if path.startswith("/file/") else ("api", path)
    token, slash, name = rest.removeprefix("/bot").partition("/")
    if not rest.startswith("/bot") or not slash:
        raise ApiError(404, "Not Found")
    return area, token, name
