"""A Slack emulator: Web API, Socket Mode and signed HTTP on loopback, and a driver for the people.

    async with SlackEmulator() as slack:
        ada = slack.user("U1", "Ada").dm()
        ada.say("/run ls")                                  # the bot gets an event
        card = await ada.wait_for_button("Approve once")    # what the bot sent, as it stands now
        press = ada.press("Approve once")
        assert await press.answer()                         # what Ada alone is told

Start your bot with `api_base=slack.url`, `bot_token=slack.bot_token` and `app_token=slack.app_token`.
`slack.fail("chat.postMessage", retry_after=3)`, `slack.drop(…)`, `slack.sockets.drop()`,
`slack.sockets.tell_to_go("refresh_requested")` and `slack.redeliver(…)` make the trouble that real life has.
"""

from echo_bot.testing.slack.deliveries import Delivery
from echo_bot.testing.slack.emulator import (
    APP_TOKEN,
    BOT,
    BOT_TOKEN,
    SIGNING_SECRET,
    USER_TOKEN,
    SlackEmulator,
)
from echo_bot.testing.slack.model import Chat, Message, StoredFile, User, View
from echo_bot.testing.slack.people import Conversation, Person
from echo_bot.testing.slack.signed import SignedCaller
from echo_bot.testing.slack.using import Press, Used

__all__ = [
    "APP_TOKEN",
    "BOT",
    "BOT_TOKEN",
    "SIGNING_SECRET",
    "USER_TOKEN",
    "Chat",
    "Conversation",
    "Delivery",
    "Message",
    "Person",
    "Press",
    "SignedCaller",
    "SlackEmulator",
    "StoredFile",
    "Used",
    "User",
    "View",
]
