from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from echo_bot.bus.instance import BOT_LEASE, claim_instance
from echo_bot.bus.process import ProcessId, ancestors, descends_from, here
from echo_bot.bus.sqlite import SqliteBus
from echo_bot.errors import StartError
from echo_bot.storage.store import open_store, sqlite_url
from echo_bot.testing.clock import let_pass
from echo_bot.testing.waiting import PATIENCE_SECONDS

ME = ProcessId.current()


@pytest.fixture
async def bus(tmp_path: Path) -> AsyncIterator[SqliteBus]:
    path = tmp_path / "echo-bot.db"
    await (await open_store(sqlite_url(path))).close()
    bus = SqliteBus(path, lambda: datetime.now(UTC))
    await bus.open()
    yield bus
    await bus.close()


def dead_process() -> ProcessId:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return replace(ME, pid=process.pid)


async def test_a_second_bot_is_refused_and_told_who_runs(bus: SqliteBus) -> None:
    first = await claim_instance(bus, ME)
    with pytest.raises(StartError, match=f"process {os.getpid()}"):
        await claim_instance(bus, ME)
    await first.release()
    second = await claim_instance(bus, ME)
    assert second.token > first.token
    await second.release()


async def test_a_bot_that_was_killed_is_replaced_at_once(bus: SqliteBus) -> None:
    await bus.lease(BOT_LEASE, str(dead_process()), 3600)
    await (await claim_instance(bus, ME)).release()


async def test_a_number_that_was_given_to_another_process_is_not_the_bot(bus: SqliteBus) -> None:
    await bus.lease(BOT_LEASE, str(replace(ME, started="1")), 3600)
    await (await claim_instance(bus, ME)).release()


@pytest.mark.parametrize(
    "holder", [str(replace(ME, place="elsewhere 1 2")), "not a process"], ids=["elsewhere", "of another form"]
)
async def test_a_holder_that_cannot_be_looked_at_keeps_the_folder(bus: SqliteBus, holder: str) -> None:
    await bus.lease(BOT_LEASE, holder, 3600)
    with pytest.raises(StartError, match="already runs on this data folder"):
        await claim_instance(bus, ME)


async def test_the_heartbeat_keeps_the_lease(bus: SqliteBus) -> None:
    instance = await claim_instance(bus, ME, seconds=60)
    first = await bus.holder(BOT_LEASE)
    assert first is not None
    let_pass(20)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (held := await bus.holder(BOT_LEASE)) is not None and held.expires_at == first.expires_at:
            await asyncio.sleep(0.02)
    assert held is not None
    assert held.token == instance.token
    await instance.release()
    assert await bus.holder(BOT_LEASE) is None


async def test_a_bot_that_lost_its_lease_learns_it(bus: SqliteBus) -> None:
    instance = await claim_instance(bus, ME, seconds=1)
    await bus.release(BOT_LEASE, instance.token)
    await asyncio.wait_for(instance.lost.wait(), PATIENCE_SECONDS)
    await instance.release()


def test_a_process_is_written_and_read() -> None:
    assert ProcessId.parse(str(ME)) == ME
    assert ProcessId.parse(str(replace(ME, started=""))) == replace(ME, started="")


@pytest.mark.parametrize("text", ["", "12", "12 34", "x 1 here", "-1 1 here"])
def test_what_is_no_process_is_not_read_as_one(text: str) -> None:
    assert ProcessId.parse(text) is None


def test_who_is_alive() -> None:
    assert ME.is_alive() is True
    assert dead_process().is_alive() is False
    assert replace(ME, started="1").is_alive() is False
    assert replace(ME, place="elsewhere").is_alive() is None
    assert ME.place == here()


def test_the_parents_of_a_process_are_found() -> None:
    program = "from echo_bot.bus.process import ancestors\nprint(*ancestors())"
    script = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {program!r}], check=True)"
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    numbers = [int(word) for word in found.stdout.split()]
    assert numbers[1] == os.getpid()
    assert numbers[2:] == list(ancestors())


def test_descent_is_seen_or_not_told() -> None:
    assert descends_from(ME) is True
    assert descends_from(replace(ME, pid=os.getppid())) is True
    assert descends_from(dead_process()) is False
    assert descends_from(replace(ME, place="elsewhere")) is None
