"""A Discord emulator: HTTP and gateway on loopback over simcord's backend, and a driver for the people.

    async with DiscordEmulator() as discord:
        chat = discord.user("Ada").dm()
        chat.say("/run ls")                                 # the bot gets a MESSAGE_CREATE
        card = await chat.wait_for_button("Approve once")   # what the bot sent, as it stands now
        press = chat.press("Approve once")
        assert await press.answer()                         # what the presser alone is told

Start your bot with `api_base=discord.api_base`, `gateway_url=discord.gateway_url` and `token=discord.token`.
An unmodified discord.py talks to it. Limits, permissions and error codes are Discord's: 2000 characters a
message, 10 MiB a file, 3 seconds for an interaction's first answer and 15 minutes for the rest. On a machine
that may be busy, give `first_answer_seconds` and let `press.expire()` say when it is too late.

Slash commands: `chat.slash("run", command="ls")`, `chat.complete("approve", "id", "ab")`. Modals:
`await press.modal()`, then `press.fill("because")`. Other places: `guild = discord.guild("Lab")`,
`ada.chat(guild.channel("general"))`, `ada.chat(guild.thread(channel, "plan"))`.

Trouble on demand: `discord.fail("POST", "/channels/*/messages", 429, retry_after=2)`, `discord.drop(…)`,
`discord.hold(…)`, `discord.cut()`, `discord.close(4000)`, `discord.ask_to_reconnect()`,
`discord.invalidate()`, `discord.forget_sessions()`, `discord.redeliver()`, `discord.skew(seconds)`,
`discord.message_content_granted = False` and `discord.valid_token = "another"`.

It needs the package `simcord`, of which it uses the pinned version 3.2.1.
"""

from echo_bot.called import install_extra

try:
    import simcord  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"Discord's emulator needs simcord 3.2.1. {install_extra('dev')}", name="simcord"
    ) from error

from echo_bot.testing.discord.emulator import TOKEN, DiscordEmulator
from echo_bot.testing.discord.interactions import Interaction
from echo_bot.testing.discord.people import Conversation, Person
from echo_bot.testing.discord.places import Guild, Place
from echo_bot.testing.discord.shown import Shown, visible

__all__ = [
    "TOKEN",
    "Conversation",
    "DiscordEmulator",
    "Guild",
    "Interaction",
    "Person",
    "Place",
    "Shown",
    "visible",
]
