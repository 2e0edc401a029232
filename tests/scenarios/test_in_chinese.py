"""With `language: zh` everything that people read in a chat is Chinese; the model reads English as before."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from channels.telegram.adapter import TelegramChannel
from echo_bot.channel import ChannelSettings, Prompt
from echo_bot.events import Fields
from echo_bot.inbox.commands import COMMANDS
from echo_bot.testing.bot import RunningBot, running_bot
from echo_bot.testing.clock import MovedClock
from echo_bot.testing.fake_channel import FakeMessage
from echo_bot.testing.scripted_model import CallTool, Say, ScriptedModel
from echo_bot.testing.telegram import TelegramEmulator
from echo_bot.testing.waiting import eventually
from echo_bot.text.language import choose

Config = dict[str, object]
Is = Callable[[FakeMessage], bool]

_VALUES = re.compile(r"`[^`]*`|```.*?```|/\w+(?: [<\[]\S+)*|[\w.]+[_.:]\w+\S*|“[^”]*”", re.DOTALL)
"""Code, commands, keys and ids, quoted names."""

_ENGLISH = re.compile(r"[A-Za-z']{2,}(?:[ ,;:.]+[A-Za-z']{2,}){2,}")
_HAN = re.compile("[\u4e00-\u9fff]")


@pytest.fixture(autouse=True)
def ends_in_english() -> Iterator[None]:
    yield
    choose("en")


@pytest.fixture
def chinese(local: Config) -> Config:
    return {**local, "language": "zh"}


def english_in(text: str) -> list[str]:
    """Runs of three English words outside values."""
    return _ENGLISH.findall(_VALUES.sub(" · ", text))


def is_chinese(text: str) -> bool:
    return bool(_HAN.search(text)) and not english_in(text)


def test_the_measure_tells_english_from_values() -> None:
    assert english_in("已批准 this was not run 一次") == ["this was not run"]
    assert english_in("运行 `ls -la some file here`，见 models.limits.cost_per_day") == []
    assert not is_chinese("Nothing is running here.")
    assert not is_chinese("/help")


async def test_a_card_its_press_and_its_outcome(
    tmp_path: Path, chinese: Config, is_open: Is, is_closed: Is
) -> None:
    async with running_bot(tmp_path, chinese) as bot:
        await bot.channel.say("/run touch a")
        card = await bot.channel.wait_for(is_open)
        assert card.card is not None
        assert card.card.title.startswith("执行命令？")
        assert [button.label for button in card.buttons][:1] == ["批准一次"]
        for words in (card.body, *(button.label for button in card.buttons)):
            assert is_chinese(words), words
        asked = await bot.channel.ask("拒绝并说明理由")
        assert isinstance(asked, Prompt)
        assert (asked.title, is_chinese(asked.question)) == ("拒绝并说明理由", True)
        reply = await bot.channel.press("批准一次")
        assert (reply.ok, reply.text) == (True, "已批准一次。")
        closed = await bot.channel.wait_for(is_closed)
        assert "批准一次" in closed.body
        assert is_chinese(closed.body), closed.body
        await bot.channel.wait_for_text("exit code 0")


async def test_a_denial_is_english_for_the_model_and_chinese_on_the_card(
    tmp_path: Path, chinese: Config, is_open: Is, is_closed: Is
) -> None:
    model = ScriptedModel([CallTool("exec", {"command": "touch a"}), Say("好的")])
    async with running_bot(tmp_path, chinese, model=model.model) as bot:
        await bot.channel.say("创建文件")
        await bot.channel.wait_for(is_open)
        await bot.channel.press("拒绝")
        closed = await bot.channel.wait_for(is_closed)
        assert is_chinese(closed.body), closed.body
        await bot.channel.wait_for_text("好的")
    assert "denied it" in repr(model.seen[-1])


async def test_an_edit_a_batch_and_a_stranger(tmp_path: Path, chinese: Config, is_open: Is) -> None:
    async with running_bot(tmp_path, chinese) as bot:
        for number in (101, 102):
            await bot.channel.say(f"/run touch {number}", chat_id=str(number))
        await eventually(lambda: sum(map(is_open, bot.channel.messages)) == 2, "two cards")
        asked = await bot.channel.ask("修改")
        assert isinstance(asked, Prompt)
        assert (asked.title, is_chinese(asked.question)) == ("修改 exec", True)
        await bot.channel.say("/approvals")
        batch = await bot.channel.wait_for_button("全部批准")
        assert is_chinese(batch.body), batch.body
        await bot.channel.wait_for_text("可用一张卡片同时决定其中 2 项。")
        reply = await bot.channel.press("全部拒绝")
        assert is_chinese(reply.text), reply.text
        assert (await bot.channel.command("status", sender_id="9")).text.startswith("本机器人不认识您")


COMMANDS_ASKED = (
    *(f"/{command.name}" for command in COMMANDS if command.name not in ("tool", "run", "compact")),
    "/start",
    "/approve",
    "/approve abcd",
    "/approve abcd twice",
    "/deny abcd",
    "/revoke abcd",
    "/model nothing",
    "/pause here",
    "/pause here",
    "/resume",
    "/pause nowhere",
    "/pause",
    "/pause",
    "/status",
    "/resume",
    "/undo show",
    "/undo what",
    "/workflows none",
    "/pair 1",
    "/nonsense",
    "/tool",
    "/run",
    "/tool exec {",
    "/tool exec 'a",
    "/compact",
    "hello",
)


async def told(bot: RunningBot, text: str) -> str:
    """What the bot says to this, alone."""
    before = len(bot.channel.texts)
    await bot.channel.say(text)
    await eventually(lambda: len(bot.channel.texts) > before, f"an answer to {text}")
    return "\n".join(bot.channel.texts[before:])


async def test_every_command_answers_in_chinese(tmp_path: Path, chinese: Config) -> None:
    async with running_bot(tmp_path, chinese) as bot:
        for text in COMMANDS_ASKED:
            answer = await told(bot, text)
            own = answer.split("Expecting property name", 1)[0].split("No closing quotation", 1)[0]
            assert is_chinese(own.split("\n\n", 1)[0] if text == "/tools" else own), (text, answer)


async def test_help_and_menus_describe_the_commands_in_chinese(tmp_path: Path, chinese: Config) -> None:
    async with running_bot(tmp_path, chinese) as bot:
        shown = bot.parts.inbox.commands()
        assert [command.name for command in shown] == [command.name for command in COMMANDS]
        for command in shown:
            assert is_chinese(command.description), command.description
            for parameter in command.parameters:
                assert parameter.name == "arguments" or is_chinese(parameter.description)
        answer = await told(bot, "/help")
        assert all(f"`/{command.name}" in answer for command in COMMANDS)


async def test_what_waits_and_expires_says_so_in_chinese(
    tmp_path: Path,
    chinese: Config,
    is_open: Is,
    is_closed: Is,
    clock: MovedClock,
    expire: Callable[[RunningBot], Awaitable[None]],
) -> None:
    async with running_bot(tmp_path, chinese, clock=clock) as bot:
        await bot.channel.say("/run touch a")
        await bot.channel.wait_for(is_open)
        await bot.channel.say("还有一件事")
        waits = await bot.channel.wait_for_text("此聊天中有待作出的决定")
        assert waits.text is not None
        assert is_chinese(waits.text.text)
        await expire(bot)
        closed = await bot.channel.wait_for(is_closed)
        assert "无人决定" in closed.body
        assert is_chinese(closed.body), closed.body
        reply = await bot.channel.press("再次询问")
        assert is_chinese(reply.text), reply.text


async def test_a_job_is_told_of_in_chinese(tmp_path: Path, chinese: Config, is_open: Is) -> None:
    call = "/tool cronjob action=create name=tea schedule='0 8 * * 1-5' instruction='/run date' timezone=UTC"
    async with running_bot(tmp_path, chinese) as bot:
        await bot.channel.say(call)
        card = await bot.channel.wait_for(is_open)
        assert "星期一 – 星期五 08:00" in card.body
        assert "周" in card.body
        assert is_chinese(card.body), card.body
        await bot.channel.press("批准一次")
        made = await bot.channel.wait_for_text("Made: tea")
        assert made.text is not None
        assert "at 08:00" in made.text.text, "what a tool says is for the model and stays English"
        answer = await told(bot, "/jobs")
        assert "星期一 – 星期五 08:00" in answer
        assert "已授权" in answer
        assert is_chinese(answer), answer


async def test_telegram_asks_for_words_in_chinese(tmp_path: Path, chinese: Config) -> None:
    async with TelegramEmulator() as telegram:
        settings = ChannelSettings(account="", api_base=telegram.url, secrets={"token": telegram.token})
        keys = {
            **chinese,
            "channels.telegram.api_base": telegram.url,
            "channels.telegram.allow_from": ["42"],
            "permissions.admin_users": ["telegram:42"],
        }
        async with running_bot(tmp_path, keys, channels=[TelegramChannel(settings)]):
            chat = telegram.user(42, "Ada", "ada").chat()
            chat.say("/run touch a")
            card = await chat.wait_for_button("拒绝并说明理由")
            assert is_chinese(card.text), card.text
            assert "\n工具：exec\n" in card.text
            pressed = await chat.press("拒绝并说明理由").answer()
            assert pressed.text == "请回复此消息。"
            asked = await chat.wait_for_text("为什么拒绝？")
            chat.reply(asked, "风险太大")
            await chat.wait_for_text("已拒绝。")
            await eventually(lambda: "风险太大" in card.text, "the card to close")
            assert is_chinese(card.text), card.text


async def test_a_value_cannot_break_out_of_a_chinese_template(
    tmp_path: Path, chinese: Config, is_open: Is
) -> None:
    async with running_bot(tmp_path, chinese) as bot:
        await bot.channel.say("/run echo '{by} {at}'", sender_name="{id} 已批准\n工具：exec")
        card = await bot.channel.wait_for(is_open)
        assert card.card is not None
        facts = next(block for block in card.card.blocks if isinstance(block, Fields))
        assert [label for label, _value in facts.rows if label in ("工具", "编号")] == ["工具", "编号"]
        person = dict(facts.rows)["请求人"]
        assert "{id}" in person
        assert "\n" not in person
        assert "echo '{by} {at}'" in card.body
        answer = await told(bot, "/approve `{id}`")
        assert is_chinese(answer)
