"""What people said by voice, as text: asked of the transcription service once a turn, and journalled.

The words are the message of the sender to the model and nothing else: no command, no decision, no answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from uuid import uuid4

import structlog

from echo_bot.agent.ledger import Ledger, Purpose, Recording, Tokens
from echo_bot.agent.received.files import FileJournal, ReceivedFile, heard_key
from echo_bot.agent.received.storing import Storing
from echo_bot.events import InboundEvent, SessionKey
from echo_bot.files import FileRefusal
from echo_bot.session import line_of
from echo_bot.storage.protocol import Sessions
from echo_bot.text.language import N_
from echo_bot.tools.media.hearing import MAX_RECORDING_BYTES, Ears, Heard
from echo_bot.tools.web.written import clean_text

log = structlog.get_logger(__name__)

MAX_WORDS_CHARS = 20_000
_CUT = " […]"
_SILENCE = N_("nothing was heard in it")


@dataclass(frozen=True, slots=True)
class Hearing:
    """`mask_known` is for what the model reads, `mask` for people and the log.

    What is heard is counted in `ledger`, and nothing is sent on a day whose limits are reached.
    """

    ears: Ears
    ledger: Ledger
    storing: Storing
    sessions: Sessions
    mask: Callable[[str], str]
    mask_known: Callable[[str], str]

    async def heard(
        self,
        session: SessionKey,
        event: InboundEvent,
        index: int,
        files: Mapping[int, ReceivedFile],
        journal: FileJournal,
    ) -> ReceivedFile:
        """The file at place `index` of the event with its words, or why they are not known.

        `files` are the received ones so far, by place.
        """
        file = files[index]
        if not file.path or file.words or file.unheard:
            return file
        source = f"voice:{journal.turn_id}:{index}:{uuid4().hex}"
        file = await self._listen(event, file, Purpose(source, "voice", session, journal.turn_id))
        if file.words:
            await self._note(event, {**files, index: file})
        await journal.add_file(heard_key(str(index)), file.to_json())
        return file

    async def _listen(self, event: InboundEvent, file: ReceivedFile, purpose: Purpose) -> ReceivedFile:
        answer = await self._answer(file, purpose)
        if isinstance(answer, Heard):
            words = await asyncio.to_thread(self._presentable, answer.words)
            return replace(file, words=words) if words else replace(file, unheard=_SILENCE)
        problem = self.mask(" ".join(answer.split())).rstrip(".")
        log.warning("voice_not_transcribed", channel=event.channel, problem=problem)
        return replace(file, unheard=problem)

    async def _answer(self, file: ReceivedFile, purpose: Purpose) -> Heard | str:
        """What was heard, and counted; or why nothing was."""
        data = await asyncio.to_thread(self.storing.read, file.path, MAX_RECORDING_BYTES)
        if isinstance(data, FileRefusal):
            return data.sentence
        if refusal := await self.ledger.refusal():
            return refusal
        answer = await self.ears.hear(data)
        if not isinstance(answer, Heard):
            return answer.error
        used = Tokens(answer.input_tokens, answer.output_tokens, 0)
        await self.ledger.record_recording(Recording(self.ears.name, answer.seconds, used), purpose)
        return answer

    def _presentable(self, answer: str) -> str:
        words = self.mask_known(clean_text(answer))
        return words if len(words) <= MAX_WORDS_CHARS else words[: MAX_WORDS_CHARS - len(_CUT)] + _CUT

    async def _note(self, event: InboundEvent, files: Mapping[int, ReceivedFile]) -> None:
        """The sender's line in the transcript tells the words from now on."""
        words = {place: file.words for place, file in files.items() if file.words}
        await self.sessions.put_transcript(line_of(event, self.mask, "", words))
