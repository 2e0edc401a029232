"""Executors, the file door, and every built-in tool, made from the configuration."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime

from echo_bot.app.discovery import add_own_tools
from echo_bot.app.doors import Doors
from echo_bot.app.flows import Flows, flow_tools
from echo_bot.app.mcp import build_servers
from echo_bot.app.network_tools import Reach, network_tools
from echo_bot.app.outgoing import OutgoingFiles
from echo_bot.app.remembering import Witnesses, knowledge_tools, remembering_tools
from echo_bot.app.scheduling import cronjob_tool, scripts_of
from echo_bot.app.skills import Running, bound_content, build_skills
from echo_bot.approval.broker import Broker
from echo_bot.approval.gather import Surroundings
from echo_bot.config.model import Config
from echo_bot.config.places import absolute, data_dir, spill_dir, tool_files
from echo_bot.delivery import Delivery, StatusLines
from echo_bot.errors import StartError
from echo_bot.events import Identity
from echo_bot.execution.backends import Executors
from echo_bot.execution.background import BackgroundProcesses
from echo_bot.execution.container import ContainerExecutor, usual_sockets
from echo_bot.execution.environment import clean_environment
from echo_bot.execution.layout import default_layout
from echo_bot.execution.local import LocalExecutor
from echo_bot.execution.protocol import ExecutorBackend, Limits
from echo_bot.execution.remote import RemoteExecutor, RemoteHost
from echo_bot.execution.sandbox import SandboxExecutor
from echo_bot.files import FileDoor
from echo_bot.files.checkpoints import Blobs, CheckpointLimits, Keeper
from echo_bot.mcp.servers import McpServers
from echo_bot.policy.call import BoundFile, Executor
from echo_bot.policy.settings import PolicySettings
from echo_bot.skills.catalog import SkillCatalog
from echo_bot.storage.protocol import Store
from echo_bot.tools.base import Tool, ToolExecutionContext
from echo_bot.tools.builtin.clarify import ClarifyTool
from echo_bot.tools.builtin.delegate import DelegateTaskTool, SpawnTaskTool
from echo_bot.tools.builtin.exec import ExecTool
from echo_bot.tools.builtin.execute_code import ExecuteCodeTool
from echo_bot.tools.builtin.messaging import MessageTool, NotifyTool
from echo_bot.tools.builtin.patching import PatchTool
from echo_bot.tools.builtin.process import ProcessTool
from echo_bot.tools.builtin.read_spill import ReadSpillTool
from echo_bot.tools.builtin.reading import ListDirTool, ReadFileTool
from echo_bot.tools.builtin.running import Placed, RunSettings
from echo_bot.tools.builtin.searching import SearchFilesTool
from echo_bot.tools.builtin.todo import TodoTool
from echo_bot.tools.builtin.workspace import Workspace
from echo_bot.tools.builtin.writing import EditFileTool, WriteFileTool
from echo_bot.tools.media.made import MadeFiles
from echo_bot.tools.registry import Registry
from echo_bot.tools.sites import CallSites
from echo_bot.tools.spill import Spill, SpillLimits
from echo_bot.tools.workers import Workers


@dataclass(frozen=True, slots=True)
class Toolbox:
    """`sweep` drops files kept too long. `broken`: a sentence for each of the user's tools left out.

    `door_of` opens files for a person who asks for it themselves. `servers` bring tools of their own once
    they are started.
    """

    registry: Registry
    executors: Executors
    processes: BackgroundProcesses
    sites: CallSites
    surroundings: Callable[[], Awaitable[Surroundings]]
    spill: Spill
    sweep: Callable[[], None]
    skills: SkillCatalog
    keeper: Keeper
    door_of: Callable[[Identity], Awaitable[FileDoor]]
    servers: McpServers
    broken: tuple[str, ...] = ()


def build_toolbox(
    config: Config,
    settings: PolicySettings,
    store: Store,
    delivery: Delivery,
    broker: Broker,
    status: StatusLines,
    witnesses: Witnesses,
    reach: Reach,
    workers: Workers,
    flows: Flows,
    alarm: asyncio.Event,
    mask_known: Callable[[str], str],
) -> Toolbox:
    """Everything that tools need; one of the user's own that cannot be used is only left out."""
    sites = CallSites()
    executors = build_executors(config, settings)
    processes = BackgroundProcesses(max_output_chars=config.tools.exec.max_output_chars)
    spill = _spill(config, mask_known)
    doors = Doors(settings, sites, witnesses.people)
    keeper = _keeper(config, store, witnesses.clock)
    workspace = Workspace(
        settings.places.workspace,
        doors.door,
        config.spill.max_inline_chars,
        keeper if config.checkpoints.enabled else None,
    )
    files = OutgoingFiles(doors.for_site, settings.places.workspace, data_dir(config) / "outgoing")
    running = _running(config, settings, executors, sites, spill, status)
    skills = build_skills(config, settings, running, doors.door, witnesses.clock)

    async def files_of(instruction: str, owner: Identity) -> tuple[BoundFile, ...]:
        return await scripts_of(instruction, owner, registry, settings, await surroundings())

    registry = Registry(
        [
            *_file_tools(workspace, spill),
            *_running_tools(config, running, processes),
            *skills.tools,
            MessageTool(delivery, sites, settings.targets, files.stage),
            NotifyTool(delivery, sites, settings.targets, files.stage),
            TodoTool(store.values),
            DelegateTaskTool(
                workers,
                sites,
                has_model=bool(reach.model.name),
                shorten=spill.shorten_to,
                max_inline_chars=config.spill.max_inline_chars,
            ),
            SpawnTaskTool(workers, sites, has_model=bool(reach.model.name)),
            *network_tools(
                config,
                settings.tools,
                workspace,
                MadeFiles(workspace, sites, delivery, files.stage),
                reach,
            ),
            *remembering_tools(config, settings, store, sites, witnesses),
            *flow_tools(config, settings, store, flows, witnesses, lambda: registry),
            cronjob_tool(config, settings, store, delivery, sites, witnesses, files_of, alarm),
            *knowledge_tools(config, settings.places, workspace, running.on_output, witnesses.clock),
            ClarifyTool(
                broker,
                sites,
                default_timeout_seconds=config.permissions.approval.wait_timeout_seconds,
                clock=witnesses.clock,
            ),
        ]
    )
    broken = add_own_tools(registry, tool_files(config))
    servers = build_servers(config, settings, registry, workspace, store.mcp, reach.stored, witnesses)

    async def surroundings() -> Surroundings:
        return Surroundings(
            auto_lands_on=executors.chosen("auto"),
            bind=bound_content,
            typed_before=processes.typed_before,
            look_at_skill=skills.look,
            look_at_definition=servers.sight,
        )

    def sweep() -> None:
        files.sweep()
        spill.sweep()

    return Toolbox(
        registry,
        executors,
        processes,
        sites,
        surroundings,
        spill,
        sweep,
        skills.catalog,
        keeper,
        doors.of_person,
        servers,
        broken,
    )


def where_code_runs(config: Config) -> Executor:
    """Where the configuration would have code run; `auto` means the sandbox."""
    host = config.tools.exec.host
    return Executor.SANDBOX if host == "auto" else Executor(host)


def sandbox_warning(config: Config, executors: Executors) -> str:
    """Why code does not run where the configuration would have it run, after the probe; "" else."""
    tools = config.tools
    kind = where_code_runs(config)
    ready, why = executors.readiness(kind)
    if ready or kind is Executor.LOCAL or tools.exec.security == "deny":
        return ""
    if not (tools.exec.enabled or tools.code_exec.enabled):
        return ""
    if tools.exec.host == "sandbox":
        return f"no sandbox works here, so no code is run: {why}"
    if tools.exec.host != "auto":
        return f"tools.exec.host is {kind}, which does not work, so no code is run: {why}"
    return f"no sandbox works here, so a person is asked before code runs on this computer itself: {why}"


def build_executors(config: Config, settings: PolicySettings) -> Executors:
    """Where code can run; nothing is tried before `probe`."""
    home = settings.places.home
    environment = clean_environment(
        os.environ, config.tools.exec.env, home=home, tmpdir=os.environ.get("TMPDIR", "/tmp")
    )
    layout = default_layout(
        settings.places.workspace, home, settings.places.protected, settings.places.protected_write
    )
    here: list[ExecutorBackend] = [SandboxExecutor(layout, environment), LocalExecutor(environment)]
    container, remote = config.execution.container, config.execution.remote
    match config.tools.exec.host:
        case "container":
            sockets = (str(absolute(container.socket)),) if container.socket else usual_sockets(os.environ)
            here.append(ContainerExecutor(container.image, sockets, layout, environment))
        case "remote":
            host = RemoteHost(remote.host, remote.user, _file(remote.key_path), _file(remote.known_hosts))
            here.append(RemoteExecutor(host, settings.places.workspace, environment))
    return Executors(here)


def _file(written: str) -> str:
    return str(absolute(written)) if written else ""


def _spill(config: Config, mask_known: Callable[[str], str]) -> Spill:
    limits = SpillLimits(
        config.spill.max_inline_chars, config.spill.retention_days, config.spill.max_total_mb
    )
    return Spill(spill_dir(config), limits, mask=mask_known)


def _keeper(config: Config, store: Store, clock: Callable[[], datetime]) -> Keeper:
    limits = CheckpointLimits(**config.checkpoints.model_dump(exclude={"enabled"}))
    return Keeper(store.checkpoints, Blobs(data_dir(config) / "checkpoints"), limits, clock)


def _file_tools(workspace: Workspace, spill: Spill) -> tuple[Tool, ...]:
    return (
        ReadFileTool(workspace),
        ListDirTool(workspace),
        SearchFilesTool(workspace, shutil.which("rg")),
        WriteFileTool(workspace),
        EditFileTool(workspace),
        PatchTool(workspace),
        ReadSpillTool(spill, workspace.max_inline_chars),
    )


def _running(
    config: Config,
    settings: PolicySettings,
    executors: Executors,
    sites: CallSites,
    spill: Spill,
    status: StatusLines,
) -> Running:
    exec_config = config.tools.exec
    limits = Limits(**exec_config.limits.model_dump())
    run = RunSettings(
        settings.places.workspace, exec_config.timeout_seconds, exec_config.max_output_chars, limits
    )

    def place(ctx: ToolExecutionContext | None) -> Placed:
        if ctx is None:
            raise StartError("code runs only for a call that passed the gate")
        site = sites.get(ctx.execution_id)
        return Placed(executors.get(site.executor), site.network)

    def readiness() -> tuple[bool, str]:
        return executors.readiness(executors.chosen(exec_config.host))

    def on_output(ctx: ToolExecutionContext | None, text: str) -> None:
        if ctx is not None:
            status.printed(ctx.execution_id, text)

    return Running(run, place, spill.shorten, on_output, readiness)


def _running_tools(config: Config, running: Running, processes: BackgroundProcesses) -> tuple[Tool, ...]:
    run, place, shorten = running.settings, running.place, running.shorten
    on_output, readiness = running.on_output, running.readiness
    code = config.tools.code_exec
    return (
        ExecTool(run, place=place, shorten=shorten, on_output=on_output, readiness=readiness),
        ExecuteCodeTool(
            replace(run, timeout_seconds=code.timeout_seconds),
            tuple(code.languages),
            path=None if config.tools.exec.host in ("container", "remote") else os.environ.get("PATH", ""),
            place=place,
            shorten=shorten,
            on_output=on_output,
            readiness=readiness,
        ),
        ProcessTool(run, processes, place=place, shorten=shorten, readiness=readiness),
    )
