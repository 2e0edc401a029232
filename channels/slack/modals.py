"""The modal views: a loading one to be quick, the question of a button, a message from a shortcut. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from channels.slack.render import literal_blocks, plain
from echo_bot.channel import Prompt
from echo_bot.text.language import _

MAX_WORDS = 3000
MAX_CONTEXT = 3000
PROMPT, ASK_HERE, ASK_DIRECT, NOTICE = "echo_prompt", "echo_ask_here", "echo_ask_direct", "echo_notice"
"""Callback ids of the views."""

QUOTE = "quote"
"""The key of a context whose text may be shortened."""

_WORDS = "words"
_TITLE = 24
_LABEL = 2000
_QUOTE = 2500

View = dict[str, Any]


def loading() -> View:
    return _view(NOTICE, "Echo", literal_blocks(_("One moment …")))


def notice(text: str, title: str = "Echo") -> View:
    return _view(NOTICE, title, literal_blocks(text))


def question(prompt: Prompt, context: Mapping[str, str]) -> View:
    """The words to begin with must fit, see `MAX_WORDS`. `context` comes back with the answer."""
    return _view(
        PROMPT,
        prompt.title or "Echo",
        [_input(prompt.question or _("What should be passed along?"), prompt.initial)],
        submit=_("Send"),
        context=context,
    )


def ask(quoted: str, context: Mapping[str, str], callback_id: str) -> View:
    """What to ask, about the quoted message if there is one."""
    shown = quoted if len(quoted) <= _QUOTE else f"{quoted[: _QUOTE - 1]}…"
    blocks = literal_blocks(shown) if shown.strip() else []
    return _view(
        callback_id,
        _("Ask Echo"),
        [*blocks, _input(_("Your message"), "")],
        submit=_("Send"),
        context=context,
    )


def words_of(view: Mapping[str, Any]) -> str:
    """What was typed into a submitted view."""
    values = (view.get("state") or {}).get("values") or {}
    return str(((values.get(_WORDS) or {}).get(_WORDS) or {}).get("value") or "")


def context_of(view: Mapping[str, Any]) -> dict[str, str]:
    """The context that the view was opened with; empty for one that holds none."""
    try:
        held = json.loads(str(view.get("private_metadata") or "{}"))
    except ValueError:
        return {}
    return {str(key): str(value) for key, value in held.items()} if isinstance(held, dict) else {}


def _input(label: str, initial: str) -> dict[str, Any]:
    element: dict[str, Any] = {
        "type": "plain_text_input",
        "action_id": _WORDS,
        "multiline": True,
        "max_length": MAX_WORDS,
        "focus_on_load": True,
    }
    if initial:
        element["initial_value"] = initial
    return {"type": "input", "block_id": _WORDS, "label": plain(label, _LABEL), "element": element}


def _view(
    callback_id: str,
    title: str,
    blocks: list[dict[str, Any]],
    submit: str = "",
    context: Mapping[str, str] | None = None,
) -> View:
    view: View = {
        "type": "modal",
        "callback_id": callback_id,
        "title": plain(title, _TITLE),
        "close": plain(_("Close"), _TITLE),
        "blocks": blocks,
    }
    if submit:
        view["submit"] = plain(submit, _TITLE)
    if context:
        view["private_metadata"] = _packed(context)
    return view


def _packed(context: Mapping[str, str]) -> str:
    """`context` as JSON that Slack takes: of a quote in it, what fits."""
    kept = dict(context)
    while len(packed := json.dumps(kept, ensure_ascii=False).encode("utf-16-le")) > 2 * MAX_CONTEXT:
        quote = kept.get(QUOTE, "")
        if not quote:
            raise ValueError("the context of a view is too long")
        kept[QUOTE] = quote[: -max(1, (len(packed) // 2 - MAX_CONTEXT) // 2)]
    return packed.decode("utf-16-le")
