"""Places: never more than there are, everybody gets one, owners take turns, and depth locks nothing up."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from echo_bot.agent.workers.places import Place, Places
from echo_bot.testing.waiting import PATIENCE_SECONDS


async def settled() -> None:
    """Let everything that can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_no_more_are_taken_than_there_are_and_the_next_follows_at_once() -> None:
    places = Places(2)
    await places.take("a")
    await places.take("a")
    third = asyncio.create_task(places.take("a"))
    await settled()
    assert not third.done()
    places.leave()
    await third


async def test_owners_take_turns_and_each_ones_own_order_holds() -> None:
    places, served = Places(1), list[str]()
    await places.take("first")

    async def work(owner: str, name: str) -> None:
        await places.take(owner)
        served.append(name)
        places.leave()

    names = [("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("c", "c1"), ("b", "b2")]
    async with asyncio.TaskGroup() as group:
        for owner, name in names:
            group.create_task(work(owner, name))
            await settled()
        places.leave()
    assert served == ["a1", "b1", "c1", "a2", "b2", "a3"]


async def test_who_is_cancelled_while_waiting_or_just_served_leaves_nothing_taken() -> None:
    places = Places(1)
    await places.take("a")
    waiting = [asyncio.create_task(places.take(owner)) for owner in "ab"]
    await settled()
    waiting[0].cancel()
    await settled()
    places.leave()  # the second one is served and, before it knows, cancelled
    waiting[1].cancel()
    await settled()
    assert places.waiting == 0
    await asyncio.wait_for(places.take("c"), PATIENCE_SECONDS)


async def test_a_place_is_given_up_while_one_call_waits_and_had_again_after_the_last() -> None:
    places = Places(1)
    place = Place(places, "a")
    async with place.taken():
        async with place.given_up():
            await asyncio.wait_for(places.take("b"), PATIENCE_SECONDS)
            async with place.given_up():
                places.leave()
            assert not place.is_taken
        assert place.is_taken
    assert not place.is_taken


async def test_a_cancelled_worker_waits_for_no_place() -> None:
    places = Places(1)
    place, inside = Place(places, "a"), asyncio.Event()

    async def work() -> None:
        async with place.taken(), place.given_up():
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await inside.wait()
    await places.take("b")
    task.cancel()
    await asyncio.wait_for(asyncio.wait({task}), PATIENCE_SECONDS)
    assert task.cancelled()
    places.leave()
    await asyncio.wait_for(places.take("c"), PATIENCE_SECONDS)


@dataclass
class Crew:
    """Workers that start workers; counts who is at work."""

    places: Places
    most: int
    working: int = 0
    done: int = 0
    over: bool = field(default=False)

    async def run(self, owner: str, tree: Tree, steps: int) -> None:
        place = Place(self.places, owner)
        async with place.taken():
            await self._work(steps)
            if tree:
                async with place.given_up(), asyncio.TaskGroup() as group:
                    for child in tree:
                        group.create_task(self.run(owner, child, steps))
            await self._work(steps)
        self.done += 1

    async def _work(self, steps: int) -> None:
        self.working += 1
        self.over = self.over or self.working > self.most
        try:
            for _ in range(steps):
                await asyncio.sleep(0)
        finally:
            self.working -= 1


Tree = tuple["Tree", ...]
TREES = st.recursive(st.just(()), lambda children: st.lists(children, max_size=4).map(tuple), max_leaves=25)


def size(tree: Tree) -> int:
    return 1 + sum(map(size, tree))


@given(
    most=st.integers(1, 4),
    forest=st.lists(st.tuples(st.sampled_from("abc"), TREES), min_size=1, max_size=6),
    steps=st.integers(0, 3),
    stopped=st.sets(st.integers(0, 5)),
)
async def test_any_forest_of_workers_ends_within_the_places_whatever_is_stopped(
    most: int, forest: list[tuple[str, Tree]], steps: int, stopped: set[int]
) -> None:
    crew = Crew(Places(most), most)
    tasks = [asyncio.create_task(crew.run(owner, tree, steps)) for owner, tree in forest]
    await asyncio.sleep(0)
    for index in stopped & set(range(len(tasks))):
        tasks[index].cancel()
    async with asyncio.timeout(PATIENCE_SECONDS):
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
    assert not crew.over
    assert crew.places.waiting == 0
    left = [size(tree) for index, (_, tree) in enumerate(forest) if index not in stopped]
    assert crew.done >= sum(left)
    for _ in range(most):
        await asyncio.wait_for(crew.places.take("next"), PATIENCE_SECONDS)
