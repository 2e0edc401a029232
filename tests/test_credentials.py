from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.config.key_variable import KEY_VARIABLE, empty_variables
from echo_bot.credentials import Key, SealedName, Vault, require_key, take_key
from echo_bot.errors import StartError, StorageError
from echo_bot.storage.store import SqlStore, open_store, sqlite_url

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
KEY = Key(bytes(range(32)))
OTHER = Key(bytes(range(1, 33)))
SECRET = "123456:telegram-token-ü"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    store = await open_store(sqlite_url(tmp_path / "echo-bot.db"))
    yield store
    await store.close()


def vault(store: SqlStore, key: Key | None = KEY) -> Vault:
    return Vault(store.sealed, key, lambda: NOW)


@given(st.binary(min_size=32, max_size=32))
def test_a_key_is_read_as_it_was_written(raw: bytes) -> None:
    assert Key.parse(Key(raw).reveal()) == Key(raw)
    assert Key.parse(base64.urlsafe_b64encode(raw).decode()) == Key(raw)


NO_KEYS = {
    "nothing": "",
    "a password": "correct horse battery staple",
    "16 bytes": base64.urlsafe_b64encode(bytes(16)).decode(),
    "33 bytes": base64.urlsafe_b64encode(bytes(33)).decode(),
    "64 hexadecimal digits": "ab" * 32,
    "the ordinary base64 alphabet": base64.b64encode(b"\xff" * 32).decode(),
    "a blank inside": KEY.reveal()[:20] + " " + KEY.reveal()[20:],
    "two paddings": KEY.reveal() + "==",
    "unused bits set": KEY.reveal()[:-1] + "9",
    "letters beyond ASCII": "é" * 43,
}


@pytest.mark.parametrize("text", NO_KEYS.values(), ids=NO_KEYS)
def test_no_key_is(text: str) -> None:
    assert Key.parse(text) is None


def test_generated_keys_are_good_and_different() -> None:
    one, two = Key.generate(), Key.generate()
    assert one != two
    assert Key.parse(one.reveal()) == one
    assert len(one.key_id) == 8


def test_a_key_does_not_show_itself() -> None:
    assert KEY.reveal() not in repr(KEY)
    assert "raw" not in repr(KEY)


@pytest.mark.parametrize("name", [KEY_VARIABLE, "ECHO_AGENT_CREDENTIAL_KEY"])
def test_a_key_is_taken_out_of_the_environment(name: str) -> None:
    environ = {name: f" {KEY.reveal()}\n", "HOME": "/home/anna"}
    assert take_key(environ, "ECHO_AGENT_CREDENTIAL_KEY") == KEY
    assert environ == {"HOME": "/home/anna"}


def test_no_key_in_the_environment_is_no_key() -> None:
    assert take_key({}, "ECHO_AGENT_CREDENTIAL_KEY") is None
    assert take_key({KEY_VARIABLE: ""}) is None


def test_a_bad_key_refuses_without_repeating_it() -> None:
    environ = {"MY_KEY": "my secret pass phrase"}
    with pytest.raises(StartError, match="MY_KEY is not a credential key") as refusal:
        take_key(environ, "MY_KEY")
    assert "pass phrase" not in str(refusal.value)
    assert environ == {}


def test_two_different_keys_refuse_and_two_equal_ones_do_not() -> None:
    with pytest.raises(StartError, match="different keys"):
        take_key({KEY_VARIABLE: KEY.reveal(), "MY_KEY": OTHER.reveal()}, "MY_KEY")
    assert take_key({KEY_VARIABLE: KEY.reveal(), "MY_KEY": KEY.reveal()}, "MY_KEY") == KEY


def test_credentials_without_a_key_refuse_with_the_line_that_makes_one() -> None:
    with pytest.raises(StartError, match=r"channels\.telegram\.token") as refusal:
        require_key(None, ["models.api_key", "channels.telegram.token"])
    assert str(refusal.value).startswith(
        "credentials are stored encrypted (channels.telegram.token, models.api_key), and the key that opens "
        f"them is not set. Set {KEY_VARIABLE} to it"
    )
    assert "empty" not in str(refusal.value)


def test_a_key_that_is_set_to_nothing_is_called_empty() -> None:
    environ = {KEY_VARIABLE: " \n", "MY_KEY": "x"}
    empty = empty_variables(environ, "MY_KEY")
    assert empty == (KEY_VARIABLE,)
    with pytest.raises(StartError, match=f"{KEY_VARIABLE} is set but empty"):
        require_key(None, ["models.api_key"], empty=empty)
    assert empty_variables({}) == ()


def test_nothing_to_encrypt_a_key_or_permission_starts() -> None:
    require_key(None, [])
    require_key(KEY, ["models.api_key"])
    require_key(None, ["models.api_key"], require_encryption=False)


async def test_a_value_comes_back_and_is_not_readable_in_the_file(store: SqlStore) -> None:
    await vault(store).set("channel:telegram", "token", SECRET)
    assert await vault(store).get("channel:telegram", "token") == SECRET
    assert await vault(store).get("channel:telegram", "other") is None
    await store.close()
    for path in store.path.parent.iterdir():
        assert SECRET.encode() not in path.read_bytes()


async def test_equal_values_are_sealed_differently(store: SqlStore) -> None:
    for field in ("a", "b"):
        await vault(store).set("channel:x", field, SECRET)
    one, two = await store.sealed.list()
    assert one.ciphertext != two.ciphertext
    assert one.nonce != two.nonce


async def test_names_are_listed_and_deleted_without_a_key(store: SqlStore) -> None:
    await vault(store).set("channel:telegram", "token", SECRET)
    blind = vault(store, None)
    assert await blind.list() == (SealedName("channel:telegram", "token", KEY.key_id, NOW),)
    with pytest.raises(StartError, match="no credential key"):
        await blind.get("channel:telegram", "token")
    with pytest.raises(StartError, match="no credential key"):
        await blind.set("channel:telegram", "token", "x")
    assert await blind.delete("channel:telegram", "token")
    assert await blind.list() == ()


async def test_the_wrong_key_is_named_beside_the_right_one(store: SqlStore) -> None:
    await vault(store).set("channel:telegram", "token", SECRET)
    with pytest.raises(StartError) as refusal:
        await vault(store, OTHER).get("channel:telegram", "token")
    assert KEY.key_id in str(refusal.value)
    assert OTHER.key_id in str(refusal.value)
    assert SECRET not in str(refusal.value)


@pytest.mark.parametrize("change", ["owner", "field", "ciphertext", "nonce"])
async def test_a_value_that_was_moved_or_altered_is_refused(store: SqlStore, change: str) -> None:
    await vault(store).set("channel:telegram", "token", SECRET)
    (stored,) = await store.sealed.list()
    altered = {
        "owner": replace(stored, owner="tool:web_search"),
        "field": replace(stored, field="secret"),
        "ciphertext": replace(stored, ciphertext=stored.ciphertext[:-1] + b"x"),
        "nonce": replace(stored, nonce=b""),
    }[change]
    await store.sealed.put(altered)
    with pytest.raises(StorageError, match="altered or moved") as refusal:
        await vault(store).get(altered.owner, altered.field)
    assert SECRET not in str(refusal.value)


async def test_all_values_of_one_owner(store: SqlStore) -> None:
    kept = vault(store)
    await kept.set("tool:web_search", "key", "1")
    await kept.set("tool:web_search", "url", "2")
    await kept.set("tool:other", "key", "3")
    assert await kept.of_owner("tool:web_search") == {"key": "1", "url": "2"}
    assert await kept.of_owner("tool:none") == {}


async def test_a_new_key_reads_everything_after_rotation_and_the_old_one_nothing(store: SqlStore) -> None:
    kept = vault(store)
    await kept.set("channel:telegram", "token", SECRET)
    await kept.set("tool:web_search", "key", "2")
    assert await kept.rotate(OTHER) == 2
    assert await kept.get("channel:telegram", "token") == SECRET
    assert await vault(store, OTHER).get("tool:web_search", "key") == "2"
    with pytest.raises(StartError):
        await vault(store).get("tool:web_search", "key")
    assert await kept.rotate(OTHER) == 0


async def test_an_interrupted_rotation_is_finished_by_the_next(store: SqlStore) -> None:
    await vault(store).set("a", "one", "1")
    await vault(store, OTHER).set("b", "two", "2")
    assert await vault(store).rotate(OTHER) == 1
    assert await vault(store, OTHER).of_owner("a") == {"one": "1"}


async def test_a_rotation_with_the_wrong_key_changes_nothing(store: SqlStore) -> None:
    await vault(store).set("a", "one", "1")
    before = await store.sealed.list()
    with pytest.raises(StartError):
        await vault(store, OTHER).rotate(Key.generate())
    assert await store.sealed.list() == before
