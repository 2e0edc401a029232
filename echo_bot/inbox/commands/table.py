"""The table of chat commands: each is one entry here and one function beside it."""

from __future__ import annotations

from echo_bot.channel import Command, Completes, Parameter
from echo_bot.inbox.commands import conversation, deciding, jobs, looking, models, pausing, planned, undoing
from echo_bot.inbox.commands.desk import Desk, Entry, Request

_APPROVAL = Parameter("id", "The id on the card", completes=Completes.APPROVALS)
_SCOPE = Parameter("scope", "How far it reaches", required=False, choices=("once", "session", "1h", "always"))
_REASON = Parameter("reason", "Why", required=False)
_SHELL_LINE = Parameter("command", "A shell command")
_TOOL = Parameter("name", "The tool", completes=Completes.TOOLS)
_TOOL_ARGUMENTS = Parameter("arguments", "key=value …", required=False)
_GRANT = Parameter("id", "Its id", completes=Completes.GRANTS)
_WORDS = Parameter("text", "Other words in its place", required=False)
_SHOW = Parameter("show", "Only show what would change", required=False, choices=("show",))
_WHERE = Parameter("where", "This chat alone, or everything", required=False, choices=pausing.PLACES)
_WORKFLOW = Parameter("name", "Its name", required=False)
_MODEL = Parameter("name", "A model's name", required=False, completes=Completes.MODELS)
_CODE = Parameter("code", "The code you were given")


async def help_text(request: Request, desk: Desk) -> str:
    lines = [f"`/{c.name}{' ' + c.usage if c.usage else ''}` – {c.description}" for c in COMMANDS]
    return "Write a message, or one of these:\n\n" + "\n".join(lines)


ENTRIES: tuple[Entry, ...] = (
    Entry(Command("help", "What you can write here"), help_text),
    Entry(Command("run", "Run a shell command through the gate", (_SHELL_LINE,), starts_turn=True)),
    Entry(Command("tool", "Call a tool directly", (_TOOL, _TOOL_ARGUMENTS), starts_turn=True)),
    Entry(Command("approvals", "Open approvals you may decide"), deciding.list_approvals, is_control=True),
    Entry(Command("approve", "Approve an open call", (_APPROVAL, _SCOPE)), deciding.approve, is_control=True),
    Entry(Command("deny", "Deny an open call", (_APPROVAL, _REASON)), deciding.deny, is_control=True),
    Entry(Command("grants", "Approvals remembered for you"), deciding.list_grants),
    Entry(Command("revoke", "Forget a remembered approval", (_GRANT,)), deciding.revoke),
    Entry(Command("new", "Start a fresh conversation"), conversation.start_anew),
    Entry(Command("retry", "Run the last message again", (_WORDS,), starts_turn=True)),
    Entry(Command("undo", "Take back the files that the last writing turn wrote", (_SHOW,)), undoing.undo),
    Entry(Command("stop", "Stop what is running in this chat"), conversation.stop, is_control=True),
    Entry(
        Command("pause", "Hold new work: an admin everywhere, others in this chat", (_WHERE,)),
        pausing.pause,
        is_control=True,
    ),
    Entry(Command("resume", "Go on after /pause", (_WHERE,)), pausing.resume, is_control=True),
    Entry(Command("workflows", "Your workflows, or the steps of one", (_WORKFLOW,)), planned.show_workflows),
    Entry(Command("tasks", "Your open tasks"), planned.list_tasks),
    Entry(Command("model", "Which models there are; with a name, ask that one", (_MODEL,)), models.model),
    Entry(Command("compact", "Summarise the older part of this conversation", starts_turn=True)),
    Entry(Command("cost", "What this conversation used and cost"), models.cost),
    Entry(Command("jobs", "Scheduled jobs and when they run"), jobs.list_jobs),
    Entry(Command("status", "What the bot is doing"), looking.show_status, is_control=True),
    Entry(Command("tools", "Which tools there are, and why some are not"), looking.list_tools),
    Entry(Command("whoami", "Your id as this bot sees it"), looking.tell_who),
    Entry(Command("pair", "Introduce yourself with a one-time code", (_CODE,))),
)

COMMANDS = tuple(entry.command for entry in ENTRIES)

CONTROL = frozenset(entry.command.name for entry in ENTRIES if entry.is_control)
"""Commands that never queue and are never rate limited."""

TURN_COMMANDS = frozenset(command.name for command in COMMANDS if command.starts_turn)
"""Commands that are turns: they queue like messages."""

ANSWERS = {entry.command.name: entry.answer for entry in ENTRIES if entry.answer} | {"start": help_text}
"""`/start` is what a platform sends by itself when a person opens the chat."""
