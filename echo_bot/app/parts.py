"""The composition root: from a configuration to the objects of a running bot. Nothing is started here."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

import structlog

from echo_bot.agent.job import JobTurns
from echo_bot.agent.turn import TurnParts, TurnRunner, schemas_of
from echo_bot.app.approving import build_broker
from echo_bot.app.callbacks import Callbacks
from echo_bot.app.channel_runner import ChannelRunner
from echo_bot.app.derived import group_policies, timeout_for, timezone_of
from echo_bot.app.file_sources import file_sources
from echo_bot.app.flows import Flows, build_flows, workflow_bodies
from echo_bot.app.hearing import build_ears, build_received, ears_warning
from echo_bot.app.model import approval_model, build_ledger, chat_runner, judge_named, same_provider
from echo_bot.app.model_parts import ModelParts, build_model_parts
from echo_bot.app.moved_targets import MovedAliases, MovedTargets
from echo_bot.app.network_tools import Reach
from echo_bot.app.overview import Overview
from echo_bot.app.remembering import Witnesses
from echo_bot.app.scheduling import (
    Scheduling,
    build_scheduling,
    inspection_warning,
    still_authorised,
)
from echo_bot.app.setting import Setting
from echo_bot.app.toolbox import Toolbox, build_toolbox
from echo_bot.app.undelivered import Undelivered
from echo_bot.app.workers import build_workers, worker_bodies
from echo_bot.approval.asking import Asking
from echo_bot.approval.broker import Broker
from echo_bot.approval.gate import ApprovalGate, GateOptions
from echo_bot.approval.people import RememberedPeople
from echo_bot.audit import Audit
from echo_bot.config.policy import policy_settings
from echo_bot.delivery import CardDelivery, ChannelBook, Delivery, MovedChats, Pace, StatusLines
from echo_bot.inbox.admission import Admission
from echo_bot.inbox.albums import Albums
from echo_bot.inbox.commands import Commands, Desk
from echo_bot.inbox.completing import Completing
from echo_bot.inbox.moving import Moves
from echo_bot.inbox.port import Inbox, InboxSettings
from echo_bot.inbox.rate import RateLimit
from echo_bot.inbox.undoing import Undoing
from echo_bot.policy.access import LOCAL
from echo_bot.policy.settings import PolicySettings
from echo_bot.scheduler.runs import Runs
from echo_bot.session import Pausing, SessionQueues, TurnStarter
from echo_bot.tools.media.hearing import Ears
from echo_bot.tools.runner import ToolRunner

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """The objects of a running bot."""

    settings: PolicySettings
    audit: Audit
    book: ChannelBook
    delivery: Delivery
    status: StatusLines
    channels: ChannelRunner
    toolbox: Toolbox
    broker: Broker
    gate: ApprovalGate
    queues: SessionQueues
    pausing: Pausing
    starter: TurnStarter
    overview: Overview
    models: ModelParts
    ears: Ears | None
    inbox: Inbox
    scheduling: Scheduling
    flows: Flows
    warnings: tuple[str, ...]


def build_parts(setting: Setting) -> Parts:
    """Raises StartError for what cannot be built; a model that cannot be used is only a warning."""
    config, store, mask, clock = setting.config, setting.store, setting.secrets.mask, setting.clock
    settings = policy_settings(config, config_path=setting.loaded.path, manifests=setting.manifests)
    moved = MovedChats(store)
    settings = replace(
        settings,
        targets=MovedAliases(settings.targets, moved.now),
        allowed_targets=MovedTargets(settings.allowed_targets, settings.targets, moved.now),
    )
    audit_key = setting.secrets.key.raw if setting.secrets.key else None
    audit = Audit(store.audit, setting.writer, audit_key, clock, mask=mask.mask)
    people = RememberedPeople(store.people, time.monotonic)
    book = ChannelBook()
    pace = Pace(time.monotonic)
    delivery = Delivery(
        store,
        book,
        moved,
        pace,
        clock=clock,
        mask=mask.mask,
        max_tries=config.delivery.max_tries,
    )
    delivery.when_dead(Undelivered(store, delivery).tell)
    channels = ChannelRunner(book, delivery, clock)
    callbacks = Callbacks(store, delivery, clock)
    starter = TurnStarter(store, clock)
    pausing = Pausing(store.values, clock)
    broker = build_broker(
        setting,
        settings,
        audit,
        CardDelivery(store, book, moved, pace, clock=clock),
        channels,
        people,
        callbacks,
    )
    status = StatusLines(delivery, store, now=time.monotonic, clock=clock, mask=mask.mask)
    witnesses = Witnesses(people, audit, mask.mask, clock)
    ledger = build_ledger(config, store, timezone_of(config), clock)
    models = build_model_parts(
        config,
        setting.secrets,
        store,
        ledger,
        model=setting.model,
        judge=setting.judge,
        rehearses=setting.rehearses,
    )
    judge = models.judges
    reach = Reach(
        setting.secrets.value_of(config),
        models.answers,
        partial(same_provider, config, setting.secrets),
        ledger,
        setting.secrets.stored,
    )
    ears = build_ears(config, reach.secret_of)
    workers = build_workers(config, store, starter, status, pausing, clock)
    flows = build_flows(store, starter, delivery, pausing, broker, clock)
    alarm, runs = asyncio.Event(), Runs(delivery.now)
    toolbox = build_toolbox(
        config,
        settings,
        store,
        delivery,
        broker,
        status,
        witnesses,
        reach,
        workers,
        flows,
        alarm,
        mask.mask_known,
    )
    network_allowed = config.execution.network_policy == "allow"
    gate = ApprovalGate(
        settings,
        GateOptions(setting.is_interactive, network_allowed, judge.name or judge_named(config)),
        store,
        people,
        broker,
        audit,
        Asking(timeout_for(config), network_allowed, mask.mask, clock),
        surroundings=toolbox.surroundings,
        ask_model=approval_model(judge, models.others, config, ledger),
        mask=mask.mask,
        on_waiting=callbacks.on_waiting,
        still_authorised=still_authorised(store.jobs),
        clock=clock,
    )
    runner = ToolRunner(
        toolbox.registry,
        gate,
        toolbox.sites,
        audit,
        status,
        mask_known=mask.mask_known,
        shorten=toolbox.spill.shorten,
        credentials_of=setting.secrets.of_tool,
    )
    chat = chat_runner(
        models.chain,
        config,
        settings,
        store,
        toolbox.registry,
        runner,
        delivery,
        config_path=setting.loaded.path,
        skills=toolbox.skills,
        mask=mask,
        clock=clock,
        more_toolsets=setting.more_toolsets,
    )
    turns = TurnRunner(
        TurnParts(
            store,
            toolbox.registry,
            runner,
            delivery,
            audit,
            chat,
            build_received(book, file_sources(config), settings.places, store, ears, ledger, mask),
            is_asking=broker.is_asking,
            stop_workers=workers.stop_awaited,
            offered=lambda: frozenset(tool.name for tool in toolbox.registry.offered(settings.tools)),
            parallel_tools=config.agent.parallel_tools,
            bodies={
                "job": JobTurns(runner, chat, delivery, schemas_of(toolbox.registry), clock).run,
                **workflow_bodies(flows, runner, toolbox.registry, toolbox.processes, settings, config, mask),
                **worker_bodies(
                    chat,
                    workers,
                    config,
                    settings,
                    store,
                    toolbox.registry,
                    delivery,
                    audit,
                    spill=toolbox.spill,
                    mask=mask,
                    clock=clock,
                ),
            },
        )
    )
    queues = starter.queues = SessionQueues(turns.run, pausing.is_paused)
    pausing.subscribe(queues.wake)
    found = (
        *setting.loaded.warnings,
        *setting.secrets.warnings,
        *toolbox.broken,
        inspection_warning(config, settings),
        *models.warnings,
        ears_warning(ears),
    )
    warnings = tuple(each for each in dict.fromkeys(found) if each)
    overview = Overview(
        settings,
        store,
        people,
        toolbox.registry,
        queues,
        pausing,
        channels,
        model_name=models.name,
        ledger=ledger,
        warnings=warnings,
        stop_processes=toolbox.processes.stop_session,
        servers=toolbox.servers.status,
        clock=clock,
    )
    undoing = Undoing(
        store, toolbox.keeper, toolbox.door_of, audit, settings.places.workspace, mask.mask, clock
    )
    albums = Albums(store.events, queues, clock)
    inbox = Inbox(
        InboxSettings(
            shared_groups=config.session.group_scope == "shared",
            max_backlog=timedelta(minutes=config.channels.max_backlog_minutes),
        ),
        store,
        Admission(settings.access, people, group_policies=group_policies(config), clock=clock),
        RateLimit(config.rate_limit.per_minute, config.rate_limit.burst, LOCAL),
        Commands(
            Desk(
                store,
                broker,
                queues,
                workers,
                flows.workflows,
                flows.tasks,
                runs,
                pausing,
                albums,
                overview,
                undoing,
                models.chain,
                ledger,
                audit,
                mask.mask,
                clock,
            )
        ),
        queues,
        pausing,
        albums,
        broker,
        delivery,
        Completing(
            store,
            broker,
            tool_names=overview.available_tools,
            model_names=models.chain.names if models.chain else (),
            mask=mask.mask,
            clock=clock,
        ),
        Moves(store, queues, pausing, albums, moved, audit, rename_processes=toolbox.processes.rename),
        status,
        mask=mask.mask,
        clock=clock,
        monotonic=time.monotonic,
    )
    callbacks.inbox = inbox
    scheduling = build_scheduling(
        config,
        settings,
        store,
        delivery,
        starter,
        pausing,
        witnesses,
        alarm,
        runs,
        admits=inbox.admits,
        door_of=toolbox.door_of,
        stop_processes=toolbox.processes.stop_session,
    )
    return Parts(
        settings,
        audit,
        book,
        delivery,
        status,
        channels,
        toolbox,
        broker,
        gate,
        queues,
        pausing,
        starter,
        overview,
        models,
        ears,
        inbox,
        scheduling,
        flows,
        warnings,
    )
