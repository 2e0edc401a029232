"""One commit of a git repository as a bundle, by the git program behind a guarded tunnel.

git never checks anything out: it fetches into an empty bare repository with all hooks, helpers, templates and
protocols but https switched off, and the commit is read as an archive under the limits of every archive.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from echo_bot.execution.limits import limited
from echo_bot.execution.protocol import Limits
from echo_bot.net import GuardedTunnel, Resolver
from echo_bot.net.pinned import AddressRule
from echo_bot.policy.guards.network import NetworkRules, judge_address
from echo_bot.skills.archives import untar
from echo_bot.skills.bundle import MAX_TOTAL_BYTES, Bundle
from echo_bot.skills.errors import SkillError

MISSING = (
    "git is not on PATH; install it (Debian: apt install git), or install the skill from a url or a folder"
)
MAX_FETCHED_BYTES = 64 * 1024 * 1024

_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")
_LIMITS = Limits(memory_mb=1024, cpu_seconds=60, file_mb=256)
_MOST_ARCHIVE_BYTES = 2 * MAX_TOTAL_BYTES
_SETTINGS = {
    "protocol.allow": "never",
    "protocol.https.allow": "always",
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "credential.helper": "",
    "init.templateDir": "",
    "fetch.fsckObjects": "true",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "http.followRedirects": "initial",
    "http.proxyAuthMethod": "basic",
}


@dataclass(frozen=True, slots=True)
class GitFetcher:
    """`rules` are those of the network guard; the rest are what tests put in place of the real network."""

    rules: NetworkRules
    path: str
    resolver: Resolver | None = None
    rule: AddressRule = judge_address
    authorities: str = ""

    async def fetch(self, location: str, ref: str) -> tuple[Bundle, str]:
        """The files and the commit's id. Raises SkillError."""
        if not location.startswith("https://"):
            raise SkillError("git repositories are fetched by https only; write https://host/path")
        if ref and (not _REF.fullmatch(ref) or ".." in ref):
            raise SkillError(f"ref {ref[:80]!r} is not the name of a branch, tag or commit")
        git = shutil.which("git", path=self.path)
        if git is None:
            raise SkillError(MISSING, "dependency")
        folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="echo-bot-git-")
        try:
            return await self._fetched(git, folder, location, ref or "HEAD")
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _fetched(self, git: str, folder: str, location: str, ref: str) -> tuple[Bundle, str]:
        tunnel = GuardedTunnel(
            self.rules, max_bytes=MAX_FETCHED_BYTES, resolver=self.resolver, rule=self.rule
        )
        async with tunnel:
            run = _Git(git, folder, self._environment(folder, tunnel.url))
            await run.git("init", "--bare", "--quiet")
            wanted = ("fetch", "--depth", "1", "--no-tags", "--quiet", "--no-recurse-submodules")
            try:
                await run.git(*wanted, "--", location, ref)
            except SkillError as error:
                if tunnel.refused is not None:
                    raise SkillError(tunnel.refused.sentence, "denied") from None
                raise SkillError(f"git could not fetch {ref}: {error}", "dependency") from None
        commit = (await run.git("rev-parse", "--verify", "FETCH_HEAD^{commit}")).decode().strip()
        archive = await run.git("archive", "--format=tar", commit)
        return await asyncio.to_thread(untar, archive), commit

    def _environment(self, folder: str, proxy: str) -> dict[str, str]:
        settings = {**_SETTINGS, "http.proxy": proxy}
        if self.authorities:
            settings["http.sslCAInfo"] = self.authorities
        return {
            "PATH": self.path,
            "HOME": folder,
            "LC_ALL": "C",
            "GIT_DIR": f"{folder}/repository",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "/bin/false",
            "GIT_CONFIG_COUNT": str(len(settings)),
            **{f"GIT_CONFIG_KEY_{at}": key for at, key in enumerate(settings)},
            **{f"GIT_CONFIG_VALUE_{at}": value for at, value in enumerate(settings.values())},
        }


@dataclass(frozen=True, slots=True)
class _Git:
    program: str
    folder: str
    environment: Mapping[str, str]

    async def git(self, *words: str) -> bytes:
        """Run it to its end and return what it printed. Ended early, it takes its helpers along."""
        process = await asyncio.create_subprocess_exec(
            *limited((self.program, *words), _LIMITS, count_processes=False),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.folder,
            env=dict(self.environment),
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        complaint = asyncio.create_task(_last(process.stderr))
        try:
            printed = await _read(process.stdout)
            code = await process.wait()
            said = await complaint
        finally:
            complaint.cancel()
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if code != 0:
            lines = said.decode("utf-8", "replace").strip().splitlines()
            raise SkillError(lines[-1][:300] if lines else f"git {words[0]} ended with exit code {code}")
        return printed


async def _last(stream: asyncio.StreamReader) -> bytes:
    """The end of what a program complains; all of it is read, so that it never waits for a reader."""
    kept = b""
    while chunk := await stream.read(1 << 16):
        kept = (kept + chunk)[-4096:]
    return kept


async def _read(stream: asyncio.StreamReader) -> bytes:
    data = bytearray()
    while chunk := await stream.read(1 << 16):
        data += chunk
        if len(data) > _MOST_ARCHIVE_BYTES:
            raise SkillError("the commit has far more than a skill may have", "denied")
    return bytes(data)
