"""The token never leaves by a log line or an error's text."""

from __future__ import annotations

import logging

import pytest

from channels.telegram.adapter import TelegramChannel
from channels.telegram.client import api_urls, open_bot
from channels.telegram.redaction import TokenFilter, without_token
from echo_bot.channel import ChannelSettings, ChannelState
from echo_bot.errors import ChannelError, ChannelFatal
from echo_bot.events import Address, OutboundText
from echo_bot.testing.fake_port import FakePort
from echo_bot.testing.telegram import Conversation, TelegramEmulator
from echo_bot.testing.waiting import eventually


async def test_the_token_is_in_no_log_line_and_no_error(
    telegram: TelegramEmulator,
    settings: ChannelSettings,
    port: FakePort,
    chat: Conversation,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    channel = TelegramChannel(settings)
    await channel.start(port)
    chat.say("a private word")
    await port.wait_for_event("a private word")
    said: list[str] = []
    for trouble in (401, 404, 500):
        telegram.fail("sendMessage", trouble, f"about {telegram.token}")
        with pytest.raises(ChannelError) as caught:
            await channel.send_text(Address("telegram", "42"), OutboundText("hello"))
        said.append(str(caught.value))
    telegram.fail("getUpdates", 500, f"about {telegram.token}", times=2)
    telegram.drop_connections()
    await eventually(lambda: channel.health().state is ChannelState.RETRYING, "trouble")
    said.append(channel.health().error)
    await channel.stop()
    captured = capsys.readouterr()
    everything = "\n".join([caplog.text, *said, captured.out, captured.err, repr(settings), repr(channel)])
    assert telegram.token not in everything
    assert "/bot<token>" in caplog.text
    assert not [
        record
        for record in caplog.records
        if "private word" in record.getMessage() and record.levelno >= logging.INFO
    ]


def test_a_traceback_is_masked_too() -> None:
    token_filter = TokenFilter("1:secret")
    try:
        raise ValueError("https://api.telegram.org/bot1%3Asecret/getMe")
    except ValueError as error:
        record = logging.LogRecord(
            "httpx", logging.ERROR, "", 0, "%s", ("bot1:secret",), (type(error), error, None)
        )
    assert token_filter.filter(record)
    assert "secret" not in logging.Formatter("%(message)s").format(record)


def test_the_filter_is_gone_after_its_removal() -> None:
    token_filter = TokenFilter("1:secret")
    token_filter.install()
    assert token_filter in logging.getLogger("httpx").filters
    token_filter.remove()
    assert token_filter not in logging.getLogger("httpx").filters


def test_masking_without_a_token_changes_nothing() -> None:
    assert without_token("text", "") == "text"


@pytest.mark.parametrize(
    ("api_base", "api_file_base", "expected"),
    [
        pytest.param(
            "", "", ("https://api.telegram.org/bot", "https://api.telegram.org/file/bot"), id="official"
        ),
        pytest.param("http://h:1", "", ("http://h:1/bot", "http://h:1/file/bot"), id="host and port"),
        pytest.param("http://h:1/", "", ("http://h:1/bot", "http://h:1/file/bot"), id="a slash"),
        pytest.param("http://h:1/bot", "", ("http://h:1/bot", "http://h:1/file/bot"), id="with /bot"),
        pytest.param("http://h:1/bot/", "", ("http://h:1/bot", "http://h:1/file/bot"), id="with /bot/"),
        pytest.param("http://h/x/bot", "", ("http://h/x/bot", "http://h/x/file/bot"), id="below a path"),
        pytest.param("http://h:1", "http://f:2/", ("http://h:1/bot", "http://f:2/bot"), id="files elsewhere"),
        pytest.param(
            "http://h:1", "http://f/file/bot", ("http://h:1/bot", "http://f/file/bot"), id="files whole"
        ),
    ],
)
def test_the_forms_of_a_base_address(api_base: str, api_file_base: str, expected: tuple[str, str]) -> None:
    assert api_urls(api_base, api_file_base) == expected


@pytest.mark.parametrize("scheme", ["gopher", "socks5"])
def test_an_unusable_proxy_is_named_without_its_password(scheme: str) -> None:
    settings = ChannelSettings("", proxy=f"{scheme}://user:hunter2@h", secrets={"token": "1:x"})
    with pytest.raises(ChannelFatal) as caught:
        open_bot(settings)
    assert "hunter2" not in str(caught.value)
    assert "channels.telegram.proxy" in caught.value.fix
