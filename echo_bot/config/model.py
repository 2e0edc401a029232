"""The whole configuration as one model; its fields are the YAML file's sections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import create_model

from echo_bot.channel import ChannelManifest
from echo_bot.config.base import Section
from echo_bot.config.channels import Channels, with_plugins
from echo_bot.config.models import Models
from echo_bot.config.permissions import Credentials, Permissions
from echo_bot.config.services import (
    Agent,
    Checkpoints,
    Delivery,
    Gateway,
    Inspection,
    Knowledge,
    Memory,
    Observability,
    RateLimit,
    Retention,
    Scheduler,
    Session,
    Skills,
    Spill,
    Storage,
    Workers,
)
from echo_bot.config.tools import Execution, Security, Tools


class Config(Section):
    workspace: str = ""
    """The folder the bot works in; empty: the current folder at the start."""
    data_dir: str = ""
    """Where the bot keeps its state; empty: the user data folder."""
    language: Literal["auto", "en", "zh"] = "auto"
    """Of what people read in chats, on the page and in the terminal chat; auto: that of the locale."""
    timezone: str = ""
    """The time zone of times that people read, such as Europe/Berlin; empty: the system's."""
    tools: Tools = Tools()
    """Which tools are offered, and how they behave."""
    security: Security = Security()
    """How much the bot trusts its surroundings."""
    execution: Execution = Execution()
    """The network, and where code runs other than here."""
    permissions: Permissions = Permissions()
    """Who may do what, and what asks a person."""
    credentials: Credentials = Credentials()
    """How tokens and keys are kept."""
    channels: Channels = Channels()
    """Where people talk to the bot."""
    gateway: Gateway = Gateway()
    """The local web server."""
    session: Session = Session()
    """Conversations."""
    rate_limit: RateLimit = RateLimit()
    """Messages from one sender."""
    delivery: Delivery = Delivery()
    """Where messages may go."""
    models: Models = Models()
    """The language model."""
    agent: Agent = Agent()
    """One turn of the conversation."""
    workers: Workers = Workers()
    """Tasks that the agent hands to workers."""
    scheduler: Scheduler = Scheduler()
    """Scheduled jobs."""
    inspection: Inspection = Inspection()
    """A look at the world at intervals."""
    memory: Memory = Memory()
    """What the bot remembers."""
    knowledge: Knowledge = Knowledge()
    """Documents it can search."""
    skills: Skills = Skills()
    """Skill folders."""
    spill: Spill = Spill()
    """Long tool results."""
    checkpoints: Checkpoints = Checkpoints()
    """Files as they were before a write."""
    storage: Storage = Storage()
    """The database."""
    retention: Retention = Retention()
    """How long records are kept."""
    observability: Observability = Observability()
    """Logs and measures."""


def config_model(manifests: Iterable[ChannelManifest] = ()) -> type[Config]:
    """The model for this installation: with a section for every channel that a plugin brings."""
    channels = with_plugins(manifests)
    if channels is Channels:
        return Config
    field: dict[str, Any] = {"channels": (channels, channels())}
    return create_model("Config", __base__=Config, **field)
