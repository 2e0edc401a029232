"""Do a tool's arguments fit its schema? The answer is one line that names the field."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

from echo_bot.policy.call import JsonValue
from echo_bot.policy.schemas import MAX_COMMAND_BYTES, JsonSchema

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

MOST_STEPS = 200_000
"""Keywords that are looked at for one call: a few lines of a schema can ask for billions."""

_steps_left: ContextVar[int] = ContextVar("steps_left")

_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def arguments_problem(tool: str, args: object, schema: JsonSchema) -> str:
    """A sentence about the first thing wrong, or "" when the arguments are valid."""
    if not isinstance(args, Mapping):
        return f"{tool}: the arguments must be an object of names and values"
    from jsonschema import Draft202012Validator, SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    counting = _steps_left.set(MOST_STEPS)
    try:
        Draft202012Validator.check_schema(schema)
        # An empty registry: a reference to somewhere else is an error and is never fetched.
        validator = _counting_validator()(schema, registry=Registry())
        errors = sorted(validator.iter_errors(args), key=_order)
    except _TooManySteps:
        return f"{tool}: checking these arguments takes too long; make them smaller"
    except (SchemaError, Unresolvable, re.error, RecursionError) as error:
        return f"{tool}: the tool's own schema is broken ({' '.join(str(error).split())[:200]})"
    finally:
        _steps_left.reset(counting)
    if errors:
        return f"{tool}: {_sentence(errors[0], schema)}"
    return _runs_nothing(tool, args) or _too_long(tool, args)


class _TooManySteps(Exception):
    """The schema asks for more than anybody waits for."""


@cache
def _counting_validator() -> Any:  # the library's validators are classes that it makes at run time
    """The usual one, which counts what it looks at, wherever a reference leads."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    return extend(  # type: ignore[no-untyped-call]  # the library does not type it
        Draft202012Validator,
        {name: _counted(check) for name, check in Draft202012Validator.VALIDATORS.items()},
    )


def _counted(check: Callable[..., Any]) -> Callable[..., Iterator[ValidationError]]:
    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        left = _steps_left.get() - 1
        if left < 0:
            raise _TooManySteps
        _steps_left.set(left)
        yield from check(validator, value, instance, schema) or ()

    return counted


def _order(error: ValidationError) -> tuple[int, str]:
    """Unknown names first: a misspelt name also looks like a missing one."""
    return (0 if error.validator == "additionalProperties" else 1, error.json_path)


def _sentence(error: ValidationError, schema: JsonSchema) -> str:
    field = ".".join(str(part) for part in error.absolute_path)
    wanted: Any = error.validator_value  # the library types its own schema values so
    instance: Any = error.instance
    match error.validator:
        case "additionalProperties":
            return _unknown(error, field, schema)
        case "required":
            missing = next((name for name in wanted if name not in instance), "?")
            return f"{_joined(field, missing)} is missing"
        case "type":
            kinds = [wanted] if isinstance(wanted, str) else list(wanted)
            return f"{field} must be {' or '.join(_TYPES.get(kind, kind) for kind in kinds)}"
        case "enum":
            return f"{field} must be one of {', '.join(str(value) for value in wanted)}"
        case "minimum":
            return f"{field} must be at least {wanted}"
        case "anyOf":
            names = [name for option in wanted for name in option.get("required", ())]
            return (
                f"one of {', '.join(names)} is needed" if names else f"{field} fits none of the allowed forms"
            )
        case _:
            return f"{field or 'the arguments'} must satisfy {error.validator}: {wanted!r}"


def _unknown(error: ValidationError, field: str, schema: JsonSchema) -> str:
    around = error.schema if isinstance(error.schema, Mapping) else {}
    properties = around.get("properties", {})
    instance: Any = error.instance
    name = next((str(key) for key in instance if key not in properties), "?")
    missing = [each for each in around.get("required", ()) if each not in instance]
    near = next(
        (
            found
            for names in (missing, properties)
            if (found := difflib.get_close_matches(name, names, 1, 0.5))
        ),
        [],
    )
    hint = f"did you mean {near[0]}?" if near else f"the parameters are {', '.join(properties) or 'none'}"
    return f"{_joined(field, name)} is not a parameter; {hint}"


def _joined(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name


def _runs_nothing(tool: str, args: Mapping[str, JsonValue]) -> str:
    """Nobody is asked whether nothing may run."""
    is_run = tool in ("exec", "execute_code") or (tool == "process" and args.get("action") == "start")
    blank = (name for name in ("command", "code") if is_run and not str(args.get(name, "-")).strip())
    return next((f"{tool}: {name} is empty" for name in blank), "")


def _too_long(tool: str, args: Mapping[str, JsonValue]) -> str:
    command = args.get("command")
    if tool not in ("exec", "process") or not isinstance(command, str):
        return ""
    size = len(command.encode("utf-8", "surrogatepass"))
    if size <= MAX_COMMAND_BYTES:
        return ""
    return (
        f"{tool}: command is {size:,} bytes long; at most {MAX_COMMAND_BYTES:,} are taken. Put it in a script"
    )
