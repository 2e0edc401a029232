"""A conversation as messages: what a provider takes, how long it is, and shorter views of it. Pure.

A call and its result are never separated: views leave whole turns out, or change what a result says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolReturnPart,
    UserPromptPart,
)

_OF_A_MESSAGE = 4
"""Tokens that a message takes beside its text."""

_SHORT_RESULT = 400
_HEAD, _TAIL = 120, 80
_MOST_TOLD_CHARS = 600


def estimated_tokens(messages: Iterable[ModelMessage]) -> int:
    """A rough count without the model's own tokenizer: four ASCII characters, or one other, are a token."""
    return sum(_OF_A_MESSAGE + text_tokens(_text_of(message)) for message in messages)


def text_tokens(text: str) -> int:
    ascii_chars = len(text.encode("ascii", "ignore"))
    return (ascii_chars + 3) // 4 + len(text) - ascii_chars


def problem_of(messages: Sequence[ModelMessage]) -> str:
    """Why a provider would refuse this as the messages of a request; "" when it is valid.

    It begins and ends with a request, requests and responses take turns, and every call is answered, once,
    in the request after it, which answers nothing else.
    """
    if (
        not messages
        or not isinstance(messages[0], ModelRequest)
        or not isinstance(messages[-1], ModelRequest)
    ):
        return "it does not begin and end with a request"
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        if place % 2 == (0 if isinstance(message, ModelResponse) else 1):
            return f"message {place}: two of a kind follow one another"
        if isinstance(message, ModelResponse):
            open_calls = [call.tool_call_id for call in message.tool_calls]
            if len(set(open_calls)) < len(open_calls):
                return f"message {place}: two calls with one id"
            if not message.parts:
                return f"message {place}: an empty answer"
        elif sorted(answered := [*_answered(message)]) != sorted(open_calls):
            return f"message {place}: answers {answered}, called were {open_calls}"
        elif not message.parts:
            return f"message {place}: an empty request"
    return ""


def _answered(message: ModelRequest) -> Iterable[str]:
    for part in message.parts:
        if isinstance(part, ToolReturnPart):
            yield part.tool_call_id


def without_old_results(messages: Sequence[ModelMessage], before: int) -> list[ModelMessage]:
    """The messages with a short note in the place of every long result in front of message `before`."""
    return [
        replace(message, parts=[_shortened(part) for part in message.parts])
        if place < before and isinstance(message, ModelRequest)
        else message
        for place, message in enumerate(messages)
    ]


def _shortened(part: ModelRequestPart) -> ModelRequestPart:
    if not isinstance(part, ToolReturnPart):
        return part
    text = part.model_response_str(wrap_if_error=False)
    if len(text) <= _SHORT_RESULT:
        return part
    note = f"[… {len(text) - _HEAD - _TAIL:,} characters left out to save room; call again if needed …]"
    return ToolReturnPart(
        part.tool_name,
        f"{text[:_HEAD]}\n{note}\n{text[-_TAIL:]}",
        part.tool_call_id,
        timestamp=part.timestamp,
        outcome=part.outcome,
    )


def results_to_shorten(messages: Sequence[ModelMessage], most_tokens: int) -> int:
    """The least `before` with which `without_old_results` comes down to `most_tokens`.

    The results of the last answer always stay; more than that may be asked for than there is.
    """
    sizes = [estimated_tokens([message]) for message in messages]
    shorter = [estimated_tokens(without_old_results([message], 1)) for message in messages]
    total, last = sum(sizes), len(messages) - 1
    for place in range(last):
        if total <= most_tokens:
            return place
        total -= sizes[place] - shorter[place]
    return max(last, 0)


def newest_that_fit(turns: Sequence[Sequence[ModelMessage]], most_tokens: int) -> int:
    """How many of the turns, counted from the newest, fit into so many tokens."""
    room = most_tokens
    for number, turn in enumerate(reversed(turns)):
        room -= estimated_tokens(turn)
        if room < 0:
            return number
    return len(turns)


def without_thoughts(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """What stays for later turns: providers need a thought back only within its own turn."""
    kept: list[ModelMessage] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            parts = [part for part in message.parts if not isinstance(part, ThinkingPart)]
            message = replace(message, parts=parts or [TextPart("(no answer)")])
        kept.append(message)
    return kept


def as_told(messages: Iterable[ModelMessage]) -> str:
    """A conversation as lines of text, for a summary of it."""
    lines: list[str] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            for part in message.parts:
                if isinstance(part, UserPromptPart):
                    lines.append(f"User: {_content(part.content)}")
                elif isinstance(part, ToolReturnPart):
                    lines.append(f"Result of {part.tool_name}: {_cut(part.model_response_str())}")
            continue
        lines += [f"Assistant: {part.content}" for part in message.parts if isinstance(part, TextPart)]
        lines += [f"Calls {call.tool_name} {_cut(call.args_as_json_str())}" for call in message.tool_calls]
    return "\n".join(lines)


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_TOLD_CHARS else f"{text[:_MOST_TOLD_CHARS]}…"


def _text_of(message: ModelMessage) -> str:
    if isinstance(message, ModelRequest):
        return "\n".join([message.instructions or "", *map(_text_of_part, message.parts)])
    calls = [f"{call.tool_name}{call.args_as_json_str()}" for call in message.tool_calls]
    texts = [part.content for part in message.parts if isinstance(part, TextPart | ThinkingPart)]
    return "\n".join([*texts, *calls])


def _text_of_part(part: ModelRequestPart) -> str:
    if isinstance(part, ToolReturnPart):
        return part.model_response_str(wrap_if_error=False)
    content = getattr(part, "content", "")
    return _content(content)


def _content(content: object) -> str:
    """The text of a prompt; images and files in it are named."""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "\n".join(each if isinstance(each, str) else f"[{type(each).__name__}]" for each in content)
    return json.dumps(content, default=str)
