"""What a channel can do, and how it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class LengthUnit(StrEnum):
    CHARACTERS = "characters"
    UTF16 = "utf16"


class Prompting(StrEnum):
    NONE = "none"
    REPLY = "reply"
    MODAL = "modal"


@dataclass(frozen=True, slots=True)
class ChannelCapabilities:
    """What a channel can do. The core asks these flags, never the channel's name.

    `prompts`: how a button asks for words – a modal, a reply to a question in the chat, or not at all.
    `private_replies`: what a press or a command answers is seen by that person alone. `native_commands`: the
    platform offers the commands itself; `completes_commands`: also their values. `receives_files`: see
    `FileSource`. `dedups_sends`: what is sent again with its key arrives once; `dedups_files`: files as well.
    `redraws` False: an edit is shown anew below, as on paper, so nothing is shown that changes by itself.
    """

    max_length: int
    length_unit: LengthUnit = LengthUnit.CHARACTERS
    buttons: bool = False
    edits: bool = False
    typing: bool = False
    files: bool = False
    threads: bool = False
    groups: bool = False
    pending_list: bool = False
    authenticates_sender: bool = True
    dedups_sends: bool = False
    dedups_files: bool = False
    prompts: Prompting = Prompting.NONE
    private_replies: bool = False
    native_commands: bool = False
    completes_commands: bool = False
    receives_files: bool = False
    reactions: bool = False
    redraws: bool = True
    stream_interval_ms: int = 1000
    stream_interval_group_ms: int = 1000


class ChannelState(StrEnum):
    STARTING = "starting"
    CONNECTED = "connected"
    RETRYING = "retrying"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ChannelHealth:
    """For `status`: what the channel is doing. Times are UTC; `error` is a sentence without secrets."""

    state: ChannelState
    last_event_at: datetime | None = None
    error: str = ""
    next_retry_at: datetime | None = None
