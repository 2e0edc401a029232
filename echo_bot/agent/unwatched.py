"""A listener for answers that nobody sees as they grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse


class Unwatched:
    """Implements `echo_bot.agent.loop.Listener`."""

    def answer_begins(self) -> None: ...

    def text(self, more: str) -> None: ...

    async def answered(self, response: ModelResponse) -> None: ...

    async def ends(self) -> None: ...
