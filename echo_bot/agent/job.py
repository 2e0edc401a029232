"""A job's turn: nobody watches; the answer goes to the job's target, a failure to whoever started it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from echo_bot.agent.answers import NO_ANSWER
from echo_bot.agent.chat import ChatRunner
from echo_bot.agent.directive import Chat, Compact, DirectCall, Misused, SchemaOf, read_directive
from echo_bot.agent.journal import Journal
from echo_bot.agent.turn import Ended, shown_result
from echo_bot.delivery import Delivery
from echo_bot.policy.call import JsonValue
from echo_bot.scheduler.job import LATE, NOTHING
from echo_bot.storage.records import TurnState
from echo_bot.text.fences import fence
from echo_bot.text.language import _, english
from echo_bot.tools.runner import ToolRunner
from echo_bot.tools.scope import TurnScope

_DIRECT_KEY = "0"
_NO_MODEL = (
    "no model is configured, so a job can only be a direct call, such as /run ./backup.sh or "
    "/tool read_file path=README.md; set models.default for anything else"
)


class JobTurns:
    """Runs turns of the kind "job". A refused or failed direct call is a failed run."""

    def __init__(
        self,
        runner: ToolRunner,
        chat: ChatRunner | None,
        delivery: Delivery,
        schema_of: SchemaOf,
        clock: Callable[[], datetime],
    ) -> None:
        self._runner, self._chat, self._delivery = runner, chat, delivery
        self._schema_of, self._clock = schema_of, clock

    async def run(self, scope: TurnScope, journal: Journal) -> Ended:
        is_late = self._clock() - scope.event.timestamp > LATE
        ended = await self._run(scope, journal)
        if ended.state is TurnState.DONE and ended.result:
            due = f"{scope.event.timestamp:%Y-%m-%d %H:%M} UTC"
            late = _("(Late: this was due {time}.)").format(time=due) + "\n\n" if is_late else ""
            await self._delivery.send(
                scope.event.answered_at, late + ended.result, source=f"{scope.turn_id}:reply"
            )
        return ended

    async def _run(self, scope: TurnScope, journal: Journal) -> Ended:
        match read_directive(scope.event.text, self._schema_of):
            case Misused() as misused:
                return Ended(TurnState.FAILED, misused.said(english))
            case Compact():
                return Ended(TurnState.FAILED, "/compact is for a conversation, and a job has none")
            case DirectCall(tool, args):
                return await self._call(scope, tool, args)
            case Chat():
                return await self._talk(scope, journal)

    async def _call(self, scope: TurnScope, tool: str, args: Mapping[str, JsonValue]) -> Ended:
        """What prints nothing has nothing to report."""
        result = await self._runner.run(scope, _DIRECT_KEY, tool, args)
        if not result.success:
            return Ended(TurnState.FAILED, shown_result(tool, result))
        is_silent = not result.output.strip() or result.metadata.get("printed") is False
        return Ended(result="" if is_silent else fence(result.output))

    async def _talk(self, scope: TurnScope, journal: Journal) -> Ended:
        if self._chat is None:
            return Ended(TurnState.FAILED, _NO_MODEL)
        answered = await self._chat.answer(scope, journal)
        if answered.error:
            return Ended(TurnState.FAILED, answered.error)
        if answered.text == NOTHING:
            return Ended()
        return Ended(result=answered.text or _(NO_ANSWER))
