"""Where a message may go: parsing a target, resolving an alias, and the finding for a foreign chat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from echo_bot.events import Address
from echo_bot.policy.decision import Finding, Verdict

FOREIGN_TARGET = "foreign_target"
HERE = "here"
OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Target:
    """A target as it was meant: `here`, `owner`, or an address."""

    kind: str
    address: Address | None = None


def parse_target(text: str, aliases: Mapping[str, str]) -> Target:
    """Resolve `here`, `owner`, an alias or `channel[/account]:chat[:thread]`; else ValueError.

    Blanks around it and around its parts mean nothing.
    """
    text = text.strip()
    if text in ("", HERE):
        return Target(HERE)
    if text == OWNER:
        return Target(OWNER)
    if text in aliases:
        return Target("address", parse_address(aliases[text]))
    if ":" not in text:
        known = ", ".join([HERE, OWNER, *sorted(aliases)])
        raise ValueError(f"{text!r} is not a known target: write channel:chat or one of {known}")
    return Target("address", parse_address(text))


def parse_address(text: str) -> Address:
    """`channel[/account]:chat[:thread]` as an address. Raises ValueError when channel or chat is missing."""
    head, _, rest = text.partition(":")
    channel, _, account = head.partition("/")
    chat_id, _, thread_id = rest.partition(":")
    channel, account, chat_id, thread_id = (part.strip() for part in (channel, account, chat_id, thread_id))
    if not (channel and chat_id):
        raise ValueError(
            f"{text!r} is not of the form channel:chat, channel/account:chat or channel:chat:thread"
        )
    return Address(channel=channel, chat_id=chat_id, thread_id=thread_id, account=account)


def judge_target(
    text: str, here: Address, aliases: Mapping[str, str], allowed: Sequence[str]
) -> tuple[Finding, ...]:
    """The finding for a target outside this chat and `delivery.allowed_targets`, if it is one."""
    target = parse_target(text, aliases)
    return () if target.address is None else judge_address(target.address, here, aliases, allowed)


def judge_address(
    address: Address, here: Address, aliases: Mapping[str, str], allowed: Sequence[str]
) -> tuple[Finding, ...]:
    """The same for an address that a target was resolved to."""
    if _chat(address) == _chat(here):
        return ()
    if any(_covers(aliases.get(entry, entry), address) for entry in allowed):
        return ()
    sentence = f"sends to {address}, which is neither this chat nor in delivery.allowed_targets"
    return (Finding(FOREIGN_TARGET, Verdict.ASK, sentence, field="target"),)


def _chat(address: Address) -> tuple[str, str, str]:
    return address.channel, address.account, address.chat_id


def _covers(entry: str, target: Address) -> bool:
    """An allowed chat covers its threads; an allowed thread covers itself alone."""
    try:
        allowed = parse_address(entry)
    except ValueError:
        return False
    return _chat(allowed) == _chat(target) and allowed.thread_id in ("", target.thread_id)
