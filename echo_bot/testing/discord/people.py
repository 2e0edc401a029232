"""The people's side of the emulator: they write, edit, react, press, command, and see the bot."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

from simcord.backend.models import Message, User
from simcord.enums import InteractionType

from echo_bot.testing.discord.interactions import Interaction, begin, command_data
from echo_bot.testing.discord.places import Place
from echo_bot.testing.discord.shown import Shown
from echo_bot.testing.discord.world import World
from echo_bot.testing.waiting import PATIENCE_SECONDS, eventually

_VOICE_MESSAGE = 1 << 13
_BUTTON = 2


class Person:
    """One user. `dm()` is the direct chat with the bot, `chat(place)` a channel or thread."""

    def __init__(self, world: World, user: User) -> None:
        self._world, self.user = world, user

    @property
    def id(self) -> str:
        return str(self.user.id)

    def dm(self) -> Conversation:
        channel = self._world.backend.get_dm_channel(self.user.id)
        return Conversation(self._world, self.user, Place(self._world, channel))

    def chat(self, place: Place) -> Conversation:
        """As a member of the guild, which the person joins by this."""
        backend = self._world.backend
        guild_id = place.channel.guild_id
        if guild_id is not None and self.user.id not in backend.guilds[guild_id].members:
            backend.add_member(guild_id, self.user.id)
        return Conversation(self._world, self.user, place)

    def block_bot(self) -> None:
        self._world.blocked.add(self.user.id)


class Conversation:
    """A place through the eyes of one person. Everything that happens there becomes an event for the bot."""

    def __init__(self, world: World, user: User, place: Place) -> None:
        self._world, self._user, self.place = world, user, place

    @property
    def id(self) -> str:
        """The channel's id: of a direct chat not the person's."""
        return self.place.id

    @property
    def messages(self) -> list[Shown]:
        """Everything this person sees here, oldest first."""
        found = self._world.backend.messages[self.place.channel.id].values()
        return [Shown(message) for message in found if message.visible_to(self._user.id)]

    @property
    def from_bot(self) -> list[Shown]:
        """What the bot wrote here for everybody, oldest first."""
        bot_id = self._world.backend.bot_user.id
        return [each for each in self.messages if each.message.author_id == bot_id and not each.private]

    # Writing

    def say(
        self,
        text: str,
        *,
        reply_to: Message | None = None,
        files: Sequence[tuple[str, bytes]] = (),
        voice: bool = False,
    ) -> Message:
        """Write `text`; mentions are written `<@id>`, as Discord's own clients send them."""
        backend = self._world.backend
        attachments = backend.store_attachments(self.place.channel.id, files)
        if voice:
            waveform = base64.b64encode(bytes(8)).decode()
            attachments[0] |= {"duration_secs": 1.0, "waveform": waveform, "content_type": "audio/ogg"}
        reference = {"message_id": str(reply_to.id)} if reply_to is not None else None
        return backend.create_message(
            self.place.channel.id,
            self._user.id,
            text,
            attachments=attachments,
            reference=reference,
            flags=_VOICE_MESSAGE if voice else 0,
        )

    def mention(self, text: str) -> Message:
        """Write to the bot by name."""
        return self.say(f"<@{self._world.backend.bot_user.id}> {text}")

    def edit(self, message: Message, text: str) -> Message:
        return self._world.backend.edit_message(message.channel_id, message.id, {"content": text})

    def delete(self, message: Message) -> None:
        self._world.backend.delete_message(message.channel_id, message.id)

    def react(self, message: Message, emoji: str) -> None:
        self._world.backend.add_reaction(message.channel_id, message.id, emoji, self._user.id)

    # Pressing and commanding

    def press(self, label: str, message: Shown | None = None) -> Interaction:
        """Press the button `label` of `message`, by default the newest message here that has it."""
        where = message or self._newest_with(label)
        return self.press_id(where.custom_id(label), where)

    def press_id(self, custom_id: str, message: Shown) -> Interaction:
        """Press with any custom id, also such as no message of the bot carries any more."""
        data = {"custom_id": custom_id, "component_type": _BUTTON}
        kind = InteractionType.MESSAGE_COMPONENT
        return begin(self._world, kind, self.place.channel.id, self._user.id, data, message.message.id)

    def slash(self, name: str, /, **options: str) -> Interaction:
        """Use a slash command that the bot registered."""
        data = command_data(self._world, self.place.channel.guild_id, name, options)
        kind = InteractionType.APPLICATION_COMMAND
        return begin(self._world, kind, self.place.channel.id, self._user.id, data)

    def complete(self, name: str, option: str, typed: str, /, **others: str) -> Interaction:
        """Type into an option of a slash command."""
        given = {**others, option: typed}
        data = command_data(self._world, self.place.channel.guild_id, name, given, focused=option)
        kind = InteractionType.APPLICATION_COMMAND_AUTOCOMPLETE
        return begin(self._world, kind, self.place.channel.id, self._user.id, data)

    # Seeing

    async def wait_for(
        self, wanted: Callable[[Shown], bool], what: str = "a message", timeout: float = PATIENCE_SECONDS
    ) -> Shown:
        """The newest message of the bot here that `wanted` accepts, as soon as there is one."""
        return await eventually(
            lambda: next((each for each in reversed(self.from_bot) if wanted(each)), None),
            f"{what}; shown: {[each.text for each in self.from_bot]}",
            timeout,
        )

    async def wait_for_text(self, part: str, timeout: float = PATIENCE_SECONDS) -> Shown:
        return await self.wait_for(lambda shown: part in shown.text, f"text {part!r}", timeout)

    async def wait_for_button(self, label: str, timeout: float = PATIENCE_SECONDS) -> Shown:
        return await self.wait_for(lambda shown: label in shown.labels, f"button {label!r}", timeout)

    def _newest_with(self, label: str) -> Shown:
        for shown in reversed(self.from_bot):
            if label in shown.labels:
                return shown
        there = [(shown.text, shown.labels) for shown in self.from_bot]
        raise AssertionError(f"no message has a button {label!r}; shown: {there}")
