"""The terminal channel's manifest: a chat where `echo-bot run` was started. It imports nothing heavy."""

from echo_bot.channel import ChannelManifest

MANIFEST = ChannelManifest(name="cli", title="Terminal", build="channels.cli.adapter:build")
