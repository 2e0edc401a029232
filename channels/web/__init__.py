"""The web channel's manifest: a chat page that the gateway serves. Nothing heavy is imported here."""

from echo_bot.channel import ChannelManifest

MANIFEST = ChannelManifest(
    name="web",
    title="Web page",
    build="channels.web.adapter:build",
    authenticates_sender=True,
)
