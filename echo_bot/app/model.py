"""The model of a start: built when one is configured, and only then are the heavy imports paid for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import structlog

from echo_bot.agent.models import ModelSettings, build_model
from echo_bot.app.secrets import MODEL_OWNER, Secrets
from echo_bot.approval.smart import AskModel
from echo_bot.config.model import Config
from echo_bot.delivery import Delivery
from echo_bot.errors import StartError
from echo_bot.events import InboundEvent
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.policy.settings import PolicySettings
from echo_bot.skills.catalog import SkillCatalog
from echo_bot.storage.protocol import Store
from echo_bot.tools.registry import Registry
from echo_bot.tools.runner import ToolRunner

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.toolsets import AbstractToolset

    from echo_bot.agent.chat import ChatRunner
    from echo_bot.agent.toolset import TurnDeps

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """`model` is None without one; `warning` says why a configured one cannot be used."""

    name: str
    model: Model | None = None
    warning: str = ""


def choose_models(config: Config, secrets: Secrets) -> tuple[ModelChoice, ModelChoice]:
    """The model that answers and the one that judges calls, which is the same one unless it has a name."""
    answers = choose_model(config, secrets, config.models.default)
    name = judge_named(config)
    return answers, answers if name == config.models.default else choose_model(config, secrets, name)


def judge_named(config: Config) -> str:
    """The name of the model that is to judge calls, whether it can be used or not; "" without any."""
    return config.permissions.approval.smart_model or config.models.default


def choose_model(config: Config, secrets: Secrets, name: str) -> ModelChoice:
    """The model called `name`. One that cannot be used leaves direct calls working, so it only warns."""
    if not name:
        return ModelChoice("")
    api_key = config.models.api_key.get_secret_value() or secrets.stored.get((MODEL_OWNER, "api_key"), "")
    try:
        return ModelChoice(name, build_model(ModelSettings(name, config.models.base_url, api_key)))
    except StartError as error:
        return ModelChoice("", warning=str(error))


def same_provider(config: Config, secrets: Secrets, name: str) -> ModelChoice:
    """Another model of the provider that `models.default` names; `name` with or without its prefix."""
    provider = config.models.default.partition(":")[0]
    if not provider:
        return ModelChoice("", warning="models.default names no provider, so no other model can be chosen")
    return choose_model(config, secrets, f"{provider}:{name.removeprefix(f'{provider}:')}")


def chat_runner(
    choice: ModelChoice,
    config: Config,
    settings: PolicySettings,
    store: Store,
    registry: Registry,
    runner: ToolRunner,
    delivery: Delivery,
    *,
    skills: SkillCatalog,
    mask: SecretMask,
    clock: Callable[[], datetime],
    more_toolsets: Sequence[AbstractToolset[TurnDeps]] = (),
) -> ChatRunner | None:
    """What talks to the model, or None without one."""
    if choice.model is None:
        return None
    from echo_bot.agent.chat import ChatRunner, ChatSettings
    from echo_bot.agent.given import GivenDocuments
    from echo_bot.agent.loop import LoopSettings, ModelLoop

    limits = config.models.limits
    loop = ModelLoop(
        choice.model,
        LoopSettings(
            max_iterations=config.agent.max_iterations,
            timeout_seconds=limits.timeout_seconds,
            max_output_tokens=limits.max_output_tokens,
            max_turn_tokens=limits.total_tokens_per_turn,
        ),
        runner,
        more_toolsets,
    )
    chat = ChatSettings(
        instructions=config.models.system_prompt,
        max_history=config.session.max_history_messages,
        history_age=timedelta(hours=config.session.expiry_hours),
        pace=_pace(config, delivery),
    )
    return ChatRunner(
        loop,
        chat,
        GivenDocuments(settings.places, skills, store.memories, mask.mask),
        store,
        registry,
        settings.tools,
        delivery,
        mask=mask.mask,
        mask_known=mask.mask_known,
        clock=clock,
    )


def approval_model(choice: ModelChoice, timeout_seconds: float) -> AskModel | None:
    """What asks the approval model about a call, or None when there is no model."""
    if choice.model is None:
        return None
    from echo_bot.agent.judge import Judge

    return Judge(choice.model, timeout_seconds).ask


def _pace(config: Config, delivery: Delivery) -> Callable[[InboundEvent], float]:
    stream = config.channels.stream

    def pace(event: InboundEvent) -> float:
        channel = delivery.channel(event.address)
        if not stream.enabled or channel is None:
            return 0.0
        bears = channel.capabilities
        least = bears.stream_interval_group_ms if event.is_group else bears.stream_interval_ms
        return max(stream.min_interval_ms, least) / 1000

    return pace
