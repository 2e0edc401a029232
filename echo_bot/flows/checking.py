"""Can the steps' calls be made at all? Asked at create; the gate asks again for each call."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Protocol

from echo_bot.flows.definition import Step
from echo_bot.flows.references import has_references
from echo_bot.policy.arguments import arguments_problem
from echo_bot.policy.call import JsonValue
from echo_bot.policy.schemas import JsonSchema


class ToolBook(Protocol):
    """Which tools can be called here."""

    def names(self) -> Iterable[str]: ...

    def problem(self, name: str) -> str:
        """Why a tool cannot be called, "" when it can."""
        ...

    def parameters(self, name: str) -> JsonSchema: ...


def problem_of(steps: Iterable[Step], tools: ToolBook) -> str:
    """A sentence about the first call that cannot be made, or ""."""
    for step in steps:
        problem = _problem(step, tools) if step.tool else ""
        if problem:
            return f"step {step.step_id}: {problem}"
    return ""


def _problem(step: Step, tools: ToolBook) -> str:
    problem = tools.problem(step.tool)
    if problem:
        near = difflib.get_close_matches(step.tool, tools.names(), n=1, cutoff=0.6)
        return f"{step.tool} cannot be called here: {problem}" + (
            f"; did you mean {near[0]}?" if near and near[0] != step.tool else ""
        )
    known, schema = _without_references(step.args, tools.parameters(step.tool))
    return arguments_problem(step.tool, known, schema)


def _without_references(
    args: Mapping[str, JsonValue], schema: JsonSchema
) -> tuple[dict[str, JsonValue], JsonSchema]:
    """What is known of the arguments before anything ran, and a schema that asks for that alone."""
    open_ones = {name for name, value in args.items() if has_references(value)}
    properties = schema.get("properties")
    if not open_ones or not isinstance(properties, dict):
        return dict(args), schema
    known: dict[str, JsonValue] = {name: value for name, value in args.items() if name not in open_ones}
    # A name that is no parameter stays, so that it is told.
    known |= {name: args[name] for name in open_ones if name not in properties}
    required = schema.get("required", [])
    left = [name for name in required if name not in open_ones] if isinstance(required, list) else []
    return known, {**schema, "required": left, "anyOf": [{}]}
