"""One bot per data folder: a lease that is renewed while the process lives."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from echo_bot.bus.process import ProcessId
from echo_bot.bus.protocol import Leases
from echo_bot.called import command
from echo_bot.errors import StartError, StorageError

_log = logging.getLogger(__name__)

BOT_LEASE = "bot"


class Instance:
    """The lease, held. `lost` is set when somebody else has it: then this process must stop."""

    def __init__(self, leases: Leases, token: int, seconds: float) -> None:
        self._leases = leases
        self._seconds = seconds
        self.token = token
        self.lost = asyncio.Event()
        self._heartbeat = asyncio.create_task(self._beat(), name="bot-lease")

    async def release(self) -> None:
        """Stop the heartbeat and free the data folder. Idempotent."""
        self._heartbeat.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._heartbeat
        await self._leases.release(BOT_LEASE, self.token)

    async def _beat(self) -> None:
        while not self.lost.is_set():
            await asyncio.sleep(self._seconds / 3)
            try:
                if not await self._leases.renew(BOT_LEASE, self.token, self._seconds):
                    self.lost.set()
            except StorageError as error:
                # Nobody else can take the lease in a database that refuses; the next beat tells.
                _log.warning("lease_renewal_failed", extra={"error": str(error)})


async def claim_instance(leases: Leases, me: ProcessId, *, seconds: float = 15) -> Instance:
    """Become the data folder's bot. Raises StartError naming the one that runs.

    A holder that was killed on this machine is known to be dead and is replaced at once; of one elsewhere
    only the end of its lease is known.
    """
    for _ in range(2):
        token = await leases.lease(BOT_LEASE, str(me), seconds)
        if token is not None:
            return Instance(leases, token, seconds)
        held = await leases.holder(BOT_LEASE)
        if held is None:
            continue
        other = ProcessId.parse(held.holder)
        if other is not None and other.is_alive() is False:
            await leases.release(BOT_LEASE, held.token)
            continue
        raise StartError(_refusal(other, held.holder))
    raise StartError(f"another echo-bot is starting on this data folder; see `{command('status')}`")


def _refusal(other: ProcessId | None, holder: str) -> str:
    who = f"process {other.pid}" if other is not None else holder
    if other is not None and other.is_alive() is None:
        who += " on another machine or in another container"
    return (
        f"an echo-bot already runs on this data folder ({who}). Stop it first, or give this one its own "
        "data_dir; a bot that died elsewhere frees the folder within 15 seconds"
    )
