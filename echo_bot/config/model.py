"""The whole configuration as one model; its fields are the YAML file's sections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import create_model

from echo_bot.channel import ChannelManifest
from echo_bot.config.base import Section
from echo_bot.config.channels import Channels, with_plugins
from echo_bot.config.permissions import Credentials, Permissions
from echo_bot.config.services import (
    Agent,
    Delivery,
    Gateway,
    Inspection,
    Knowledge,
    Memory,
    Models,
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
    """The language of cards and notices."""
    timezone: str = ""
    """The time zone of times that people read, such as Europe/Berlin; empty: the system's."""
    tools: Tools = Tools()
    security: Security = Security()
    execution: Execution = Execution()
    permissions: Permissions = Permissions()
    credentials: Credentials = Credentials()
    channels: Channels = Channels()
    gateway: Gateway = Gateway()
    session: Session = Session()
    rate_limit: RateLimit = RateLimit()
    delivery: Delivery = Delivery()
    models: Models = Models()
    agent: Agent = Agent()
    workers: Workers = Workers()
    scheduler: Scheduler = Scheduler()
    inspection: Inspection = Inspection()
    memory: Memory = Memory()
    knowledge: Knowledge = Knowledge()
    skills: Skills = Skills()
    spill: Spill = Spill()
    storage: Storage = Storage()
    retention: Retention = Retention()
    observability: Observability = Observability()


def config_model(manifests: Iterable[ChannelManifest] = ()) -> type[Config]:
    """The model for this installation: with a section for every channel that a plugin brings."""
    channels = with_plugins(manifests)
    if channels is Channels:
        return Config
    field: dict[str, Any] = {"channels": (channels, channels())}
    return create_model("Config", __base__=Config, **field)
