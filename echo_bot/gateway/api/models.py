"""The bodies of the HTTP API. A request has no field for a sender, a session key or trust."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_TEXT_CHARS = 100_000
MAX_WAIT_SECONDS = 300

ThreadId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{0,64}$")]
"""One of the caller's conversations; "" is the first."""

MessageId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,128}$")]
Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARS)]
Reason = Annotated[str, Field(max_length=2_000)]


class Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StreamedMessage(Request):
    """What to say to the bot. With `id` the message may be sent again: it is taken once."""

    text: Text
    thread: ThreadId = ""
    id: MessageId | None = None


class NewMessage(StreamedMessage):
    """As streamed; the answer is waited for."""

    wait_seconds: Annotated[float, Field(ge=0, le=MAX_WAIT_SECONDS, allow_inf_nan=False)] = 60


class Approve(Request):
    scope: Literal["once", "session", "1h", "always"] = "once"


class Deny(Request):
    """The reason is given to the agent."""

    reason: Reason = ""


class Edit(Request):
    """All arguments of the call that takes this one's place; it is judged from the beginning."""

    arguments: dict[str, Any]


class AnswerQuestion(Request):
    text: Annotated[str, Field(min_length=1, max_length=20_000)]


class ApprovalView(BaseModel):
    """An open request. `kind` is "approval" for a call, "question" for one that the agent asks.

    `may_decide`: this caller may. `offered` are the decisions there are. Times are UTC.
    """

    id: str
    short_id: str
    kind: str
    status: str
    tool: str
    risk: str
    requester: str
    chat: str
    summary: str
    offered: list[str]
    quorum: int
    approved_by: list[str]
    may_decide: bool
    created_at: datetime
    deadline: datetime | None


class Block(BaseModel):
    """A part of a card: literal text, a code block with its label, or rows of names and values."""

    kind: Literal["text", "code", "fields"]
    text: str = ""
    label: str = ""
    language: str = ""
    rows: list[tuple[str, str]] = Field(default_factory=list)


class ApprovalDetail(ApprovalView):
    """The whole of it, secrets masked, hidden characters written out; `arguments` where it can be edited."""

    title: str
    blocks: list[Block]
    text: str
    arguments: dict[str, Any] | None = None


class Decided(BaseModel):
    """What came of a decision."""

    message: str
    approval: ApprovalView


class ReplyPart(BaseModel):
    text: str
    markdown: bool


State = Literal["queued", "running", "waiting", "done", "failed", "stopped", "unknown"]


class MessageView(BaseModel):
    """What became of a message. While `state` is not final, ask again by `id`.

    `approvals` are what its turn waits for.
    """

    id: str
    thread: str
    state: State
    reply: list[ReplyPart]
    error: str = ""
    approvals: list[ApprovalView] = Field(default_factory=list)


class Accepted(BaseModel):
    """The first event of a stream: the message is stored."""

    id: str
    thread: str


class SaidView(BaseModel):
    """Something said in the chat; a draft grows, under the same `message_id`, until its final form."""

    message_id: str
    text: str
    markdown: bool
    is_draft: bool


class ChatView(BaseModel):
    channel: str
    account: str
    chat: str
    thread: str
    last_at: datetime


class Line(BaseModel):
    """One line of a chat: `role` is "user", "bot" or "card"."""

    role: str
    text: str
    sender: str
    at: datetime


class GrantView(BaseModel):
    id: str
    owner: str
    tool: str
    summary: str
    scope: str
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    uses: int
    last_used_at: datetime | None


class Revoked(BaseModel):
    id: str


class AuditView(BaseModel):
    at: datetime
    writer: str
    seq: int
    kind: str
    fields: dict[str, Any]
    mac: str


class ProblemView(BaseModel):
    writer: str
    row: int
    sentence: str
    breaks: bool


class HeadView(BaseModel):
    """The end of the newest chain: keep it elsewhere, and an older copy of the database shows."""

    writer: str
    row: int
    mac: str


class AuditReport(BaseModel):
    sound: bool
    rows: int
    chains: int
    problems: list[ProblemView]
    newest: HeadView | None


class ToolView(BaseModel):
    name: str
    state: str
    reason: str


class CallerView(BaseModel):
    """Whom the token makes the caller: `identity` is what lists of the configuration call them."""

    name: str
    identity: str
    scope: Literal["read", "admin"]
