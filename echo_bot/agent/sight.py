"""The images of one turn's message, added to what a model is sent if it sees; run and journal hold none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Literal

import structlog
from pydantic_ai.messages import BinaryContent, ModelMessage, ModelRequest, ModelResponse, UserPromptPart

from echo_bot.agent.answers import answered_by
from echo_bot.agent.attempts import refuses_images
from echo_bot.agent.candidates import Candidate
from echo_bot.agent.room import Room
from echo_bot.agent.viewed import View
from echo_bot.tools.media.seeing import Image

log = structlog.get_logger(__name__)

ImageSetting = Literal["auto", "on", "off"]
ReadImages = Callable[[], Awaitable[Sequence[Image]]]


class Sight:
    """Which models of a turn's chain are shown its images. One that refuses them is asked without.

    `done` is what an earlier run journalled: a model that refused then is not shown them again.
    """

    def __init__(
        self, room: Room, read: ReadImages | None, setting: ImageSetting, done: Sequence[ModelMessage]
    ) -> None:
        self._room, self._read, self._setting = room, read, setting
        answers = (answered_by(message) for message in done if isinstance(message, ModelResponse))
        self._refused_by = {each.model for each in answers if each.unseeing}
        self._shown_to = ""

    def view_for(self, candidate: Candidate) -> View:
        """The room's view, with the images beside the turn's prompt."""

        async def view(messages: list[ModelMessage]) -> list[ModelMessage]:
            self._shown_to = ""
            shown = await self._room.view(messages)
            if self._read is None or not self._sees(candidate):
                return shown
            images = await self._read()
            if not images:
                return shown
            self._shown_to = candidate.name
            return with_images(shown, len(shown) - len(self._room.turn_of(messages)), images)

        return view

    def gives_way(self, error: Exception) -> bool:
        """Was it the images that the model refused? From now on it is sent none."""
        if not self._shown_to or not refuses_images(error):
            return False
        log.warning("images_refused", model=self._shown_to, error=type(error).__name__)
        self._refused_by.add(self._shown_to)
        return True

    def was_refused_by(self, candidate: Candidate) -> bool:
        return candidate.name in self._refused_by

    def _sees(self, candidate: Candidate) -> bool:
        if self.was_refused_by(candidate) or self._setting == "off":
            return False
        return self._setting == "on" or candidate.model.profile.get("supports_image_input", True)


def with_images(messages: Sequence[ModelMessage], place: int, images: Sequence[Image]) -> list[ModelMessage]:
    """The messages with the images behind the words of the prompt in message `place`."""
    message = messages[place]
    assert isinstance(message, ModelRequest)
    content = [BinaryContent(image.data, media_type=image.kind.mime) for image in images]
    parts = [
        replace(part, content=[part.content, *content])
        if isinstance(part, UserPromptPart) and isinstance(part.content, str)
        else part
        for part in message.parts
    ]
    return [*messages[:place], replace(message, parts=parts), *messages[place + 1 :]]
