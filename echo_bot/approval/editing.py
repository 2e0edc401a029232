"""A call as text that a person may change, and back: pure, exact, with a sentence for what does not fit.

One text argument alone is edited as it is. Everything else is JSON, in the order of the tool's parameters,
with characters that nobody sees written as escapes, so that what is edited is what is seen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from echo_bot.approval.escape import is_hidden
from echo_bot.approval.request import ApprovalRequest
from echo_bot.policy.arguments import arguments_problem
from echo_bot.policy.call import Arguments, JsonValue, canonical_json
from echo_bot.text.language import _

MAX_EDIT_CHARS = 1_000_000
_INDENT = 2


@dataclass(frozen=True, slots=True)
class EditProblem:
    """Why a text is no call: the card stays open, nothing was decided."""

    sentence: str


def is_editable(request: ApprovalRequest, mask: Callable[[str], str]) -> bool:
    """Not when a secret is hidden in it, since the mask would be written instead, nor without arguments."""
    if not request.args and not _names(request.parameters):
        return False
    text = edit_text(request)
    return len(text) <= MAX_EDIT_CHARS and all(
        mask(each) == each for each in (text, *_texts(dict(request.args)))
    )


def edit_text(request: ApprovalRequest) -> str:
    """What an edit begins with."""
    args = request.args
    if _lone_text(args) is not None:
        return str(next(iter(args.values())))
    order = {name: place for place, name in enumerate(_names(request.parameters))}
    ordered = {name: args[name] for name in sorted(args, key=lambda name: order.get(name, len(order)))}
    return _visible(json.dumps(ordered, ensure_ascii=False, indent=_INDENT))


def text_of_arguments(request: ApprovalRequest, args: Mapping[str, JsonValue]) -> str | EditProblem:
    """The text that `read_edit` reads as these arguments, for whoever edits arguments and not text."""
    name = _lone_text(request.args)
    if name is None:
        return json.dumps(dict(args), ensure_ascii=False)
    value = args.get(name)
    if set(args) != {name} or not isinstance(value, str):
        return EditProblem(_("Of this call only {name} can be changed, and it is a text.").format(name=name))
    return value


def read_edit(request: ApprovalRequest, text: str) -> Arguments | EditProblem:
    """The arguments that an edited text stands for, checked against the tool's parameters."""
    if not text.strip():
        return EditProblem(_("Nothing was written. Write the whole changed call."))
    if len(text) > MAX_EDIT_CHARS:
        return EditProblem(_("That is longer than {most:,} characters.").format(most=MAX_EDIT_CHARS))
    name = _lone_text(request.args)
    args = {name: text} if name is not None else _parsed(text)
    if isinstance(args, EditProblem):
        return args
    problem = arguments_problem(request.tool, args, dict(request.parameters or {}))
    if problem:
        return EditProblem(f"{problem[:1].upper()}{problem[1:]}.")
    if canonical_json(args) == canonical_json(dict(request.args)):
        return EditProblem(_("Nothing was changed."))
    return args


def _lone_text(args: Arguments) -> str | None:
    """The name of the only argument, when it is a text that any input field keeps as it is."""
    if len(args) != 1:
        return None
    [(name, value)] = args.items()
    if not isinstance(value, str) or not value.strip() or value != value.strip():
        return None
    return None if any(is_hidden(char) for char in value if char != "\n") else name


def _parsed(text: str) -> dict[str, JsonValue] | EditProblem:
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
        canonical_json(value)
        json.dumps(value, ensure_ascii=False).encode()  # half a character is no text
    except json.JSONDecodeError as error:
        return EditProblem(
            _("This is no JSON: {problem}, line {line}, column {column}.").format(
                problem=error.msg, line=error.lineno, column=error.colno
            )
        )
    except (ValueError, RecursionError) as error:
        return EditProblem(_("This is no JSON that a call can hold: {problem}.").format(problem=error))
    if not isinstance(value, dict):
        return EditProblem(
            _("The arguments must be a JSON object, such as {example}.").format(example='{"path": "a"}')
        )
    return value


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name!r} stands there twice")
        found[name] = value
    return found


def _no_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is no number")


def _visible(text: str) -> str:
    """JSON with its unseen characters as escapes; line breaks stand only between its parts."""
    return "".join(_escaped(char) if is_hidden(char) and char != "\n" else char for char in text)


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else json.dumps(char)[1:-1]


def _names(parameters: Mapping[str, JsonValue] | None) -> tuple[str, ...]:
    properties = (parameters or {}).get("properties")
    return tuple(properties) if isinstance(properties, dict) else ()


def _texts(value: JsonValue) -> Iterator[str]:
    """Every text inside, names included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
