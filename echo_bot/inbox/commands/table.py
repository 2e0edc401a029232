"""The table of chat commands: each is one entry here and one function beside it."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from echo_bot.channel import Command, Completes, Parameter
from echo_bot.inbox.commands import conversation, deciding, jobs, looking, models, pausing, planned, undoing
from echo_bot.inbox.commands.desk import Desk, Entry, Request
from echo_bot.inbox.commands.words import literal
from echo_bot.text.language import N_, _

_APPROVAL = Parameter("id", N_("The id on the card"), completes=Completes.APPROVALS)
_SCOPE = Parameter(
    "scope", N_("How far it reaches"), required=False, choices=("once", "session", "1h", "always")
)
_REASON = Parameter("reason", N_("Why"), required=False)
_SHELL_LINE = Parameter("command", N_("A shell command"))
_TOOL = Parameter("name", N_("The tool"), completes=Completes.TOOLS)
_TOOL_ARGUMENTS = Parameter("arguments", N_("key=value …"), required=False)
_GRANT = Parameter("id", N_("Its id"), completes=Completes.GRANTS)
_WORDS = Parameter("text", N_("Other words in its place"), required=False)
_SHOW = Parameter("show", N_("Only show what would change"), required=False, choices=("show",))
_WHERE = Parameter("where", N_("This chat alone, or everything"), required=False, choices=pausing.PLACES)
_WORKFLOW = Parameter("name", N_("Its name"), required=False)
_MODEL = Parameter("name", N_("A model's name"), required=False, completes=Completes.MODELS)
_CODE = Parameter("code", N_("The code you were given"))


async def help_text(request: Request, desk: Desk) -> str:
    lines = [f"`/{c.name}{' ' + c.usage if c.usage else ''}` – {_(c.description)}" for c in COMMANDS]
    return _("Write a message, or one of these:") + "\n\n" + "\n".join(lines)


def unknown_command(name: str) -> str:
    """What is said to a command that there is none of: the nearest one, if one is near."""
    wrong = literal(f"/{name}")
    if near := get_close_matches(name.lower(), [each.name for each in COMMANDS], n=1, cutoff=0.75):
        told = _("There is no command {name}; did you mean {near}? Nothing was done.")
        return told.format(name=wrong, near=literal(f"/{near[0]}"))
    return _("There is no command {name}. /help lists them.").format(name=wrong)


ENTRIES: tuple[Entry, ...] = (
    Entry(Command("help", N_("What you can write here")), help_text),
    Entry(Command("run", N_("Run a shell command through the gate"), (_SHELL_LINE,), starts_turn=True)),
    Entry(Command("tool", N_("Call a tool directly"), (_TOOL, _TOOL_ARGUMENTS), starts_turn=True)),
    Entry(
        Command("approvals", N_("Open approvals you may decide")), deciding.list_approvals, is_control=True
    ),
    Entry(
        Command("approve", N_("Approve an open call"), (_APPROVAL, _SCOPE)), deciding.approve, is_control=True
    ),
    Entry(Command("deny", N_("Deny an open call"), (_APPROVAL, _REASON)), deciding.deny, is_control=True),
    Entry(Command("grants", N_("Approvals remembered for you")), deciding.list_grants),
    Entry(Command("revoke", N_("Forget a remembered approval"), (_GRANT,)), deciding.revoke),
    Entry(Command("new", N_("Start a fresh conversation")), conversation.start_anew),
    Entry(Command("retry", N_("Run the last message again"), (_WORDS,), starts_turn=True)),
    Entry(
        Command("undo", N_("Take back the files that the last writing turn wrote"), (_SHOW,)), undoing.undo
    ),
    Entry(Command("stop", N_("Stop what is running in this chat")), conversation.stop, is_control=True),
    Entry(
        Command("pause", N_("Hold new work: an admin everywhere, others in this chat"), (_WHERE,)),
        pausing.pause,
        is_control=True,
    ),
    Entry(Command("resume", N_("Go on after /pause"), (_WHERE,)), pausing.resume, is_control=True),
    Entry(
        Command("workflows", N_("Your workflows, or the steps of one"), (_WORKFLOW,)), planned.show_workflows
    ),
    Entry(Command("tasks", N_("Your open tasks")), planned.list_tasks),
    Entry(Command("model", N_("Which models there are; with a name, ask that one"), (_MODEL,)), models.model),
    Entry(Command("compact", N_("Summarise the older part of this conversation"), starts_turn=True)),
    Entry(Command("cost", N_("What this conversation used and cost")), models.cost),
    Entry(Command("jobs", N_("Scheduled jobs and when they run")), jobs.list_jobs),
    Entry(Command("status", N_("What the bot is doing")), looking.show_status, is_control=True),
    Entry(Command("tools", N_("Which tools there are, and why some are not")), looking.list_tools),
    Entry(Command("whoami", N_("Your id as this bot sees it")), looking.tell_who),
    Entry(Command("pair", N_("Introduce yourself with a one-time code"), (_CODE,))),
)

COMMANDS = tuple(entry.command for entry in ENTRIES)


def commands_shown() -> tuple[Command, ...]:
    """The commands as people read them, described in the chosen language."""
    return tuple(
        replace(
            command,
            description=_(command.description),
            parameters=tuple(replace(each, description=_(each.description)) for each in command.parameters),
        )
        for command in COMMANDS
    )


CONTROL = frozenset(entry.command.name for entry in ENTRIES if entry.is_control)
"""Commands that never queue and are never rate limited."""

TURN_COMMANDS = frozenset(command.name for command in COMMANDS if command.starts_turn)
"""Commands that are turns: they queue like messages."""

ANSWERS = {entry.command.name: entry.answer for entry in ENTRIES if entry.answer} | {"start": help_text}
"""`/start` is what a platform sends by itself when a person opens the chat."""
