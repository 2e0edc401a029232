from __future__ import annotations

import json

import pytest

from echo_bot.channel import ChannelManifest
from echo_bot.cli.credentials import owner_and_field
from echo_bot.config.key_variable import KEY_VARIABLE
from echo_bot.credentials import Key, Vault, stored_name
from echo_bot.errors import ConfigError
from echo_bot.storage.store import SqlStore
from echo_bot.testing.command_line import CommandLine

MANIFESTS = (ChannelManifest("telegram", "Telegram", "nowhere:build", secrets=("token", "webhook_secret")),)
KEY = Key(bytes(range(32)))
SECRET = "123456:a-bot-token"
NAMES = {
    "channels.telegram.token": ("channel:telegram", "token"),
    "channels.telegram.accounts.work.token": ("channel:telegram/work", "token"),
    "models.api_key": ("models", "api_key"),
    "tools.web.search_api_key": ("tools.web", "search_api_key"),
    "tools.image_gen.api_key": ("tools.image_gen", "api_key"),
    "tools.tts.api_key": ("tools.tts", "api_key"),
    "tools.stt.api_key": ("tools.stt", "api_key"),
    "tools.vision.api_key": ("tools.vision", "api_key"),
    "tool:weather.key": ("tool:weather", "key"),
}


@pytest.fixture
def keyed(command_line: CommandLine) -> CommandLine:
    command_line.environ[KEY_VARIABLE] = KEY.reveal()
    return command_line


async def opened(store: SqlStore, key: Key = KEY) -> dict[str, str]:
    vault = Vault(store.sealed, key, lambda: pytest.fail("nothing is written"))
    names = await vault.list()
    return {stored_name(n.owner, n.field): await vault.get(n.owner, n.field) or "" for n in names}


@pytest.mark.parametrize(("name", "place"), NAMES.items(), ids=NAMES)
def test_a_name_has_one_place(name: str, place: tuple[str, str]) -> None:
    assert owner_and_field(name, MANIFESTS) == place
    assert stored_name(*place) == name


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("channels.telegram.tokn", "did you mean channels.telegram.token"),
        ("models.apikey", "did you mean models.api_key"),
        ("channels.telegram.accounts..token", "cannot|no credential"),
        ("tool:.key", "no credential"),
        ("tool:weather", "no credential"),
        ("gateway.api_tokens", "no credential"),
        ("", "no credential"),
    ],
)
def test_a_name_that_nothing_reads_is_refused(name: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        owner_and_field(name, MANIFESTS)


def test_a_new_key_is_a_key_and_alone_on_stdout(command_line: CommandLine) -> None:
    one, two = command_line("credentials", "key"), command_line("credentials", "key")
    assert one.err == ""
    assert one.out != two.out
    assert Key.parse(one.out.strip()) is not None


def test_a_value_from_standard_input_is_stored_encrypted(keyed: CommandLine) -> None:
    answer = keyed("credentials", "set", "channels.telegram.token", stdin=f"{SECRET}\n")
    assert answer.code == 0
    assert KEY.key_id in answer.out
    assert SECRET not in answer.out
    assert keyed.with_store(opened) == {"channels.telegram.token": SECRET}
    assert SECRET not in keyed("audit", "tail").out


@pytest.mark.parametrize(
    "stdin", ["", "\n", "two\nlines", "bell\x07"], ids=["nothing", "a blank", "lines", "a bell"]
)
def test_no_value_is(keyed: CommandLine, stdin: str) -> None:
    answer = keyed("credentials", "set", "models.api_key", stdin=stdin)
    assert answer.code == 2
    assert keyed("credentials", "list", "--json").out == "[]\n"


def test_without_a_key_the_line_that_makes_one_is_shown(command_line: CommandLine) -> None:
    answer = command_line("credentials", "set", "models.api_key", stdin=SECRET)
    assert answer.code == 2
    assert "echo-bot credentials key" in answer.err


def test_a_malformed_key_is_refused(command_line: CommandLine) -> None:
    command_line.environ[KEY_VARIABLE] = "my pass phrase"
    answer = command_line("credentials", "set", "models.api_key", stdin=SECRET)
    assert answer.code == 2
    assert "pass phrase" not in answer.err


def test_names_are_listed_without_values_and_deleted(keyed: CommandLine) -> None:
    keyed("credentials", "set", "models.api_key", stdin=SECRET)
    keyed("credentials", "set", "channels.telegram.token", stdin=SECRET)
    answer = keyed("credentials", "list")
    assert [line.split("\t")[:2] for line in answer.out.splitlines()] == [
        ["channels.telegram.token", KEY.key_id],
        ["models.api_key", KEY.key_id],
    ]
    assert SECRET not in answer.out
    assert keyed("credentials", "delete", "models.api_key").code == 0
    assert keyed("credentials", "delete", "models.api_key").code == 1
    assert [row["name"] for row in json.loads(keyed("credentials", "list", "--json").out)] == [
        "channels.telegram.token"
    ]


def test_rotation_needs_a_good_key_and_then_only_the_new_one_reads(keyed: CommandLine) -> None:
    keyed("credentials", "set", "models.api_key", stdin=SECRET)
    assert keyed("credentials", "rotate", stdin="nonsense").code == 2
    new = Key.generate()
    answer = keyed("credentials", "rotate", stdin=new.reveal())
    assert answer.code == 0
    assert new.key_id in answer.out
    assert new.reveal() not in answer.out
    assert keyed.with_store(lambda store: opened(store, new)) == {"models.api_key": SECRET}
