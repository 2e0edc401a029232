"""Every English word a card shows, in one table, so that another language is another table."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from echo_bot.approval.request import Choice
from echo_bot.policy.risk import RiskLevel

TITLES = MappingProxyType(
    {
        "exec": "Run a command?",
        "execute_code": "Run this code?",
        "process": "Control a process?",
        "write_file": "Write a file?",
        "edit_file": "Edit a file?",
        "patch": "Change files?",
        "web_fetch": "Fetch a page?",
        "web_search": "Search the web?",
        "message": "Send a message?",
        "notify": "Send a notification?",
        "memory": "Change what is remembered?",
        "cronjob": "Change scheduled jobs?",
        "skill_install": "Install a skill?",
        "skill_manage": "Change a skill?",
        "skill_run": "Run a skill's script?",
        "delegate_task": "Start a worker?",
        "spawn_task": "Start a worker?",
        "workflow": "Run a workflow?",
        "image_generate": "Make an image?",
        "text_to_speech": "Make a recording?",
    }
)
"""The question by tool; any other tool is asked about as "Use …?"."""

OTHER_TITLE = "Use {tool}?"

RISKS = MappingProxyType(
    {
        RiskLevel.READ_ONLY: "reads only",
        RiskLevel.WRITE: "changes data",
        RiskLevel.EXEC: "runs code",
        RiskLevel.DANGEROUS: "dangerous",
    }
)

GRANTS = MappingProxyType(
    {
        Choice.SESSION: "in this session",
        Choice.HOUR: "for 1 hour",
        Choice.ALWAYS: "always",
    }
)

APPROVED = MappingProxyType(
    {
        Choice.ONCE: "Approved once by {by} at {at}",
        Choice.SESSION: "Approved for this session by {by} at {at}",
        Choice.HOUR: "Approved for 1 hour by {by} at {at}",
        Choice.ALWAYS: "Approved always (exact call) by {by} at {at}",
    }
)


@dataclass(frozen=True, slots=True)
class Words:
    """The fixed phrases of a card, in the order in which a reader meets them."""

    title: str = "{question} · {risk}"
    arguments: str = "arguments"
    plan: str = "what it comes to"
    argument: str = "argument “{name}”"
    commands: str = "Runs, in order"
    diff: str = "Change"
    environment: str = "Environment"
    standard_input: str = "Typed into it"
    why: str = "Why this asks"
    look_closely: str = "Look closely"
    tool: str = "Tool"
    folder: str = "Folder"
    runs_on: str = "Runs on"
    asked_by: str = "Asked by"
    edited_by: str = "Edited by"
    approvals: str = "Approvals"
    approvals_so_far: str = "{count} of {quorum}{names}, {missing} more needed; one denial decides"
    grant: str = "A longer approval covers"
    last_of_several: str = "or"
    grant_covers: str = "exactly this call, asked by this person, {spans}"
    answer_by: str = "Answer by"
    id: str = "Id"
    reason: str = "Reason"
    denied: str = "Denied by {by} at {at}"
    expired: str = "Expired at {at}: nobody decided, so it was not run"
    cancelled: str = "Cancelled at {at}: it was not run"
    asked_again: str = "Asked again by {by} at {at}"
    edited: str = "Edited by {by} at {at}: the changed call is judged anew"
    answered: str = "Answered"
    free_answer: str = "Other answer…"
    answer_prompt: str = "Type your answer"
    deny_prompt: str = "Why not? The reason is given to the assistant."
    edit_prompt: str = "Change the call. It is checked again, and asked about again where it must be."
    edit_title: str = "Edit {tool}"
    question: str = "A question for you"
    batch: str = "{count} calls at once?"
    batch_call: str = "{place}. {title} ({id})"
    batch_closed: str = "Closed at {at}: none of these calls waits any more"
    batch_decided: str = "Decided by {by} at {at}"
    approve_all: str = "Approve all shown"
    deny_all: str = "Deny all shown"
    empty: str = "(empty)"
    to_approve: str = "To decide, reply with one of:"
    to_answer: str = "To answer, reply with one of:"


EN = Words()

EXECUTORS = MappingProxyType(
    {
        "none": "no process is started",
        "sandbox": "the sandbox",
        "local": "this machine, without a sandbox",
        "container": "a container",
        "remote": "the remote host",
    }
)
