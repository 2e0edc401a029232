"""Sessions: which conversation an event belongs to, its stored form, an ordered queue for each."""

from echo_bot.session.keys import chat_session, memory_scope, session_key, turn_id_of
from echo_bot.session.lines import line_of
from echo_bot.session.pausing import Pausing
from echo_bot.session.queues import RenameTurn, SessionQueues
from echo_bot.session.starting import TurnStarter
from echo_bot.session.stored import event_from_json, event_to_json, storable

__all__ = [
    "Pausing",
    "RenameTurn",
    "SessionQueues",
    "TurnStarter",
    "chat_session",
    "event_from_json",
    "event_to_json",
    "line_of",
    "memory_scope",
    "session_key",
    "storable",
    "turn_id_of",
]
