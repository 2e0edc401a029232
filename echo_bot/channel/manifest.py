"""What a channel is, without its SDK, and what it is configured with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """One account's part of the configuration, as the adapter gets it. Values are checked already."""

    account: str
    api_base: str = ""
    proxy: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class SenderIds:
    """What a sender's id looks like on a platform: a regular expression for all of it, and one in words."""

    pattern: str
    looks_like: str

    def fits(self, sender_id: str) -> bool:
        return re.fullmatch(self.pattern, sender_id, re.ASCII) is not None


@dataclass(frozen=True, slots=True)
class ChannelManifest:
    """What a channel is, without importing its SDK. Registered in the entry-point group `echo_bot.channels`.

    `build` names a `Callable[[ChannelSettings], Channel]`, imported late: "channels.telegram.adapter:build".
    `setup` names a `ChannelSetup`, for a platform that needs one.
    `options` and `secrets` name the YAML keys beyond the common ones; a secret is stored encrypted.
    `identity` names the secret that is the bot at the platform: no two accounts may have the same.
    `command_form`: how people write `{command}` there, where the platform sends the bot no "/{command}".
    `sender_ids`, where all ids of the platform are alike, lets names be told from ids.
    """

    name: str
    title: str
    build: str
    setup: str = ""
    authenticates_sender: bool = True
    options: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    identity: str = ""
    command_form: str = ""
    sender_ids: SenderIds | None = None
