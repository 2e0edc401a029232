"""What to do when a model fails: ask it again, go on with the next one, or give up. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    IncompleteToolCall,
    ModelAPIError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    OutputTokenLimitExceeded,
    UnexpectedModelBehavior,
    UserError,
)

from echo_bot.text.language import N_, Say, english

MOST_TRIES = 3
"""How often one model is asked the same before the next one is."""

_REFUSED_CONTENT = frozenset((400, 404, 413, 415, 422))
_PASSING_STATUSES = frozenset((408, 409, 425, 429))
_TOO_LONG = re.compile(
    r"exceeds? (?:the |this |available |model(?:'s)? )*context (?:length|size|window|limit)"
    r"|exceed_context_size|context size has been exceeded|context length of only|maximum prompt length",
    re.IGNORECASE,
)
"""What llama.cpp, LM Studio, xAI and others say; the library knows the words of the three providers."""

_MOST_DETAIL_CHARS = 300
_OUTPUT_KEY = "models.limits.max_output_tokens"

ModelError = (AgentRunError, UserError, OSError, ValueError)
"""What the libraries raise for a model that fails."""


class _Told(AgentRunError):
    """Its text is English, for the model and the log; `said` gives it in the language of people."""

    def __init__(self, message: str, said: Callable[[Say], str] | None = None) -> None:
        super().__init__(message)
        self.said: Callable[[Say], str] = said or (lambda say: message)


class LimitReached(_Told):
    """A limit of the configuration ends the turn; the sentence names its key."""


class ModelsFailed(_Told):
    """No model gave an answer; the sentence says why of each."""


@dataclass(frozen=True, slots=True)
class Again:
    """Ask the same model after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Next:
    """Go on with the next model."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Another try or another model would not help, or there is none."""


Decision = Again | Next | GiveUp


def after(error: Exception, tries: int, seconds_left: float, has_next: bool) -> Decision:
    """`tries` counts this one; `seconds_left` is how long this answer may still take, waiting included."""
    otherwise: Decision = Next() if has_next else GiveUp()
    if is_too_long(error):
        return otherwise
    if _is_passing(error):
        pause = _pause(error, tries)
        return Again(pause) if tries < MOST_TRIES and pause < seconds_left else otherwise
    return otherwise if _is_of_this_model(error) else GiveUp()


def _pause(error: Exception, tries: int) -> float:
    asked = error.retry_after if isinstance(error, ModelAPIError) else None
    return max(asked or 0.0, 0.5 * 2.0 ** (tries - 1))


def _is_passing(error: Exception) -> bool:
    """May the same request succeed a moment later?"""
    if isinstance(error, ModelQuotaExceededError | ModelRequestRejectedError):
        return False
    if isinstance(error, ModelHTTPError):
        return error.status_code >= 500 or error.status_code in _PASSING_STATUSES
    return isinstance(error, ModelAPIError | OSError)


def _is_of_this_model(error: Exception) -> bool:
    """May another model succeed where this one does not?"""
    if isinstance(error, LimitReached | ContentFilterError | OutputTokenLimitExceeded):
        return False
    return isinstance(error, UnexpectedModelBehavior | ModelQuotaExceededError | ValueError)


def is_too_long(error: BaseException | None) -> bool:
    """Was the request more than the model takes? A shorter one may pass, or the same with another model."""
    if isinstance(error, ModelsFailed):
        return is_too_long(error.__cause__)
    if isinstance(error, ModelContextWindowExceededError):
        return True
    return isinstance(error, ModelAPIError) and bool(_TOO_LONG.search(f"{error.message} {error.body}"))


def refuses_images(error: Exception) -> bool:
    """May the same request succeed without its images? Servers say so by many statuses."""
    if not isinstance(error, ModelHTTPError):
        return False
    return error.status_code in _REFUSED_CONTENT or "image" in _message(error.body).casefold()


def why_failed(error: Exception, name: str = "", say: Say = english) -> str:
    """The error as a clause for people; to be masked, since the provider's own words may hold anything."""
    name = name or say(N_("the model"))
    match error:
        case LimitReached() | ModelsFailed():
            return error.said(say)
        case ModelRequestTimeout():
            return say(N_("{model} took longer than models.limits.timeout_seconds")).format(model=name)
        case ModelAPIError() if is_too_long(error):
            longer = say(N_("this is longer than {model} takes")).format(model=name)
            shorter = say(
                N_(
                    "{problem} (`/new` begins a new conversation, `/model` chooses another model; "
                    "set models.compaction.at_tokens below what it takes)"
                )
            )
            return shorter.format(problem=_with_detail(longer, _message(error.body), say))
        case ModelHTTPError() if error.status_code == 429 and not isinstance(error, ModelQuotaExceededError):
            if not error.retry_after:
                return say(N_("{model} has too many requests")).format(model=name)
            busy = say(N_("{model} has too many requests and asks to wait {seconds:g} s"))
            return busy.format(model=name, seconds=error.retry_after)
        case ModelHTTPError():
            answered = say(N_("{model} answered with status {status}"))
            told = answered.format(model=name, status=error.status_code)
            return _with_detail(told, _message(error.body), say)
        case ModelConnectionError():
            told = say(N_("{model} cannot be reached, or broke off")).format(model=name)
            return _with_detail(told, _cause(error), say)
        case ModelAPIError():
            return _with_detail(say(N_("{model} failed")).format(model=name), error.message, say)
        case IncompleteToolCall():
            cut = say(N_("{model} was cut off within a tool call; raise {key}"))
            return cut.format(model=name, key=_OUTPUT_KEY)
        case OutputTokenLimitExceeded():
            cut = say(N_("{model} was cut off before it said anything; raise {key}"))
            return cut.format(model=name, key=_OUTPUT_KEY)
        case ContentFilterError():
            return say(N_("the provider's content filter stopped {model}")).format(model=name)
        case UnexpectedModelBehavior():
            told = say(N_("{model} answered nothing that can be used")).format(model=name)
            return _with_detail(told, error.message, say)
        case _:
            told = say(N_("{model} failed")).format(model=name)
            return _with_detail(told, f"{type(error).__name__}: {error}", say)


def _message(body: object) -> str:
    """The provider's message within the body of its error, wherever it stands."""
    match body:
        case {"error": {"message": str(text)}} | {"message": str(text)} | {"error": str(text)} | str(text):
            return text
        case _:
            return ""


def _cause(error: BaseException) -> str:
    """The innermost reason that says something: the libraries' own words are "Connection error."."""
    deepest: BaseException = error
    while (inner := deepest.__cause__ or deepest.__context__) is not None:
        deepest = inner
    return str(deepest) or type(deepest).__name__


def _with_detail(sentence: str, detail: str, say: Say) -> str:
    line = " ".join(detail.split())
    if not line:
        return sentence
    shown = line if len(line) <= _MOST_DETAIL_CHARS else line[: _MOST_DETAIL_CHARS - 1] + "…"
    return say(N_("{label}: {text}")).format(label=sentence, text=shown)
