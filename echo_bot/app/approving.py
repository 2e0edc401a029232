"""The broker and what it asks: who decides, what a card shows, where its copies go."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from echo_bot.app.callbacks import Callbacks
from echo_bot.app.channel_runner import ChannelRunner
from echo_bot.app.derived import timezone_of
from echo_bot.approval.approvers import Approvers
from echo_bot.approval.broker import Broker
from echo_bot.approval.copies import Copies
from echo_bot.approval.deciding import Decider
from echo_bot.approval.faces import StoredFaces
from echo_bot.audit import Audit
from echo_bot.delivery import CardDelivery
from echo_bot.policy.settings import PolicySettings
from echo_bot.storage.protocol import People

if TYPE_CHECKING:
    from echo_bot.app.setting import Setting


def build_broker(
    setting: Setting,
    settings: PolicySettings,
    audit: Audit,
    cards: CardDelivery,
    channels: ChannelRunner,
    people: People,
    callbacks: Callbacks,
) -> Broker:
    store, config, clock = setting.store, setting.config, setting.clock
    approvers = Approvers(settings, people, store.sessions, running=channels.running, clock=clock)
    faces = StoredFaces(setting.secrets.mask, timezone_of(config))
    copies = Copies(
        store,
        cards,
        faces,
        notice=callbacks.notice,
        running=channels.running,
        clock=clock,
        timeout_seconds=config.permissions.approval.card_delivery_timeout_seconds,
    )
    return Broker(
        store,
        Decider(store, approvers, audit, clock),
        copies,
        approvers,
        faces,
        ask_again=callbacks.ask_again,
        clock=clock,
        backlog=timedelta(minutes=config.channels.max_backlog_minutes),
    )
