"""Where a skill is installed from: a git repository, an archive at an address, a folder here."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from echo_bot.files import Admitted, FileDoor, FileRefusal
from echo_bot.net import Fetch, Fetched, FetchFailed, FetchLimits
from echo_bot.net.clients import GuardedClients
from echo_bot.policy.decision import Finding
from echo_bot.policy.guards.network import parse_url
from echo_bot.skills.archives import unpack
from echo_bot.skills.bundle import MAX_TOTAL_BYTES, Bundle
from echo_bot.skills.errors import SkillError
from echo_bot.skills.git import GitFetcher
from echo_bot.skills.manifest import SKILL_FILE

_LIMITS = FetchLimits(max_bytes=MAX_TOTAL_BYTES, total_seconds=60)
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Source:
    """What skill_install is told. `ref` is for git; `path` is the skill's folder inside.

    `commit` is what was fetched, in git's words.
    """

    kind: str
    location: str
    ref: str = ""
    path: str = ""
    commit: str = ""


class SkillSources:
    """Fetches files into memory. Raises SkillError for whatever a server, a path or an archive does."""

    def __init__(self, clients: GuardedClients, git: GitFetcher, workspace: str) -> None:
        self._clients, self._git, self._workspace = clients, git, workspace

    async def fetch(self, source: Source, door: FileDoor) -> tuple[Mapping[str, bytes], Source]:
        """The skill's files by their path in it, the source with the commit that was fetched."""
        match source.kind:
            case "git":
                _check_address(source.location)
                bundle, commit = await self._git.fetch(source.location, source.ref)
                source = replace(source, commit=commit)
            case "url":
                _check_address(source.location)
                bundle = await asyncio.to_thread(unpack, await self._download(source.location))
            case _:
                bundle = await asyncio.to_thread(read_folder, door, source.location, self._workspace)
        return skill_in(bundle.files, source.path), source

    async def _download(self, url: str) -> bytes:
        async with self._clients.opened(_LIMITS) as client:
            outcome = await client.fetch(Fetch(url))
        if isinstance(outcome, FetchFailed):
            raise SkillError(f"{url} could not be fetched: {outcome.reason}", "dependency")
        if not isinstance(outcome, Fetched):
            raise SkillError(outcome.finding.sentence, "denied")
        if outcome.status != 200:
            raise SkillError(f"{url} answered with status {outcome.status}", "dependency")
        return outcome.body


def _check_address(location: str) -> None:
    """A password in an address would be stored and shown; what cannot be parsed is the guard's to refuse."""
    target = parse_url(location)
    if isinstance(target, Finding):
        raise SkillError(target.sentence, "denied")
    authority = location.partition("://")[2].split("/", 1)[0]
    if "@" in authority:
        raise SkillError("the address holds a user name or password, which would be stored; leave it out")


def read_folder(door: FileDoor, location: str, workspace: str) -> Bundle:
    """The files of a folder that the path policy lets be read, all of them or none."""
    admitted = door.admit(location, workspace, "list")
    if isinstance(admitted, FileRefusal):
        raise SkillError(admitted.sentence, "denied")
    bundle = Bundle()
    _add_folder(bundle, door, admitted, "")
    return bundle


def _add_folder(bundle: Bundle, door: FileDoor, folder: Admitted, prefix: str) -> None:
    listing = door.entries(folder)
    if isinstance(listing, FileRefusal):
        raise SkillError(listing.sentence, "denied" if listing.kind == "denied" else "business")
    if listing.left_out:
        raise SkillError(f"{listing.left_out} files of it are kept back by the path policy", "denied")
    for entry in listing.entries:
        path = f"{prefix}{entry.name}"
        if entry.is_link or entry.path.kind not in ("file", "dir"):
            raise SkillError(f"{path!r} is a link or a special file; only plain files are taken", "denied")
        if entry.name in (".git", "__pycache__"):
            continue
        if entry.path.kind == "dir":
            _add_folder(bundle, door, Admitted(entry.path, "list"), f"{path}/")
        elif bundle.admit(path):
            content = door.read_bytes(entry.path.real, "/", bundle.left_bytes(path, entry.size))
            if isinstance(content, FileRefusal):
                raise SkillError(content.sentence, "denied" if content.kind == "denied" else "business")
            bundle.add(path, content.data)


def skill_in(files: Mapping[str, bytes], path: str) -> Mapping[str, bytes]:
    """The files of the one skill among them: at `path`, at the top, or the only one anywhere."""
    if SKILL_FILE not in files and len(tops := {name.partition("/")[0] for name in files}) == 1:
        files = _below(files, tops.pop())
    if path:
        found = _below(files, path.strip("/"))
        if SKILL_FILE not in found:
            raise SkillError(f"there is no {SKILL_FILE} in {path[:200]!r}; {_where(files)}")
        return found
    if SKILL_FILE in files:
        return files
    folders = _folders(files)
    if len(folders) != 1:
        raise SkillError(_where(files))
    return _below(files, folders[0])


def _where(files: Mapping[str, bytes]) -> str:
    folders = _folders(files)
    if not folders:
        return f"no {SKILL_FILE} is in it, so it holds no skill"
    names = ", ".join(folders[:_MOST_NAMED]) + (" …" if len(folders) > _MOST_NAMED else "")
    return f"say with path which skill to install; there are {names}"


def _folders(files: Mapping[str, bytes]) -> list[str]:
    return sorted(name.removesuffix(f"/{SKILL_FILE}") for name in files if name.endswith(f"/{SKILL_FILE}"))


def _below(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    prefix = f"{folder}/"
    return {name.removeprefix(prefix): data for name, data in files.items() if name.startswith(prefix)}
