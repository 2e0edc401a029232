"""What a message says, in words: its text, and what it says by other means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from discord import Component, Embed, Message, Poll
from discord.components import TextDisplay

_WRITTEN = "rich"


def beside_the_text(message: Message) -> Iterator[str]:
    """What a message forwards, its stickers by name, and its poll.

    No embeds: people write none, and Discord adds previews of their links at one time and not at another.
    """
    for each in message.message_snapshots:
        yield each.content
        yield from _embedded(each.embeds, each.components)
        yield from (f"[{sticker.name}]" for sticker in each.stickers)
    yield from (f"[{sticker.name}]" for sticker in message.stickers)
    if message.poll is not None:
        yield _poll(message.poll)


def words_of(message: Message) -> str:
    """All that a message of anybody says: other bots write in embeds and in displays of text."""
    return joined(
        (message.content, *_embedded(message.embeds, message.components), *beside_the_text(message))
    )


def joined(parts: Iterable[str]) -> str:
    return "\n".join(part for part in parts if part.strip())


def _embedded(embeds: Sequence[Embed], components: Sequence[Component]) -> Iterator[str]:
    yield from (_embed(embed) for embed in embeds if embed.type == _WRITTEN)
    yield from _displays(components)


def _embed(embed: Embed) -> str:
    fields = (f"{field.name}: {field.value}" for field in embed.fields)
    parts = (embed.author.name, embed.title, embed.description, *fields, embed.footer.text)
    return joined(part for part in parts if part)


def _displays(components: Sequence[Component]) -> Iterator[str]:
    for each in components:
        if isinstance(each, TextDisplay):
            yield each.content
        yield from _displays(getattr(each, "children", ()))


def _poll(poll: Poll) -> str:
    answers = (f"- {answer.text}" for answer in poll.answers)
    return joined((f"[poll: {poll.question}]", *answers))
