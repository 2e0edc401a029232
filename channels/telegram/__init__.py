"""Telegram: what the channel is and what it is configured with, without its SDK."""

from echo_bot.channel import ChannelManifest, SenderIds

MANIFEST = ChannelManifest(
    name="telegram",
    title="Telegram",
    build="channels.telegram.adapter:build",
    setup="channels.telegram.setup:SETUP",
    authenticates_sender=True,
    options=("api_file_base", "webhook_url"),
    secrets=("token", "webhook_secret"),
    identity="token",
    sender_ids=SenderIds(r"-?\d+", "a number such as 123456789"),
)
