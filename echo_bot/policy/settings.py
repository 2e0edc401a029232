"""Everything the policy needs of the configuration, as plain frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from echo_bot.policy.call import Executor
from echo_bot.policy.risk import RiskLevel
from echo_bot.policy.targets import Target

ToolProfile = Literal["minimal", "messaging", "coding", "full"]
SecurityProfile = Literal["personal_cli", "daemon", "public_gateway"]
NetworkPolicy = Literal["deny", "allow", "restricted"]
ExecSecurity = Literal["deny", "allowlist", "full"]
ApprovalMode = Literal["manual", "off", "smart"]
UnattendedPolicy = Literal["deny", "allow_safe"]
Route = Literal["origin", "dm"] | tuple[Target, ...]

AUTHENTICATING = frozenset({"telegram", "discord", "slack", "cli", "web"})
"""The channels of ours whose platform vouches for the sender's id."""

KNOWN_CHANNELS = AUTHENTICATING | {"webhook"}

API = "api"
"""Where the holders of API tokens speak: no channel of the configuration, known while there are tokens."""


@dataclass(frozen=True, slots=True)
class AllowEntry:
    """One line of the operator's allowlist: a tool and a pattern for each argument it may have."""

    tool: str
    args: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """Which tools are there: `tools.*`, `security.profile`, `execution.*`. `disabled`: keys set to false."""

    profile: ToolProfile = "full"
    allow: tuple[str, ...] = ()
    also_allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    security_profile: SecurityProfile = "personal_cli"
    network_policy: NetworkPolicy = "deny"
    network_allow: tuple[str, ...] = ()
    disabled: frozenset[str] = frozenset({"tools.web.enabled"})
    code_languages: tuple[str, ...] = ("python", "javascript", "bash")
    mcp_risks: Mapping[str, RiskLevel] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ApprovalSettings:
    """How a call is approved: `permissions.approval.*`. Empty `approvers`: see `access.may_decide`.

    `route` is "origin", "dm", or where every card goes. `remind_after_seconds` 0: nobody is reminded.
    """

    mode: ApprovalMode = "manual"
    auto_approve: tuple[str, ...] = ()
    auto_deny: tuple[str, ...] = ()
    trusted_channels: tuple[str, ...] = ()
    cli_auto_approve: bool = True
    unattended_policy: UnattendedPolicy = "deny"
    allowlist: tuple[AllowEntry, ...] = ()
    approvers: tuple[str, ...] = ()
    requester_may_approve: Mapping[RiskLevel, bool] = field(default_factory=dict)
    quorum: Mapping[RiskLevel, int] = field(default_factory=dict)
    route: Route = "origin"
    remind_after_seconds: int = 0
    escalate_to: tuple[Target, ...] = ()


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """Who is who: senders are `channel[/account]:id`, `allow_from` is keyed by `channel[/account]`.

    `api_admins` are the holders of admin tokens: a token proves its holder, a name in a body proves nothing.
    """

    known_channels: frozenset[str] = KNOWN_CHANNELS
    authenticating: frozenset[str] = AUTHENTICATING
    allow_from: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    admin_users: tuple[str, ...] = ("cli:local", "web:local")
    api_admins: frozenset[str] = frozenset()
    elevated: bool = False
    elevated_from: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlaceSettings:
    """Folders, absolute. `protected` is the bot's state, `protected_write` its program and own tools."""

    workspace: str = "/"
    home: str = ""
    restrict_to_workspace: bool = False
    safe_write_root: str = ""
    spill: str = ""
    protected: tuple[str, ...] = ()
    protected_write: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """The whole of it. `exec_host` None is `auto`."""

    tools: ToolSettings = field(default_factory=ToolSettings)
    approval: ApprovalSettings = field(default_factory=ApprovalSettings)
    access: AccessSettings = field(default_factory=AccessSettings)
    places: PlaceSettings = field(default_factory=PlaceSettings)
    exec_host: Executor | None = None
    exec_security: ExecSecurity = "allowlist"
    targets: Mapping[str, str] = field(default_factory=dict)
    allowed_targets: Sequence[str] = ()
