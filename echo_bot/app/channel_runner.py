"""Channels at work: each starts, fails, backs off and stops on its own; none stops another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from echo_bot.channel import Channel, ChannelHealth, ChannelState, Port
from echo_bot.delivery import ChannelBook, Delivery
from echo_bot.errors import ChannelError, ChannelFatal

log = structlog.get_logger(__name__)

_STOP_SECONDS = 3.0
_BACKOFF_SECONDS = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0)


@dataclass(slots=True)
class _Running:
    """`unserved`: why nobody can reach it, whatever it says. `called_at`: where its platform calls."""

    channel: Channel
    task: asyncio.Task[None] | None = None
    failure: str = ""
    unserved: str = ""
    called_at: tuple[str, ...] = ()

    @property
    def has_ended(self) -> bool:
        """Did its start come to an end, whichever way?"""
        return self.task is not None and self.task.done()


class ChannelRunner:
    """Owns the channels: `start` returns at once, `stop` waits for all of them, a few seconds at most."""

    def __init__(self, book: ChannelBook, delivery: Delivery, clock: Callable[[], datetime]) -> None:
        self._book, self._delivery, self._clock = book, delivery, clock
        self._channels: list[_Running] = []
        self._broken: dict[str, str] = {}

    def add(self, channel: Channel) -> None:
        """Sends to it are possible at once; it may still be connecting."""
        self._channels.append(_Running(channel))
        self._book.add(channel)

    def add_broken(self, name: str, why: str) -> None:
        """A channel that could not even be built, for `status`."""
        self._broken[name] = why

    def mark_unserved(self, names: Collection[str], why: str) -> None:
        """Nobody reaches these channels: they still keep what is sent, and count as failed."""
        for running in self._channels:
            if _title(running.channel) in names:
                running.unserved = why

    def mark_called(self, urls: Mapping[str, tuple[str, ...]]) -> None:
        """The gateway's URLs that these channels' platforms call, perhaps through a proxy."""
        for running in self._channels:
            running.called_at = urls.get(_title(running.channel), ())

    def called_at(self) -> dict[str, tuple[str, ...]]:
        """By `channel[/account]`, for those that are called."""
        return {_title(r.channel): r.called_at for r in self._channels if r.called_at}

    @property
    def built(self) -> int:
        """How many channels could be built."""
        return len(self._channels)

    def start(self, port: Port) -> None:
        for running in self._channels:
            name = f"channel {running.channel.name}"
            running.task = asyncio.create_task(self._keep_running(running, port), name=name)

    async def stop(self) -> None:
        await asyncio.gather(*(self._stop_one(running) for running in self._channels))

    def running(self) -> frozenset[tuple[str, str]]:
        """The (channel, account) pairs that can be sent to."""
        return frozenset(
            (r.channel.name, r.channel.account)
            for r in self._channels
            if not r.unserved and r.channel.health().state is ChannelState.CONNECTED
        )

    def health(self) -> dict[str, ChannelHealth]:
        """By `channel[/account]`."""
        found = {_title(r.channel): self._health(r) for r in self._channels}
        for name, why in self._broken.items():
            found[name] = ChannelHealth(ChannelState.FAILED, error=why)
        return found

    def _health(self, running: _Running) -> ChannelHealth:
        if running.failure or running.unserved:
            return ChannelHealth(ChannelState.FAILED, error=running.failure or running.unserved)
        health = running.channel.health()
        if health.state is ChannelState.STOPPED and not running.has_ended:
            return replace(health, state=ChannelState.STARTING)
        return replace(health, error=health.error or self._book.refusal(running.channel))

    async def _keep_running(self, running: _Running, port: Port) -> None:
        attempt = 0
        while True:
            try:
                await running.channel.start(port)
                running.failure = ""
                self._delivery.wake()
                return
            except ChannelFatal as error:
                running.failure = str(error)
                log.error("channel_failed", channel=_title(running.channel), error=str(error))
                return
            except (ChannelError, OSError) as error:
                pause = _BACKOFF_SECONDS[min(attempt, len(_BACKOFF_SECONDS) - 1)]
                running.failure = f"{error}; next try in {pause:g} s"
                log.warning(
                    "channel_start_failed", channel=_title(running.channel), error=str(error), retry=pause
                )
                attempt += 1
                await asyncio.sleep(pause)
            except Exception as error:  # an adapter's own fault stops this channel and no other
                running.failure = f"it failed at its start: {type(error).__name__}: {error}"
                log.exception("channel_failed", channel=_title(running.channel))
                return

    async def _stop_one(self, running: _Running) -> None:
        if running.task is not None:
            running.task.cancel()
            await asyncio.wait({running.task})
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await running.channel.stop()
        except (TimeoutError, ChannelError) as error:
            log.warning(
                "channel_stop_failed", channel=_title(running.channel), error=str(error) or "timed out"
            )
        except Exception:  # the others are stopped all the same
            log.exception("channel_stop_failed", channel=_title(running.channel))
        self._book.remove(running.channel)


def _title(channel: Channel) -> str:
    return f"{channel.name}/{channel.account}" if channel.account else channel.name
