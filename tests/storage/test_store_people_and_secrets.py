from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from echo_bot.errors import StorageError
from echo_bot.storage.records import AuditHead, AuditRow, PairedSender, PairingCode, SealedValue
from echo_bot.storage.store import SqlStore

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def code(text: str = "hash") -> PairingCode:
    return PairingCode(text, ("chat", "approver"), NOW + 10 * MINUTE)


async def test_a_code_pairs_once(store: SqlStore) -> None:
    await store.people.add_code(code())
    assert await store.people.open_codes(NOW) == 1
    anna = PairedSender("telegram:1", ("chat", "approver"), NOW)
    assert await store.people.redeem("hash", "telegram:1", NOW) == anna
    assert await store.people.redeem("hash", "telegram:2", NOW) is None
    assert await store.people.paired() == (anna,)
    assert await store.people.open_codes(NOW) == 0


async def test_an_expired_code_is_a_miss(store: SqlStore) -> None:
    await store.people.add_code(code())
    assert await store.people.open_codes(NOW + 10 * MINUTE) == 0
    assert await store.people.redeem("hash", "telegram:1", NOW + 10 * MINUTE) is None
    assert await store.people.misses("telegram:1", NOW) == 1


async def test_misses_count_per_sender_and_since(store: SqlStore) -> None:
    for minute in range(3):
        await store.people.redeem("wrong", "telegram:1", NOW + minute * MINUTE)
    await store.people.redeem("wrong", "telegram:2", NOW)
    assert await store.people.misses("telegram:1", NOW) == 3
    assert await store.people.misses("telegram:1", NOW + MINUTE) == 2


async def test_a_second_code_adds_its_roles(store: SqlStore) -> None:
    await store.people.add_code(code("one"))
    await store.people.add_code(PairingCode("two", ("chat", "admin"), NOW + MINUTE))
    await store.people.redeem("two", "telegram:1", NOW)
    both = await store.people.redeem("one", "telegram:1", NOW)
    assert both == PairedSender("telegram:1", ("chat", "approver", "admin"), NOW)
    assert await store.people.unpair("telegram:1")
    assert not await store.people.unpair("telegram:1")


async def test_a_login_link_is_spent_once_and_in_time(store: SqlStore) -> None:
    await store.logins.add_link("link", "web:local", NOW + MINUTE)
    await store.logins.add_link("late", "web:local", NOW)
    assert await store.logins.link_is_open("link", NOW)
    assert not await store.logins.link_is_open("late", NOW)
    assert await store.logins.spend_link("late", NOW) is None
    assert await store.logins.spend_link("link", NOW) == "web:local"
    assert await store.logins.spend_link("link", NOW) is None
    assert not await store.logins.link_is_open("link", NOW)


async def test_a_cookie_works_until_it_expires_or_is_dropped(store: SqlStore) -> None:
    await store.logins.add_cookie("cookie", "web:local", NOW + MINUTE)
    assert await store.logins.cookie("cookie", NOW) == ("web:local", NOW + MINUTE)
    assert await store.logins.cookie("cookie", NOW + MINUTE) is None
    assert await store.logins.cookie("other", NOW) is None
    assert await store.logins.drop_cookie("cookie")
    assert not await store.logins.drop_cookie("cookie")
    assert await store.logins.cookie("cookie", NOW) is None


async def test_values_belong_to_their_scope(store: SqlStore) -> None:
    await store.values.put("a", "k", "1")
    await store.values.put("a", "k", "2")
    await store.values.put("b", "k", "3")
    assert await store.values.get("a", "k") == "2"
    assert await store.values.get("a", "none") is None
    assert await store.values.list("a") == {"k": "2"}
    assert await store.values.delete("a", "k")
    assert not await store.values.delete("a", "k")
    assert await store.values.list("b") == {"k": "3"}


async def test_sealed_values_come_back_byte_by_byte(store: SqlStore) -> None:
    value = SealedValue("channel:telegram", "token", "abcd1234", b"\x00\xff" * 6, bytes(range(256)), NOW)
    await store.sealed.put(replace(value, ciphertext=b"old"))
    await store.sealed.put(value)
    other = replace(value, owner="tool:web_search", field="key")
    await store.sealed.put(other)
    assert await store.sealed.get("channel:telegram", "token") == value
    assert await store.sealed.list() == (value, other)
    assert await store.sealed.delete("channel:telegram", "token")
    assert not await store.sealed.delete("channel:telegram", "token")
    assert await store.sealed.get("channel:telegram", "token") is None


def audit_row(writer: str, seq: int, minutes: int = 0) -> AuditRow:
    prev = f"{writer}{seq - 1}" if seq > 1 else ""
    return AuditRow(writer, seq, NOW + minutes * MINUTE, "note", f'{{"n":{seq}}}', prev, f"{writer}{seq}")


async def test_audit_rows_are_appended_once_and_move_the_head(store: SqlStore) -> None:
    for row in (audit_row("a", 1), audit_row("b", 1), audit_row("a", 2)):
        await store.audit.append(row)
    with pytest.raises(StorageError):
        await store.audit.append(replace(audit_row("a", 2), kind="other"))
    assert await store.audit.last("a") == audit_row("a", 2)
    assert await store.audit.last("none") is None
    assert await store.audit.tail(2) == (audit_row("b", 1), audit_row("a", 2))
    assert await store.audit.chain("a") == (audit_row("a", 1), audit_row("a", 2))
    assert await store.audit.writers() == ("a", "b")
    assert set(await store.audit.heads()) == {AuditHead("a", 2, "a2", NOW), AuditHead("b", 1, "b1", NOW)}
    assert await store.audit.of_kind("note") == (audit_row("a", 1), audit_row("b", 1), audit_row("a", 2))


async def test_pruning_keeps_one_emptied_row_for_each_writer(store: SqlStore) -> None:
    rows = (audit_row("a", 1), audit_row("a", 2, 1), audit_row("a", 3, 9), audit_row("a", 4, 2))
    for row in (*rows, audit_row("b", 1), audit_row("c", 1, 9)):
        await store.audit.append(row)
    assert await store.audit.prune(NOW + 5 * MINUTE, "anchor") == 3
    anchor = replace(audit_row("a", 2, 1), kind="anchor", body_json="{}")
    assert await store.audit.chain("a") == (anchor, rows[2], rows[3])
    assert [row.kind for row in await store.audit.chain("b")] == ["anchor"]
    assert await store.audit.chain("c") == (audit_row("c", 1, 9),)
    assert await store.audit.prune(NOW + 5 * MINUTE, "anchor") == 0
    assert await store.audit.prune(NOW + 99 * MINUTE, "anchor") == 3
    assert [row.seq for row in await store.audit.chain("a")] == [4]
