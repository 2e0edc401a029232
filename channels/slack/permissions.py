"""What the app must be allowed and subscribed to; docs/slack-manifest.yaml asks for exactly this."""

from __future__ import annotations

from echo_bot.errors import ChannelFatal

SCOPES = {
    "chat:write": "send messages and change them",
    "commands": "the slash command and the shortcuts",
    "app_mentions:read": "hear its name in channels",
    "im:history": "read direct messages",
    "im:write": "open a direct chat",
    "mpim:history": "read group messages",
    "channels:history": "read public channels it is in",
    "groups:history": "read private channels it is in",
    "users:read": "show people's names",
    "files:read": "fetch files that people send",
    "files:write": "send files",
}
"""The bot's scopes and what each is for."""

NEEDED = frozenset({"chat:write"})
"""Without these nothing works at all."""

EVENTS = (
    "app_home_opened",
    "app_mention",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
)


def missing_scopes(granted: str) -> tuple[str, ...]:
    """The scopes that a comma-separated list lacks; none when Slack did not send the list."""
    have = {scope.strip() for scope in granted.split(",")} - {""}
    return tuple(sorted(set(SCOPES) - have)) if have else ()


def require_scopes(missing: tuple[str, ...]) -> None:
    """Raises ChannelFatal when the bot could not even answer."""
    if needed := sorted(NEEDED & set(missing)):
        raise ChannelFatal(
            f"The Slack app lacks {', '.join(needed)}",
            "Paste docs/slack-manifest.yaml as the app's manifest and reinstall the app",
        )
