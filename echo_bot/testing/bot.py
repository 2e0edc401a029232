"""A whole bot in one process: the real core, store and tools around fake channels or real adapters."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from echo_bot.app.api import add_api
from echo_bot.app.parts import Parts, build_parts
from echo_bot.app.reviving import revivable
from echo_bot.app.secrets import open_secrets
from echo_bot.app.setting import Setting, utc_now
from echo_bot.channel import AsgiApp, Channel, ChannelManifest, ChannelState
from echo_bot.config.loader import Loaded, config_from_keys
from echo_bot.gateway import Gateway, GatewaySettings
from echo_bot.gateway.api.parts import ApiParts
from echo_bot.storage.store import SqlStore
from echo_bot.testing.fake_channel import FakeChannel
from echo_bot.testing.waiting import eventually
from echo_bot.text.language import choose, language_of

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.toolsets import AbstractToolset


@dataclass(frozen=True, slots=True)
class RunningBot:
    """`workspace` is where the tools work, `url` where the gateway serves hooks and API ("" without any)."""

    parts: Parts
    store: SqlStore
    channels: tuple[Channel, ...]
    workspace: Path
    url: str = ""

    @property
    def channel(self) -> FakeChannel:
        """The first fake channel."""
        return next(each for each in self.channels if isinstance(each, FakeChannel))

    async def connected(self) -> None:
        """Returns once every channel is: before that, a platform need not tell the bot what people say."""
        await eventually(
            lambda: all(each.health().state is ChannelState.CONNECTED for each in self.channels),
            "a connection of every channel",
        )


@asynccontextmanager
async def running_bot(
    folder: Path,
    config: Mapping[str, object] | None = None,
    *,
    model: Model | None = None,
    judge: Model | None = None,
    more_toolsets: Sequence[AbstractToolset[Any]] = (),
    channel: FakeChannel | None = None,
    more_channels: Sequence[FakeChannel] = (),
    channels: Sequence[Channel] = (),
    manifests: Sequence[ChannelManifest] = (),
    interactive: bool = False,
    clock: Callable[[], datetime] = utc_now,
) -> AsyncIterator[RunningBot]:
    """Run a bot on `folder`/state with `folder`/workspace; the same folder again is a restart.

    `config` holds dotted keys. The fake channel is named telegram unless another is given, and sender "1" is
    listed there. With `channels` there is no fake one but those: real adapters, started and stopped with the
    bot, whose `hooks()` are served on a loopback port; `manifests` of channels that are not part of Echo Bot,
    so that `config` may hold their keys. With API tokens the HTTP API is served there too.
    What people read is in the configured language, English by default, whatever the locale.
    """
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    keys: dict[str, object] = {
        "workspace": str(workspace),
        "data_dir": str(folder / "state"),
        "channels.telegram.allow_from": ["1"],
        "rate_limit.per_minute": 0,
        **(config or {}),
    }
    loaded = Loaded(config_from_keys(keys, manifests))
    choose(language_of(loaded.config.language, {}))
    store = SqlStore(f"sqlite+aiosqlite:///{folder / 'state' / 'echo-bot.db'}")
    await store.open()
    all_channels = (
        (*channels, *more_channels) if channels else (channel or FakeChannel("telegram"), *more_channels)
    )
    try:
        secrets = await open_secrets(loaded, store.sealed, {}, clock)
        setting = Setting(
            loaded=loaded,
            manifests=tuple(manifests),
            store=store,
            secrets=secrets,
            writer=f"test-{id(store):x}",
            is_interactive=interactive,
            clock=clock,
            model=model,
            judge=judge,
            more_toolsets=more_toolsets,
        )
        parts = build_parts(setting)
        await parts.toolbox.executors.probe()
        for each in all_channels:
            parts.channels.add(each)
        api = add_api(setting, parts, lambda: {"running": True})
        gateway = await _serve(store, all_channels, clock, api)
        await parts.pausing.load()
        await parts.delivery.start()
        await parts.broker.start()
        await parts.status.start()
        await parts.toolbox.servers.start()
        unfinished = await revivable(parts, store)
        parts.channels.start(parts.inbox)
        for turn in unfinished:
            parts.queues.submit(turn)
        await parts.scheduling.start()
        await parts.flows.start(parts.inbox.admits)
        try:
            yield RunningBot(parts, store, all_channels, workspace, gateway.url if gateway else "")
        finally:
            await parts.flows.close()
            await parts.scheduling.close()
            await parts.inbox.close()
            await parts.queues.close()
            await parts.toolbox.servers.stop()
            await parts.toolbox.processes.stop_all()
            await parts.toolbox.executors.close()
            await parts.models.close()
            await parts.broker.close()
            await parts.status.close()
            await parts.delivery.close()
            await parts.channels.stop()
            if gateway is not None:
                await gateway.stop()
    finally:
        await store.close()


async def _serve(
    store: SqlStore, channels: Sequence[Channel], clock: Callable[[], datetime], api: ApiParts | None
) -> Gateway | None:
    hooks: dict[str, AsgiApp] = {}
    for channel in channels:
        if (own := getattr(channel, "hooks", None)) is not None:
            hooks |= own()
    if not (hooks or api):
        return None
    gateway = Gateway(GatewaySettings(port=0), store.logins, clock, {}, hooks, api)
    await gateway.start()
    return gateway
