"""Every word a card shows, in one table; each is said in the chosen language where it is read."""

from __future__ import annotations

from types import MappingProxyType

from echo_bot.approval.request import Choice
from echo_bot.policy.risk import RiskLevel
from echo_bot.text.language import N_, _

TITLES = MappingProxyType(
    {
        "exec": N_("Run a command?"),
        "execute_code": N_("Run this code?"),
        "process": N_("Control a process?"),
        "write_file": N_("Write a file?"),
        "edit_file": N_("Edit a file?"),
        "patch": N_("Change files?"),
        "web_fetch": N_("Fetch a page?"),
        "web_search": N_("Search the web?"),
        "message": N_("Send a message?"),
        "notify": N_("Send a notification?"),
        "memory": N_("Change what is remembered?"),
        "cronjob": N_("Change scheduled jobs?"),
        "skill_install": N_("Install a skill?"),
        "skill_manage": N_("Change a skill?"),
        "skill_run": N_("Run a skill's script?"),
        "delegate_task": N_("Start a worker?"),
        "spawn_task": N_("Start a worker?"),
        "workflow": N_("Run a workflow?"),
        "image_generate": N_("Make an image?"),
        "text_to_speech": N_("Make a recording?"),
    }
)
"""The question by tool; any other tool is asked about as "Use …?"."""

OTHER_TITLE = N_("Use {tool}?")

RISKS = MappingProxyType(
    {
        RiskLevel.READ_ONLY: N_("reads only"),
        RiskLevel.WRITE: N_("changes data"),
        RiskLevel.EXEC: N_("runs code"),
        RiskLevel.DANGEROUS: N_("dangerous"),
    }
)

GRANTS = MappingProxyType(
    {
        Choice.SESSION: N_("in this session"),
        Choice.HOUR: N_("for {hours} hour"),
        Choice.ALWAYS: N_("always"),
    }
)

APPROVED = MappingProxyType(
    {
        Choice.ONCE: N_("Approved once by {by} at {at}"),
        Choice.SESSION: N_("Approved for this session by {by} at {at}"),
        Choice.HOUR: N_("Approved for 1 hour by {by} at {at}"),
        Choice.ALWAYS: N_("Approved always (exact call) by {by} at {at}"),
    }
)


class Phrase:
    """A phrase of a class's table, in the chosen language wherever it is read."""

    def __init__(self, message: str) -> None:
        self._message = message

    def __get__(self, instance: object, owner: type) -> str:
        return _(self._message)


class Words:
    """The fixed phrases of a card, in the order in which a reader meets them."""

    title = Phrase(N_("{question} · {risk}"))
    arguments = Phrase(N_("arguments"))
    plan = Phrase(N_("what it comes to"))
    argument = Phrase(N_("argument “{name}”"))
    commands = Phrase(N_("Runs, in order"))
    commands_once = Phrase(N_("Runs, in order; what comes again is listed once"))
    diff = Phrase(N_("Change"))
    environment = Phrase(N_("Environment"))
    standard_input = Phrase(N_("Typed into it"))
    why = Phrase(N_("Why this asks"))
    look_closely = Phrase(N_("Look closely"))
    tool = Phrase(N_("Tool"))
    folder = Phrase(N_("Folder"))
    runs_on = Phrase(N_("Runs on"))
    asked_by = Phrase(N_("Asked by"))
    edited_by = Phrase(N_("Edited by"))
    approvals = Phrase(N_("Approvals"))
    approvals_so_far = Phrase(N_("{count} of {quorum}{names}, {missing} more needed; one denial decides"))
    grant = Phrase(N_("A longer approval covers"))
    one_of_two = Phrase(N_("{others} or {last}"))
    one_of_many = Phrase(N_("{others}, or {last}"))
    grant_covers = Phrase(N_("exactly this call, asked by this person, {spans}"))
    answer_by = Phrase(N_("Answer by"))
    id = Phrase(N_("Id"))
    labelled = Phrase(N_("{label}: {text}"))
    reason = Phrase(N_("Reason"))
    denied = Phrase(N_("Denied by {by} at {at}"))
    expired = Phrase(N_("Expired at {at}: nobody decided, so it was not run"))
    cancelled = Phrase(N_("Cancelled at {at}: it was not run"))
    asked_again = Phrase(N_("Asked again by {by} at {at}"))
    edited = Phrase(N_("Edited by {by} at {at}: the changed call is judged anew"))
    answered = Phrase(N_("Answered"))
    free_answer = Phrase(N_("Other answer…"))
    answer_prompt = Phrase(N_("Type your answer"))
    deny_prompt = Phrase(N_("Why not? The reason is given to the assistant."))
    edit_prompt = Phrase(N_("Change the call. It is checked again, and asked about again where it must be."))
    edit_title = Phrase(N_("Edit {tool}"))
    question = Phrase(N_("A question for you"))
    batch = Phrase(N_("{count} calls at once?"))
    batch_call = Phrase(N_("{place}. {title} ({id})"))
    batch_closed = Phrase(N_("Closed at {at}: none of these calls waits any more"))
    batch_decided = Phrase(N_("Decided by {by} at {at}"))
    approve_all = Phrase(N_("Approve all shown"))
    deny_all = Phrase(N_("Deny all shown"))
    empty = Phrase(N_("(empty)"))
    to_approve = Phrase(N_("To decide, reply with one of:"))
    to_answer = Phrase(N_("To answer, reply with one of:"))


EXECUTORS = MappingProxyType(
    {
        "none": N_("no process is started"),
        "sandbox": N_("the sandbox"),
        "local": N_("this machine, without a sandbox"),
        "container": N_("a container"),
        "remote": N_("the remote host"),
    }
)
