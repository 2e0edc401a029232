"""What follows on a model's failure, by kind of error, and how it is told."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx2
import pytest
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    IncompleteToolCall,
    ModelAPIError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRequestTimeout,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

from echo_bot.agent.attempts import (
    Again,
    Decision,
    GiveUp,
    LimitReached,
    ModelsFailed,
    Next,
    after,
    is_too_long,
    why_failed,
)


def http(status: int) -> ModelHTTPError:
    return ModelHTTPError(status, "m")


TOO_LONG = ModelContextWindowExceededError("m", "too long")
OVER_500 = ModelHTTPError(500, "m", {"error": {"message": "the request exceeds the available context size"}})
BUSY = ModelHTTPError(429, "m", headers={"Retry-After": "7"})

DECISIONS: dict[str, tuple[Exception, int, float, bool, Decision]] = {
    "a server error is asked again": (http(500), 1, 120, True, Again(0.5)),
    "the pause grows": (http(503), 2, 120, True, Again(1.0)),
    "after three tries the next model goes on": (http(500), 3, 120, True, Next()),
    "after three tries without another it ends": (http(500), 3, 120, False, GiveUp()),
    "a wait that was asked for is kept": (BUSY, 1, 120, True, Again(7.0)),
    "a wait beyond the time of an answer is not": (BUSY, 1, 5, True, Next()),
    "nor without another model": (BUSY, 1, 5, False, GiveUp()),
    "a lost connection is asked again": (ModelConnectionError("m", "gone"), 1, 120, True, Again(0.5)),
    "so is one that the system refuses": (ConnectionRefusedError(), 1, 120, True, Again(0.5)),
    "an answer that took all its time": (ModelRequestTimeout("m", 5), 1, 0, True, Next()),
    "an account without credit is not asked again": (ModelQuotaExceededError("m", "x"), 1, 120, True, Next()),
    "garbage leads to the next model": (UnexpectedModelBehavior("x"), 1, 120, True, Next()),
    "a wrong key is the operator's to mend": (http(401), 1, 120, True, GiveUp()),
    "a request that is refused would be refused again": (http(400), 1, 120, True, GiveUp()),
    "one that is too long for this model may fit the next": (TOO_LONG, 1, 120, True, Next()),
    "one that is too long is not sent again as it is": (OVER_500, 1, 120, False, GiveUp()),
    "a model that is not there": (http(404), 1, 120, True, GiveUp()),
    "a refusal of the content filter": (ContentFilterError("x"), 1, 120, True, GiveUp()),
    "a call that was cut off": (IncompleteToolCall("x"), 1, 120, True, GiveUp()),
    "a limit of ours": (LimitReached("x"), 1, 120, True, GiveUp()),
    "a fault of ours": (UserError("x"), 1, 120, True, GiveUp()),
}


@pytest.mark.parametrize(
    ("error", "tries", "left", "has_next", "decision"), DECISIONS.values(), ids=DECISIONS.keys()
)
def test_what_follows(error: Exception, tries: int, left: float, has_next: bool, decision: Decision) -> None:
    assert after(error, tries, left, has_next) == decision


WORDS: dict[str, tuple[Exception, str]] = {
    "busy": (BUSY, "a:b has too many requests and asks to wait 7 s"),
    "a server's own words": (
        ModelHTTPError(500, "m", {"error": {"message": "out of\n memory"}}),
        "a:b answered with status 500: out of memory",
    ),
    "too long": (
        OVER_500,
        "this is longer than a:b takes: the request exceeds the available context size (`/new` begins a new "
        "conversation, `/model` chooses another model; set models.compaction.at_tokens below what it takes)",
    ),
    "no words": (http(502), "a:b answered with status 502"),
    "too slow": (ModelRequestTimeout("m", 5), "a:b took longer than models.limits.timeout_seconds"),
    "garbage": (UnexpectedModelBehavior("not JSON"), "a:b answered nothing that can be used: not JSON"),
    "a limit": (LimitReached("models.x is reached"), "models.x is reached"),
    "something else": (ModelAPIError("m", "odd"), "a:b failed: odd"),
    "a very long reason": (ValueError("x" * 900), f"a:b failed: ValueError: {'x' * 287}…"),
}


@pytest.mark.parametrize(("error", "words"), WORDS.values(), ids=WORDS.keys())
def test_how_it_is_told(error: Exception, words: str) -> None:
    assert why_failed(error, "a:b") == words


def test_the_innermost_reason_is_told_of_a_connection_that_fails() -> None:
    error = ModelConnectionError("m", "Connection error.")
    error.__cause__ = ConnectionRefusedError(111, "Connection refused")
    assert why_failed(error, "a:b") == "a:b cannot be reached, or broke off: [Errno 111] Connection refused"


def _openai(client: httpx2.AsyncClient) -> Model:
    return OpenAIChatModel(
        "m", provider=OpenAIProvider(api_key="k", base_url="http://x/v1", http_client=client)
    )


def _anthropic(client: httpx2.AsyncClient) -> Model:
    return AnthropicModel(
        "m", provider=AnthropicProvider(api_key="k", base_url="http://x", http_client=client)
    )


def _google(client: httpx2.AsyncClient) -> Model:
    return GoogleModel("m", provider=GoogleProvider(api_key="k", base_url="http://x", http_client=client))


Build = Callable[[httpx2.AsyncClient], Model]

REFUSALS: dict[str, tuple[Build, int, dict[str, object], bool]] = {
    "openai names it by its code": (
        _openai,
        400,
        {
            "message": "Your input exceeds the context window of this model.",
            "type": "invalid_request_error",
            "param": "messages",
            "code": "context_length_exceeded",
        },
        True,
    ),
    "vllm and openrouter name it in words": (
        _openai,
        400,
        {"message": "This model's maximum context length is 8192 tokens. However, you requested 9001."},
        True,
    ),
    "llama.cpp has a type of its own": (
        _openai,
        400,
        {
            "code": 400,
            "message": "the request exceeds the available context size, try increasing it",
            "type": "exceed_context_size_error",
        },
        True,
    ),
    "LM Studio": (
        _openai,
        400,
        {"message": "The model is loaded with context length of only 4096 tokens, which is not enough."},
        True,
    ),
    "xAI": (
        _openai,
        400,
        {"message": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."},
        True,
    ),
    "anthropic": (
        _anthropic,
        400,
        {"type": "invalid_request_error", "message": "prompt is too long: 208310 tokens > 200000 maximum"},
        True,
    ),
    "anthropic, with the answer counted in": (
        _anthropic,
        400,
        {
            "type": "invalid_request_error",
            "message": "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
        },
        True,
    ),
    "google": (
        _google,
        400,
        {
            "code": 400,
            "message": "The input token count (1200293) exceeds the maximum number of tokens allowed (99).",
            "status": "INVALID_ARGUMENT",
        },
        True,
    ),
    "another request that openai refuses": (_openai, 400, {"message": "Unknown parameter: 'foo'."}, False),
    "an answer that is to be too long": (
        _anthropic,
        400,
        {
            "type": "invalid_request_error",
            "message": "max_tokens: 10000 > 4096, which is the maximum allowed number of output tokens for m",
        },
        False,
    ),
    "another argument that google refuses": (
        _google,
        400,
        {"code": 400, "message": "Invalid value at 'contents'", "status": "INVALID_ARGUMENT"},
        False,
    ),
    "too many tokens a minute": (
        _openai,
        429,
        {"message": "Limit 30000 tokens per minute, requested 40000.", "code": "rate_limit_exceeded"},
        False,
    ),
}


@pytest.mark.parametrize(("build", "status", "error", "too_long"), REFUSALS.values(), ids=REFUSALS.keys())
async def test_what_providers_say_of_a_request_that_is_too_long(
    build: Build, status: int, error: dict[str, object], too_long: bool
) -> None:
    body = {"type": "error", "error": error} if build is _anthropic else {"error": error}
    answer = httpx2.MockTransport(
        lambda request: httpx2.Response(
            status, content=json.dumps(body), headers={"content-type": "application/json"}
        )
    )
    async with httpx2.AsyncClient(transport=answer, timeout=60) as client:
        settings = {"max_retries": 0}
        with pytest.raises(AgentRunError) as raised:
            await model_request(build(client), [ModelRequest.user_text_prompt("hi")], model_settings=settings)  # type: ignore[arg-type]
    assert is_too_long(raised.value) is too_long


def test_the_failure_of_every_model_is_too_long_where_the_last_one_was() -> None:
    failed = ModelsFailed("all")
    failed.__cause__ = TOO_LONG
    assert is_too_long(failed)
    assert not is_too_long(ModelsFailed("all"))
