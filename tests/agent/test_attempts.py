"""What follows on a model's failure, by kind of error, and how it is told."""

from __future__ import annotations

import pytest
from pydantic_ai.exceptions import (
    ContentFilterError,
    IncompleteToolCall,
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRequestTimeout,
    UnexpectedModelBehavior,
    UserError,
)

from echo_bot.agent.attempts import Again, Decision, GiveUp, LimitReached, Next, after, why_failed


def http(status: int) -> ModelHTTPError:
    return ModelHTTPError(status, "m")


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
