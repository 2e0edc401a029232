"""Response URLs: how an interaction is answered without a token, five times within half an hour."""

from __future__ import annotations

import json

from echo_bot.testing.slack import rules
from echo_bot.testing.slack.errors import ApiError
from echo_bot.testing.slack.model import Message
from echo_bot.testing.slack.world import RESPONSE_URL_SECONDS, RESPONSE_URL_USES, World


def answer_response_url(world: World, key: str, body: bytes) -> None:
    """Post, replace or delete as the answer says. Raises ApiError for a spent address."""
    found = world.response_urls.get(key)
    if found is None:
        raise ApiError("no_such_url", 404)
    if len(found.answers) >= RESPONSE_URL_USES or world.clock() - found.made_at > RESPONSE_URL_SECONDS:
        raise ApiError("used_url", 404)
    try:
        answer = json.loads(body)
    except ValueError:
        raise ApiError("invalid_payload", 400) from None
    text, blocks = str(answer.get("text") or ""), answer.get("blocks") or []
    found.answers.append(answer)
    if answer.get("delete_original") and found.message is not None:
        world.messages.remove(found.message)
        return
    rules.check_message(text, blocks)
    if answer.get("replace_original") and found.message is not None:
        found.message.text, found.message.blocks = text, blocks
        found.message.edits += 1
    elif found.chat is not None:
        is_public = answer.get("response_type") == "in_channel"
        world.messages.append(
            Message(
                chat=found.chat,
                ts=world.next_ts(),
                user=world.bot.id,
                text=text,
                blocks=blocks,
                thread_ts=str(answer.get("thread_ts") or found.thread_ts),
                seen_by="" if is_public else found.user,
            )
        )
