"""message and notify: deliver a text and files to a chat, with a receipt that says what became of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar

from echo_bot.approval.routing import direct_chat
from echo_bot.delivery import Delivery
from echo_bot.events import Address, OutboundFile
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.targets import OWNER, parse_target
from echo_bot.text import is_blank
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.sites import CallSite, CallSites

StageFile = Callable[[CallSite, str], Awaitable[OutboundFile | str]]
"""Read a file through the path policy and keep a copy for sending; a sentence when it may not be."""

_WAIT_SECONDS = 20.0


class _Sending(Tool):
    """What both have in common; they differ in the name of the text and in who speaks."""

    capabilities = ("message.send",)
    text_field: ClassVar[str]

    def __init__(
        self, delivery: Delivery, sites: CallSites, targets: Mapping[str, str], stage_file: StageFile
    ) -> None:
        self._delivery, self._sites, self._targets, self._stage_file = delivery, sites, targets, stage_file

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        if ctx is None:
            return ToolResult(False, error="a message needs the call it belongs to", error_kind="internal")
        site = self._sites.get(ctx.execution_id)
        try:
            address = self._address(str(params.get("target") or ""), site)
        except ValueError as error:
            return ToolResult(False, error=str(error), error_kind="validation")
        problem = self._problem(params, address)
        if problem is not None:
            return problem
        staged = [await self._stage_file(site, path) for path in params.get("files") or ()]
        refusals = [each for each in staged if isinstance(each, str)]
        if refusals:
            return ToolResult(False, error=" ".join(refusals), error_kind="denied")
        receipt = await self._delivery.send(
            address,
            self.wrap(str(params[self.text_field])),
            source=f"{site.turn_id}:{site.call_key}:{self.name}",
            files=tuple(each for each in staged if isinstance(each, OutboundFile)),
            wait_seconds=_WAIT_SECONDS,
        )
        if receipt.state == "failed":
            return ToolResult(
                False, error=f"not delivered to {address}: {receipt.error}", error_kind="dependency"
            )
        return ToolResult(True, output=f"{receipt.state} to {address}")

    def wrap(self, text: str) -> str:
        return text

    def _problem(self, params: dict[str, Any], address: Address) -> ToolResult | None:
        """Why there is nothing to send, or no way to send it."""
        files = params.get("files") or ()
        if is_blank(str(params[self.text_field])) and not files:
            return ToolResult(False, error=f"{self.text_field} is empty", error_kind="validation")
        channel = self._delivery.channel(address)
        if channel is None:
            name = f"{address.channel}/{address.account}" if address.account else address.channel
            why = f"{name} is not running, so nothing was sent"
            return ToolResult(False, error=why, error_kind="dependency")
        if files and not channel.capabilities.files:
            return ToolResult(False, error=f"{address.channel} takes no files", error_kind="business")
        return None

    def _address(self, text: str, site: CallSite) -> Address:
        target = parse_target(text, self._targets)
        own = direct_chat(site.requester) if target.kind == OWNER else site.address
        return self._delivery.now(target.address or own)


class MessageTool(_Sending):
    """A message in a chat, as the bot."""

    name = "message"
    description = "Send a message to this chat, to its owner (target: owner), or to an allowed target."
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["message"].parameters
    text_field = "text"


class NotifyTool(_Sending):
    """A notice: short, marked as one."""

    name = "notify"
    description = "Send a short notice to this chat, to its owner (target: owner), or to an allowed target."
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["notify"].parameters
    text_field = "message"

    def wrap(self, text: str) -> str:
        return f"🔔 {text}"
