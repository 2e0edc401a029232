"""A received file in the workspace: put there as a new file in the session's folder, and read again."""

from __future__ import annotations

import os

from echo_bot.agent.received.names import FOLDER, candidates, session_folder
from echo_bot.events import SessionKey
from echo_bot.files import FileDoor, FileRefusal, real_rules
from echo_bot.policy.guards.paths import PathRules
from echo_bot.policy.settings import PlaceSettings

_PLAIN = "received-file"


class Storing:
    """Under the path policy of a turn that nobody attends: a name that needs a question is changed."""

    def __init__(self, places: PlaceSettings) -> None:
        self._places = places

    def store(self, session: SessionKey, name: str, data: bytes) -> str | FileRefusal:
        """The path below the workspace, or why not. Blocks."""
        folder = os.path.join(FOLDER, session_folder(session))
        door = self._door()
        refusal = None
        for tried in (name, f"received-{name}.txt", _PLAIN):
            stored = self._create(door, folder, tried, data)
            if isinstance(stored, str) or stored.kind != "denied":
                return stored
            refusal = refusal or stored
        assert refusal is not None
        return refusal

    def read(self, path: str, limit: int) -> bytes | FileRefusal:
        """A stored file, by its path below the workspace. Blocks."""
        content = self._door().read_bytes(path, self._places.workspace, limit)
        return content if isinstance(content, FileRefusal) else content.data

    def read_local(self, path: str, limit: int) -> bytes | FileRefusal:
        """A file that a platform's server on this machine keeps, unless it is the bot's own or a secret."""
        content = self._door(anywhere=True).read_bytes(path, "/", limit)
        return content if isinstance(content, FileRefusal) else content.data

    def _create(self, door: FileDoor, folder: str, name: str, data: bytes) -> str | FileRefusal:
        for candidate in candidates(name):
            path = os.path.join(folder, candidate)
            admitted = door.admit(path, self._places.workspace, "write")
            if isinstance(admitted, FileRefusal):
                return admitted
            if os.path.islink(admitted.path.absolute):
                continue
            written = door.create(admitted, data)
            if not isinstance(written, FileRefusal):
                return path
            if written.kind != "exists":
                return written
        return FileRefusal("failed", f"there are too many files named {name} already")

    def _door(self, *, anywhere: bool = False) -> FileDoor:
        places = self._places
        return FileDoor(
            real_rules(
                PathRules(
                    workspace=places.workspace,
                    restrict_to_workspace=not anywhere,
                    home=places.home,
                    protected=places.protected,
                    protected_write=places.protected_write,
                    unattended=True,
                )
            )
        )
