"""Signed webhooks: what the channel is and what it is configured with."""

from echo_bot.channel import ChannelManifest

MANIFEST = ChannelManifest(
    name="webhook",
    title="Webhook",
    build="channels.webhook.adapter:build",
    authenticates_sender=False,
    options=("path", "callback_url"),
    secrets=("secret",),
)
