"""Which conversation and whose memory an event belongs to, and the id of the turn it starts."""

from __future__ import annotations

import hashlib
from urllib.parse import quote

from echo_bot.events import Address, InboundEvent, SessionKey, TurnId
from echo_bot.policy.access import person_of
from echo_bot.storage.records import GROUP_SCOPE


def session_key(event: InboundEvent, *, shared_groups: bool) -> SessionKey:
    """`channel[/account]:chat[:thread]`, plus `:sender` in groups unless they share one session.

    Parts are percent-escaped, so that no id can look like another session.
    """
    if event.session_key_override:
        return SessionKey(event.session_key_override)
    parts: list[str] = [chat_session(event.address)]
    if event.thread_id:
        parts.append(_part(event.thread_id))
    if event.is_group and not shared_groups:
        parts.append(_part(event.sender_id))
    return SessionKey(":".join(parts))


def memory_scope(event: InboundEvent, *, shared_groups: bool) -> str:
    """Whose memory a turn uses: the person's, the same in all their private chats, or in a group the group's.

    What somebody told the bot alone is never shown in a group; without shared sessions everybody has a memory
    of their own there. Internal producers say it themselves.
    """
    if event.memory_scope:
        return event.memory_scope
    if not event.is_group:
        return f"person:{person_of(event.sender)}"
    group = GROUP_SCOPE + chat_session(event.address)
    return group if shared_groups else f"{group}:{_part(event.sender_id)}"


def chat_session(address: Address) -> SessionKey:
    """`channel[/account]:chat`: what the keys of all sessions of a chat begin with."""
    head = _part(address.channel) + (f"/{_part(address.account)}" if address.account else "")
    return SessionKey(f"{head}:{_part(address.chat_id)}")


def _part(text: str) -> str:
    return quote(text, safe="@.-_+ ")


def turn_id_of(event: InboundEvent) -> TurnId:
    """Derived from the inbound event's identity, so that a redelivered event is the same turn.

    Events of internal producers have ids of their own, which no sender who chooses theirs can choose.
    """
    internal = ("", event.session_key_override) if event.session_key_override else ()
    text = "\x1f".join((*internal, event.channel, event.account, event.event_id))
    return TurnId(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24])
