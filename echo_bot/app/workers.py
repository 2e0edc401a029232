"""Workers, made from the configuration: what starts them, and what runs their turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from echo_bot.agent.turn import Ended, Recorder, TurnBody
from echo_bot.agent.workers import Places, Progress, Workers
from echo_bot.config.model import Config
from echo_bot.delivery import Delivery, StatusLines
from echo_bot.policy.guards.secrets import SecretMask
from echo_bot.policy.settings import PolicySettings
from echo_bot.policy.workers import WorkerLimits
from echo_bot.session import Pausing, TurnStarter
from echo_bot.storage.protocol import Store
from echo_bot.storage.records import TurnKind, TurnState
from echo_bot.tools.registry import Registry
from echo_bot.tools.spill import Spill

if TYPE_CHECKING:
    from echo_bot.agent.chat import ChatRunner
    from echo_bot.agent.journal import Journal
    from echo_bot.tools.scope import TurnScope


def build_workers(
    config: Config,
    store: Store,
    starter: TurnStarter,
    status: StatusLines,
    pausing: Pausing,
    clock: Callable[[], datetime],
) -> Workers:
    """What the tools start workers with."""
    workers = config.workers
    return Workers(
        store,
        starter,
        WorkerLimits(workers.max_depth, workers.max_iterations),
        Places(workers.max_parallel),
        Progress(status.printed),
        hold=pausing.wait_until_resumed,
        clock=clock,
    )


def worker_bodies(
    chat: ChatRunner | None,
    workers: Workers,
    config: Config,
    settings: PolicySettings,
    store: Store,
    registry: Registry,
    delivery: Delivery,
    audit: Recorder,
    *,
    spill: Spill,
    mask: SecretMask,
    clock: Callable[[], datetime],
) -> Mapping[TurnKind, TurnBody]:
    """What runs a worker's turn; without a model it fails at once and says so."""
    if chat is None:
        return {"worker": _without_model}
    from echo_bot.agent.workers.body import WorkerBody

    body = WorkerBody(
        chat.loop,
        chat.given,
        workers,
        store,
        registry,
        settings.tools,
        delivery,
        audit,
        instructions=chat.instructions,
        shorten=spill.shorten_in,
        mask_known=mask.mask_known,
        clock=clock,
    )
    return {"worker": body.run}


async def _without_model(scope: TurnScope, journal: Journal) -> Ended:
    return Ended(TurnState.FAILED, "no model is configured any more")
