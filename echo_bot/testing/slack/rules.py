"""The limits of Block Kit and of messages, as Slack enforces them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from echo_bot.testing.slack.errors import ApiError

MAX_TEXT = 40_000
MAX_UPDATED_TEXT = 4000
MAX_BLOCKS, MAX_VIEW_BLOCKS = 50, 100
MAX_SECTION = 3000
MAX_ALL = 13_200

_EVERYWHERE = ("rich_text", "section", "header", "actions", "divider", "context")
_TEXT_LIMITS = {"header": 150, "section": MAX_SECTION}


def check_message(text: str, blocks: Sequence[Mapping[str, Any]], *, is_update: bool = False) -> None:
    """Raises ApiError as chat.postMessage and chat.update refuse."""
    if not (text or blocks):
        raise ApiError("no_text")
    if len(text) > (MAX_UPDATED_TEXT if is_update else MAX_TEXT):
        raise ApiError("msg_too_long")
    if sum(map(length, blocks)) > MAX_ALL:
        raise ApiError("msg_blocks_too_long")
    check_blocks(
        blocks, MAX_BLOCKS, allowed=("rich_text", "section", "header", "actions", "divider", "context")
    )


def check_view(view: Mapping[str, Any]) -> None:
    """Raises ApiError as views.open, views.update and views.publish refuse."""
    kind = view.get("type")
    if kind == "modal":
        _check_plain(view.get("title"), 24, "title")
        for key in ("submit", "close"):
            if key in view:
                _check_plain(view[key], 24, key)
    elif kind != "home":
        raise _invalid("view type")
    blocks = view.get("blocks") or []
    if any(block.get("type") == "input" for block in blocks) and kind == "modal" and "submit" not in view:
        raise _invalid("an input needs a submit button")
    if len(str(view.get("private_metadata") or "")) > 3000 or len(str(view.get("callback_id") or "")) > 255:
        raise _invalid("private_metadata or callback_id too long")
    check_blocks(blocks, MAX_VIEW_BLOCKS, (*_EVERYWHERE, "input"))


def check_blocks(blocks: Sequence[Mapping[str, Any]], most: int, allowed: Sequence[str]) -> None:
    if len(blocks) > most:
        raise _invalid(f"more than {most} blocks")
    ids: list[str] = [str(block["block_id"]) for block in blocks if "block_id" in block]
    if len(set(ids)) < len(ids):
        raise _invalid("block_id twice")
    action_ids: list[str] = []
    for block in blocks:
        kind = str(block.get("type"))
        if kind not in allowed:
            raise _invalid(f"block type {kind}")
        if kind in _TEXT_LIMITS:
            text = str((block.get("text") or {}).get("text") or "")
            if not 1 <= len(text) <= _TEXT_LIMITS[kind]:
                raise _invalid(f"{kind} text of {len(text)}")
        elif kind == "rich_text":
            _check_rich_text(block)
        elif kind == "actions":
            _check_actions(block)
            action_ids += [str(element["action_id"]) for element in block["elements"]]
        elif kind == "input":
            _check_input(block)
    if len(set(action_ids)) < len(action_ids):
        raise _invalid("action_id twice")


def length(part: Mapping[str, Any]) -> int:
    """The characters of a block."""
    text = part.get("text")
    if isinstance(text, str):
        return len(text)
    inner = [*part.get("elements", ()), *([text] if isinstance(text, Mapping) else [])]
    return sum(length(each) for each in inner)


def _check_rich_text(block: Mapping[str, Any]) -> None:
    kinds = ("rich_text_section", "rich_text_preformatted", "rich_text_list", "rich_text_quote")
    parts = block.get("elements") or []
    if not parts or any(part.get("type") not in kinds or not part.get("elements") for part in parts):
        raise _invalid("rich_text without elements")
    words = [element for part in parts for element in part["elements"] if element.get("type") == "text"]
    if any(not element.get("text") for element in words):
        raise _invalid("empty text element")


def _check_actions(block: Mapping[str, Any]) -> None:
    elements = block.get("elements") or []
    if not 1 <= len(elements) <= 25:
        raise _invalid(f"{len(elements)} elements in actions")
    for element in elements:
        _check_plain(element.get("text"), 75, "button text")
        if (
            len(str(element.get("value", ""))) > 2000
            or not 1 <= len(str(element.get("action_id", ""))) <= 255
        ):
            raise _invalid("button value or action_id")
        if element.get("style") not in (None, "primary", "danger"):
            raise _invalid("button style")


def _check_input(block: Mapping[str, Any]) -> None:
    _check_plain(block.get("label"), 2000, "label")
    element = block.get("element") or {}
    if element.get("type") != "plain_text_input":
        raise _invalid("input element")
    if len(str(element.get("initial_value", ""))) > int(element.get("max_length", 3000)):
        raise _invalid("initial_value longer than max_length")
    if int(element.get("max_length", 3000)) > 3000:
        raise _invalid("max_length")


def _check_plain(text: object, most: int, what: str) -> None:
    words = str(text.get("text") or "") if isinstance(text, Mapping) else ""
    is_plain = isinstance(text, Mapping) and text.get("type") == "plain_text"
    if not is_plain or not 1 <= len(words) <= most:
        raise _invalid(f"{what} of {len(words)}")


def _invalid(why: str) -> ApiError:
    return ApiError("invalid_blocks", more={"response_metadata": {"messages": [f"[ERROR] {why}"]}})
