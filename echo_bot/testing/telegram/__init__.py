"""A Telegram emulator: the Bot API on loopback with the real limits, and a driver for the people.

    async with TelegramEmulator() as telegram:
        chat = telegram.user(42).chat()
        chat.say("/run ls")                                 # the bot gets an update
        card = await chat.wait_for_button("Approve once")   # what the bot sent, as it stands now
        press = chat.press("Approve once")
        assert (await press.answer()).text

Start your bot with `api_base=telegram.url` and `token=telegram.token`. Updates are polled or delivered to a
webhook; `media` holds what people can send besides text. `telegram.fail("sendMessage", 500)`, `.drop(…)`,
`.slow(…)`, `.conflict()` and `.redeliver()` make the trouble that real life has.
"""

from echo_bot.testing.telegram import media
from echo_bot.testing.telegram.detection import detected_entities
from echo_bot.testing.telegram.emulator import TOKEN, TelegramEmulator
from echo_bot.testing.telegram.model import Chat, Message, User
from echo_bot.testing.telegram.people import Conversation, Person, Press
from echo_bot.testing.telegram.world import QueryAnswer

__all__ = [
    "TOKEN",
    "Chat",
    "Conversation",
    "Message",
    "Person",
    "Press",
    "QueryAnswer",
    "TelegramEmulator",
    "User",
    "detected_entities",
    "media",
]
