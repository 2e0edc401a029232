"""What a parameter of a command may be completed with, for whoever is typing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from echo_bot.approval.broker import Broker
from echo_bot.approval.escape import escape_line
from echo_bot.channel import Completes, Completion, Parameter
from echo_bot.events import Identity
from echo_bot.inbox.commands import summary_of
from echo_bot.storage.protocol import Store

_MOST = 25


class Completing:
    """`tool_names` are the tools that can be called now, `model_names` what a conversation may ask.

    Labels are masked, and one line each.
    """

    def __init__(
        self,
        store: Store,
        broker: Broker,
        *,
        tool_names: Callable[[], Iterable[str]],
        model_names: Iterable[str],
        mask: Callable[[str], str],
        clock: Callable[[], datetime],
    ) -> None:
        self._store, self._broker = store, broker
        self._tool_names, self._model_names = tool_names, tuple(model_names)
        self._mask, self._clock = mask, clock

    async def complete(self, viewer: Identity, parameter: Parameter, typed: str) -> tuple[Completion, ...]:
        """At most 25: first those whose value begins with what was typed, then those that contain it."""
        return best(await self._all(viewer, parameter), typed)

    async def _all(self, viewer: Identity, parameter: Parameter) -> list[Completion]:
        match parameter.completes:
            case Completes.APPROVALS:
                return [
                    self._labelled(record.approval_id[-6:], summary_of(record))
                    for record in await self._broker.pending_for(viewer)
                    if record.kind == "approval"
                ]
            case Completes.GRANTS:
                grants = await self._store.grants.list(str(viewer), self._clock())
                return [
                    self._labelled(grant.grant_id, f"{grant.summary} ({grant.scope})") for grant in grants
                ]
            case Completes.TOOLS:
                return [Completion(name, name) for name in self._tool_names()]
            case Completes.MODELS:
                return [Completion(name, name) for name in self._model_names]
            case Completes.NOTHING:
                return [Completion(choice, choice) for choice in parameter.choices]

    def _labelled(self, value: str, label: str) -> Completion:
        return Completion(value, f"{value} · {escape_line(self._mask(label))}")


def best(found: Iterable[Completion], typed: str) -> tuple[Completion, ...]:
    """Those that fit what was typed, whatever its case, in their order; at most 25."""
    wanted = typed.strip().lower()
    fitting = [each for each in found if wanted in each.value.lower() or wanted in each.label.lower()]
    fitting.sort(key=lambda each: not each.value.lower().startswith(wanted))
    return tuple(fitting[:_MOST])
