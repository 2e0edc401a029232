"""What becomes of each event: messages in order through the intake, interactions at once beside it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import discord
from discord import InteractionType

from channels.discord.backlog import Backlog, wait_until_ready
from channels.discord.client import DiscordClient
from channels.discord.connection import Connection, Rhythm
from channels.discord.failures import translated
from channels.discord.inbound import event_of, self_of
from channels.discord.intake import Intake
from channels.discord.menu import publish_commands
from channels.discord.muted import Explaining, unanswerable, waits_for_an_answer
from channels.discord.places import NAME, Where, where, where_of
from channels.discord.presses import Presses
from channels.discord.replies import Act, Repeats
from channels.discord.rooms import Rooms
from channels.discord.slash import SlashCommands
from channels.discord.timing import Timing
from echo_bot.channel import Port
from echo_bot.channel.errands import Errands
from echo_bot.errors import TargetGone
from echo_bot.events import Address, InboundEvent


class Reception:
    """Implements the client's `Listener`."""

    def __init__(self, port: Port, account: str, rooms: Rooms, errands: Errands, rhythm: Rhythm) -> None:
        self._port, self._account, self._rooms, self._errands = port, account, rooms, errands
        self._rhythm = rhythm
        self.intake = Intake(account)
        self._repeats, self._timing = Repeats(), Timing()
        self._backlog = Backlog(port, account, rooms, self._timing)
        self._presses = Presses(port, account, rhythm.modal)
        self._slash = SlashCommands(port, account)
        self._explaining = Explaining(rooms, account)
        self._connection: Connection | None = None
        self._bot_id = 0

    def attach(self, connection: Connection) -> None:
        """The connection whose client calls this."""
        self._connection = connection

    # The listener

    def connected(self) -> None:
        connection = self._heard()
        connection.up()
        client = connection.client
        if client.user is not None:
            self._bot_id = client.user.id
        self._errands.run(publish_commands(client, self._port.commands()), "discord:commands")
        self.intake.put(partial(self._catch_up, client))

    def resumed(self) -> None:
        self._heard().up()

    def disconnected(self) -> None:
        if self._connection is not None:
            self._connection.down()

    def lost(self, server: discord.Guild) -> None:
        self._backlog.lost(server)

    def returned(self, server: discord.Guild) -> None:
        """Also told of each server when the bot connects, which reads what was missed anyway."""
        if self._backlog.has_lost(server):
            self.intake.put(partial(self._catch_up_in, self._heard().client, server))

    def message(self, message: discord.Message) -> None:
        """What is told while the line stands has just been said; after a break Discord tells what was."""
        said_at = (self._timing.new if self._heard().is_up else self._timing.here)(message.created_at)
        self.intake.put(partial(self._take, message, said_at), message.channel.id)

    def edited(self, message: discord.Message) -> None:
        self._heard()
        if message.edited_at is not None:
            said_at = self._timing.here(message.edited_at)
            self.intake.put(partial(self._take, message, said_at, message.edited_at), message.channel.id)

    def deleted(self, channel_id: int, message_id: int) -> None:
        self._heard()
        stood = Address(NAME, str(channel_id), account=self._account)
        self.intake.put(partial(self._take_back, stood, str(message_id)), channel_id)

    def interaction(self, interaction: Act) -> None:
        self._heard()
        if not self._repeats.is_new(interaction):
            return
        if isinstance(interaction.channel, discord.DMChannel):
            self._rooms.saw(interaction.user.id, interaction.channel.id)
        takers: dict[InteractionType, Callable[[Act], object]] = {
            InteractionType.component: self._presses.take,
            InteractionType.modal_submit: self._presses.take_words,
            InteractionType.application_command: self._slash.take,
            InteractionType.autocomplete: self._slash.complete,
        }
        take = takers.get(interaction.type)
        if take is not None:
            self._errands.run(take(interaction), f"discord:{interaction.type.name}")  # type: ignore[arg-type]

    # Inside

    async def _take_back(self, stood: Address, message_id: str) -> None:
        await self._port.taken_back(stood, message_id)

    async def _catch_up(self, client: DiscordClient) -> None:
        """Take what came while nobody listened, before what comes now."""
        await wait_until_ready(client, self._rhythm.ready)
        async for message, place in self._backlog.missed(client, self._rhythm.call):
            await self._take_at(place, message, self._timing.here(message.created_at))

    async def _catch_up_in(self, client: DiscordClient, server: discord.Guild) -> None:
        async for message, place in self._backlog.missed_in(client, server, self._rhythm.call):
            await self._take_at(place, message, self._timing.here(message.created_at))

    async def _take(
        self, message: discord.Message, said_at: datetime, edited_at: datetime | None = None
    ) -> None:
        place = where(message.channel)
        if place is None:
            if message.author.id == self._bot_id:
                return
            place = await self._look_up(message)
        await self._take_at(place, message, said_at, edited_at)

    async def _take_at(
        self,
        place: Where,
        message: discord.Message,
        said_at: datetime,
        edited_at: datetime | None = None,
    ) -> None:
        if not place.is_group and message.author.id != self._bot_id:
            self._rooms.saw(message.author.id, message.channel.id)
        bot = self_of(message, self._bot_id)
        event = event_of(message, place, bot, self._account, said_at, edited_at=edited_at)
        if event is not None and await self._explained(message, event):
            self._backlog.saw(place, message.channel.id, message.id, talks=True)
            return
        is_taken = event is not None and await self._port.receive(event)
        self._backlog.saw(place, message.channel.id, message.id, talks=is_taken)

    async def _explained(self, message: discord.Message, event: InboundEvent) -> bool:
        """Whether nothing is done, since no answer could appear where it is expected; who asks is told."""
        waits = not event.from_bot and waits_for_an_answer(event, self._port.commands())
        if not waits or not await self._port.admits(event.sender):
            return False
        client, channel = self._heard().client, message.channel
        why = await unanswerable(client, channel, f"<#{channel.id}>", self._rhythm.call)
        if not why or not await self._port.turn_down(event):
            return False
        if self._explaining.is_due(event):
            telling = self._explaining.tell(client, event.sender_id, why, self._rhythm.call)
            self._errands.run(telling, "discord:explain")
        return True

    async def _look_up(self, message: discord.Message) -> Where:
        """The place of a message in a channel that the SDK does not know: a thread that was archived."""
        try:
            async with translated(self._rhythm.call):
                client = self._heard().client
                return where_of(await client.http.get_channel(message.channel.id), client.get_channel)
        except TargetGone:
            return Where(str(message.channel.id))

    def _heard(self) -> Connection:
        if self._connection is None:
            raise RuntimeError("no connection is attached")
        self._connection.last_event_at = datetime.now(UTC)
        return self._connection
