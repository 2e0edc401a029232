"""Discord: what the channel is and what it is configured with, without its SDK."""

from echo_bot.channel import ChannelManifest, SenderIds

MANIFEST = ChannelManifest(
    name="discord",
    title="Discord",
    build="channels.discord.adapter:build",
    setup="channels.discord.setup:SETUP",
    authenticates_sender=True,
    options=("gateway_url",),
    secrets=("token",),
    identity="token",
    sender_ids=SenderIds(r"\d+", "a number such as 123456789012345678"),
)
