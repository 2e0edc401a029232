"""Files that a tool makes for the chat: kept in the workspace under a name of the call's own, then sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from echo_bot.delivery import Delivery
from echo_bot.events import OutboundFile
from echo_bot.files import FileRefusal
from echo_bot.files.checkpoints import FileWrite
from echo_bot.tools.base import ToolExecutionContext, ToolResult
from echo_bot.tools.builtin.workspace import Workspace, refused
from echo_bot.tools.media.kinds import MediaKind
from echo_bot.tools.sites import CallSite, CallSites

FOLDER = "generated"
MAX_BYTES = 32 * 1024 * 1024
_WAIT_SECONDS = 20.0

Make = Callable[[], Awaitable[tuple[bytes, MediaKind] | ToolResult]]
"""Makes the content, which costs something; a result says why it did not."""

StageFile = Callable[[CallSite, str], Awaitable[OutboundFile | str]]


@dataclass(frozen=True, slots=True)
class MadeFiles:
    """The name of a file comes from the call's idempotency key: the same call never makes it twice."""

    workspace: Workspace
    sites: CallSites
    delivery: Delivery
    stage: StageFile

    async def deliver(
        self, ctx: ToolExecutionContext | None, stem: str, kinds: Sequence[MediaKind], make: Make
    ) -> ToolResult:
        """Make the file unless this call made it before, keep it, send it to the call's chat."""
        if ctx is None:
            return ToolResult(False, error="a file needs the call it belongs to", error_kind="internal")
        name = f"{FOLDER}/{stem}-{ctx.idempotency_key[:16]}"
        path = await asyncio.to_thread(self._made_before, ctx, name, kinds)
        if isinstance(path, FileRefusal):
            return refused(path)
        if not path and ctx.is_replay:
            return ToolResult(False, error="not made: a replay makes nothing new", error_kind="business")
        if not path:
            made = await make()
            if isinstance(made, ToolResult):
                return made
            data, kind = made
            path = f"{name}.{kind.extension}"
            problem = await self._keep(ctx, path, data)
            if problem:
                return problem
        return ToolResult(True, output=f"{path}: {await self._sent(ctx, path)}", metadata={"path": path})

    def _made_before(
        self, ctx: ToolExecutionContext, name: str, kinds: Sequence[MediaKind]
    ) -> str | FileRefusal:
        """The path of an earlier attempt's file, "" without one; a refusal where none may be written."""
        door, root = self.workspace.door(ctx), self.workspace.root
        for kind in kinds:
            path = f"{name}.{kind.extension}"
            admitted = door.admit(path, root, "write")
            if isinstance(admitted, FileRefusal):
                return admitted
            if not isinstance(door.read_bytes(path, root, MAX_BYTES), FileRefusal):
                return path
        return ""

    async def _keep(self, ctx: ToolExecutionContext, path: str, data: bytes) -> ToolResult | None:
        door = self.workspace.door(ctx)
        admitted = await asyncio.to_thread(door.admit, path, self.workspace.root, "write")
        if isinstance(admitted, FileRefusal):
            return refused(admitted)
        kept = await self.workspace.keep(ctx, [FileWrite(admitted.path.real, None, data)])
        if isinstance(kept, ToolResult):
            return kept
        written = await asyncio.to_thread(door.write, admitted, data)
        if isinstance(written, FileRefusal):
            await self.workspace.forget(kept)
            return refused(written)
        return None

    async def _sent(self, ctx: ToolExecutionContext, path: str) -> str:
        """What became of it, in words: the file is there whether it could be sent or not."""
        site = self.sites.get(ctx.execution_id)
        channel = self.delivery.channel(site.address)
        if channel is None or not channel.capabilities.files:
            return f"kept in the workspace; {site.address.channel} takes no files, so it was not sent"
        staged = await self.stage(site, path)
        if isinstance(staged, str):
            return f"kept in the workspace; not sent: {staged}"
        receipt = await self.delivery.send(
            site.address,
            "",
            source=f"{site.turn_id}:{site.call_key}:{path}",
            files=(staged,),
            wait_seconds=_WAIT_SECONDS,
        )
        if receipt.state == "failed":
            return f"kept in the workspace; sending it failed: {receipt.error}"
        return f"{receipt.state} to this chat"
