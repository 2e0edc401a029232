"""Files: the one opener. It resolves a path, asks the policy, and opens exactly what was judged."""

from echo_bot.files.door import FileDoor
from echo_bot.files.identity import content_identity
from echo_bot.files.opening import Opener, best_opener
from echo_bot.files.resolving import real_rules, resolve
from echo_bot.files.results import Admitted, Entry, FileContent, FileRefusal, Listing, Written
from echo_bot.files.walking import FileWalk

__all__ = [
    "Admitted",
    "Entry",
    "FileContent",
    "FileDoor",
    "FileRefusal",
    "FileWalk",
    "Listing",
    "Opener",
    "Written",
    "best_opener",
    "content_identity",
    "real_rules",
    "resolve",
]
