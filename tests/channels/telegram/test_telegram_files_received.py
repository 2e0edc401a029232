"""Where the files are that people sent: at the API's address, on this machine, or too large to have."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from channels.telegram.adapter import TelegramChannel
from channels.telegram.client import OFFICIAL_API, open_bot
from channels.telegram.files import MAX_DOWNLOAD_BYTES, locate_file
from channels.telegram.standing import Rhythm
from echo_bot.channel import ChannelSettings, FileLocation
from echo_bot.errors import ChannelError, TargetGone, TemporaryFailure
from echo_bot.events import BlockType, ContentBlock
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.telegram import Conversation, TelegramEmulator, media


@pytest.fixture
async def own_server(tmp_path: Path) -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator(local_folder=tmp_path / "files of the server") as emulator:
        yield emulator


async def test_a_file_is_fetched_from_the_address_also_after_a_restart(
    channel: TelegramChannel, port: FakePort, chat: Conversation, settings: ChannelSettings, quick: Rhythm
) -> None:
    chat.send(media.photo(b"a picture"))
    block = (await port.wait_for_event()).content[0]
    await channel.stop()
    later = TelegramChannel(settings, quick)
    await later.start(port)
    location = await later.locate(ContentBlock(block.type, ref=block.ref))
    await later.stop()
    assert (location.path, dict(location.headers)) == ("", {})
    assert location.url not in repr(location)
    async with httpx.AsyncClient(trust_env=False, verify=False) as http:
        assert (await http.get(location.url)).content == b"a picture"


async def test_a_server_in_local_mode_names_a_path_on_this_machine_of_any_size(
    own_server: TelegramEmulator, port: FakePort, quick: Rhythm
) -> None:
    settings = ChannelSettings("", own_server.url, secrets={"token": own_server.token})
    channel = TelegramChannel(settings, quick)
    await channel.start(port)
    large = b"x" * (MAX_DOWNLOAD_BYTES + 1)
    own_server.user(42).chat().send(media.document("large.bin", large))
    block = (await port.wait_for_event()).content[0]
    location = await channel.locate(block)
    await channel.stop()
    assert location.url == ""
    assert Path(location.path).stat().st_size == len(large)


async def test_a_file_that_telegram_does_not_give_is_too_large_and_says_the_way_out(
    channel: TelegramChannel, port: FakePort, chat: Conversation
) -> None:
    chat.send(media.document("large.bin", b"x" * (MAX_DOWNLOAD_BYTES + 1)))
    block = (await port.wait_for_event()).content[0]
    with pytest.raises(ChannelError, match=r"larger than 20 MB.*channels\.telegram\.api_base") as refused:
        await channel.locate(block)
    assert not isinstance(refused.value, TargetGone)  # which reads as “it is not there any more”


async def test_the_official_server_is_not_even_asked_for_a_file_that_is_too_large() -> None:
    bot = open_bot(ChannelSettings("", secrets={"token": "1:x"}))
    assert bot.base_url.startswith(OFFICIAL_API)
    block = ContentBlock(BlockType.FILE, ref="f", size=MAX_DOWNLOAD_BYTES + 1)
    with pytest.raises(ChannelError, match="larger than 20 MB"):
        await locate_file(bot, block, is_official=True)


@pytest.mark.parametrize(
    ("status", "description", "expected"),
    [
        pytest.param(400, "Bad Request: invalid file_id", TargetGone, id="forgotten"),
        pytest.param(
            400,
            "Bad Request: wrong file_id or the file is temporarily unavailable",
            TargetGone,
            id="not there",
        ),
        pytest.param(502, "Bad Gateway", TemporaryFailure, id="a server error"),
    ],
)
async def test_a_file_that_is_not_to_be_had(
    telegram: TelegramEmulator,
    channel: TelegramChannel,
    status: int,
    description: str,
    expected: type[Exception],
) -> None:
    telegram.fail("getFile", status, description)
    with pytest.raises(expected) as caught:
        await channel.locate(ContentBlock(BlockType.FILE, ref="gone"))
    assert telegram.token not in str(caught.value)


@pytest.mark.parametrize(
    ("file_base", "at_platform"), [(f"{OFFICIAL_API}/file", True), (f"{OFFICIAL_API}.example/file", False)]
)
async def test_only_telegrams_own_server_is_called_its_own(
    telegram: TelegramEmulator, chat: Conversation, file_base: str, at_platform: bool
) -> None:
    photo = chat.send(media.photo(b"a picture")).media["photo"]
    assert isinstance(photo, list)
    options, secrets = {"api_file_base": file_base}, {"token": telegram.token}
    async with open_bot(ChannelSettings("", telegram.url, options=options, secrets=secrets)) as bot:
        block = ContentBlock(BlockType.IMAGE, ref=photo[-1]["file_id"])
        assert (await locate_file(bot, block, is_official=True)).at_platform is at_platform


async def test_nothing_is_located_before_the_start(channel: TelegramChannel) -> None:
    await channel.stop()
    with pytest.raises(TemporaryFailure):
        await channel.locate(ContentBlock(BlockType.FILE, ref="f"))


def test_a_location_hides_the_token_in_its_repr() -> None:
    assert "secret" not in repr(FileLocation(url="http://h/file/botsecret/x"))
