"""One answer: presentable before it is journalled, and its growing text as people may see it."""

from __future__ import annotations

import pytest
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ToolCallPart,
)

from echo_bot.agent.answers import (
    NO_ANSWER,
    Answerer,
    GrowingText,
    answered_by,
    is_answer,
    make_presentable,
    remark,
    sign,
)

Part = TextPart | ThinkingPart | ToolCallPart
CALL = ToolCallPart("exec", {"command": "ls"}, "c1")

ANSWERS: dict[str, tuple[list[Part], list[Part]]] = {
    "text stays": ([TextPart("yes")], [TextPart("yes")]),
    "thinking in the text goes": ([TextPart("<think>hm</think>yes")], [TextPart("yes")]),
    "a thought of its own stays for the provider": (
        [ThinkingPart("hm", signature="s"), TextPart("yes")],
        [ThinkingPart("hm", signature="s"), TextPart("yes")],
    ),
    "text that was all thought, beside a call": ([TextPart("<think>hm</think>"), CALL], [CALL]),
    "all thought": ([TextPart("<think>hm")], [TextPart(NO_ANSWER)]),
    "blanks, which providers refuse": ([TextPart(" \n")], [TextPart(NO_ANSWER)]),
    "nothing at all": ([], [TextPart(NO_ANSWER)]),
}


@pytest.mark.parametrize(("parts", "kept"), ANSWERS.values(), ids=ANSWERS.keys())
def test_what_is_kept_of(parts: list[Part], kept: list[Part]) -> None:
    response = ModelResponse(parts=parts)
    make_presentable(response)
    assert response.parts == kept
    make_presentable(response)
    assert response.parts == kept


def test_calls_without_ids_or_with_the_same_get_their_own() -> None:
    calls = [ToolCallPart("a", {}, "x"), ToolCallPart("b", {}, "x"), ToolCallPart("c", {}, "")]
    response = ModelResponse(parts=calls)
    make_presentable(response)
    assert [call.tool_call_id for call in response.tool_calls] == ["x", "x.1", "call.2"]


def test_what_is_an_answer() -> None:
    assert is_answer(ModelResponse(parts=[CALL]))
    assert is_answer(ModelResponse(parts=[TextPart("yes")]))
    assert not is_answer(ModelResponse(parts=[ThinkingPart("hm")]))
    assert not is_answer(ModelResponse(parts=[]))


def test_who_answered_survives_the_journal_and_is_told_only_when_it_was_another() -> None:
    response = ModelResponse(parts=[TextPart("yes")], finish_reason="length")
    sign(response, Answerer("b:c", "a:b", 70))
    stored = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json([response]))
    [again] = stored
    assert isinstance(again, ModelResponse)
    assert answered_by(again) == Answerer("b:c", "a:b", 70)
    assert remark(stored).splitlines() == [
        "(This answer was cut off at the limit of its length; see models.limits.max_output_tokens.)",
        "(Answered by b:c: a:b failed.)",
    ]
    assert remark([ModelResponse(parts=[TextPart("yes")])]) == ""
    assert remark([]) == ""


def test_text_grows_over_parts_and_begins_anew_when_it_was_a_thought() -> None:
    text = GrowingText()
    changes = [
        text.feed(PartStartEvent(index=0, part=TextPart("Hello"))),
        text.feed(PartDeltaEvent(index=0, delta=TextPartDelta(content_delta=" there<thi"))),
        text.feed(PartStartEvent(index=1, part=ThinkingPart("hm"))),
        text.feed(PartDeltaEvent(index=0, delta=TextPartDelta(content_delta="nk>secret</think>!"))),
        text.feed(PartStartEvent(index=2, part=TextPart("musing"))),
        text.feed(PartDeltaEvent(index=2, delta=TextPartDelta(content_delta="</think>Yes."))),
        text.end(),
    ]
    assert changes == [
        (False, "Hello"),
        (False, " there"),
        (False, ""),
        (False, "!"),
        (False, "musing"),
        (True, "Hello there!Yes."),
        (False, ""),
    ]
