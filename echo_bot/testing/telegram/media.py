"""What people can send besides text, as the Bot API shows it: pass one of these to `Conversation.send`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from echo_bot.testing.telegram.model import JsonObject

Store = Callable[[str, str, bytes], JsonObject]
"""Keeps a file under a name and a mime type; returns its JSON."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """`kind` is the message's field. With `content` it is a file; `details` are the fields beside it."""

    kind: str
    content: bytes | None = None
    name: str = ""
    mime: str = ""
    details: JsonObject = field(default_factory=dict)

    def to_json(self, store: Store) -> JsonObject:
        if self.content is None:
            return {self.kind: self.details}
        if self.kind == "photo":
            sizes = [(90, self.content[:1]), (1280, self.content)]
            return {
                "photo": [
                    store("photo", self.mime, data) | {"width": side, "height": side} for side, data in sizes
                ]
            }
        known = dict(store(self.name or self.kind, self.mime, self.content))
        if not self.name:
            known.pop("file_name", None)
        return {self.kind: known | self.details}


def document(name: str, content: bytes, mime: str = "text/plain") -> Attachment:
    return Attachment("document", content, name, mime)


def photo(content: bytes) -> Attachment:
    """A photo in two sizes."""
    return Attachment("photo", content, mime="image/jpeg")


def voice(content: bytes) -> Attachment:
    return Attachment("voice", content, mime="audio/ogg", details={"duration": 1})


def audio(name: str, content: bytes, mime: str = "audio/mpeg") -> Attachment:
    return Attachment("audio", content, name, mime, {"duration": 1})


_FRAME: JsonObject = {"width": 640, "height": 480, "duration": 1}


def video(name: str, content: bytes) -> Attachment:
    return Attachment("video", content, name, "video/mp4", _FRAME)


def animation(name: str, content: bytes) -> Attachment:
    return Attachment("animation", content, name, "video/mp4", _FRAME)


def video_note(content: bytes) -> Attachment:
    return Attachment("video_note", content, mime="video/mp4", details={"length": 240, "duration": 1})


def sticker(content: bytes, emoji: str = "", *, animated: bool = False, video: bool = False) -> Attachment:
    details: JsonObject = {
        "type": "regular",
        "width": 512,
        "height": 512,
        "is_animated": animated,
        "is_video": video,
    }
    return Attachment("sticker", content, mime="", details=details | ({"emoji": emoji} if emoji else {}))


def location(latitude: float, longitude: float, live_seconds: int = 0) -> Attachment:
    details: JsonObject = {"latitude": latitude, "longitude": longitude}
    return Attachment("location", details=details | ({"live_period": live_seconds} if live_seconds else {}))


def venue(title: str, address: str, latitude: float, longitude: float) -> Attachment:
    at: JsonObject = {"latitude": latitude, "longitude": longitude}
    return Attachment("venue", details={"title": title, "address": address, "location": at})


def contact(first_name: str, phone_number: str) -> Attachment:
    return Attachment("contact", details={"first_name": first_name, "phone_number": phone_number})


def poll(question: str, options: Sequence[str]) -> Attachment:
    answers = [{"text": text, "voter_count": 0, "persistent_id": str(n)} for n, text in enumerate(options)]
    return Attachment(
        "poll",
        details={
            "id": "1",
            "question": question,
            "options": answers,
            "total_voter_count": 0,
            "is_closed": False,
            "is_anonymous": True,
            "type": "regular",
            "allows_multiple_answers": False,
            "allows_revoting": False,
            "members_only": False,
        },
    )


def dice(emoji: str, value: int) -> Attachment:
    return Attachment("dice", details={"emoji": emoji, "value": value})
