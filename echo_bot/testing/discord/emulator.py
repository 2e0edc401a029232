"""The emulator: Discord's API and gateway on loopback, and the driver for the people on its other side."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any

from echo_bot.testing.discord.faults import Fault, Faults
from echo_bot.testing.discord.gateway import INVALID_SESSION, RECONNECT, RESUME, Frame, Gateway
from echo_bot.testing.discord.people import Person
from echo_bot.testing.discord.places import Guild
from echo_bot.testing.discord.rest import Call, Rest
from echo_bot.testing.discord.server import Server
from echo_bot.testing.discord.world import World

TOKEN = "MTIzNDU2Nzg5.Test-token.of-the-emulator-0123456789"


class DiscordEmulator:
    """Use as `async with DiscordEmulator() as discord:` and point the SDK at `api_base` and `gateway_url`.

    `first_answer_seconds` is how long the first answer to an interaction is awaited.
    """

    def __init__(
        self,
        token: str = TOKEN,
        name: str = "echo",
        heartbeat_ms: int = 41_250,
        first_answer_seconds: float = 3.0,
    ) -> None:
        self.token = token
        self.world = World(token, name, first_answer_seconds)
        self._faults = Faults()
        self._rest = Rest(self.world, self._faults)
        self.gateway = Gateway(self.world, heartbeat_ms)
        self._server = Server(self.world, self._rest, self.gateway)

    # Life

    async def start(self, port: int = 0, gateway_port: int = 0) -> None:
        """Listen on loopback; 0 takes any free port."""
        await self._server.start(port, gateway_port)

    async def stop(self) -> None:
        self._faults.clear()
        await self._server.stop()

    async def __aenter__(self) -> DiscordEmulator:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def url(self) -> str:
        return self.world.url

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def gateway_port(self) -> int:
        return int(self.gateway_url.split(":")[2].partition("/")[0])

    @property
    def api_base(self) -> str:
        """What `channels.discord.api_base` takes."""
        return f"{self.url}/api/v10"

    @property
    def gateway_url(self) -> str:
        """What `channels.discord.gateway_url` takes."""
        return self.world.gateway_url

    @property
    def bot_id(self) -> str:
        return str(self.world.backend.bot_user.id)

    # People and places

    def user(self, name: str, *, is_bot: bool = False) -> Person:
        return Person(self.world, self.world.backend.make_user(name.lower(), global_name=name, bot=is_bot))

    def guild(self, name: str = "Lab") -> Guild:
        return Guild(self.world, name)

    # What the bot did

    @property
    def calls(self) -> list[Call]:
        """Every HTTP request of the bot, oldest first."""
        return self._rest.calls

    def called(self, method: str, path: str) -> list[Call]:
        """The requests whose path matches a pattern, such as `/channels/*/messages`."""
        return self._rest.called(method, path)

    @property
    def registered_commands(self) -> list[dict[str, Any]]:
        return list(self.world.backend.commands.get(None, {}).values())

    @property
    def typing(self) -> list[str]:
        """The channels in which the bot showed that it types, oldest first."""
        return [str(channel_id) for channel_id in self.world.typing]

    @property
    def connections(self) -> int:
        return len(self.gateway.lines)

    @property
    def resumes(self) -> int:
        """How often a client asked to resume a session."""
        return sum(frame["op"] == RESUME for frame in self.gateway.received)

    # Faults of the HTTP side; paths are patterns and "*" is any method

    def fail(
        self,
        method: str,
        path: str,
        status: int,
        *,
        code: int = 0,
        message: str = "",
        retry_after: float = 0.0,
        is_global: bool = False,
        times: int = 1,
        after: bool = False,
        page: str = "",
    ) -> Fault:
        """The next `times` such calls are refused; with `after` the work is done first.

        `page` is what something before Discord answers in its place.
        """
        body: dict[str, object] | str = page or {"message": message or "Error", "code": code}
        headers: dict[str, str] = {}
        if status == 429:
            body = {
                "message": "You are being rate limited.",
                "retry_after": retry_after,
                "global": is_global,
            }
            # Without Via, discord.py takes a 429 for a ban.
            headers = {"Via": "1.1 emulator", "Retry-After": str(retry_after)}
        return self._faults.add(Fault(method, path, status, body, headers, times, after))

    def drop(self, method: str, path: str, *, times: int = 1, after: bool = False) -> Fault:
        """The connection breaks instead of an answer; with `after` once the work is done."""
        return self._faults.add(Fault(method, path, 0, times=times, after=after))

    def hold(self, method: str, path: str) -> asyncio.Event:
        """Such calls wait for the event that is returned."""
        return self._faults.hold(method, path)

    def heal(self) -> None:
        """No more faults of the HTTP side."""
        self._faults.clear()

    # Faults of the gateway

    def cut(self) -> None:
        """Break all connections at once, as a network does."""
        self._server.cut()

    def close(self, code: int) -> None:
        """Close every gateway connection with a code."""
        self.gateway.close_all(code)

    def ask_to_reconnect(self) -> None:
        self.gateway.send_all({"op": RECONNECT, "t": None, "s": None, "d": None})

    def invalidate(self, *, resumable: bool = False) -> None:
        if not resumable:
            self.gateway.forget_sessions()
        self.gateway.send_all({"op": INVALID_SESSION, "t": None, "s": None, "d": resumable})

    def forget_sessions(self) -> None:
        """Whoever resumes from now on has to identify anew, and misses what happened."""
        self.gateway.forget_sessions()

    def send_frame(self, frame: Frame) -> None:
        """Send any frame, also one that no client can read."""
        self.gateway.send_all(frame)

    def redeliver(self) -> None:
        """Deliver the last event again."""
        self.gateway.redeliver()

    def skew(self, seconds: float) -> None:
        """Discord's clock runs ahead of ours (or behind)."""
        self.world.backend.advance_clock(seconds)

    @property
    def message_content_granted(self) -> bool:
        """Is the Message Content Intent switched on for this bot?"""
        return self.world.message_content_granted

    @message_content_granted.setter
    def message_content_granted(self, granted: bool) -> None:
        self.world.message_content_granted = granted

    @property
    def valid_token(self) -> str:
        return self.world.token

    @valid_token.setter
    def valid_token(self, token: str) -> None:
        self.world.token = token
