"""A running bot: started as one list of steps, stopped by the same list backwards."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TextIO

import structlog

from echo_bot.app.api import StatusOf, add_api
from echo_bot.app.discovery import Discovered, build_channel
from echo_bot.app.enabled import enabled_channels, title_of
from echo_bot.app.logs import configure_logs
from echo_bot.app.one_bot import OneBotEach
from echo_bot.app.parts import Parts, build_parts
from echo_bot.app.reviving import revivable
from echo_bot.app.secrets import Secrets, open_secrets
from echo_bot.app.served import Served, served_for
from echo_bot.app.setting import Setting, utc_now
from echo_bot.app.toolbox import sandbox_warning
from echo_bot.bus.instance import Instance, claim_instance
from echo_bot.bus.process import ProcessId
from echo_bot.bus.protocol import DECISIONS_TOPIC, JOBS_TOPIC, PAUSES_TOPIC, PINS_TOPIC
from echo_bot.bus.sqlite import SqliteBus
from echo_bot.channel import Channel, ChannelSettings
from echo_bot.config.loader import Loaded
from echo_bot.config.places import data_dir, database_url
from echo_bot.config.prompt_file import system_prompt
from echo_bot.errors import StartError, StorageError
from echo_bot.execution.hardening import harden_process
from echo_bot.gateway import Gateway, GatewaySettings
from echo_bot.gateway.api.parts import ApiParts
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.storage.store import SqlStore
from echo_bot.text.language import N_, _, choose, language_of

log = structlog.get_logger(__name__)

NO_MODEL_NOTICE = N_("No model is configured: I run what you ask for directly. Try /run ls -la, or /help.")
_HEALTH_SECONDS = 2.0
_HOUSEKEEPING_SECONDS = 3600.0
_SEEN_FOR = timedelta(days=30)
_OVER_FOR = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`terminal`: a person sits at stdin and stdout and chats there. `headless`: nobody ever does.

    `status` is what the HTTP API tells of the bot; by default nothing.
    """

    terminal: bool
    environ: MutableMapping[str, str]
    headless: bool = False
    status: StatusOf = dict


@dataclass(frozen=True, slots=True)
class Started:
    """`url` is the log-in link; "" when the page is not served, and then `unserved` may say why."""

    url: str
    warnings: tuple[str, ...]
    unserved: str = ""


class Bot:
    """One bot on one data folder."""

    def __init__(self, loaded: Loaded, discovered: Discovered, options: RunOptions) -> None:
        self._loaded, self._discovered, self._options = loaded, discovered, options
        self._stack = AsyncExitStack()
        self._folder = data_dir(loaded.config)
        self.lost = asyncio.Event()
        self._gateway: Gateway | None = None
        self._unserved = ""
        self._parts: Parts | None = None

    async def start(self) -> Started:
        """Raises ConfigError, StartError or StorageError, with everything that was started stopped again."""
        try:
            return await self._start()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop in reverse order. What is queued or waits stays stored. Idempotent."""
        await self._stack.aclose()

    async def new_login_link(self) -> str:
        return await self._gateway.new_login_link() if self._gateway and self._gateway.url else ""

    async def _start(self) -> Started:
        config = self._loaded.config
        choose(language_of(config.language, self._options.environ))
        observed = config.observability
        stream = self._log_stream()
        configure_logs(observed.log_level, observed.log_format, SecretMask(()).mask, stream)
        system_prompt(config, self._loaded.path)
        store, bus, instance = await self._open_state()
        secrets = await open_secrets(self._loaded, store.sealed, self._options.environ, utc_now)
        configure_logs(observed.log_level, observed.log_format, secrets.mask.mask, stream)
        harden_process()
        me = ProcessId.current()
        setting = Setting(
            loaded=self._loaded,
            manifests=tuple(self._discovered.manifests.values()),
            store=store,
            secrets=secrets,
            writer=str(me),
            is_interactive=self._options.terminal,
        )
        parts = self._parts = build_parts(setting)
        self._stack.push_async_callback(parts.models.close)
        self._stack.push_async_callback(parts.toolbox.executors.close)
        await parts.toolbox.executors.probe()
        lacking = sandbox_warning(config, parts.toolbox.executors)
        if lacking:
            parts.overview.warn(lacking)
        served = self._add_channels(parts, secrets)
        api = add_api(setting, parts, self._options.status)
        await self._start_work(parts)
        url = await self._serve(parts, store, served, api)
        self._own(self._watch_decisions(bus, parts), "decisions")
        self._own(self._watch_pins(bus, parts), "pins")
        self._own(self._watch_pauses(bus, parts), "pauses")
        self._own(self._watch_jobs(bus, parts), "jobs")
        self._own(self._write_health(parts, me, store), "health")
        self._own(self._keep_house(parts, store), "housekeeping")
        self._own(self._watch_lease(instance), "lease")
        await parts.audit.record("started", pid=os.getpid(), config=str(self._loaded.path or ""))
        started = Started(await self.new_login_link() if url else "", parts.overview.warnings, self._unserved)
        unfinished = await revivable(parts, store)
        # Nothing waits from here on: what the caller prints stands above the first line of a chat.
        parts.channels.start(parts.inbox)
        for turn in unfinished:
            parts.queues.submit(turn)
        await parts.scheduling.start()
        self._stack.push_async_callback(parts.scheduling.close)
        await parts.flows.start(parts.inbox.admits)
        self._stack.push_async_callback(parts.flows.close)
        return started

    async def _open_state(self) -> tuple[SqlStore, SqliteBus, Instance]:
        store = SqlStore(database_url(self._loaded.config))
        await store.open()
        self._stack.push_async_callback(store.close)
        bus = SqliteBus(store.path, utc_now)
        await bus.open()
        self._stack.push_async_callback(bus.close)
        instance = await claim_instance(bus, ProcessId.current())
        self._stack.push_async_callback(instance.release)
        return store, bus, instance

    def _log_stream(self) -> TextIO:
        """stderr; a file in the data folder while somebody chats at the terminal."""
        if not self._options.terminal:
            return sys.stderr
        path = self._folder / "echo-bot.log"
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise StorageError(
                f"the data folder {self._folder} cannot be written: {error.strerror}"
            ) from error
        stream = os.fdopen(handle, "a", encoding="utf-8", buffering=1)
        self._stack.callback(stream.close)
        return stream

    def _add_channels(self, parts: Parts, secrets: Secrets) -> Served:
        """Build every enabled channel; one that cannot be built is named in `status` and stops nothing."""
        built: dict[str, Channel] = {}
        bots = OneBotEach()
        enabled = enabled_channels(
            self._loaded.config.channels, terminal=self._options.terminal, headless=self._options.headless
        )
        for name, account in enabled:
            manifest = self._discovered.manifests.get(name)
            title = title_of(name, account.account)
            if manifest is None:
                missing = "no installed package brings this channel"
                parts.channels.add_broken(title, self._discovered.broken.get(name, missing))
                continue
            try:
                settings = secrets.for_channel(manifest, account)
                bots.claim(manifest, settings)
                built[title] = build_channel(manifest, _noticed(settings, parts))
            except StartError as error:
                log.error("channel_not_built", channel=title, error=str(error))
                parts.channels.add_broken(title, str(error))
        served = served_for(built.values())
        for title, channel in built.items():
            if problem := served.problems.get(title):
                log.error("channel_not_served", channel=title, error=problem)
                parts.channels.add_broken(title, problem)
            else:
                parts.channels.add(channel)
        self._stack.push_async_callback(parts.channels.stop)
        return served

    async def _start_work(self, parts: Parts) -> None:
        await parts.pausing.load()
        await parts.delivery.start()
        self._stack.push_async_callback(parts.delivery.close)
        await parts.broker.start()
        self._stack.push_async_callback(parts.broker.close)
        await parts.status.start()
        self._stack.push_async_callback(parts.status.close)
        await parts.toolbox.servers.start()
        self._stack.push_async_callback(parts.toolbox.servers.stop)
        self._stack.push_async_callback(parts.toolbox.processes.stop_all)
        self._stack.push_async_callback(parts.queues.close)
        self._stack.push_async_callback(parts.inbox.close)

    async def _serve(self, parts: Parts, store: SqlStore, served: Served, api: ApiParts | None) -> str:
        """A gateway that cannot serve takes only what it serves away, unless there is nothing else.

        Returns the page's URL: "" when there is no page.
        """
        if not (served.mounts or served.hooks or api):
            return ""
        titles = (*served.titles, *([api.channel.name] if api else []))
        gateway = self._loaded.config.gateway
        self._gateway = Gateway(
            GatewaySettings(
                host=gateway.host,
                port=gateway.port,
                allowed_hosts=tuple(gateway.allowed_hosts),
                allowed_origins=tuple(gateway.allowed_origins),
                max_body_mb=gateway.max_body_mb,
            ),
            store.logins,
            utc_now,
            served.mounts,
            served.hooks,
            api,
        )
        try:
            url = await self._gateway.start()
        except StartError as error:
            if parts.channels.built <= len(titles):
                raise
            log.error("gateway_not_serving", error=str(error))
            self._unserved = str(error)
            parts.channels.mark_unserved(titles, self._unserved)
            return ""
        self._stack.push_async_callback(self._gateway.stop)
        parts.channels.mark_called(
            {title: tuple(url + path for path in paths) for title, paths in served.paths.items()}
        )
        return url if served.mounts else ""

    def _own(self, work: Awaitable[None], name: str) -> None:
        task = asyncio.ensure_future(work)
        if isinstance(task, asyncio.Task):
            task.set_name(name)

        async def end() -> None:
            task.cancel()
            await asyncio.wait({task})

        self._stack.push_async_callback(end)

    async def _watch_decisions(self, bus: SqliteBus, parts: Parts) -> None:
        """Decisions of the command line, heard within a second."""
        async for _signal in bus.subscribe(DECISIONS_TOPIC):
            await _guarded(parts.broker.catch_up, "decisions_unread")

    async def _watch_pauses(self, bus: SqliteBus, parts: Parts) -> None:
        """Pauses of the command line, heard within a second."""
        async for _signal in bus.subscribe(PAUSES_TOPIC):
            await _guarded(parts.pausing.load, "pauses_unread")

    async def _watch_jobs(self, bus: SqliteBus, parts: Parts) -> None:
        """Changes by the command line, heard within a second."""
        async for _signal in bus.subscribe(JOBS_TOPIC):
            parts.scheduling.scheduler.wake()

    async def _watch_pins(self, bus: SqliteBus, parts: Parts) -> None:
        async for _signal in bus.subscribe(PINS_TOPIC):
            await _guarded(parts.toolbox.servers.read_pins, "pins_unread")

    async def _write_health(self, parts: Parts, me: ProcessId, store: SqlStore) -> None:
        while True:
            facts: dict[str, object] = {
                "pid": os.getpid(),
                "process": str(me),
                "url": self._gateway.url if self._gateway else "",
                "config": str(self._loaded.path or ""),
                "config_digest": self._loaded.file_digest,
                "environment_digest": self._loaded.environment_digest,
                "workspace": parts.settings.places.workspace,
                "configured_model": self._loaded.config.models.default,
            }
            await _guarded(partial(parts.overview.write_health, facts), "health_unwritten")
            await asyncio.sleep(_HEALTH_SECONDS)

    async def _keep_house(self, parts: Parts, store: SqlStore) -> None:
        """Forget, once an hour, what is older than the configuration keeps."""
        retention = self._loaded.config.retention
        while True:
            now = utc_now()
            audited = now - timedelta(days=retention.audit_days)
            remembered = now - timedelta(days=retention.history_days)
            await _guarded(partial(parts.audit.prune, audited), "audit_unpruned")
            await _guarded(partial(store.retention.forget_before, remembered), "history_unpruned")
            await _guarded(partial(store.events.forget_before, now - _SEEN_FOR), "ids_kept")
            await _guarded(partial(store.jobs.forget_done, now - _OVER_FOR), "jobs_kept")
            await asyncio.to_thread(parts.toolbox.sweep)
            await _guarded(parts.toolbox.keeper.sweep, "checkpoints_unswept")
            await asyncio.sleep(_HOUSEKEEPING_SECONDS)

    async def _watch_lease(self, instance: Instance) -> None:
        await instance.lost.wait()
        log.error("lease_lost", hint="another process runs on this data folder; this one stops")
        self.lost.set()


def _noticed(settings: ChannelSettings, parts: Parts) -> ChannelSettings:
    """The settings with the line that an empty chat shows, where a channel has a place for it."""
    notice = "" if parts.overview.has_model else _(NO_MODEL_NOTICE)
    return replace(settings, options={**settings.options, "notice": notice})


async def _guarded(work: Callable[[], Awaitable[object]], event: str) -> None:
    """Background work goes on after a database error, which is logged."""
    try:
        await work()
    except StorageError as error:
        log.error(event, error=str(error))
