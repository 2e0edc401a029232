"""The chat commands: a table of entries (`table.py`), and what each answers."""

from echo_bot.inbox.commands.answering import Commands
from echo_bot.inbox.commands.conversation import words_of_stop
from echo_bot.inbox.commands.deciding import summary_of
from echo_bot.inbox.commands.desk import Desk, Overview, Request
from echo_bot.inbox.commands.table import COMMANDS, CONTROL, TURN_COMMANDS, commands_shown, unknown_command

__all__ = [
    "COMMANDS",
    "CONTROL",
    "TURN_COMMANDS",
    "Commands",
    "Desk",
    "Overview",
    "Request",
    "commands_shown",
    "summary_of",
    "unknown_command",
    "words_of_stop",
]
