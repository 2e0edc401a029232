"""Many people who talk to a bot at once on an emulated platform, with faults and a tally at the end.

    async with TelegramCrowd(chats=50) as crowd:
        …                                   # start a bot with `crowd.settings` that answers what it is told
        crowd.say(chat=7, text="message 1")
        crowd.trouble()                     # the next fault: a 429, a broken connection, a repeated delivery
        await crowd.answered(1)
        assert crowd.tally() == Tally()     # nothing lost, doubled or out of order

Each chat is the direct chat of one of `crowd.people`.
"""

from echo_bot.testing.crowd.crowd import Crowd, Tally
from echo_bot.testing.crowd.discord import DiscordCrowd
from echo_bot.testing.crowd.slack import SlackCrowd
from echo_bot.testing.crowd.telegram import TelegramCrowd

CROWDS: dict[str, type[Crowd]] = {
    "telegram": TelegramCrowd,
    "discord": DiscordCrowd,
    "slack": SlackCrowd,
}
"""By the name of the platform."""

__all__ = ["CROWDS", "Crowd", "DiscordCrowd", "SlackCrowd", "Tally", "TelegramCrowd"]
