"""`permissions`: who is an admin, how calls are approved, who may run code outside the sandbox."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from echo_bot.config.base import Count, Id, Listed, Positive, Section
from echo_bot.config.tools import Risk

Preset = Literal["read_only_shell"]


class AllowlistEntry(Section):
    tool: str = ""
    """The tool."""
    args: dict[str, str] = Field(default_factory=dict)
    """A pattern for each argument; exec.command takes one glob per word, a last ** takes the rest."""
    preset: Preset | None = None
    """A ready-made list instead of tool and args."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if bool(self.tool) == (self.preset is not None) or (self.preset and self.args):
            raise ValueError("an entry is either {tool: …, args: {…}} or {preset: read_only_shell}")
        return self


class Approval(Section):
    mode: Literal["manual", "off", "smart"] = "manual"
    """manual asks a person; off lets everything but dangerous calls pass; smart asks a model first."""
    auto_approve: Listed[str] = ()
    """Tools that never ask (`*` stands for any characters)."""
    auto_deny: Listed[str] = ()
    """Tools that are always refused, before any convenience."""
    trusted_channels: Listed[str] = ()
    """Channels whose exec calls pass without a question."""
    cli_auto_approve: bool = True
    """Exec calls pass at the terminal, under security.profile personal_cli."""
    unattended_policy: Literal["deny", "allow_safe"] = "deny"
    """What jobs may do without authorisation: only read (deny), or also write (allow_safe)."""
    wait_timeout_seconds: Positive = 120
    """Seconds a card waits for a person."""
    timeouts: dict[str, Positive] = Field(default_factory=dict)
    """Other waiting times, by channel or by risk, such as {dangerous: 600}."""
    smart_model: str = ""
    """The model that judges under mode smart, before models.fallback; empty: models.default."""
    allowlist: Listed[AllowlistEntry] = ()
    """Calls that pass without a person, such as {tool: exec, args: {command: make **}} or
    {preset: read_only_shell}."""
    approvers: Listed[Id] = ()
    """Who decides, as channel:id; empty: the admins, and requesters who are listed by id."""
    requester_may_approve: dict[Risk, bool] = Field(default_factory=dict)
    """By risk: may whoever asked for a call, or changed it, also approve it? Unset: yes."""
    quorum: dict[Risk, Positive] = Field(default_factory=dict)
    """By risk: how many people must approve, such as {dangerous: 2}; one denial decides."""
    route: Literal["origin", "dm"] | Listed[Id] = "origin"
    """Where cards go: origin (the chat of the request where an approver is there, else the approvers'
    direct chats), dm (always the direct chats), or a list of targets."""
    remind_after_seconds: Count = 0
    """Seconds after which each chat with the card is reminded once; 0: never."""
    escalate_to: Listed[Id] = ()
    """Targets that get the card too: with the reminder, else after half the waiting time."""
    card_delivery_timeout_seconds: Positive = 30
    """Seconds after which a card that reached nobody is a refusal."""


class Elevated(Section):
    enabled: bool = False
    """Let the senders below run code on local and remote hosts."""
    allow_from: dict[str, Listed[Id]] = Field(default_factory=dict)
    """Channel to sender ids; "*" stands for every channel, or every sender."""


class Permissions(Section):
    admin_users: Listed[Id] | None = None
    """Admins as channel:id. Unset: cli:local and web:local under personal_cli, nobody otherwise."""
    approval: Approval = Approval()
    """What asks a person, and whom."""
    elevated: Elevated = Elevated()
    """Who else may run code outside the sandbox."""


class Credentials(Section):
    encryption_key_env: str = "ECHO_AGENT_CREDENTIAL_KEY"
    """A second environment variable for the key; ECHO_BOT_CREDENTIAL_KEY always counts."""
    require_encryption: bool = True
    """Refuse to start with a credential and no key."""
