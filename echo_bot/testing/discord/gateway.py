"""The gateway: sessions that are identified, resumed, told what happens, and broken on demand."""

from __future__ import annotations

import asyncio
import copy
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simcord import intents
from simcord.backend import serializers
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from echo_bot.testing.discord.world import World

DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT = 0, 1, 2, 6, 7
INVALID_SESSION, HELLO, HEARTBEAT_ACK = 9, 10, 11
_BITS = {
    "guilds": 1 << 0,
    "members": 1 << 1,
    "presences": 1 << 8,
    "guild_messages": 1 << 9,
    "guild_reactions": 1 << 10,
    "guild_typing": 1 << 11,
    "dm_messages": 1 << 12,
    "dm_reactions": 1 << 13,
    "dm_typing": 1 << 14,
    "message_content": 1 << 15,
}

Frame = dict[str, Any]


class Line:
    """One websocket, written by one task. Compressed as one stream when the client asks for it."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        asked = connection.request.path if connection.request is not None else ""
        self._stream = zlib.compressobj() if "compress=zlib-stream" in asked else None
        self._frames: asyncio.Queue[str | int] = asyncio.Queue()

    def send(self, text: str) -> None:
        self._frames.put_nowait(text)

    def close(self, code: int) -> None:
        self._frames.put_nowait(code)

    async def write(self) -> None:
        """Send what is put in, until told to close."""
        try:
            while isinstance(frame := await self._frames.get(), str):
                await self._write(frame)
            await self._connection.close(frame)
        except ConnectionClosed:
            return

    def cut(self) -> None:
        self._connection.transport.abort()

    async def _write(self, frame: str) -> None:
        if self._stream is None:
            await self._connection.send(frame)
        else:
            flushed = self._stream.compress(frame.encode()) + self._stream.flush(zlib.Z_SYNC_FLUSH)
            await self._connection.send(flushed)


@dataclass(slots=True)
class Session:
    """What a client identified for: it outlives its connection until it is forgotten."""

    session_id: str
    intents: int
    seq: int = 0
    sent: list[Frame] = field(default_factory=list)
    line: Line | None = None

    def wants(self, name: str) -> bool:
        return bool(self.intents & _BITS.get(name, 0))


class Gateway:
    """`received` lists the clients' frames; `answers_heartbeats` False makes a zombie of every connection.

    `leaves_out` names fields that no event carries.
    """

    def __init__(self, world: World, heartbeat_ms: int) -> None:
        self._world, self._heartbeat_ms = world, heartbeat_ms
        self.sessions: dict[str, Session] = {}
        self.lines: set[Line] = set()
        self.received: list[Frame] = []
        self.answers_heartbeats = True
        self.leaves_out: frozenset[str] = frozenset()
        self._away: set[str] = set()
        self._counter = 0
        self._last: tuple[str, Mapping[str, Any]] | None = None
        world.backend.subscribers.append(self.emit)

    # What happens

    def emit(self, event: str, payload: Mapping[str, Any]) -> None:
        """Tell every session whose intents ask for it; one without a connection gets it when it resumes."""
        self._last = (event, payload)
        if str(payload.get("guild_id")) in self._away:
            return
        for session in self.sessions.values():
            needed = intents.required_intent(event, payload)
            if needed is None or session.wants(needed):
                self._dispatch(session, event, self._for_session(session, event, payload))

    def tell(self, event: str, data: Any) -> None:
        """Send an event of any name and content to every session, whatever its intents."""
        for session in self.sessions.values():
            self._dispatch(session, event, data)

    def lose_server(self, server_id: str) -> None:
        """An outage of one server: what happens there is not told."""
        self._away.add(server_id)
        self.tell("GUILD_DELETE", {"id": server_id, "unavailable": True})

    def bring_back(self, server_id: str) -> None:
        self._away.discard(server_id)
        for session in self.sessions.values():
            self._create_server(session, int(server_id))

    def redeliver(self) -> None:
        """Send the last event again."""
        if self._last is not None:
            self.emit(*self._last)

    def send_all(self, frame: Frame) -> None:
        """Send a frame of any kind to every connection."""
        for line in self.lines:
            line.send(self._encode(frame))

    def close_all(self, code: int) -> None:
        for line in self.lines:
            line.close(code)

    def cut(self) -> None:
        """Break every connection, as a network does."""
        for line in self.lines:
            line.cut()

    def forget_sessions(self) -> None:
        """No session can be resumed any more; connections stay as they are."""
        self.sessions.clear()

    # The protocol

    async def serve(self, connection: ServerConnection) -> None:
        line = Line(connection)
        self.lines.add(line)
        writer = asyncio.create_task(line.write(), name="emulator:gateway")
        hello = {"op": HELLO, "t": None, "s": None, "d": {"heartbeat_interval": self._heartbeat_ms}}
        line.send(self._encode(hello))
        try:
            async for text in connection:
                frame = json.loads(text)
                self.received.append(frame)
                self._take(line, frame)
        except ConnectionClosed:
            return
        finally:
            self.lines.discard(line)
            for session in self.sessions.values():
                if session.line is line:
                    session.line = None
            writer.cancel()

    def _take(self, line: Line, frame: Frame) -> None:
        if frame["op"] == HEARTBEAT and self.answers_heartbeats:
            line.send(self._encode({"op": HEARTBEAT_ACK, "t": None, "s": None, "d": None}))
        elif frame["op"] == IDENTIFY:
            self._identify(line, frame["d"])
        elif frame["op"] == RESUME:
            self._resume(line, frame["d"])

    def _identify(self, line: Line, asked: Mapping[str, Any]) -> None:
        if asked["token"] != self._world.token:
            line.close(4004)
            return
        if asked["intents"] & _BITS["message_content"] and not self._world.message_content_granted:
            line.close(4014)
            return
        self._counter += 1
        session = Session(f"session-{self._counter}", asked["intents"], line=line)
        self.sessions[session.session_id] = session
        backend = self._world.backend
        ready = {
            "v": 10,
            "user": self._world.as_user(backend.bot_user.id),
            "guilds": [{"id": str(guild_id), "unavailable": True} for guild_id in backend.guilds],
            "session_id": session.session_id,
            "resume_gateway_url": self._world.gateway_url,
            "application": {
                "id": str(backend.application_id),
                "flags": self._world.application_flags,
            },
            "private_channels": [],
            "relationships": [],
            "shard": [0, 1],
        }
        self._dispatch(session, "READY", ready)
        for guild_id in backend.guilds:
            self._create_server(session, guild_id)

    def _create_server(self, session: Session, server_id: int) -> None:
        backend = self._world.backend
        guild = serializers.guild_create_payload(backend, backend.guilds[server_id])
        created = self._for_session(session, "GUILD_CREATE", {**guild, "unavailable": False})
        self._dispatch(session, "GUILD_CREATE", created)

    def _resume(self, line: Line, asked: Mapping[str, Any]) -> None:
        session = self.sessions.get(asked["session_id"])
        if session is None or asked["token"] != self._world.token:
            line.send(self._encode({"op": INVALID_SESSION, "t": None, "s": None, "d": False}))
            return
        session.line = line
        for frame in session.sent:
            if frame["s"] > asked["seq"]:
                line.send(self._encode(frame))
        self._dispatch(session, "RESUMED", {})

    def _dispatch(self, session: Session, event: str, payload: Any) -> None:
        session.seq += 1
        frame = {"op": DISPATCH, "t": event, "s": session.seq, "d": payload}
        session.sent.append(frame)
        if session.line is not None:
            session.line.send(self._encode(frame))

    def _for_session(self, session: Session, event: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """The event as this session may see it: without message content, without other members."""
        seen = {
            key: value for key, value in copy.deepcopy(dict(payload)).items() if key not in self.leaves_out
        }
        bot_id = self._world.backend.bot_user.id
        if event.startswith("MESSAGE_") and "author" in seen and not session.wants("message_content"):
            intents.censor_message(seen, bot_id, backend=self._world.backend)
        if event == "GUILD_CREATE":
            members = seen.get("members") or ()
            seen["members"] = [each for each in members if each.get("user", {}).get("id") == str(bot_id)]
            for role in seen.get("roles") or ():
                if role.get("managed"):
                    role["tags"] = {"bot_id": str(bot_id)}
        return seen

    def _encode(self, frame: Frame) -> str:
        return self._world.on_the_wire(json.dumps(frame, default=str))
