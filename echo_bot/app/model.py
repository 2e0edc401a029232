"""The model of a start: built when one is configured, and only then are the heavy imports paid for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from echo_bot.agent.ledger import DayLimits, Ledger, Purpose, TokenPrice
from echo_bot.agent.models import ModelSettings, build_model
from echo_bot.app.secrets import MODEL_OWNER, Secrets
from echo_bot.approval.smart import AskModel, Judgement, Review
from echo_bot.config.model import Config
from echo_bot.config.models import PROTOCOLS
from echo_bot.config.prompt_file import system_prompt
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
    import httpx2
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.toolsets import AbstractToolset

    from echo_bot.agent.candidates import Models
    from echo_bot.agent.chat import ChatRunner
    from echo_bot.agent.toolset import TurnDeps

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """`model` is None without one; `warning` says why a configured one cannot be used."""

    name: str
    model: Model | None = None
    warning: str = ""
    client: httpx2.AsyncClient | None = None

    async def close(self) -> None:
        """Idempotent."""
        if self.client is not None:
            await self.client.aclose()


def choose_models(config: Config, secrets: Secrets) -> tuple[ModelChoice, ModelChoice]:
    """The model that answers and the one that judges calls, which is the same one unless it has a name."""
    answers = choose_model(config, secrets, config.models.default)
    name = judge_named(config)
    return answers, answers if name == config.models.default else choose_model(config, secrets, name)


def judge_named(config: Config) -> str:
    """The name of the model that is to judge calls, whether it can be used or not; "" without any."""
    return config.permissions.approval.smart_model or config.models.default


def choose_others(config: Config, secrets: Secrets) -> tuple[ModelChoice, ...]:
    """The fallbacks in their order, then the further choices."""
    names = dict.fromkeys((*config.models.fallback, *config.models.choices))
    return tuple(choose_model(config, secrets, name) for name in names if name != config.models.default)


def choose_model(config: Config, secrets: Secrets, name: str) -> ModelChoice:
    """The model called `name`. One that cannot be used leaves direct calls working, so it only warns."""
    if not name:
        return ModelChoice("")
    try:
        settings = model_settings(config, secrets, name)
        built = build_model(settings, float(config.models.limits.timeout_seconds))
        return ModelChoice(name, built.model, client=built.client)
    except StartError as error:
        return ModelChoice("", warning=str(error))


def model_settings(config: Config, secrets: Secrets, name: str) -> ModelSettings:
    """Where a model is and its key: those of its entry in `models.providers`.

    What stands in `models` itself is for the provider of the default model, or for any where there is none.
    """
    models = config.models
    provider = name.partition(":")[0]
    usual = models.default.partition(":")[0]
    entry = models.providers.get(provider)
    protocol = (entry.protocol if entry else "") or (provider if provider in PROTOCOLS else "")
    if not protocol and entry:
        protocol = "openai"
    own_at = f"{MODEL_OWNER}.providers.{provider}"
    base_url = entry.base_url if entry else ""
    key = entry.api_key.get_secret_value() if entry else ""
    key = key or secrets.stored.get((own_at, "api_key"), "")
    if usual in ("", provider):
        base_url = base_url or models.base_url
        key = key or models.api_key.get_secret_value() or secrets.stored.get((MODEL_OWNER, "api_key"), "")
    at = own_at if entry or usual not in ("", provider) else MODEL_OWNER
    return ModelSettings(name, protocol, base_url, key, f"{at}.api_key", f"{at}.base_url")


def same_provider(config: Config, secrets: Secrets, name: str) -> ModelChoice:
    """Another model of the provider that `models.default` names; `name` with or without its prefix."""
    provider = config.models.default.partition(":")[0]
    if not provider:
        return ModelChoice("", warning="models.default names no provider, so no other model can be chosen")
    return choose_model(config, secrets, f"{provider}:{name.removeprefix(f'{provider}:')}")


def build_ledger(config: Config, store: Store, zone: tzinfo, clock: Callable[[], datetime]) -> Ledger:
    limits = config.models.limits
    prices = {
        name: TokenPrice(price.input, price.output, price.cached_input)
        for name, price in config.models.prices.items()
    }
    day = DayLimits(limits.tokens_per_day, limits.cost_per_day)
    return Ledger(store.usage, day, prices, zone, clock, config.tools.stt.price_per_minute)


def build_chain(
    choice: ModelChoice, others: Sequence[ModelChoice], config: Config, store: Store, ledger: Ledger
) -> Models | None:
    """The models that can be used, in order; None when the first cannot and no fallback can."""
    from echo_bot.agent.candidates import Candidate, Models, Patience

    usable = [Candidate(each.name, each.model) for each in (choice, *others) if each.model is not None]
    order = tuple(each for each in usable if each.name == choice.name or each.name in config.models.fallback)
    if not order:
        return None
    further = tuple(each for each in usable if each not in order)
    patience = Patience(float(config.models.limits.timeout_seconds))
    return Models(order, further, store.values, ledger, patience)


def chat_runner(
    models: Models | None,
    config: Config,
    settings: PolicySettings,
    store: Store,
    registry: Registry,
    runner: ToolRunner,
    delivery: Delivery,
    *,
    config_path: Path | None,
    skills: SkillCatalog,
    mask: SecretMask,
    clock: Callable[[], datetime],
    more_toolsets: Sequence[AbstractToolset[TurnDeps]] = (),
) -> ChatRunner | None:
    """What talks to the model, or None without one."""
    if models is None:
        return None
    from echo_bot.agent.chat import ChatRunner, ChatSettings
    from echo_bot.agent.given import GivenDocuments
    from echo_bot.agent.loop import LoopSettings, ModelLoop
    from echo_bot.agent.received.images import ReceivedImages

    limits, compaction = config.models.limits, config.models.compaction
    loop = ModelLoop(
        models,
        LoopSettings(
            max_iterations=config.agent.max_iterations,
            timeout_seconds=limits.timeout_seconds,
            max_output_tokens=limits.max_output_tokens,
            max_turn_tokens=limits.total_tokens_per_turn,
            at_tokens=compaction.at_tokens if compaction.enabled else 0,
            images=config.models.images,
        ),
        runner,
        more_toolsets,
    )
    chat = ChatSettings(
        instructions=system_prompt(config, config_path),
        max_history=config.session.max_history_messages,
        history_age=timedelta(hours=config.session.expiry_hours),
        at_tokens=compaction.at_tokens,
        pace=_pace(config, delivery),
    )
    return ChatRunner(
        loop,
        chat,
        GivenDocuments(settings.places, skills, store.memories, mask.mask),
        ReceivedImages(settings.places),
        store,
        registry,
        settings.tools,
        delivery,
        mask=mask.mask,
        mask_known=mask.mask_known,
        clock=clock,
    )


def approval_model(
    choice: ModelChoice, others: Sequence[ModelChoice], config: Config, ledger: Ledger
) -> AskModel | None:
    """What asks the approval model, or a fallback in its place; None when none can be used.

    Answers are counted, and no model is asked on a day whose limits are reached.
    """
    fallback = (each for each in others if each.name in config.models.fallback and each.name != choice.name)
    usable = [(each.name, each.model) for each in (choice, *fallback) if each.model is not None]
    if not usable:
        return None
    from echo_bot.agent.candidates import Candidate, Patience
    from echo_bot.agent.judge import Judge

    async def count(review: Review, name: str, response: ModelResponse) -> None:
        purpose = Purpose(f"approval:{review.review_id}", "approval", review.session_key, review.turn_id)
        await ledger.record(name, response, purpose)

    chain = [Candidate(name, model) for name, model in usable]
    judge = Judge(chain, Patience(float(config.models.limits.timeout_seconds)), count)

    async def ask(review: Review) -> Judgement:
        refusal = await ledger.refusal()
        if refusal:
            log.warning("approval_model_not_asked", reason=refusal)
            return Judgement(None)
        return await judge.ask(review)

    return ask


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
