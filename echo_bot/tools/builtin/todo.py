"""todo: one list of tasks per session."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from echo_bot.policy.catalogue import CATALOGUE
from echo_bot.storage.protocol import Values
from echo_bot.tools.base import Tool, ToolExecutionContext, ToolResult

_STATUSES = ("pending", "in_progress", "done", "cancelled")
_MARKS = {"pending": "[ ]", "in_progress": "[~]", "done": "[x]", "cancelled": "[-]"}
_ACTIONS = ("list", "add", "set", "update", "remove", "clear")
_MOST_ITEMS = 200

Item = dict[str, str]


class TodoTool(Tool):
    """Items are {id, text, status}; ids are small numbers that are never reused while the list lives."""

    name = "todo"
    description = (
        "Keep the task list of this conversation. Actions: list; add (items: texts); set (items: the new "
        "list); update (id, status: pending, in_progress, done, cancelled); remove (id); clear."
    )
    parameters: ClassVar[dict[str, Any]] = CATALOGUE["todo"].parameters
    capabilities = ("task.write",)

    def __init__(self, values: Values) -> None:
        self._values = values

    async def execute(self, params: dict[str, Any], ctx: ToolExecutionContext | None = None) -> ToolResult:
        scope = f"todo:{_owner(ctx) if ctx else ''}"
        action = str(params["action"])
        if action not in _ACTIONS:
            return _invalid(f"action {action!r} is not one of {', '.join(_ACTIONS)}")
        items = json.loads(await self._values.get(scope, "items") or "[]")
        changed = self._changed(action, items, params)
        if isinstance(changed, str):
            return _invalid(changed)
        if len(changed) > _MOST_ITEMS:
            return _invalid(f"a list holds at most {_MOST_ITEMS} items")
        if action != "list":
            await self._values.put(scope, "items", json.dumps(changed))
        return ToolResult(True, output=_shown(changed))

    def _changed(self, action: str, items: list[Item], params: dict[str, Any]) -> list[Item] | str:
        match action:
            case "list":
                return items
            case "clear":
                return []
            case "add" | "set":
                return _added([] if action == "set" else items, params.get("items"))
            case _:
                return _edited(action, items, str(params.get("id", "")), str(params.get("status", "")))


def _owner(ctx: ToolExecutionContext) -> str:
    """The conversation; a worker keeps a list of its own."""
    return ctx.session_key if ctx.parent_execution_id is None else f"worker:{ctx.trace_id}"


def _added(items: list[Item], new: object) -> list[Item] | str:
    if not isinstance(new, list) or not new:
        return "items is missing: a list of texts"
    next_id = max((int(item["id"]) for item in items), default=0) + 1
    result = list(items)
    for offset, entry in enumerate(new):
        text = entry.get("text") or entry.get("content") if isinstance(entry, dict) else entry
        status = str(entry.get("status", "pending")) if isinstance(entry, dict) else "pending"
        if not isinstance(text, str) or not text.strip():
            return f"items[{offset}] has no text"
        if status not in _STATUSES:
            return f"items[{offset}].status {status!r} is not one of {', '.join(_STATUSES)}"
        result.append({"id": str(next_id + offset), "text": text.strip(), "status": status})
    return result


def _edited(action: str, items: list[Item], wanted: str, status: str) -> list[Item] | str:
    if not any(item["id"] == wanted for item in items):
        known = ", ".join(item["id"] for item in items) or "none, the list is empty"
        return f"there is no item {wanted!r}; ids: {known}"
    if action == "remove":
        return [item for item in items if item["id"] != wanted]
    if status not in _STATUSES:
        return f"status {status!r} is not one of {', '.join(_STATUSES)}"
    return [item | {"status": status} if item["id"] == wanted else item for item in items]


def _shown(items: list[Item]) -> str:
    if not items:
        return "The list is empty."
    return "\n".join(f"{_MARKS[item['status']]} {item['id']}. {item['text']}" for item in items)


def _invalid(sentence: str) -> ToolResult:
    return ToolResult(False, error=f"todo: {sentence}", error_kind="validation")
