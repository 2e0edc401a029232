"""Files that people send: fetched as the turn begins, into the session's folder, once; the model is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart

from echo_bot.agent.received import fetching
from echo_bot.channel import FileLocation
from echo_bot.errors import TargetGone, TemporaryFailure
from echo_bot.events import BlockType, ContentBlock
from echo_bot.net import FetchLimits
from echo_bot.storage.records import TurnState
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import Say, ScriptedModel

Config = dict[str, object]
Says = Callable[[str], Callable[[FakeMessage], bool]]


@dataclass
class FileServer:
    """A platform's file server on loopback."""

    port: int = 0
    answers: dict[str, bytes] = field(default_factory=dict)
    heads: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def put(self, path: str, body: bytes, *headers: str, status: str = "200 OK") -> None:
        lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", "connection: close", *headers]
        self.answers[path] = "\r\n".join([*lines, "", ""]).encode() + body

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        writer.write(
            self.answers.get(head.split()[1], b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
        )
        await writer.drain()
        writer.close()


@asynccontextmanager
async def file_server() -> AsyncIterator[FileServer]:
    server = FileServer()
    async with await asyncio.start_server(server.handle, "127.0.0.1", 0) as running:
        server.port = running.sockets[0].getsockname()[1]
        yield server


@pytest.fixture
async def server() -> AsyncIterator[FileServer]:
    async with file_server() as running:
        yield running


def attached(name: str, mime: str = "text/plain", size: int = 5, ref: str = "f1") -> ContentBlock:
    return ContentBlock(BlockType.FILE, ref=ref, name=name, mime=mime, size=size)


def prompt_of(messages: list[ModelMessage]) -> str:
    last = messages[-1]
    assert isinstance(last, ModelRequest)
    return "\n".join(str(part.content) for part in last.parts if isinstance(part, UserPromptPart))


def base(server: FileServer) -> Config:
    return {"channels.telegram.api_base": server.url}


def incoming(bot: RunningBot) -> list[Path]:
    return sorted((bot.workspace / "incoming").rglob("*.*"))


async def test_a_file_lies_in_the_sessions_folder_and_without_a_model_its_sender_hears_where(
    tmp_path: Path, server: FileServer, says: Says
) -> None:
    server.put("/file/x", b"hello")
    async with running_bot(tmp_path, base(server)) as bot:
        bot.channel.files["f1"] = FileLocation(f"{server.url}/file/x", {"X-Secret": "abc"})
        assert await bot.channel.say("", files=[attached("notes.txt")])
        told = await bot.channel.wait_for(says("Received `incoming/telegram-1-"))
        assert "notes.txt` (text/plain, 5 bytes)" in told.body
        [path] = incoming(bot)
        assert (path.name, path.read_bytes()) == ("notes.txt", b"hello")
        assert "x-secret: abc" in server.heads[0].lower()


async def test_the_model_is_told_path_type_and_size_and_a_second_file_of_that_name_gets_a_number(
    tmp_path: Path, server: FileServer, says: Says
) -> None:
    model = ScriptedModel([Say("seen 1"), Say("seen 2")])
    server.put("/a", b"one")
    server.put("/b", b"two!")
    async with running_bot(tmp_path, base(server), model=model.model) as bot:
        bot.channel.files |= {"f1": FileLocation(f"{server.url}/a"), "f2": FileLocation(f"{server.url}/b")}
        await bot.channel.say("look", files=[attached("data.csv", "text/csv", ref="f1")])
        await bot.channel.wait_for(says("seen 1"))
        await bot.channel.say("", files=[attached("data.csv", "text/csv", ref="f2")])
        await bot.channel.wait_for(says("seen 2"))
        first, second = incoming(bot)
        assert {first.name: first.read_bytes(), second.name: second.read_bytes()} == {
            "data.csv": b"one",
            "data-2.csv": b"two!",
        }
        folder = first.parent.name
        assert f"[received file: incoming/{folder}/data.csv (text/csv, 3 bytes)]" in prompt_of(model.seen[0])
        assert f"[received file: incoming/{folder}/data-2.csv (text/csv, 4 bytes)]" in prompt_of(
            model.seen[1]
        )


async def test_a_revived_turn_does_not_fetch_again(
    tmp_path: Path, server: FileServer, local: Config, is_open: Callable[[FakeMessage], bool], says: Says
) -> None:
    server.put("/a", b"one")
    config = local | base(server)
    async with running_bot(tmp_path, config) as bot:
        bot.channel.files["f1"] = FileLocation(f"{server.url}/a")
        await bot.channel.say("/run echo done", files=[attached("data.csv")])
        await bot.channel.wait_for(is_open)
    async with running_bot(tmp_path, config) as bot:
        [turn] = await bot.store.turns.unfinished()
        assert turn.state in (TurnState.RUNNING, TurnState.WAITING)
        [pending] = await bot.store.approvals.pending()
        await bot.channel.say(f"/approve {pending.approval_id[-6:]}", event_id="a1")
        reply = await bot.channel.wait_for(says("done\n"))
        assert "Received `incoming/" in reply.body
        assert bot.channel.located == []
        assert len(incoming(bot)) == 1


@pytest.mark.parametrize(
    ("location", "part"),
    [
        ("http://169.254.169.254/latest/meta-data", "169.254.169.254"),
        ("http://127.0.0.1:1/elsewhere", "127.0.0.1"),
        ("file:///etc/passwd", "Only http"),
    ],
)
async def test_any_other_private_address_is_refused_in_words_and_the_turn_goes_on(
    tmp_path: Path, server: FileServer, says: Says, location: str, part: str
) -> None:
    async with running_bot(tmp_path, base(server)) as bot:
        bot.channel.files["f1"] = FileLocation(location)
        await bot.channel.say("/tool todo action=list", files=[attached("x.txt")])
        told = await bot.channel.wait_for(says("The list is empty"))
        assert "Not received: x.txt:" in told.body
        assert part in told.body
        assert incoming(bot) == []


async def test_a_redirect_to_another_origin_loses_the_headers_and_is_judged_again(
    tmp_path: Path, server: FileServer, says: Says
) -> None:
    async with file_server() as other, running_bot(tmp_path, base(server)) as bot:
        other.put("/b", b"stolen")
        server.put("/a", b"", f"location: {other.url}/b", status="302 Found")
        bot.channel.files["f1"] = FileLocation(f"{server.url}/a", {"Authorization": "Bearer t"})
        await bot.channel.say("", files=[attached("x.txt")])
        await bot.channel.wait_for(says("Not received"))
        assert other.heads == []


async def test_both_configured_origins_are_reached_and_each_keeps_its_headers_to_itself(
    tmp_path: Path, server: FileServer, says: Says
) -> None:
    async with file_server() as files:
        files.put("/b", b"found")
        server.put("/a", b"", f"location: {files.url}/b", status="302 Found")
        config = base(server) | {"channels.telegram.api_file_base": files.url}
        async with running_bot(tmp_path, config) as bot:
            bot.channel.files["f1"] = FileLocation(f"{server.url}/a", {"Authorization": "Bearer t"})
            await bot.channel.say("", files=[attached("x.txt")])
            await bot.channel.wait_for(says("Received"))
            assert "authorization" in server.heads[0].lower()
            assert "authorization" not in files.heads[0].lower()


@pytest.mark.parametrize(
    ("location", "asked"),
    [
        pytest.param(
            FileLocation("https://files.platform.example/a", at_platform=True),
            ["CONNECT files.platform.example:443 HTTP/1.1"],
            id="the platform's own host is asked through the account's proxy",
        ),
        pytest.param(FileLocation("https://10.0.0.1/a"), [], id="any other host is not"),
        pytest.param(FileLocation("http://10.0.0.1/a", at_platform=True), [], id="nor is one without TLS"),
    ],
)
async def test_a_proxy_is_used_for_the_platforms_own_file_host_without_any_configured_server(
    tmp_path: Path,
    server: FileServer,
    says: Says,
    location: FileLocation,
    asked: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fetching, "_TRIES", 1)
    async with running_bot(tmp_path, {"channels.telegram.proxy": server.url}) as bot:
        bot.channel.files["f1"] = location
        await bot.channel.say("", files=[attached("a.txt")])
        await bot.channel.wait_for(says("Not received: a.txt"), timeout=10)
        assert sorted({head.splitlines()[0] for head in server.heads}) == asked


async def test_a_file_over_the_limit_is_refused_as_declared_and_as_received(
    tmp_path: Path, server: FileServer, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "_LIMITS", FetchLimits(max_bytes=10, total_seconds=5))
    server.put("/a", b"x" * 11)
    async with running_bot(tmp_path, base(server)) as bot:
        bot.channel.files["f1"] = FileLocation(f"{server.url}/a")
        await bot.channel.say("", files=[attached("x.txt", size=0)])
        await bot.channel.wait_for(says("x.txt: it is larger than"))
        await bot.channel.say("", files=[attached("y.txt", size=fetching.MAX_FILE_BYTES + 1)])
        await bot.channel.wait_for(says("y.txt: it is larger than"))
        assert (len(server.heads), incoming(bot)) == (1, [])


async def test_what_the_platform_cannot_give_is_told_and_a_passing_fault_is_tried_again(
    tmp_path: Path, server: FileServer, says: Says
) -> None:
    server.put("/a", b"one")
    async with running_bot(tmp_path, base(server)) as bot:
        bot.channel.files["f1"] = FileLocation(f"{server.url}/a")
        bot.channel.fail("locate", TemporaryFailure("a hiccup"))
        await bot.channel.say("", files=[attached("one.txt"), attached("two.txt", ref="none")])
        told = await bot.channel.wait_for(says("one.txt` (text/plain, 3 bytes)"))
        assert "Not received: two.txt: it is not there any more" in told.body
        bot.channel.fail("locate", TargetGone("expired"))
        await bot.channel.say("", files=[attached("one.txt")])
        await bot.channel.wait_for(says("(expired)"))


async def test_a_page_to_log_in_is_not_taken_for_the_file(
    tmp_path: Path, server: FileServer, says: Says
) -> None:
    server.put("/a", b"<html>Sign in</html>", "content-type: text/html; charset=utf-8")
    async with running_bot(tmp_path, base(server)) as bot:
        bot.channel.files["f1"] = FileLocation(f"{server.url}/a")
        await bot.channel.say("", files=[attached("notes.txt")])
        await bot.channel.wait_for(says("Not received: notes.txt: telegram gave a web page in its place"))
        assert incoming(bot) == []
        await bot.channel.say("", files=[replace(attached("page.html"), mime="text/html")])
        await bot.channel.wait_for(says("page.html` (text/html, 20 bytes)"))
        await bot.channel.say("", files=[replace(attached("a.HTM"), mime="application/octet-stream")])
        await bot.channel.wait_for(says("a.HTM` (application/octet-stream, 20 bytes)"))


async def test_a_file_of_a_server_on_this_machine_is_copied_but_none_of_the_bots_own(
    tmp_path: Path, server: FileServer, says: Says
) -> None:
    outside = tmp_path / "bot-api" / "documents"
    outside.mkdir(parents=True)
    (outside / "file_1").write_bytes(b"local")
    async with running_bot(tmp_path, base(server)) as bot:
        bot.channel.files |= {
            "f1": FileLocation(path=str(outside / "file_1")),
            "f2": FileLocation(path=str(tmp_path / "state" / "echo-bot.db")),
        }
        await bot.channel.say("", files=[attached("a.txt"), attached("b.txt", ref="f2")])
        told = await bot.channel.wait_for(says("Received"))
        assert "Not received: b.txt:" in told.body
        assert [path.read_bytes() for path in incoming(bot)] == [b"local"]
    async with running_bot(tmp_path) as bot:
        bot.channel.files["f1"] = FileLocation(path=str(outside / "file_1"))
        await bot.channel.say("", files=[attached("c.txt")], event_id="c1")
        await bot.channel.wait_for(says("api_base is no address of it"))


async def test_a_link_in_the_place_of_the_folder_leads_nowhere(
    tmp_path: Path, server: FileServer, says: Says
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    server.put("/a", b"one")
    async with running_bot(tmp_path, base(server)) as bot:
        (bot.workspace / "incoming").symlink_to(elsewhere)
        bot.channel.files["f1"] = FileLocation(f"{server.url}/a")
        await bot.channel.say("", files=[attached("x.txt")])
        await bot.channel.wait_for(says("Not received"))
        assert list(elsewhere.iterdir()) == []
