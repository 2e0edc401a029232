"""The approval model: what is sent, which answers are whole, and that every failure is no answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from echo_bot.agent.candidates import Candidate, Patience, answer_settings
from echo_bot.agent.judge import CUT, MAX_ANSWER_TOKENS, Judge
from echo_bot.approval.smart import Judgement, Review
from echo_bot.events import SessionKey, TurnId
from echo_bot.policy.facts import SmartAnswer, SmartVerdict
from echo_bot.testing.model_server import ModelServer
from echo_bot.testing.scripted_model import Say

REVIEW = Review("r", TurnId("t"), SessionKey("s"), "the rules", "the prompt")
Answer = Callable[[list[ModelMessage], AgentInfo], ModelResponse]
LIMITED = dict(answer_settings(30, MAX_ANSWER_TOKENS))


async def at_once(seconds: float) -> None:
    """No pause between two tries."""


def judge(*answers: Answer, seconds: float = 30) -> Judge:
    """The first of the answers judges; the others are its fallbacks."""
    names = ("strict", "second", "third")
    chain = [
        Candidate(f"a:{name}", FunctionModel(answer, model_name=name))
        for name, answer in zip(names, answers, strict=False)
    ]
    return Judge(chain, Patience(seconds, at_once))


def saying(*parts: TextPart | ThinkingPart | ToolCallPart, reason: Any = None) -> Judge:
    return judge(lambda messages, info: ModelResponse(parts=list(parts), finish_reason=reason))


async def test_it_is_sent_its_rules_and_the_call_and_nothing_else() -> None:
    seen: list[tuple[list[ModelMessage], AgentInfo]] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append((messages, info))
        return ModelResponse(parts=[TextPart("DENY")])

    assert await judge(answer).ask(REVIEW) == Judgement("DENY", "strict", "a:strict")
    [([request], info)] = seen
    assert isinstance(request, ModelRequest)
    assert request.instructions == "the rules"
    assert [part.content for part in request.parts if isinstance(part, UserPromptPart)] == ["the prompt"]
    assert len(request.parts) == 1
    assert (info.function_tools, info.output_tools) == ([], [])
    assert info.model_settings == {"temperature": 0.0, **LIMITED}


@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        (saying(TextPart(" APPROVE\n")), SmartVerdict.APPROVE),
        (saying(TextPart("APPROVE"), reason="stop"), SmartVerdict.APPROVE),
        (saying(ThinkingPart("It only lists."), TextPart("APPROVE")), SmartVerdict.APPROVE),
        (saying(TextPart("DENY")), SmartVerdict.DENY),
        (saying(TextPart("<think>It only lists.</think>APPROVE")), SmartVerdict.ESCALATE),
        (saying(ThinkingPart("It only lists.", id="content"), TextPart("APPROVE")), SmartVerdict.ESCALATE),
        (saying(TextPart("APPROVE"), reason="length"), SmartVerdict.ESCALATE),
        (saying(TextPart("APPROVE"), reason="content_filter"), SmartVerdict.ESCALATE),
        (saying(TextPart("APPROVE"), ToolCallPart("exec", {})), SmartVerdict.ESCALATE),
        (saying(ToolCallPart("APPROVE", {})), SmartVerdict.ESCALATE),
        (saying(TextPart("")), SmartVerdict.ESCALATE),
        (saying(TextPart("approve")), SmartVerdict.ESCALATE),
        (saying(TextPart("APPROVE.")), SmartVerdict.ESCALATE),
        (saying(TextPart("APPROVE"), TextPart("DENY")), SmartVerdict.ESCALATE),
        (saying(TextPart("\u200bAPPROVE")), SmartVerdict.ESCALATE),
        (saying(TextPart("\u0410PPROVE")), SmartVerdict.ESCALATE),
    ],
    ids=[
        "blanks around the word do not matter",
        "a model that says that it is done",
        "thoughts apart from the answer are no part of it",
        "a denial",
        "thoughts in the answer are part of it",
        "thoughts that the library cut out of the answer are part of it",
        "an answer that was cut off",
        "an answer that was filtered",
        "a word and a call",
        "a call by the name of the word",
        "nothing at all",
        "lower case",
        "a full stop",
        "two words",
        "an invisible letter",
        "a letter that only looks like one",
    ],
)
async def test_only_a_whole_answer_that_is_one_word_counts(asked: Judge, verdict: SmartVerdict) -> None:
    assert SmartAnswer((await asked.ask(REVIEW)).text).verdict is verdict


FAILURES: dict[str, BaseException] = {
    "the server refuses": ModelHTTPError(500, "strict", "temperature"),
    "the request is refused": ModelHTTPError(400, "strict", {"message": "no such model"}),
    "the network is down": OSError("unreachable"),
    "a fault of the library": KeyError("choices"),
    "a cancellation within the library": asyncio.CancelledError(),
}


@pytest.mark.parametrize("error", FAILURES.values(), ids=FAILURES.keys())
async def test_a_failure_is_no_answer(error: BaseException) -> None:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise error

    assert await judge(answer).ask(REVIEW) == Judgement(None)


def slow(answer: Callable[..., Any], seconds: float) -> Judge:
    return Judge([Candidate("a:slow", FunctionModel(answer))], Patience(seconds))


class Judges:
    """A chain whose first model does `one` at each request and whose second says APPROVE; who was asked."""

    def __init__(self, one: BaseException | str) -> None:
        self._one = one
        self.asked: list[str] = []

    def first(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.asked.append("strict")
        if isinstance(self._one, BaseException):
            raise self._one
        return ModelResponse(parts=[TextPart(self._one)], finish_reason="stop")

    def second(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.asked.append("second")
        return ModelResponse(parts=[TextPart("APPROVE")])


FALLBACKS: dict[str, tuple[BaseException | str, list[str], str | None]] = {
    "a server that fails is asked three times, then the next": (
        ModelHTTPError(503, "strict"),
        ["strict", "strict", "strict", "second"],
        "APPROVE",
    ),
    "a connection that is lost": (OSError("gone"), ["strict", "strict", "strict", "second"], "APPROVE"),
    "garbage": (UnexpectedModelBehavior("x"), ["strict", "second"], "APPROVE"),
    "a call that is too long for the first": (
        ModelContextWindowExceededError("strict", "too long"),
        ["strict", "second"],
        "APPROVE",
    ),
    "a wrong key hides behind no other model": (ModelHTTPError(401, "strict"), ["strict"], None),
    "nor does a content filter": (ContentFilterError("x"), ["strict"], None),
    "nor a fault of the library": (KeyError("choices"), ["strict"], None),
    "a denial is asked of nobody else": ("DENY", ["strict"], "DENY"),
    "nor an escalation": ("ESCALATE", ["strict"], "ESCALATE"),
    "nor what is no verdict": ("Well, yes", ["strict"], "Well, yes"),
    "nor an answer of nothing": ("", ["strict"], ""),
}


@pytest.mark.parametrize(("one", "asked", "text"), FALLBACKS.values(), ids=FALLBACKS.keys())
async def test_who_judges_when_the_first_model_fails(
    one: BaseException | str, asked: list[str], text: str | None
) -> None:
    judges = Judges(one)
    judgement = await judge(judges.first, judges.second).ask(REVIEW)
    assert (judges.asked, judgement.text) == (asked, text)
    assert judgement.judge == ("" if text is None else f"a:{asked[-1]}")


class Hanging:
    """A model that never answers, and says when it was asked and when it was given up."""

    def __init__(self) -> None:
        self.asked, self.ended = asyncio.Event(), asyncio.Event()

    async def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        raise AssertionError


async def test_a_model_that_takes_too_long_is_no_answer() -> None:
    hanging = Hanging()
    assert await slow(hanging.answer, 0.01).ask(REVIEW) == Judgement(None)
    assert hanging.ended.is_set()


async def test_the_cancellation_of_whoever_asks_ends_the_request_and_passes_on() -> None:
    hanging = Hanging()
    asking = asyncio.create_task(slow(hanging.answer, 30).ask(REVIEW))
    await hanging.asked.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert hanging.ended.is_set()


async def test_a_model_that_takes_no_temperature_is_asked_without() -> None:
    settings: list[object] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        settings.append(info.model_settings)
        if "temperature" in (info.model_settings or {}):
            raise ModelHTTPError(400, "strict", {"message": "Unsupported value: 'temperature'"})
        return ModelResponse(parts=[TextPart("DENY")])

    assert (await judge(answer).ask(REVIEW)).text == "DENY"
    assert settings == [{"temperature": 0.0, **LIMITED}, LIMITED]


async def test_whoever_counts_is_told_of_each_response() -> None:
    told: list[tuple[Review, str, int]] = []

    async def count(review: Review, name: str, response: ModelResponse) -> None:
        told.append((review, name, response.usage.output_tokens))

    model = FunctionModel(lambda messages, info: ModelResponse(parts=[TextPart("DENY")]))
    counted = Judge([Candidate("a:strict", model)], Patience(30), count)
    assert (await counted.ask(REVIEW)).text == "DENY"
    [(review, name, tokens)] = told
    assert review is REVIEW
    assert name == "a:strict"
    assert tokens > 0


@pytest.mark.parametrize(
    ("said", "answer"),
    [("APPROVE", "APPROVE"), ("<think>It only lists.</think>\n\nAPPROVE", f"\n\nAPPROVE{CUT}")],
    ids=["a word", "thoughts in the answer"],
)
async def test_over_the_wire(said: str, answer: str) -> None:
    async with (
        ModelServer([Say(said)]).serving() as server,
        OpenAIChatModel("local", provider=OpenAIProvider(base_url=server.base_url, api_key="k")) as model,
    ):
        judgement = await Judge([Candidate("local:local", model)], Patience(30)).ask(REVIEW)
    assert judgement == Judgement(answer, judgement.model, "local:local")
    [request] = server.requests
    assert [(each["role"], each["content"]) for each in request["messages"]] == [
        ("system", "the rules"),
        ("user", "the prompt"),
    ]
    assert (request["temperature"], "tools" in request) == (0.0, False)
    assert str(MAX_ANSWER_TOKENS) in json.dumps(request)
