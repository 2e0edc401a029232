"""The table of what each channel supports, from the adapters' own flags.

`python -m echo_bot.app.channel_table` writes it into docs/channels.md; a test compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from echo_bot.app.discovery import capabilities_of, discover_channels
from echo_bot.channel import ChannelCapabilities, ChannelManifest, LengthUnit, Prompting

BEGIN = "<!-- table: written by python -m echo_bot.app.channel_table -->"
END = "<!-- end of table -->"
_DOCUMENT = Path(__file__).parents[2] / "docs" / "channels.md"

_PROMPTS = {Prompting.NONE: "–", Prompting.REPLY: "a reply", Prompting.MODAL: "a window"}
_UNITS = {LengthUnit.CHARACTERS: "characters", LengthUnit.UTF16: "UTF-16 units"}


def _flag(name: str) -> Callable[[ChannelCapabilities], str]:
    return lambda bears: "yes" if getattr(bears, name) else "–"


def _pace(bears: ChannelCapabilities) -> str:
    if not bears.edits:
        return "–"
    alone, group = bears.stream_interval_ms / 1000, bears.stream_interval_group_ms / 1000
    return (
        f"every {alone:g} s"
        if alone == group or not bears.groups
        else f"every {alone:g} s, {group:g} s in groups"
    )


ROWS: tuple[tuple[str, Callable[[ChannelCapabilities], str]], ...] = (
    ("Longest message", lambda bears: f"{bears.max_length:,} {_UNITS[bears.length_unit]}"),
    ("Buttons on cards", _flag("buttons")),
    ("A button that needs words asks by", lambda bears: _PROMPTS[bears.prompts]),
    ("Answers only the presser sees", _flag("private_replies")),
    ("Commands in the platform's own form", _flag("native_commands")),
    ("Their values are completed", _flag("completes_commands")),
    ("List of all open cards", _flag("pending_list")),
    ("Messages that are edited", _flag("edits")),
    ("Replies grow as they are written", _pace),
    ("Status line of a long call", lambda b: "yes" if b.edits and b.buttons and b.redraws else "–"),
    ("Typing sign", _flag("typing")),
    ("Files sent", _flag("files")),
    ("Files received", _flag("receives_files")),
    ("Threads", _flag("threads")),
    ("Groups", _flag("groups")),
    ("Reactions", _flag("reactions")),
    ("A message sent twice arrives once", _flag("dedups_sends")),
    ("A file sent twice arrives once", _flag("dedups_files")),
    ("The platform vouches for the sender", _flag("authenticates_sender")),
)


def channel_table(manifests: Iterable[ChannelManifest]) -> str:
    """A markdown table: a row for each feature, a column for each channel. Raises StartError."""
    columns = [(manifest.title, capabilities_of(manifest)) for manifest in manifests]
    lines = [
        "| | " + " | ".join(title for title, _ in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
        *(f"| {label} | " + " | ".join(say(bears) for _, bears in columns) + " |" for label, say in ROWS),
    ]
    return "\n".join(lines)


def with_table(document: str, table: str) -> str:
    """The document with the table between its marks."""
    head, begin, rest = document.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise ValueError("the document has no marks for the table")
    return f"{head}{BEGIN}\n{table}\n{END}{tail}"


def own_channels() -> tuple[ChannelManifest, ...]:
    """The channels that come with Echo Bot, in a fixed order."""
    order = ("telegram", "discord", "slack", "web", "cli", "webhook")
    found = discover_channels().manifests
    return tuple(found[name] for name in order if name in found)


if __name__ == "__main__":
    text = _DOCUMENT.read_text(encoding="utf-8")
    _DOCUMENT.write_text(with_table(text, channel_table(own_channels())), encoding="utf-8")
