"""What a person used, a button or a command, and what came of it; and the way of it to the bot."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass

from echo_bot.testing.slack.deliveries import Carrier, Delivery, DeliveryKind
from echo_bot.testing.slack.model import JsonObject, User, View
from echo_bot.testing.slack.world import APP, TEAM, World
from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually


@dataclass(slots=True)
class Slack:
    """The workspace and the way from it to the bot."""

    world: World
    carrier: Carrier

    def deliver(
        self,
        kind: DeliveryKind,
        payload: JsonObject,
        on_acknowledged: Callable[[JsonObject], None] | None = None,
    ) -> Delivery:
        envelope = Delivery(kind, payload, str(uuid.uuid4()))
        if on_acknowledged is not None:
            envelope.on_acknowledged = on_acknowledged
        return self.carrier.deliver(envelope)

    def event(self, event: JsonObject) -> Delivery:
        """Deliver any event of the Events API."""
        payload: JsonObject = {
            "token": "legacy",
            "team_id": TEAM,
            "api_app_id": APP,
            "event": event,
            "type": "event_callback",
            "event_id": f"Ev{self.world.next_id()}",
            "event_time": int(self.world.clock()),
            "authorizations": [{"team_id": TEAM, "user_id": self.world.bot.id, "is_bot": True}],
        }
        return self.deliver("events_api", payload)


@dataclass(frozen=True, slots=True)
class Press:
    """A press on a button: the bot acknowledges it, whispers an answer, or opens a modal."""

    slack: Slack
    delivery: Delivery
    user: User
    trigger_id: str
    before: int = 0

    async def answer(self, timeout: float = PATIENCE_SECONDS) -> str:
        """What the presser alone is told."""
        messages = self.slack.world.messages
        whisper = await eventually(
            lambda: next((one for one in messages[self.before :] if one.seen_by == self.user.id), None),
            "an answer to the press",
            timeout,
        )
        return whisper.words

    async def modal(self, timeout: float = PATIENCE_SECONDS) -> View:
        """The modal that the press opened, once it asks for something or says something final."""
        return await eventually(
            lambda: next(
                (
                    view
                    for view in reversed(self.slack.world.views.values())
                    if view.user == self.user.id and view.is_open and len(view.history) > 1
                ),
                None,
            ),
            "a filled modal",
            timeout,
        )


@dataclass(frozen=True, slots=True)
class Used:
    """A slash command that was used: what it answered, to its user alone or in the channel."""

    slack: Slack
    delivery: Delivery
    key: str

    async def reply(self, timeout: float = PATIENCE_SECONDS) -> JsonObject:
        """What was sent to the response URL."""
        answers = self.slack.world.response_urls[self.key].answers
        await eventually(lambda: answers, "a reply to the command", timeout)
        return answers[-1]
