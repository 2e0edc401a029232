"""Questions to people, and the one atomic claim that answers each."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, Update, delete, func, insert, select, update
from sqlalchemy.engine import RowMapping

from echo_bot.errors import StorageError
from echo_bot.events import Address, ApprovalId, MessageRef
from echo_bot.storage.columns import address_of, address_values, fields, is_at
from echo_bot.storage.database import Database
from echo_bot.storage.dialect import insert_into
from echo_bot.storage.grants import inserted
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus, Ruling, Vote, Voted
from echo_bot.storage.tables import approval_copies, approval_tokens, approval_votes, approvals, counters

_DECIDED = frozenset(
    {
        ApprovalStatus.APPROVED,
        ApprovalStatus.DENIED,
        ApprovalStatus.EXPIRED,
        ApprovalStatus.CANCELLED,
        ApprovalStatus.EDITED,
    }
)
_Copy = tuple[MessageRef, bool]
"""Where it stands, and whether it shows the end."""

_UNPLACED = ""
"""The message id of a copy that was on its way when last heard of."""

_PLAIN = (
    "approval_id",
    "turn_id",
    "session_key",
    "kind",
    "requester",
    "tool",
    "digest",
    "risk",
    "request_json",
    "created_at",
    "timeout_seconds",
    "deadline",
    "decided_at",
    "decided_by",
    "decided_by_name",
    "decision",
    "answer",
    "decision_seq",
    "quorum",
    "edited_by",
    "edited_json",
    "remind_at",
    "escalate_at",
)


class SqlApprovals:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def attach(self, record: ApprovalRecord) -> ApprovalRecord:
        def work(connection: Connection) -> ApprovalRecord:
            statement = insert_into(approvals).values(_values(record))
            inserted = connection.execute(statement.on_conflict_do_nothing(index_elements=["approval_id"]))
            if inserted.rowcount == 1:
                _insert_tokens(connection, record)
                for ref in record.copies:
                    _insert_copy(connection, record.approval_id, ref)
            return _load(connection, _by_id(record.approval_id))[0]

        if len(record.tokens) not in (0, len(record.offered)):
            raise StorageError("an approval needs one token for each offered decision, or none at all")
        return await self._database.write(work)

    async def get(self, approval_id: ApprovalId) -> ApprovalRecord | None:
        def work(connection: Connection) -> ApprovalRecord | None:
            found = _load(connection, _by_id(approval_id))
            return found[0] if found else None

        return await self._database.read(work)

    async def by_token(self, token: str) -> tuple[ApprovalRecord, str] | None:
        wanted = select(approval_tokens).where(approval_tokens.c.token == token)

        def work(connection: Connection) -> tuple[ApprovalRecord, str] | None:
            row = connection.execute(wanted).mappings().first()
            if row is None:
                return None
            return _load(connection, _by_id(row["approval_id"]))[0], row["decision"]

        return await self._database.read(work)

    async def pending(self) -> tuple[ApprovalRecord, ...]:
        statement = (
            select(approvals)
            .where(approvals.c.status == ApprovalStatus.PENDING.value)
            .order_by(approvals.c.created_at, approvals.c.approval_id)
        )
        return await self._database.read(lambda connection: tuple(_load(connection, statement)))

    async def ending(self, suffix: str) -> tuple[ApprovalRecord, ...]:
        statement = (
            select(approvals)
            .where(approvals.c.approval_id.endswith(suffix, autoescape=True))
            .order_by(approvals.c.created_at.desc())
            .limit(2)
        )
        return await self._database.read(lambda connection: tuple(_load(connection, statement)))

    async def set_deadline(self, approval_id: ApprovalId, deadline: datetime) -> None:
        await self._database.change(_while_pending(approval_id).values(deadline=deadline))

    async def set_alarms(
        self, approval_id: ApprovalId, remind_at: datetime | None, escalate_at: datetime | None
    ) -> None:
        statement = (
            update(approvals)
            .where(approvals.c.approval_id == approval_id)
            .values(remind_at=remind_at, escalate_at=escalate_at)
        )
        await self._database.change(statement)

    async def plan_copy(self, approval_id: ApprovalId, address: Address) -> None:
        await self._database.write(lambda c: _insert_copy(c, approval_id, MessageRef(address, _UNPLACED)))

    async def place_copy(self, approval_id: ApprovalId, address: Address, ref: MessageRef | None) -> None:
        planned = (
            delete(approval_copies)
            .where(approval_copies.c.approval_id == approval_id)
            .where(approval_copies.c.message_id == _UNPLACED)
            .where(is_at(approval_copies, address))
        )

        def work(connection: Connection) -> None:
            connection.execute(planned)
            if ref is not None:
                _insert_copy(connection, approval_id, ref)

        await self._database.write(work)

    async def add_copy(self, approval_id: ApprovalId, ref: MessageRef) -> None:
        await self._database.write(lambda connection: _insert_copy(connection, approval_id, ref))

    async def copy_ended(self, approval_id: ApprovalId, ref: MessageRef) -> None:
        statement = (
            update(approval_copies)
            .where(approval_copies.c.approval_id == approval_id)
            .where(approval_copies.c.message_id == ref.message_id)
            .where(is_at(approval_copies, ref.address))
            .values(ended=True)
        )
        await self._database.change(statement)

    async def unended(self, since: datetime) -> tuple[ApprovalRecord, ...]:
        waiting = (
            select(approval_copies.c.approval_id)
            .where(approval_copies.c.ended.is_(False))
            .where(approval_copies.c.message_id != _UNPLACED)
        )
        statement = (
            select(approvals)
            .where(approvals.c.approval_id.in_(waiting))
            .where(approvals.c.status != ApprovalStatus.PENDING.value)
            .where(approvals.c.decided_at > since)
            .order_by(approvals.c.decided_at, approvals.c.approval_id)
        )
        return await self._database.read(lambda connection: tuple(_load(connection, statement)))

    async def decide(self, approval_id: ApprovalId, ruling: Ruling) -> ApprovalRecord | None:
        _require_decision(ruling)

        def work(connection: Connection) -> ApprovalRecord | None:
            if connection.execute(_claim(approval_id, ruling)).rowcount != 1:
                return None
            if ruling.grant is not None:
                connection.execute(inserted(ruling.grant))
            _number(connection, approval_id)
            return _load(connection, _by_id(approval_id))[0]

        return await self._database.write(work)

    async def vote(self, approval_id: ApprovalId, vote: Vote, ruling: Ruling) -> Voted:
        _require_decision(ruling)

        def work(connection: Connection) -> Voted:
            # The update locks the row, so that two last votes count one after the other.
            lock = _while_pending(approval_id).values(status=ApprovalStatus.PENDING.value)
            if connection.execute(lock).rowcount != 1:
                return Voted("closed", next(iter(_load(connection, _by_id(approval_id))), None))
            [record] = _load(connection, _by_id(approval_id))
            if vote.digest != record.digest:
                return Voted("closed", record)
            statement = insert_into(approval_votes).values(
                approval_id=approval_id,
                person=vote.person,
                voter=vote.voter,
                voter_name=vote.voter_name,
                digest=vote.digest,
                at=vote.at,
            )
            if connection.execute(statement.on_conflict_do_nothing()).rowcount != 1:
                return Voted("repeated", record)
            is_last = 1 + sum(each.digest == record.digest for each in record.votes) >= record.quorum
            if is_last:
                connection.execute(_claim(approval_id, ruling))
            _number(connection, approval_id)
            [record] = _load(connection, _by_id(approval_id))
            return Voted("decided" if is_last else "counted", record)

        return await self._database.write(work)

    async def withdraw_votes(self, approval_id: ApprovalId, persons: frozenset[str]) -> None:
        is_open = (
            select(approvals.c.approval_id)
            .where(approvals.c.approval_id == approval_id)
            .where(approvals.c.status == ApprovalStatus.PENDING.value)
        )
        statement = (
            delete(approval_votes)
            .where(approval_votes.c.approval_id.in_(is_open))
            .where(approval_votes.c.person.in_(sorted(persons)))
        )
        await self._database.change(statement)

    async def explain(self, approval_id: ApprovalId, answer: str) -> None:
        explained = (
            update(approvals)
            .where(approvals.c.approval_id == approval_id)
            .where(approvals.c.status == ApprovalStatus.EDITED.value)
            .values(answer=answer)
        )
        copies = update(approval_copies).where(approval_copies.c.approval_id == approval_id)

        def work(connection: Connection) -> None:
            if connection.execute(explained).rowcount:
                connection.execute(copies.values(ended=False))

        await self._database.write(work)

    async def use(self, approval_id: ApprovalId) -> bool:
        statement = (
            update(approvals)
            .where(approvals.c.approval_id == approval_id)
            .where(approvals.c.status == ApprovalStatus.APPROVED.value)
            .values(status=ApprovalStatus.USED.value)
        )
        return await self._database.change(statement) == 1

    async def last_decision(self) -> int:
        statement = select(func.coalesce(func.max(approvals.c.decision_seq), 0))
        return await self._database.read(lambda connection: int(connection.execute(statement).scalar_one()))

    async def decided_after(self, seq: int) -> tuple[ApprovalRecord, ...]:
        statement = (
            select(approvals).where(approvals.c.decision_seq > max(seq, 0)).order_by(approvals.c.decision_seq)
        )
        return await self._database.read(lambda connection: tuple(_load(connection, statement)))


def _require_decision(ruling: Ruling) -> None:
    if ruling.status not in _DECIDED:
        raise StorageError(f"{ruling.status.value!r} is not a decision")


def _while_pending(approval_id: ApprovalId) -> Update:
    return (
        update(approvals)
        .where(approvals.c.approval_id == approval_id)
        .where(approvals.c.status == ApprovalStatus.PENDING.value)
    )


def _claim(approval_id: ApprovalId, ruling: Ruling) -> Update:
    return _while_pending(approval_id).values(
        status=ruling.status.value,
        decided_at=ruling.at,
        decided_by=ruling.decided_by,
        decided_by_name=ruling.name,
        decision=ruling.decision,
        answer=ruling.answer,
        edited_json=ruling.edited_json,
    )


def _number(connection: Connection, approval_id: ApprovalId) -> None:
    """Give the row the next number, by which other processes hear of it."""
    statement = update(approvals).where(approvals.c.approval_id == approval_id)
    connection.execute(statement.values(decision_seq=_next_decision(connection)))


def _next_decision(connection: Connection) -> int:
    """The next number. Its row stays locked until the commit, so numbers become visible in their order."""
    statement = insert_into(counters).values(name="decision", value=1)
    bump = statement.on_conflict_do_update(
        index_elements=["name"], set_={"value": counters.c.value + 1}
    ).returning(counters.c.value)
    return int(connection.execute(bump).scalar_one())


def _insert_tokens(connection: Connection, record: ApprovalRecord) -> None:
    rows = [
        {"token": token, "approval_id": record.approval_id, "decision": decision}
        for token, decision in zip(record.tokens, record.offered, strict=False)
    ]
    if rows:
        connection.execute(insert(approval_tokens), rows)


def _insert_copy(connection: Connection, approval_id: ApprovalId, ref: MessageRef) -> None:
    statement = insert_into(approval_copies).values(
        approval_id=approval_id, message_id=ref.message_id, **address_values(ref.address)
    )
    connection.execute(statement.on_conflict_do_nothing())


def _by_id(approval_id: ApprovalId) -> Select[Any]:
    return select(approvals).where(approvals.c.approval_id == approval_id)


def _load(connection: Connection, statement: Select[Any]) -> list[ApprovalRecord]:
    rows = connection.execute(statement).mappings().all()
    ids = [row["approval_id"] for row in rows]
    copies, votes = _copies(connection, ids), _votes(connection, ids)
    return [_record(row, copies[row["approval_id"]], votes[row["approval_id"]]) for row in rows]


def _copies(connection: Connection, approval_ids: Sequence[str]) -> defaultdict[str, list[_Copy]]:
    found: defaultdict[str, list[_Copy]] = defaultdict(list)
    if not approval_ids:
        return found
    statement = (
        select(approval_copies)
        .where(approval_copies.c.approval_id.in_(approval_ids))
        .order_by(approval_copies.c.id)
    )
    for row in connection.execute(statement).mappings():
        found[row["approval_id"]].append((MessageRef(address_of(row), row["message_id"]), row["ended"]))
    return found


def _votes(connection: Connection, approval_ids: Sequence[str]) -> defaultdict[str, list[Vote]]:
    found: defaultdict[str, list[Vote]] = defaultdict(list)
    if not approval_ids:
        return found
    statement = (
        select(approval_votes)
        .where(approval_votes.c.approval_id.in_(approval_ids))
        .order_by(approval_votes.c.id)
    )
    for row in connection.execute(statement).mappings():
        vote = Vote(**fields(row, "person", "voter", "digest", "at", "voter_name"))
        found[row["approval_id"]].append(vote)
    return found


def _values(record: ApprovalRecord) -> dict[str, Any]:
    return {
        **{name: getattr(record, name) for name in _PLAIN},
        **address_values(record.address),
        "status": record.status.value,
        "offered_json": json.dumps(record.offered),
        "tokens_json": json.dumps(record.tokens),
    }


def _record(row: RowMapping, copies: Iterable[_Copy], votes: Iterable[Vote]) -> ApprovalRecord:
    standing = tuple(copies)
    return ApprovalRecord(
        **fields(row, *_PLAIN),
        address=address_of(row),
        status=ApprovalStatus(row["status"]),
        offered=tuple(json.loads(row["offered_json"])),
        tokens=tuple(json.loads(row["tokens_json"])),
        copies=tuple(ref for ref, _ in standing if ref.message_id != _UNPLACED),
        ended=tuple(ref for ref, has_ended in standing if has_ended),
        unplaced=tuple(ref.address for ref, _ in standing if ref.message_id == _UNPLACED),
        votes=tuple(votes),
    )
