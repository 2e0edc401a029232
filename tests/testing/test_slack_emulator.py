"""The Slack emulator refuses what Slack refuses. Driven by the SDK's own client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from echo_bot.testing.slack import SlackEmulator

Block = dict[str, Any]


@pytest.fixture
async def slack() -> AsyncIterator[SlackEmulator]:
    async with SlackEmulator() as emulator:
        emulator.user("U1", "Ada").dm()
        yield emulator


@pytest.fixture
async def web(slack: SlackEmulator) -> AsyncIterator[AsyncWebClient]:
    async with aiohttp.ClientSession() as session:
        yield AsyncWebClient(slack.bot_token, base_url=slack.url, session=session, retry_handlers=[])


def button(**more: object) -> Block:
    key = {"type": "button", "action_id": "a", "value": "v", "text": {"type": "plain_text", "text": "Go"}}
    return {"type": "actions", "elements": [key | more]}


def section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


@pytest.mark.parametrize(
    ("blocks", "code"),
    [
        ([section("x" * 3001)], "invalid_blocks"),
        ([section("")], "invalid_blocks"),
        ([section("x")] * 51, "invalid_blocks"),
        ([section("x" * 3000)] * 5, "msg_blocks_too_long"),
        ([button(text={"type": "plain_text", "text": "x" * 76})], "invalid_blocks"),
        ([button(text={"type": "mrkdwn", "text": "x"})], "invalid_blocks"),
        ([button(value="x" * 2001)], "invalid_blocks"),
        ([button(style="blue")], "invalid_blocks"),
        ([button(), button()], "invalid_blocks"),
        ([{"type": "actions", "elements": []}], "invalid_blocks"),
        ([{"type": "rich_text", "elements": []}], "invalid_blocks"),
        ([{"type": "carousel"}], "invalid_blocks"),
    ],
)
async def test_blocks_over_a_limit_are_refused(
    slack: SlackEmulator, web: AsyncWebClient, blocks: list[Block], code: str
) -> None:
    with pytest.raises(SlackApiError, match=code):
        await web.chat_postMessage(channel="D1", text="x", blocks=blocks)
    assert slack.messages == []


async def test_texts_over_a_limit_are_refused(web: AsyncWebClient) -> None:
    sent = await web.chat_postMessage(channel="D1", text="x" * 4001)
    with pytest.raises(SlackApiError, match="msg_too_long"):
        await web.chat_update(channel="D1", ts=sent["ts"], text="x" * 4001)
    with pytest.raises(SlackApiError, match="msg_too_long"):
        await web.chat_postMessage(channel="D1", text="x" * 40001)


async def test_places_that_cannot_be_written_to(slack: SlackEmulator, web: AsyncWebClient) -> None:
    slack.channel("C1").archived = True
    slack.channel("C2").members.clear()
    for channel, code in (("C1", "is_archived"), ("C2", "not_in_channel"), ("C3", "channel_not_found")):
        with pytest.raises(SlackApiError, match=code):
            await web.chat_postMessage(channel=channel, text="x")
    with pytest.raises(SlackApiError, match="user_not_in_channel"):
        await web.chat_postEphemeral(channel="D1", user="U2", text="x")


async def test_a_trigger_opens_one_view_within_three_seconds(
    slack: SlackEmulator, web: AsyncWebClient
) -> None:
    title = {"type": "plain_text", "text": "T"}
    view: Block = {"type": "modal", "title": title, "blocks": [section("x")]}
    trigger = slack.world.new_trigger("U1")
    await web.views_open(trigger_id=trigger, view=view)
    with pytest.raises(SlackApiError, match="exchanged_trigger_id"):
        await web.views_open(trigger_id=trigger, view=view)
    late = slack.world.new_trigger("U1")
    before = slack.world.clock
    slack.world.clock = lambda: before() + 3.1
    with pytest.raises(SlackApiError, match="expired_trigger_id"):
        await web.views_open(trigger_id=late, view=view)
    with pytest.raises(SlackApiError, match="invalid_blocks"):
        await web.views_open(
            trigger_id=slack.world.new_trigger("U1"),
            view=view | {"title": {"type": "plain_text", "text": "x" * 25}},
        )


async def test_tokens_and_scopes_are_checked(slack: SlackEmulator, web: AsyncWebClient) -> None:
    slack.scopes.discard("users:read")
    with pytest.raises(SlackApiError, match="missing_scope") as raised:
        await web.users_info(user="U1")
    assert raised.value.response["needed"] == "users:read"
    for token, code in (("xoxb-no", "invalid_auth"), (slack.app_token, "not_allowed_token_type")):
        web.token = token
        with pytest.raises(SlackApiError, match=code):
            await web.auth_test()


async def test_a_response_url_serves_five_times(slack: SlackEmulator) -> None:
    url = slack.world.new_response_url("U1", slack.user("U1").dm().chat)
    async with aiohttp.ClientSession() as session:
        answers = [(await session.post(url, json={"text": "x"})).status for _ in range(6)]
    assert answers == [200] * 5 + [404]


async def test_mentions_that_would_ring_are_seen(slack: SlackEmulator, web: AsyncWebClient) -> None:
    everybody = {"type": "broadcast", "range": "channel"}
    part = {"type": "rich_text_section", "elements": [everybody]}
    await web.chat_postMessage(channel="D1", text="<!channel>")
    await web.chat_postMessage(channel="D1", text="&lt;!channel&gt;", blocks=[section("<@U1>")])
    await web.chat_postMessage(channel="D1", text="x", blocks=[{"type": "rich_text", "elements": [part]}])
    await web.chat_postMessage(channel="D1", text="&lt;!channel&gt;")
    assert [message.pings for message in slack.messages] == [["<!channel"], ["<@"], ["broadcast"], []]
