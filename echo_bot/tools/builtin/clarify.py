"""clarify: ask the person of this turn a question and wait for the answer, across restarts."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar

from echo_bot.approval.asking import approval_id_of
from echo_bot.approval.broker import Broker
from echo_bot.approval.faces import FREE_ANSWER
from echo_bot.approval.stored import Question, question_to_json
from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.policy.risk import RiskLevel
from echo_bot.storage.records import ApprovalRecord, ApprovalStatus
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult
from echo_bot.tools.sites import CallSites

_MOST_OPTIONS = 8
_LONGEST_SECONDS = 23 * 3600


class ClarifyTool(Tool):
    """Only the asked person's answer counts: a button, or their next message in this chat."""

    name = "clarify"
    description = (
        "Ask the person a question and wait for the answer. Offer short options where there are natural ones."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["clarify"].parameters
    capabilities = ("message.ask",)

    def __init__(
        self,
        broker: Broker,
        sites: CallSites,
        *,
        default_timeout_seconds: int,
        clock: Callable[[], datetime],
    ) -> None:
        self._broker, self._sites = broker, sites
        self._default_timeout, self._clock = default_timeout_seconds, clock

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        if ctx is None or ctx.unattended:
            return ToolResult(False, error="nobody is there to be asked", error_kind="business")
        options = tuple(str(option) for option in params.get("options") or ())
        if len(options) > _MOST_OPTIONS or any(not option.strip() for option in options):
            return ToolResult(
                False, error=f"clarify: 0 to {_MOST_OPTIONS} options, none empty", error_kind="validation"
            )
        record = self._record(ctx, str(params["question"]), options, int(params.get("timeout") or 0))
        answer = await self._broker.ask(record)
        if not answer.approved:
            return ToolResult(False, error="The person did not answer.", error_kind="timeout")
        chosen = options[int(answer.decision)] if answer.decision.isdigit() else answer.text
        return ToolResult(True, output=f"The person answered: {chosen}")

    def _record(
        self, ctx: ToolExecutionContext, question: str, options: tuple[str, ...], timeout: int
    ) -> ApprovalRecord:
        site = self._sites.get(ctx.execution_id)
        offered = (*(str(index) for index in range(len(options))), FREE_ANSWER)
        return ApprovalRecord(
            approval_id=approval_id_of(site.turn_id, site.call_key),
            turn_id=site.turn_id,
            session_key=site.session_key,
            kind="question",
            requester=str(site.requester),
            address=site.address,
            tool=self.name,
            digest="",
            risk=RiskLevel.WRITE.value,
            request_json=question_to_json(Question(question, options)),
            offered=offered,
            tokens=tuple(secrets.token_urlsafe(16) for _ in offered),
            status=ApprovalStatus.PENDING,
            created_at=self._clock(),
            timeout_seconds=min(timeout or self._default_timeout, _LONGEST_SECONDS),
        )
