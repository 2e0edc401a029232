"""Slack: what the channel is and what it is configured with, without its SDK."""

from echo_bot.channel import ChannelManifest, SenderIds

MANIFEST = ChannelManifest(
    name="slack",
    title="Slack",
    build="channels.slack.adapter:build",
    setup="channels.slack.setup:SETUP",
    authenticates_sender=True,
    options=("mode",),
    secrets=("bot_token", "app_token", "signing_secret"),
    identity="bot_token",
    command_form="/echo {command}",
    sender_ids=SenderIds(r"[UW][A-Z0-9]+", "such as U012ABCDEF"),
)
