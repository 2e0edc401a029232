"""Whatever fails in whichever order: each chat's updates are stored in their order, each once."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telegram import Chat, Message, Update, User

from channels.telegram.intake import Intake
from echo_bot.errors import StorageError
from echo_bot.testing.clock import let_pass
from echo_bot.testing.waiting import PATIENCE_SECONDS

ADA = User(42, "Ada", is_bot=False)


def update(number: int, chat_id: int, album: str = "") -> Update:
    message = Message(
        number,
        datetime.now(UTC),
        Chat(chat_id, "private"),
        from_user=ADA,
        text="x",
        media_group_id=album or None,
    )
    return Update(number, message=message)


class Store:
    """Fails as often as `failures` say for an update, and lets others run in between."""

    def __init__(self, failures: dict[int, int]) -> None:
        self.failures = failures
        self.stored: list[int] = []
        self.batches: list[tuple[int, ...]] = []

    async def take(self, updates: tuple[Update, ...]) -> None:
        first = updates[0].update_id
        for _ in range(first % 4):
            await asyncio.sleep(0)
        if self.failures.get(first, 0) > 0:
            self.failures[first] -= 1
            raise StorageError("locked")
        self.batches.append(tuple(each.update_id for each in updates))
        self.stored.extend(self.batches[-1])


async def store_all(updates: list[Update], store: Store) -> None:
    """Submit in rounds, as polling does, until everything is stored."""
    intake = Intake(store.take, "", album_quiet_seconds=0.001)
    for _ in range(50):
        waiting = [each for each in updates if each.update_id not in store.stored]
        if not waiting:
            return
        await asyncio.wait({intake.submit(each) for each in waiting})
    raise AssertionError(f"never stored: {sorted({each.update_id for each in updates} - set(store.stored))}")


CHATS = st.lists(st.integers(1, 3), min_size=1, max_size=14)
FAILURES = st.dictionaries(st.integers(0, 13), st.integers(1, 3), max_size=5)


@settings(max_examples=60, deadline=None)
@given(CHATS, FAILURES)
def test_every_chat_keeps_its_order_and_nothing_is_stored_twice(
    chats: list[int], failures: dict[int, int]
) -> None:
    updates = [update(number, chat_id) for number, chat_id in enumerate(chats)]
    store = Store(dict(failures))
    asyncio.run(store_all(updates, store))
    by_chat: dict[int, list[int]] = defaultdict(list)
    for number in store.stored:
        by_chat[chats[number]].append(number)
    assert sorted(store.stored) == list(range(len(chats)))
    assert all(numbers == sorted(numbers) for numbers in by_chat.values())


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["", "a", "b"]), min_size=1, max_size=10), FAILURES)
def test_albums_stay_together_whatever_comes_between(albums: list[str], failures: dict[int, int]) -> None:
    updates = [update(number, 1, album) for number, album in enumerate(albums)]
    store = Store(dict(failures))
    asyncio.run(store_all(updates, store))
    assert sorted(store.stored) == list(range(len(albums)))
    for name in ("a", "b"):
        parts = tuple(number for number, album in enumerate(albums) if album == name)
        assert not parts or parts in store.batches


async def test_an_update_that_is_on_its_way_is_not_begun_again() -> None:
    store = Store({})
    intake = Intake(store.take, "", album_quiet_seconds=0.001)
    first = intake.submit(update(3, 1))
    assert intake.submit(update(3, 1)) is first
    await first
    assert store.stored == [3]


async def test_a_fault_that_stays_gives_the_update_up_and_lets_the_next_through() -> None:
    tried: list[int] = []

    async def take(updates: tuple[Update, ...]) -> None:
        tried.append(updates[0].update_id)
        if updates[0].update_id == 1:
            raise RuntimeError("a fault of the core")

    intake = Intake(take, "", album_quiet_seconds=0.001)
    for _ in range(4):
        with pytest.raises(RuntimeError):
            await intake.submit(update(1, 1))
    await asyncio.gather(intake.submit(update(1, 1)), intake.submit(update(2, 1)))
    assert tried == [1, 1, 1, 1, 1, 2]


async def test_draining_ends_what_takes_too_long() -> None:
    async def take(updates: tuple[Update, ...]) -> None:
        await asyncio.Event().wait()

    intake = Intake(take, "", album_quiet_seconds=60)
    tasks = [intake.submit(update(1, 1)), intake.submit(update(2, 1)), intake.submit(update(3, 2, "a"))]
    await intake.drain(0.05)
    assert all(task.done() for task in tasks)
    assert not any(task.done() and not task.cancelled() and task.exception() is None for task in tasks)


async def test_a_part_that_comes_after_its_album_was_taken_waits_for_no_further_ones() -> None:
    store = Store({})
    intake = Intake(store.take, "", album_quiet_seconds=3600.0)
    first = intake.submit(update(1, 42, "a"))
    await asyncio.sleep(0)
    let_pass(3600.0)
    await first
    async with asyncio.timeout(PATIENCE_SECONDS):
        await intake.submit(update(2, 42, "a"))
    assert store.batches == [(1,), (2,)]
