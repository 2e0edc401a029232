"""The body of a call, and the event it becomes: no field for trust, and none that is not known."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from echo_bot.channel import inbound_event
from echo_bot.events import Address, BlockType, ContentBlock, InboundEvent

NAME = "webhook"
MAX_WAIT_SECONDS = 300
_MOST_TOLD = 5

PlainId = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[^\x00-\x20\x7f]+$")]
_KINDS = {"image": BlockType.IMAGE, "audio": BlockType.AUDIO, "video": BlockType.VIDEO}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CallFile(_Part):
    """A file to be fetched from `url`, which the network guard judges like any address from outside."""

    url: Annotated[str, Field(max_length=2048, pattern=r"^https?://[^\x00-\x20\x7f]+$")]
    name: Annotated[str, Field(max_length=255)] = ""
    mime: Annotated[str, Field(max_length=255)] = ""
    size: Annotated[int, Field(ge=0, le=2**40)] = 0


class Call(_Part):
    """One message. `id` is the caller's own: a second call with it is refused, also after a restart."""

    id: PlainId
    sender: PlainId
    chat: PlainId
    text: Annotated[str, Field(max_length=100_000)] = ""
    thread: PlainId | None = None
    sender_name: Annotated[str, Field(max_length=128)] = ""
    files: Annotated[tuple[CallFile, ...], Field(max_length=10)] = ()
    wait_seconds: Annotated[float, Field(ge=0, le=MAX_WAIT_SECONDS, allow_inf_nan=False)] = 0

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.text.strip() or self.files):
            raise ValueError("a call needs a text or a file")
        return self

    def address(self, account: str) -> Address:
        return Address(NAME, self.chat, self.thread or "", account)


def read_call(body: bytes) -> Call | str:
    """The call, or a sentence about what is wrong with it that repeats nothing of it."""
    try:
        return Call.model_validate_json(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        return "; ".join(f"{_place(each['loc'])}: {each['msg']}" for each in found[:_MOST_TOLD])


def event_of(call: Call, account: str, at: datetime) -> InboundEvent:
    """`at` is when it was signed. The sender is whoever the call says, which proves nobody."""
    text = (ContentBlock(BlockType.TEXT, call.text),) if call.text.strip() else ()
    return inbound_event(
        event_id=call.id,
        channel=NAME,
        account=account,
        chat_id=call.chat,
        thread_id=call.thread or "",
        sender_id=call.sender,
        sender_name=call.sender_name,
        timestamp=at,
        content=(*text, *(_block(file) for file in call.files)),
        message_id=call.id,
    )


def _block(file: CallFile) -> ContentBlock:
    kind = _KINDS.get(file.mime.partition("/")[0], BlockType.FILE)
    return ContentBlock(kind, ref=file.url, name=file.name, mime=file.mime, size=file.size)


def _place(parts: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in parts) or "the body"
