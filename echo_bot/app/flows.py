"""Workflows and tasks: what their tools, their turns and their timers are made of."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from echo_bot.agent.turn import TurnBody
from echo_bot.agent.workflow_end import Endings
from echo_bot.agent.workflow_turn import FlowParts, WorkflowTurns
from echo_bot.app.remembering import Witnesses
from echo_bot.approval.approvers import read_paired
from echo_bot.approval.broker import Broker
from echo_bot.config.model import Config
from echo_bot.delivery import Delivery
from echo_bot.events import Identity
from echo_bot.execution.background import BackgroundProcesses
from echo_bot.flows.nudges import Nudges
from echo_bot.flows.tasks import Tasks
from echo_bot.flows.timers import Timers
from echo_bot.flows.workflows import Admits, Workflows
from echo_bot.policy.access import is_admin
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.policy.schemas import FREE, JsonSchema
from echo_bot.policy.settings import PolicySettings, ToolSettings
from echo_bot.scheduler.reading import read_moment
from echo_bot.scheduler.zones import default_zone, zone_of
from echo_bot.session import Pausing, TurnStarter
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import TurnKind
from echo_bot.tools.base import Tool
from echo_bot.tools.builtin.task import TaskTool
from echo_bot.tools.builtin.workflow import WorkflowTool
from echo_bot.tools.registry import Availability, Registry
from echo_bot.tools.runner import ToolRunner

_ID_BYTES = 4


@dataclass(frozen=True, slots=True)
class Flows:
    """`start` takes up what an earlier run left: after its turns were queued again.

    Nothing starts by itself for whom `admits` refuses.
    """

    store: Store
    delivery: Delivery
    pausing: Pausing
    clock: Callable[[], datetime]
    workflows: Workflows
    tasks: Tasks
    timers: Timers
    nudges: Nudges

    async def start(self, admits: Admits) -> None:
        await self.timers.start(self.workflows, self.tasks, admits)

    async def close(self) -> None:
        await self.timers.close()


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """Implements `ToolBook`: what a step may call is what a model is offered."""

    registry: Registry
    settings: ToolSettings

    def names(self) -> Iterable[str]:
        return (tool.name for tool in self.registry.offered(self.settings))

    def problem(self, name: str) -> str:
        state = self.registry.state_of(name, self.settings)
        if state.state is Availability.AVAILABLE:
            return ""
        words = {Availability.FILTERED: "it is filtered by ", Availability.DISABLED: "it is switched off by "}
        return words.get(state.state, "") + (state.reason or state.state.value)

    def parameters(self, name: str) -> JsonSchema:
        tool = self.registry.get(name)
        return FREE if tool is None else tool.parameters


def build_flows(
    store: Store,
    starter: TurnStarter,
    delivery: Delivery,
    pausing: Pausing,
    broker: Broker,
    clock: Callable[[], datetime],
) -> Flows:
    timers = Timers(store, starter, delivery, pausing, clock=clock)
    nudges = Nudges()
    workflows = Workflows(
        store,
        starter,
        nudges,
        close_questions=broker.cancel_turns,
        wake_timers=timers.wake,
        clock=clock,
        new_id=lambda: f"w{secrets.token_hex(_ID_BYTES)}",
    )
    tasks = Tasks(
        store,
        starter,
        wake_timers=timers.wake,
        clock=clock,
        new_id=lambda: f"t{secrets.token_hex(_ID_BYTES)}",
    )
    return Flows(store, delivery, pausing, clock, workflows, tasks, timers, nudges)


def flow_tools(
    config: Config,
    settings: PolicySettings,
    store: Store,
    flows: Flows,
    witnesses: Witnesses,
    registry: Callable[[], Registry],
) -> tuple[Tool, ...]:
    zone = zone_of(default_zone(config.timezone))

    async def asks_as_admin(sender: Identity) -> bool:
        return is_admin(sender, settings.access, await read_paired(witnesses.people))

    def moment_of(text: str) -> datetime:
        return read_moment(text, witnesses.clock(), zone)

    return (
        WorkflowTool(
            flows.workflows,
            store.turns,
            lambda: OfferedTools(registry(), settings.tools),
            is_admin=asks_as_admin,
            read_moment=moment_of,
        ),
        TaskTool(flows.tasks, store.turns, is_admin=asks_as_admin, read_moment=moment_of),
    )


def workflow_bodies(
    flows: Flows,
    runner: ToolRunner,
    registry: Registry,
    processes: BackgroundProcesses,
    settings: PolicySettings,
    config: Config,
    mask: SecretMask,
) -> Mapping[TurnKind, TurnBody]:
    """What runs the turns of workflows. With a run end its session's approvals and its processes."""

    async def end_session(session_key: str) -> None:
        await flows.store.grants.end_session(session_key)
        await processes.stop_session(session_key)

    endings = Endings(flows.store, flows.delivery, end_session, mask.mask, mask.mask_known, flows.clock)
    flows.workflows.tell_end = endings.tell
    parts = FlowParts(
        store=flows.store,
        runner=runner,
        delivery=flows.delivery,
        pausing=flows.pausing,
        nudges=flows.nudges,
        most_at_once=config.agent.parallel_tools,
        offered=lambda: frozenset(tool.name for tool in registry.offered(settings.tools)),
        endings=endings,
        mask=mask.mask,
        clock=flows.clock,
    )
    return {"workflow": WorkflowTurns(parts).run}
