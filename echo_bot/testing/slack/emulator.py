"""The emulator: Slack's Web API and Socket Mode on loopback, and the driver for the people of a workspace."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
from types import TracebackType

from echo_bot.channel import AsgiApp
from echo_bot.testing.loopback import HttpRequest, HttpResponse, HttpServer
from echo_bot.testing.slack.api import SCOPES_OF, WebApi
from echo_bot.testing.slack.deliveries import Carrier, Delivery, DeliveryKind
from echo_bot.testing.slack.errors import ApiError
from echo_bot.testing.slack.faults import Fault, Faults
from echo_bot.testing.slack.model import Chat, ChatKind, JsonObject, Message, User
from echo_bot.testing.slack.parameters import Parameters
from echo_bot.testing.slack.people import Person
from echo_bot.testing.slack.responses import answer_response_url
from echo_bot.testing.slack.signed import SignedCaller
from echo_bot.testing.slack.sockets import SocketServer
from echo_bot.testing.slack.using import Slack
from echo_bot.testing.slack.world import World

BOT_TOKEN = "xoxb-1-test-token-of-the-emulator"
APP_TOKEN = "xapp-1-test-token-of-the-emulator"
USER_TOKEN = "xoxp-1-test-token-of-the-emulator"
"""Of the person who installed the app: Slack takes it where people ask for themselves."""
SIGNING_SECRET = "0123456789abcdef0123456789abcdef"
BOT = User("UBOT", "Echo", is_bot=True, bot_id="BBOT")
ALL_SCOPES = frozenset({
    "app_mentions:read", "channels:history", "chat:write", "commands", "files:read", "files:write",
    "groups:history", "im:history", "im:write", "mpim:history", "users:read",
})  # fmt: skip


class SlackEmulator:
    """A workspace that enforces the real limits. Use as `async with SlackEmulator() as slack:`.

    Point the SDK at `url` with `bot_token` and `app_token`, then drive it:
    `slack.user("U1", "Ada").dm().say("hi")`. For signed HTTP mode call `call(app)` with the bot's ASGI
    application before anything is delivered. `calls` lists every method the bot called, with its parameters.
    `scopes` are what the bot was granted.
    """

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self.bot_token, self.app_token, self.signing_secret = BOT_TOKEN, APP_TOKEN, SIGNING_SECRET
        self.scopes = set(ALL_SCOPES)
        self.world = World(BOT, users={BOT.id: BOT})
        if clock is not None:
            self.world.clock = clock
        self.calls: list[tuple[str, Parameters]] = []
        self.sockets = SocketServer()
        self._slack = Slack(self.world, self.sockets)
        self._api = WebApi(self.world)
        self._faults = Faults()
        self._server = HttpServer(self._answer)

    # Life

    async def start(self, port: int = 0) -> None:
        """Listen on loopback; 0 takes any free port."""
        await self._server.start(port)
        await self.sockets.start()
        self.world.base_url = f"http://127.0.0.1:{self._server.port}"

    async def stop(self) -> None:
        if self._slack.carrier is not self.sockets:
            await self._slack.carrier.stop()
        await self.sockets.stop()
        await self._server.stop()

    async def __aenter__(self) -> SlackEmulator:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def url(self) -> str:
        """What `channels.slack.api_base` takes."""
        return f"{self.world.base_url}/api/"

    def call(self, where: AsgiApp | str) -> SignedCaller:
        """From now on deliver by signed HTTP requests to this application, or the server at this address."""
        caller = SignedCaller(where, self.signing_secret, self.world.clock)
        self._slack.carrier = caller
        return caller

    # People and channels

    def user(self, user_id: str, name: str = "", *, is_bot: bool = False) -> Person:
        bot_id = f"B{user_id[1:]}" if is_bot else ""
        user = self.world.users.setdefault(user_id, User(user_id, name or user_id, is_bot, bot_id))
        return Person(self._slack, user)

    def channel(self, chat_id: str = "C1", name: str = "general", kind: ChatKind = "channel") -> Chat:
        """A channel that the bot is a member of."""
        return self.world.chats.setdefault(chat_id, Chat(chat_id, kind, name, {BOT.id}))

    def channel_without_bot(self, chat_id: str, kind: ChatKind = "channel") -> Chat:
        """A channel, or the direct chat of two people, that the bot is not in."""
        return self.world.chats.setdefault(chat_id, Chat(chat_id, kind, "elsewhere"))

    # What the bot did, and what is delivered to it

    @property
    def messages(self) -> list[Message]:
        """Every message in every chat, oldest first."""
        return self.world.messages

    def called(self, method: str) -> list[Parameters]:
        """The parameters of every call of `method`, oldest first."""
        return [parameters for name, parameters in self.calls if name == method]

    @property
    def deliveries(self) -> list[Delivery]:
        return self._carrier.deliveries

    def deliver_event(self, event: JsonObject) -> Delivery:
        """Deliver any event of the Events API."""
        return self._slack.event(event)

    def deliver(self, kind: DeliveryKind, payload: JsonObject) -> Delivery:
        """Deliver anything at all, also such as no app of today knows."""
        return self._carrier.deliver(Delivery(kind, payload, str(uuid.uuid4())))

    def redeliver(self, delivery: Delivery, *, same_envelope: bool = False) -> Delivery:
        """Deliver an event again, as Slack does when it heard nothing; usually in a new envelope."""
        envelope_id = delivery.envelope_id if same_envelope else str(uuid.uuid4())
        again = replace(
            delivery, envelope_id=envelope_id, attempt=delivery.attempt + 1, is_acknowledged=False, answer={}
        )
        return self._carrier.deliver(again)

    @property
    def _carrier(self) -> Carrier:
        return self._slack.carrier

    # Faults

    def fail(
        self,
        method: str,
        error: str = "internal_error",
        *,
        status: int = 200,
        retry_after: int = 0,
        times: int = 1,
        after: bool = False,
    ) -> Fault:
        """The next `times` calls of `method` ("*": any) are refused; with `after` the work is done first."""
        refusal = ApiError.too_many(retry_after) if retry_after else ApiError(error, status)
        return self._faults.add(Fault(method, refusal, times, after))

    def drop(self, method: str, *, times: int = 1, after: bool = False) -> Fault:
        """The connection breaks instead of an answer; with `after` once the work is done."""
        return self._faults.add(Fault(method, None, times, after))

    def hold(self, method: str) -> asyncio.Event:
        """Calls of `method` wait for the event that is returned: a slow answer."""
        return self._faults.hold(method)

    def heal(self) -> None:
        """No more faults, and what is held goes on."""
        self._faults.clear()
        self.sockets.refuses = False

    # The server

    async def _answer(self, request: HttpRequest) -> HttpResponse | None:
        area, _, name = request.path.lstrip("/").partition("/")
        try:
            match area:
                case "api":
                    return await self._call(name, request)
                case "upload":
                    return self._upload(name, request)
                case "files-pri":
                    return self._file(name, request)
                case "response":
                    answer_response_url(self.world, name, request.body)
                    return HttpResponse(b"ok", content_type="text/plain")
                case _:
                    raise ApiError("unknown_method", 404)
        except ApiError as refused:
            return refused.response()

    def _upload(self, name: str, request: HttpRequest) -> HttpResponse | None:
        """The second step of a file's way in; its faults are those of the method "upload"."""
        if fault := self._faults.take("upload"):
            if fault.error is None:
                return None
            raise fault.error
        self._api.upload(name, request.body)
        return HttpResponse(f"OK - {len(request.body)}".encode(), content_type="text/plain")

    def _file(self, name: str, request: HttpRequest) -> HttpResponse:
        file = self.world.files.get(name.partition("/")[0])
        if file is None:
            raise ApiError("file_not_found", 404)
        if request.headers.get("authorization") != f"Bearer {self.bot_token}":
            return HttpResponse(b"<html>Sign in</html>", content_type="text/html")
        return HttpResponse(file.content, content_type=file.mime)

    async def _call(self, name: str, request: HttpRequest) -> HttpResponse | None:
        given = Parameters.read(request)
        self.calls.append((name, given))
        dated = {"Date": formatdate(self.world.clock(), usegmt=True)}
        await self._faults.wait_if_held(name)
        fault = self._faults.take(name)
        if fault is None or fault.after:
            stood = len(self.world.messages)
            result = self._open_socket(given) if name == "apps.connections.open" else self._do(name, given)
            if name == "chat.postMessage" and len(self.world.messages) > stood:
                self._tell(self.world.messages[-1])
            if fault is None:
                headers = dated | {"x-oauth-scopes": ",".join(sorted(self.scopes))}
                return HttpResponse(json.dumps({"ok": True, **result}).encode(), headers=headers)
        if fault.error is None:
            return None
        raise fault.error

    def _tell(self, message: Message) -> None:
        """The bot hears what it says itself, often before the answer to its call."""
        event = {"channel": message.chat.id, "channel_type": message.chat.kind, "event_ts": message.ts}
        self._slack.event(message.to_json() | event)

    def _open_socket(self, given: Parameters) -> JsonObject:
        if given.token == self.bot_token:
            raise ApiError("not_allowed_token_type")
        if given.token != self.app_token:
            raise ApiError("invalid_auth")
        return {"url": self.sockets.new_url()}

    def _do(self, name: str, given: Parameters) -> JsonObject:
        method = self._api.methods.get(name)
        if method is None:
            raise ApiError("unknown_method")
        if not given.token:
            raise ApiError("not_authed")
        if given.token == self.app_token:
            raise ApiError("not_allowed_token_type")
        if given.token == USER_TOKEN and name == "auth.test":
            return self._api.installer()
        if given.token != self.bot_token:
            raise ApiError("invalid_auth")
        scope = SCOPES_OF.get(name, "")
        if scope and scope not in self.scopes:
            raise ApiError("missing_scope", more={"needed": scope, "provided": ",".join(sorted(self.scopes))})
        return method(given)
