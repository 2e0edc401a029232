"""One answer of a model: made presentable before it is journalled, and what is noted beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
)

from echo_bot.agent.thinking import ThinkFilter, without_thinking
from echo_bot.text import is_blank
from echo_bot.text.language import N_, _

NO_ANSWER = N_("(The model gave no answer.)")
_KEY = "echo_bot"
_CUT_OFF = N_("(This answer was cut off at the limit of its length; see models.limits.max_output_tokens.)")
_FILTERED = N_("(The provider's content filter ended this answer.)")
_ENDINGS = {"length": _CUT_OFF, "content_filter": _FILTERED}


@dataclass(frozen=True, slots=True)
class Answerer:
    """`model` by its configured name; `instead_of` the one that should have answered, "" if it did.

    `asked_tokens` is the estimated size of the request. `unseeing`: it refused the images that came along.
    """

    model: str
    instead_of: str = ""
    asked_tokens: int = 0
    unseeing: bool = False


def sign(response: ModelResponse, answerer: Answerer) -> None:
    """Note who answered, beside the answer, where providers never see it."""
    response.metadata = {**(response.metadata or {}), _KEY: asdict(answerer)}


def answered_by(response: ModelResponse) -> Answerer:
    noted = (response.metadata or {}).get(_KEY)
    return Answerer(**noted) if isinstance(noted, dict) else Answerer(response.model_name or "")


def is_answer(response: ModelResponse) -> bool:
    """Does it say or call anything? Otherwise the model is told so and asked again."""
    return bool(response.tool_calls) or any(p.content for p in response.parts if isinstance(p, TextPart))


def make_presentable(response: ModelResponse) -> None:
    """Calls get ids of their own, thinking leaves the text, and an answer of nothing says so."""
    give_calls_ids_of_their_own(response)
    parts = [part for part in map(_without_thinking, response.parts) if part is not None]
    if all(isinstance(part, ThinkingPart) for part in parts):
        parts.append(TextPart(NO_ANSWER))
    response.parts = parts


def _without_thinking(part: ModelResponsePart) -> ModelResponsePart | None:
    if not isinstance(part, TextPart):
        return part
    text = without_thinking(part.content)
    return None if is_blank(text) else replace(part, content=text)


def give_calls_ids_of_their_own(response: ModelResponse) -> None:
    """Servers may give two calls of one answer the same id, or none: results and approvals go by it."""
    taken: set[str] = set()
    for index, call in enumerate(response.tool_calls):
        if not call.tool_call_id or call.tool_call_id in taken:
            call.tool_call_id = f"{call.tool_call_id or 'call'}.{index}"
        taken.add(call.tool_call_id)


def call_keys(messages: Sequence[ModelMessage]) -> dict[str, str]:
    """A key for every call of the last response: its place in the turn, since servers may reuse call ids."""
    responses = [m for m in messages if isinstance(m, ModelResponse)]
    if not responses:
        return {}
    calls = responses[-1].tool_calls
    return {call.tool_call_id: f"{len(responses)}.{index}" for index, call in enumerate(calls)}


def final_text(messages: Sequence[ModelMessage]) -> str | None:
    """The answer, when the messages end in a response without calls."""
    last = messages[-1] if messages else None
    if not isinstance(last, ModelResponse) or last.tool_calls:
        return None
    return text_of_response(last)


def text_of_response(response: ModelResponse) -> str:
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def remark(messages: Sequence[ModelMessage]) -> str:
    """What people are told beside the last answer: cut off, by another model, without the images; or ""."""
    last = messages[-1] if messages else None
    if not isinstance(last, ModelResponse):
        return ""
    answerer = answered_by(last)
    ended = _ENDINGS.get(last.finish_reason or "")
    told = [_(ended)] if ended else []
    if answerer.instead_of:
        instead = _("(Answered by {model}: {other} failed.)")
        told.append(instead.format(model=answerer.model, other=answerer.instead_of))
    if answerer.unseeing:
        unseen = _("({model} refused images, so it did not see them.)")
        told.append(unseen.format(model=answerer.model))
    return "\n".join(filter(None, told))


class GrowingText:
    """The text of an answer that streams in, without the thinking in it. `feed` says how it changed."""

    def __init__(self) -> None:
        self._done, self._part, self._told = "", ThinkFilter(), ""

    def feed(self, event: object) -> tuple[bool, str]:
        """Did what was told become void, and which text comes now."""
        match event:
            case PartStartEvent(part=TextPart(content=content)):
                self._part.end()
                self._done, self._part = self._done + self._part.text, ThinkFilter()
                self._part.feed(content)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=delta)):
                self._part.feed(delta)
            case _:
                return False, ""
        return self._change()

    def end(self) -> tuple[bool, str]:
        """No more comes."""
        self._part.end()
        return self._change()

    def _change(self) -> tuple[bool, str]:
        told, self._told = self._told, self._done + self._part.text
        grew = self._told.startswith(told)
        return not grew, self._told[len(told) :] if grew else self._told
