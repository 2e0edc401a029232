from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from echo_bot.audit import Audit
from echo_bot.cli.pair import ALPHABET, make_code
from echo_bot.inbox.admission import code_hash
from echo_bot.storage.records import GrantRecord, PairedSender
from echo_bot.storage.store import SqlStore
from echo_bot.testing.command_line import CommandLine

NOW = datetime.now(UTC)


def grant(grant_id: str, owner: str = "web:local") -> GrantRecord:
    return GrantRecord(
        grant_id, owner, "d", "exec", "ls -la\n\u202e", "1h", NOW, owner, "", NOW + timedelta(hours=9)
    )


def add(*grants: GrantRecord) -> Callable[[SqlStore], Awaitable[None]]:
    async def work(store: SqlStore) -> None:
        for each in grants:
            await store.grants.add(each)

    return work


def test_grants_are_listed_by_owner(command_line: CommandLine) -> None:
    assert command_line("grants", "list").err == "no remembered approvals\n"
    command_line.with_store(add(grant("g1"), grant("g2", "telegram:7")))
    lines = command_line("grants", "list").out.splitlines()
    assert [line.split("\t")[:3] for line in lines] == [["g1", "web:local", "1h"], ["g2", "telegram:7", "1h"]]
    assert "\u202e" not in "".join(lines)
    (row,) = json.loads(command_line("grants", "list", "--json", "--owner", "telegram:7").out)
    assert (row["id"], row["expires_at"]) == ("g2", (NOW + timedelta(hours=9)).isoformat())


def test_a_revoked_grant_is_gone_and_audited(command_line: CommandLine) -> None:
    command_line.with_store(add(grant("g1")))
    assert command_line("grants", "revoke", "g1").out == "revoked g1\n"
    again = command_line("grants", "revoke", "g1")
    assert (again.code, again.out) == (1, "")
    assert "grant_revoked by=cli:local grant=g1" in command_line("audit", "tail").out


def test_revoking_where_nothing_is_makes_nothing(command_line: CommandLine) -> None:
    assert command_line("grants", "revoke", "g1").code == 1
    assert not command_line.database.exists()


def test_an_audit_of_nothing_is_sound(command_line: CommandLine) -> None:
    assert command_line("audit", "tail").out == ""
    answer = command_line("audit", "verify")
    assert (answer.code, answer.out) == (0, "0 rows in 0 chains: sound\n")


def test_the_newest_rows_come_last_and_n_bounds_them(command_line: CommandLine) -> None:
    for _ in range(3):
        command_line("pair")
    kinds = [
        json.loads(line)["kind"]
        for line in command_line("audit", "tail", "-n", "3", "--json").out.splitlines()
    ]
    assert kinds == ["pairing_code"] * 3
    assert command_line("audit", "tail", "-n", "0").code == 2


def test_a_changed_row_is_exit_code_one(command_line: CommandLine) -> None:
    command_line("pair")
    assert command_line("audit", "verify").code == 0
    connection = sqlite3.connect(command_line.database)
    with connection:
        connection.execute("UPDATE audit SET body_json = '{\"roles\":[]}' WHERE seq = 2")
    connection.close()
    answer = command_line("audit", "verify")
    assert answer.code == 1
    assert "BROKEN" in answer.out
    found = json.loads(command_line("audit", "verify", "--json").out)
    assert found["sound"] is False
    assert found["problems"][0]["row"] == 2


def test_codes_are_unambiguous_and_different() -> None:
    codes = {make_code() for _ in range(200)}
    assert len(codes) == 200
    assert all(len(code) == 8 and set(code) <= set(ALPHABET) for code in codes)
    assert not set("ILO01") & set(ALPHABET)


@pytest.mark.parametrize(
    ("flags", "roles"),
    [
        ((), ("chat",)),
        (("--approver",), ("chat", "approver")),
        (("--admin",), ("chat", "admin")),
        (("--approver", "--admin"), ("chat", "approver", "admin")),
    ],
    ids=["chat only", "an approver", "an admin", "both"],
)
def test_a_code_pairs(command_line: CommandLine, flags: tuple[str, ...], roles: tuple[str, ...]) -> None:
    code = command_line("pair", *flags).out.strip()

    async def redeem(store: SqlStore) -> tuple[PairedSender | None, PairedSender | None]:
        late = await store.people.redeem(
            code_hash(code), "telegram:8", datetime.now(UTC) + timedelta(minutes=11)
        )
        return await store.people.redeem(code_hash(code), "telegram:7", datetime.now(UTC)), late

    paired, late = command_line.with_store(redeem)
    assert late is None
    assert paired is not None
    assert paired.roles == roles


def test_the_code_itself_is_nowhere_in_the_data(command_line: CommandLine) -> None:
    code = command_line("pair").out.strip()
    for path in command_line.data_dir.iterdir():
        assert code.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    "verb", [("audit", "tail"), ("approvals", "list"), ("pair",), ("status",)], ids=" ".join
)
def test_a_damaged_database_is_one_sentence_and_untouched(
    command_line: CommandLine, verb: tuple[str, ...]
) -> None:
    command_line.data_dir.mkdir()
    command_line.database.write_text("this is no database at all")
    answer = command_line(*verb)
    assert answer.code == 2
    assert "left as it is" in answer.err
    assert command_line.database.read_text() == "this is no database at all"


def test_the_help_of_pair_says_what_paired_people_may_approve(command_line: CommandLine) -> None:
    assert "may approve what they asked for themselves" in " ".join(
        command_line("pair", "--help").out.split()
    )


def test_a_chain_under_an_older_key_is_one_note(command_line: CommandLine) -> None:
    async def fill(store: SqlStore) -> None:
        audit = Audit(store.audit, "writer-1", bytes(32), lambda: NOW, mask=str)
        for number in range(5):
            await audit.record("started", number=number)

    command_line.with_store(fill)
    answer = command_line("audit", "verify")
    notes = [line for line in answer.out.splitlines() if line.startswith("note:")]
    assert answer.code == 0
    assert len(notes) == 1
    assert "writer-1 rows 1–" in notes[0]
    assert "another key" in notes[0]
