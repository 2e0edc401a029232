"""What people said by voice, as text: asked of the transcription service once a turn, and journalled.

The words are the message of the sender to the model and nothing else: no command, no decision, no answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import structlog

from echo_bot.agent.received.files import FileJournal, ReceivedFile, heard_key
from echo_bot.agent.received.storing import Storing
from echo_bot.events import InboundEvent
from echo_bot.files import FileRefusal
from echo_bot.session import line_of
from echo_bot.storage.protocol import Sessions
from echo_bot.tools.media.hearing import MAX_RECORDING_BYTES, Ears
from echo_bot.tools.web.written import clean_text

log = structlog.get_logger(__name__)

MAX_WORDS_CHARS = 20_000
_CUT = " […]"
_SILENCE = "nothing was heard in it"


@dataclass(frozen=True, slots=True)
class Hearing:
    """`mask_known` is for what the model reads, `mask` for people and the log."""

    ears: Ears
    storing: Storing
    sessions: Sessions
    mask: Callable[[str], str]
    mask_known: Callable[[str], str]

    async def heard(
        self, event: InboundEvent, index: int, files: Mapping[int, ReceivedFile], journal: FileJournal
    ) -> ReceivedFile:
        """The file at place `index` of the event with its words, or why they are not known.

        `files` are the received ones so far, by place.
        """
        file = files[index]
        if not file.path or file.words or file.unheard:
            return file
        file = await self._listen(event, file)
        if file.words:
            await self._note(event, {**files, index: file})
        await journal.add_file(heard_key(str(index)), file.to_json())
        return file

    async def _listen(self, event: InboundEvent, file: ReceivedFile) -> ReceivedFile:
        data = await asyncio.to_thread(self.storing.read, file.path, MAX_RECORDING_BYTES)
        if isinstance(data, FileRefusal):
            problem = data.sentence
        else:
            answer = await self.ears.hear(data)
            if isinstance(answer, str):
                words = await asyncio.to_thread(self._presentable, answer)
                return replace(file, words=words) if words else replace(file, unheard=_SILENCE)
            problem = answer.error
        problem = self.mask(" ".join(problem.split())).rstrip(".")
        log.warning("voice_not_transcribed", channel=event.channel, problem=problem)
        return replace(file, unheard=problem)

    def _presentable(self, answer: str) -> str:
        words = self.mask_known(clean_text(answer))
        return words if len(words) <= MAX_WORDS_CHARS else words[: MAX_WORDS_CHARS - len(_CUT)] + _CUT

    async def _note(self, event: InboundEvent, files: Mapping[int, ReceivedFile]) -> None:
        """The sender's line in the transcript tells the words from now on."""
        words = {place: file.words for place, file in files.items() if file.words}
        await self.sessions.put_transcript(line_of(event, self.mask, "", words))
