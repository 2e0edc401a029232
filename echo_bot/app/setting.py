"""What a start is given: everything that the parts of a bot are built from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from echo_bot.app.secrets import Secrets
from echo_bot.channel import ChannelManifest
from echo_bot.config.loader import Loaded
from echo_bot.config.model import Config
from echo_bot.storage.protocol import Store

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.toolsets import AbstractToolset

    from echo_bot.agent.toolset import TurnDeps


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a start was given. `is_interactive`: a person sits at the terminal channel.

    `model` stands in for the configured one and `judge` for the approval model (scripted ones in tests);
    `more_toolsets` are given to the model beside the registry's tools, behind the same gate. `rehearses`: the
    parts are only looked at, so that no model is built and nothing logged.
    """

    loaded: Loaded
    manifests: tuple[ChannelManifest, ...]
    store: Store
    secrets: Secrets
    writer: str
    is_interactive: bool
    clock: Callable[[], datetime] = utc_now
    model: Model | None = None
    judge: Model | None = None
    more_toolsets: Sequence[AbstractToolset[TurnDeps]] = ()
    rehearses: bool = False

    @property
    def config(self) -> Config:
        return self.loaded.config
