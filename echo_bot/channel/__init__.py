"""The port between the core and the adapters: what a channel is, what it may ask for, how it is found.

An adapter imports this module, `.events`, `.errors`, `.text` and its SDK, and nothing else of Echo Bot.
"""

from echo_bot.channel.adapter import AsgiApp, Channel, FileSource, Hooked, Mountable, PendingBoard
from echo_bot.channel.capabilities import (
    ChannelCapabilities,
    ChannelHealth,
    ChannelState,
    LengthUnit,
    Prompting,
)
from echo_bot.channel.commands import (
    Command,
    CommandReply,
    Completes,
    Completion,
    Parameter,
    Prompt,
    starts_turn,
)
from echo_bot.channel.factory import inbound_event
from echo_bot.channel.manifest import ChannelManifest, ChannelSettings, SenderIds
from echo_bot.channel.port import FileLocation, Port, TranscriptEntry
from echo_bot.channel.setup import SETUP_TOKEN, ChannelSetup, SetupReport, Wanted

__all__ = [
    "SETUP_TOKEN",
    "AsgiApp",
    "Channel",
    "ChannelCapabilities",
    "ChannelHealth",
    "ChannelManifest",
    "ChannelSettings",
    "ChannelSetup",
    "ChannelState",
    "Command",
    "CommandReply",
    "Completes",
    "Completion",
    "FileLocation",
    "FileSource",
    "Hooked",
    "LengthUnit",
    "Mountable",
    "Parameter",
    "PendingBoard",
    "Port",
    "Prompt",
    "Prompting",
    "SenderIds",
    "SetupReport",
    "TranscriptEntry",
    "Wanted",
    "inbound_event",
    "starts_turn",
]
