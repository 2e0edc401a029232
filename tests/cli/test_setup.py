"""`echo-bot setup` against the platforms' emulators: what it says, writes, keeps secret and leaves alone."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from echo_bot.cli import setting_up
from echo_bot.config.key_variable import KEY_VARIABLE
from echo_bot.credentials import Key, Vault
from echo_bot.storage.store import SqlStore
from echo_bot.testing.command_line import Answer, CommandLine
from echo_bot.testing.discord import DiscordEmulator
from echo_bot.testing.slack import USER_TOKEN, SlackEmulator
from echo_bot.testing.telegram import TelegramEmulator
from echo_bot.testing.waiting import PATIENCE_SECONDS

KEY = Key(bytes(range(32)))


@dataclass(frozen=True, slots=True)
class Desk:
    """The command line with a configuration file and a key."""

    command_line: CommandLine
    file: Path

    async def set_up(self, channel: str, *arguments: str, stdin: str) -> Answer:
        return await asyncio.to_thread(self.command_line, "setup", channel, *arguments, stdin=stdin)

    async def stored(self, owner: str, field: str) -> str | None:
        async def read(store: SqlStore) -> str | None:
            return await Vault(store.sealed, KEY, lambda: pytest.fail("nothing is written")).get(owner, field)

        return await asyncio.to_thread(self.command_line.with_store, read)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """With the channels that are really installed."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    command_line = CommandLine(tmp_path)
    file = tmp_path / "config.yaml"
    file.write_text("# mine\nworkspace: /srv/work\nchannels:\n  telegram:\n    allow_from: ['7']  # Bo\n")
    command_line.environ |= {KEY_VARIABLE: KEY.reveal(), "ECHO_BOT_CONFIG": str(file)}
    return Desk(command_line, file)


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        yield emulator


@pytest.fixture
async def discord() -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator(first_answer_seconds=PATIENCE_SECONDS) as emulator:
        yield emulator


@pytest.fixture
async def slack() -> AsyncIterator[SlackEmulator]:
    async with SlackEmulator() as emulator:
        yield emulator


async def test_telegram_is_checked_written_and_shown_a_card(desk: Desk, telegram: TelegramEmulator) -> None:
    chat = telegram.user(42).chat()
    chat.say("hi")
    answer = await desk.set_up(
        "telegram",
        *("--set", f"api_base={telegram.url}", "--allow", "42", "--send-to", "42"),
        stdin=f"{telegram.token}\n",
    )
    assert (answer.code, answer.err) == (0, "")
    assert "@" in answer.out
    assert "https://t.me/" in answer.out
    assert telegram.token not in answer.out
    written = desk.file.read_text()
    assert "# mine\nworkspace: /srv/work" in written
    assert telegram.token not in written
    assert "enabled: true" in written
    assert all(each in written for each in ("# Bo", "7", "42"))
    assert await desk.stored("channel:telegram", "token") == telegram.token
    card = await chat.wait_for_button("Try the button")
    assert "Echo Bot can reach you here" in card.text
    assert (await asyncio.to_thread(desk.command_line, "config", "check")).code == 0


async def test_only_where_nobody_is_listed_it_says_how_to_let_people_in(
    desk: Desk, telegram: TelegramEmulator
) -> None:
    base = ("--set", f"api_base={telegram.url}")
    listed = await desk.set_up("telegram", *base, stdin=f"{telegram.token}\n")
    desk.file.write_text("")
    empty = await desk.set_up("telegram", *base, stdin=f"{telegram.token}\n")
    assert (listed.code, empty.code) == (0, 0)
    assert "Nobody is listed yet" not in listed.out
    assert "Nobody is listed yet" in empty.out


async def test_a_refused_token_writes_nothing(desk: Desk, telegram: TelegramEmulator) -> None:
    before = desk.file.read_text()
    answer = await desk.set_up("telegram", "--set", f"api_base={telegram.url}", stdin="1:wrong\n")
    assert answer.code == 1
    assert "@BotFather" in answer.err
    assert "run this again" in answer.err
    assert "channels.telegram.token" not in answer.err
    assert "Nothing was written" in answer.err
    assert "1:wrong" not in answer.out + answer.err
    assert desk.file.read_text() == before
    assert await desk.stored("channel:telegram", "token") is None


async def test_a_platform_that_cannot_be_reached_is_another_thing(desk: Desk) -> None:
    answer = await desk.set_up("telegram", "--set", "api_base=http://127.0.0.1:9", stdin="1:a\n")
    assert answer.code == 3
    assert "Nothing was written" in answer.err


async def test_discord_names_the_missing_intent_and_the_invitation(
    desk: Desk, discord: DiscordEmulator
) -> None:
    discord.message_content_granted = False
    ada = discord.user("Ada")
    answer = await desk.set_up(
        "discord",
        *("--set", f"api_base={discord.api_base}", "--set", f"gateway_url={discord.gateway_url}"),
        *("--send-to", ada.id),
        stdin=f"{discord.token}\n",
    )
    assert answer.code == 1
    assert "Message Content Intent" in answer.out
    assert "oauth2/authorize" in answer.out
    assert await desk.stored("channel:discord", "token") == discord.token
    assert "Echo Bot can reach you here" in (await ada.dm().wait_for_button("Try the button")).text


async def test_discord_with_its_intent_has_no_problem(desk: Desk, discord: DiscordEmulator) -> None:
    answer = await desk.set_up(
        "discord",
        *("--set", f"api_base={discord.api_base}", "--set", f"gateway_url={discord.gateway_url}"),
        stdin=f"{discord.token}\n",
    )
    assert (answer.code, answer.err) == (0, "")
    assert "Missing" not in answer.out


async def test_slack_asks_for_both_tokens_of_its_mode(desk: Desk, slack: SlackEmulator) -> None:
    ada = slack.user("U1", "Ada").dm()
    answer = await desk.set_up(
        "slack",
        *("--set", f"api_base={slack.url}", "--send-to", "U1"),
        stdin=f"{slack.bot_token}\n{slack.app_token}\n",
    )
    assert (answer.code, answer.err) == (0, "")
    assert "/invite" in answer.out
    assert await desk.stored("channel:slack", "app_token") == slack.app_token
    assert (await ada.wait_for_button("Try the button")).text


async def test_slack_by_http_wants_the_signing_secret(desk: Desk, slack: SlackEmulator) -> None:
    answer = await desk.set_up(
        "slack",
        *("--account", "work", "--set", f"api_base={slack.url}", "--set", "mode=http"),
        stdin=f"{slack.bot_token}\nshh-signed\n",
    )
    assert answer.code == 0
    assert "/slack/work/events" in answer.out
    assert await desk.stored("channel:slack/work", "signing_secret") == "shh-signed"
    assert await desk.stored("channel:slack/work", "app_token") is None


async def test_a_refused_token_of_the_environment_is_not_asked_for_again(
    desk: Desk, telegram: TelegramEmulator
) -> None:
    desk.command_line.environ["ECHO_BOT_CHANNELS__TELEGRAM__TOKEN"] = "1:wrong"
    answer = await desk.set_up("telegram", "--set", f"api_base={telegram.url}", stdin="")
    assert answer.code == 1
    assert "set channels.telegram.token" in answer.err


async def test_slack_says_that_the_app_token_is_not_one(desk: Desk, slack: SlackEmulator) -> None:
    before = desk.file.read_text()
    answer = await desk.set_up(
        "slack", "--set", f"api_base={slack.url}", stdin=f"{slack.bot_token}\nxapp-wrong\n"
    )
    assert answer.code == 1
    assert "Slack does not accept the app token (invalid_auth)" in answer.err
    assert "connections:write" in answer.err
    assert desk.file.read_text() == before
    assert await desk.stored("channel:slack", "bot_token") is None


async def test_without_a_key_one_is_made_and_told_once(desk: Desk, telegram: TelegramEmulator) -> None:
    del desk.command_line.environ[KEY_VARIABLE]
    answer = await desk.set_up("telegram", "--set", f"api_base={telegram.url}", stdin=f"{telegram.token}\n")
    assert answer.code == 0
    told = next(line for line in answer.out.splitlines() if line.startswith(f"export {KEY_VARIABLE}="))
    desk.command_line.environ[KEY_VARIABLE] = told.partition("=")[2]
    listed = await asyncio.to_thread(desk.command_line, "credentials", "list")
    assert "channels.telegram.token" in listed.out


async def test_no_second_key_is_made_beside_values_that_another_one_opens(
    desk: Desk, telegram: TelegramEmulator, slack: SlackEmulator
) -> None:
    base = ("--set", f"api_base={telegram.url}")
    await desk.set_up("telegram", *base, stdin=f"{telegram.token}\n")
    before = desk.file.read_text()
    tokens = f"{slack.bot_token}\n{slack.app_token}\n"
    for other in ({}, {KEY_VARIABLE: Key.generate().reveal()}):
        desk.command_line.environ.pop(KEY_VARIABLE)
        desk.command_line.environ |= other
        answer = await desk.set_up("slack", "--set", f"api_base={slack.url}", stdin=tokens)
        assert answer.code == 2
        assert "channels.telegram.token" in answer.err
        assert "export" not in answer.out
        desk.command_line.environ[KEY_VARIABLE] = KEY.reveal()
    assert desk.file.read_text() == before
    assert await desk.stored("channel:slack", "bot_token") is None
    desk.command_line.environ.pop(KEY_VARIABLE)
    again = await desk.set_up("telegram", *base, stdin=f"{telegram.token}\n")
    assert (again.code, "export" in again.out) == (0, True)


async def test_who_never_wrote_to_the_bot_is_told_where_to(desk: Desk, telegram: TelegramEmulator) -> None:
    telegram.fail("sendMessage", 403, "Forbidden: bot can't initiate conversation with a user")
    arguments = ("--set", f"api_base={telegram.url}", "--send-to", "42")
    answer = await desk.set_up("telegram", *arguments, stdin=f"{telegram.token}\n")
    assert answer.code == 1
    assert "run this again" in answer.err
    assert "https://t.me/" in answer.out


@pytest.mark.parametrize(
    ("channel", "arguments", "says"),
    [
        ("telegrm", (), "did you mean telegram"),
        ("--allow", ("1",), "telegram|discord|slack"),
        ("web", (), "there are: discord, slack, telegram"),
        ("telegram", ("--set", "token=1:x"), "never stand on the command line"),
        ("telegram", ("--set", "webhook_url"), "KEY=VALUE"),
        ("telegram", ("--set", "nonsense=1"), "nonsense"),
        ("telegram", (), "was not given"),
    ],
)
async def test_what_cannot_be_set_up_is_refused_with_a_sentence(
    desk: Desk, channel: str, arguments: tuple[str, ...], says: str
) -> None:
    before = desk.file.read_text()
    answer = await desk.set_up(channel, *arguments, stdin="")
    assert answer.code == 2
    assert says in answer.err
    assert desk.file.read_text() == before


async def test_a_name_where_an_id_belongs_is_refused_before_anything_is_asked(desk: Desk) -> None:
    before = desk.file.read_text()
    answer = await desk.set_up("telegram", "--allow", "Ada", stdin="")
    assert answer.code == 2
    assert "--allow Ada: that is no id on Telegram" in answer.err
    assert desk.file.read_text() == before


async def test_the_library_says_nothing_of_its_own(
    desk: Desk, telegram: TelegramEmulator, capfd: pytest.CaptureFixture[str]
) -> None:
    telegram.fail("getMe", 429, retry_after=7)
    answer = await desk.set_up("telegram", "--set", f"api_base={telegram.url}", stdin=f"{telegram.token}\n")
    assert answer.code == 3
    assert "wait 7 s" in answer.err
    assert "Run this again after that" in answer.err
    assert "Traceback" not in answer.err + capfd.readouterr().err


async def test_an_option_that_is_wrong_is_named_as_it_was_written(desk: Desk) -> None:
    for arguments, says in (
        (
            ("--set", "api-base=http://x"),
            "echo-bot: --set api-base: there is no such key; did you mean",
        ),
        (("--account", "my bot"), "echo-bot: --account my bot: must be 1 to 32 of the letters a to z"),
        (("--account", "a.b"), "echo-bot: --account a.b: must be"),
        (("--allow", "42,43"), "several take an --allow each"),
    ):
        answer = await desk.set_up("telegram", *arguments, stdin="")
        assert answer.code == 2
        assert says in answer.err
        assert str(desk.file) not in answer.err


async def test_slack_says_which_kind_of_token_was_given(desk: Desk, slack: SlackEmulator) -> None:
    base = ("--set", f"api_base={slack.url}")
    swapped = await desk.set_up("slack", *base, stdin=f"{slack.app_token}\n{slack.bot_token}\n")
    assert "It begins with xoxb-, and what was given does not" in swapped.err
    persons = await desk.set_up("slack", *base, stdin=f"{USER_TOKEN}\n{slack.app_token}\n")
    assert persons.code == 1
    assert "a person's" in persons.err
    assert await desk.stored("channel:slack", "bot_token") is None


async def test_a_token_with_its_surroundings_is_told_apart(desk: Desk, telegram: TelegramEmulator) -> None:
    for pasted in (f"The token is {telegram.token}", f'"{telegram.token}"'):
        answer = await desk.set_up("telegram", "--set", f"api_base={telegram.url}", stdin=f"{pasted}\n")
        assert answer.code == 1
        assert "give the token alone" in answer.err


async def test_a_stored_token_need_not_be_given_again(desk: Desk, telegram: TelegramEmulator) -> None:
    base = ("--set", f"api_base={telegram.url}")
    await desk.set_up("telegram", *base, stdin=f"{telegram.token}\n")
    again = await desk.set_up("telegram", *base, "--allow", "42", stdin="")
    assert (again.code, again.err) == (0, "")
    assert "42" in desk.file.read_text()
    assert await desk.stored("channel:telegram", "token") == telegram.token
    other = await desk.set_up("telegram", *base, stdin="1:wrong\n")
    assert other.code == 1
    assert await desk.stored("channel:telegram", "token") == telegram.token


async def test_a_file_that_cannot_be_written_is_said_before_anything_is_asked(
    desk: Desk, telegram: TelegramEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    answer = await desk.set_up("telegram", "--set", f"api_base={telegram.url}", stdin=f"{telegram.token}\n")
    assert answer.code == 2
    assert "Nothing was written" in answer.err
    assert "another file with -c" in answer.err
    assert not telegram.called("getMe")
    assert await desk.stored("channel:telegram", "token") is None


async def test_giving_up_in_the_middle_says_that_nothing_was_written(
    desk: Desk, telegram: TelegramEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    before = desk.file.read_text()
    monkeypatch.setattr(setting_up, "ask", interrupted)
    answer = await desk.set_up("telegram", "--set", f"api_base={telegram.url}", stdin="")
    assert (answer.code, answer.err.strip()) == (1, "Nothing was written.")
    assert desk.file.read_text() == before


async def test_pair_says_how_where_the_platform_keeps_slashes_to_itself(desk: Desk) -> None:
    other = await asyncio.to_thread(desk.command_line, "pair")
    desk.file.write_text("channels: {slack: {enabled: true}}\n")
    slack = await asyncio.to_thread(desk.command_line, "pair")
    assert "In Slack" not in other.err
    assert f"In Slack: /echo pair {slack.out.strip()}\n" in slack.err


async def test_a_second_account_with_the_same_token_is_refused(
    desk: Desk, telegram: TelegramEmulator
) -> None:
    desk.file.write_text("")
    base = ("--set", f"api_base={telegram.url}")
    first = await desk.set_up("telegram", "--account", "a", *base, stdin=f"{telegram.token}\n")
    before = desk.file.read_text()
    second = await desk.set_up("telegram", "--account", "b", *base, stdin=f"{telegram.token}\n")
    assert (first.code, second.code) == (0, 2)
    assert "the account a has the same token" in second.err
    assert desk.file.read_text() == before
    assert await desk.stored("channel:telegram/b", "token") is None
    again = await desk.set_up("telegram", "--account", "a", *base, stdin="")
    assert (again.code, again.err) == (0, "")
