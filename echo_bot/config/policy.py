"""From the configuration to what the pure policy needs of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from echo_bot.channel import ChannelManifest
from echo_bot.config.availability import value_at
from echo_bot.config.channels import accounts, sections
from echo_bot.config.model import Config
from echo_bot.config.permissions import AllowlistEntry
from echo_bot.config.places import (
    absolute,
    program_folders,
    skill_folders,
    skills_dir,
    spill_dir,
    state_places,
    tool_files,
    workspace,
)
from echo_bot.config.prompt_file import prompt_files
from echo_bot.config.tools import Risk
from echo_bot.policy.allowlist import PRESETS
from echo_bot.policy.call import Executor
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.settings import (
    API,
    AUTHENTICATING,
    KNOWN_CHANNELS,
    AccessSettings,
    AllowEntry,
    ApprovalSettings,
    PlaceSettings,
    PolicySettings,
    ToolSettings,
)
from echo_bot.policy.targets import Target, parse_target

T = TypeVar("T")

LOCAL_ADMINS = ("cli:local", "web:local")


def policy_settings(
    config: Config, *, config_path: Path | None = None, manifests: Iterable[ChannelManifest] = ()
) -> PolicySettings:
    """Plain frozen values for the policy. `manifests` are the installed channels beyond ours."""
    host = config.tools.exec.host
    return PolicySettings(
        tools=_tools(config),
        approval=_approval(config),
        access=_access(config, tuple(manifests)),
        places=_places(config, config_path),
        exec_host=None if host == "auto" else Executor(host),
        exec_security=config.tools.exec.security,
        targets=dict(config.delivery.targets),
        allowed_targets=tuple(config.delivery.allowed_targets),
    )


def _tools(config: Config) -> ToolSettings:
    tools = config.tools
    subsystems = {entry.subsystem for entry in CATALOGUE.values() if entry.subsystem} | {"tools.mcp.enabled"}
    servers = {
        f"tools.mcp_servers.{name}.enabled"
        for name, server in tools.mcp_servers.items()
        if not server.enabled
    }
    return ToolSettings(
        profile=tools.profile,
        allow=tuple(tools.allow),
        also_allow=tuple(tools.also_allow),
        deny=tuple(tools.deny),
        security_profile=config.security.profile,
        network_policy=config.execution.network_policy,
        network_allow=tuple(config.execution.network_allow),
        disabled=frozenset(key for key in subsystems if value_at(config, key) is False) | servers,
        code_languages=tuple(tools.code_exec.languages),
        mcp_risks={name: RiskLevel(server.risk) for name, server in tools.mcp_servers.items() if server.risk},
    )


def _approval(config: Config) -> ApprovalSettings:
    approval = config.permissions.approval
    return ApprovalSettings(
        mode=approval.mode,
        auto_approve=tuple(approval.auto_approve),
        auto_deny=tuple(approval.auto_deny),
        trusted_channels=tuple(approval.trusted_channels),
        cli_auto_approve=approval.cli_auto_approve,
        unattended_policy=approval.unattended_policy,
        allowlist=tuple(entry for written in approval.allowlist for entry in _entries(written)),
        approvers=tuple(approval.approvers),
        requester_may_approve=_by_risk(approval.requester_may_approve),
        quorum=_by_risk(approval.quorum),
        route=approval.route if isinstance(approval.route, str) else _targets(approval.route, config),
        remind_after_seconds=approval.remind_after_seconds,
        escalate_to=_targets(approval.escalate_to, config),
    )


def _targets(entries: Iterable[str], config: Config) -> tuple[Target, ...]:
    """What `checks` complains about is left out here."""
    found = []
    for entry in entries:
        with suppress(ValueError):
            found.append(parse_target(entry, config.delivery.targets))
    return tuple(found)


def _by_risk(values: Mapping[Risk, T]) -> dict[RiskLevel, T]:
    return {RiskLevel(risk): value for risk, value in values.items()}


def _entries(written: AllowlistEntry) -> tuple[AllowEntry, ...]:
    if written.preset is not None:
        return PRESETS[written.preset]
    return (AllowEntry(written.tool, dict(written.args)),)


def _access(config: Config, manifests: tuple[ChannelManifest, ...]) -> AccessSettings:
    permissions = config.permissions
    local = LOCAL_ADMINS if config.security.profile == "personal_cli" else ()
    tokens = (*config.gateway.api_tokens, *config.gateway.admin_tokens)
    return AccessSettings(
        known_channels=KNOWN_CHANNELS | {m.name for m in manifests} | ({API} if tokens else set()),
        authenticating=AUTHENTICATING | {m.name for m in manifests if m.authenticates_sender},
        allow_from=_allow_from(config) | {API: tuple(token.name for token in tokens)},
        api_admins=frozenset(f"{API}:{token.name}" for token in config.gateway.admin_tokens),
        admin_users=local if permissions.admin_users is None else tuple(permissions.admin_users),
        elevated=permissions.elevated.enabled,
        elevated_from={channel: tuple(ids) for channel, ids in permissions.elevated.allow_from.items()},
    )


def _allow_from(config: Config) -> dict[str, tuple[str, ...]]:
    return {
        f"{name}/{account}" if account else name: tuple(section.allow_from)
        for name, channel in sections(config.channels).items()
        for account, section in accounts(channel).items()
    }


def _places(config: Config, config_path: Path | None) -> PlaceSettings:
    tools = config.tools
    root = tools.safe_write_root
    base = workspace(config)
    return PlaceSettings(
        workspace=str(base),
        home=str(Path.home()),
        restrict_to_workspace=tools.restrict_to_workspace,
        safe_write_root=str(absolute(root)) if root else "",
        spill=str(spill_dir(config)),
        protected=tuple(dict.fromkeys(map(str, state_places(config, config_path)))),
        protected_write=(
            *program_folders(),
            *map(str, (*tool_files(config), *prompt_files(config, config_path))),
            # Who writes the checklist gives orders in its owner's name, with nobody there.
            *([str(base / Path(config.inspection.file).expanduser())] if config.inspection.file else ()),
            *map(str, (skills_dir(config), *skill_folders(config))),
        ),
    )
