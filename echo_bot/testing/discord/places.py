"""Guilds and their channels and threads, as a test sets them up."""

from __future__ import annotations

from dataclasses import dataclass

from simcord.backend.models import Channel, Overwrite
from simcord.backend.permissions import flag
from simcord.enums import ChannelType, OverwriteType

from echo_bot.testing.discord.world import World


@dataclass(frozen=True, slots=True)
class Place:
    """A channel, thread or category; for a thread `parent_id` is its channel."""

    world: World
    channel: Channel

    @property
    def id(self) -> str:
        return str(self.channel.id)

    @property
    def parent_id(self) -> str:
        return str(self.channel.parent_id or "")

    def forbid(self, *permissions: str) -> None:
        """Take permissions ("send_messages", "view_channel") away from the bot here."""
        backend = self.world.backend
        denied = sum(flag(name) for name in permissions)
        overwrite = Overwrite(backend.bot_user.id, OverwriteType.MEMBER, deny=denied)
        backend.set_overwrite(self.channel.id, overwrite)

    def lock(self) -> None:
        """Of a thread: only moderators may write in it."""
        metadata = self.channel.thread_metadata
        if metadata is None:
            raise AssertionError("only a thread can be locked")
        metadata.locked = True
        self.world.backend.announce_channel_update(self.channel.id)

    def delete(self) -> None:
        self.world.backend.delete_channel(self.channel.id)


class Guild:
    """A server ("guild") the bot is a member of."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.guild = world, world.backend.create_guild(name)

    @property
    def id(self) -> str:
        return str(self.guild.id)

    @property
    def bot_role_id(self) -> str:
        """The role that came with the bot's invitation: writing @bot often picks it."""
        return next(str(role.id) for role in self.guild.roles.values() if role.managed)

    def category(self, name: str) -> Place:
        channel = self.world.backend.create_channel(self.guild.id, name, type=ChannelType.CATEGORY)
        return Place(self.world, channel)

    def channel(self, name: str, category: Place | None = None) -> Place:
        parent_id = category.channel.id if category is not None else None
        channel = self.world.backend.create_channel(self.guild.id, name, parent_id=parent_id)
        return Place(self.world, channel)

    def thread(self, channel: Place, name: str, *, announced: bool = True) -> Place:
        """A public thread; one that is not announced is unknown to the bot, like one that was archived."""
        owner = self.guild.owner_id
        backend = self.world.backend
        thread = backend.create_thread(channel.channel.id, name, owner, broadcast=announced)
        return Place(self.world, thread)
