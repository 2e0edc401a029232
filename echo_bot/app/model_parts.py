"""Everything of a start that has to do with models: who answers and judges, in which order; the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from echo_bot.agent.ledger import Ledger
from echo_bot.app.model import ModelChoice, build_chain, choose_models, choose_others
from echo_bot.app.secrets import Secrets
from echo_bot.config.model import Config
from echo_bot.storage.protocol import Store

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from echo_bot.agent.candidates import Models

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ModelParts:
    """`chain` is what chats ask, None where no model can be used; `others` are fallbacks and choices."""

    answers: ModelChoice
    judges: ModelChoice
    others: tuple[ModelChoice, ...]
    chain: Models | None
    ledger: Ledger

    @property
    def name(self) -> str:
        """Of the one that answers, unless a conversation chose another; "" without any."""
        return self.chain.default if self.chain else self.answers.name

    @property
    def warnings(self) -> tuple[str, ...]:
        found = (each.warning for each in (self.answers, self.judges, *self.others))
        return tuple(dict.fromkeys(warning for warning in found if warning))

    async def close(self) -> None:
        for each in (self.answers, self.judges, *self.others):
            await each.close()


def build_model_parts(
    config: Config,
    secrets: Secrets,
    store: Store,
    ledger: Ledger,
    *,
    model: Model | None = None,
    judge: Model | None = None,
    rehearses: bool = False,
) -> ModelParts:
    """`model` and `judge` stand in for the configured ones. A rehearsal builds none; what fails is logged."""
    if rehearses:
        unbuilt = ModelChoice(config.models.default)
        return ModelParts(unbuilt, unbuilt, (), None, ledger)
    answers, judges = choose_models(config, secrets)
    others = choose_others(config, secrets)
    parts = ModelParts(answers, judges, others, None, ledger)
    for sentence in parts.warnings:
        log.error("model_unusable", error=sentence)
    answers = ModelChoice("given", model, answers.warning, answers.client) if model else answers
    judges = ModelChoice("given", judge, judges.warning, judges.client) if judge else judges
    return ModelParts(answers, judges, others, build_chain(answers, others, config, store, ledger), ledger)
