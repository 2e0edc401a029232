"""/undo: what the last writing turn of this conversation wrote is put back, as far as it is still that."""

from __future__ import annotations

from echo_bot.files.checkpoints import Outcome, Undone
from echo_bot.inbox.commands.desk import Desk, Request
from echo_bot.inbox.commands.words import literal
from echo_bot.inbox.undoing import Asked, UndoReport
from echo_bot.session import turn_id_of

_MOST_FILES = 40


async def undo(request: Request, desk: Desk) -> str:
    asked_for = request.rest.strip().lower()
    if asked_for not in ("", "show"):
        return "Write `/undo`, or `/undo show` to see what it would change. Nothing was changed."
    asked = Asked(request.sender, request.session_key, turn_id_of(request.event))
    if asked_for:
        report = await desk.undoing.look(asked)
    elif desk.queues.current(request.session_key):
        return "A turn is running here: `/stop` it first, or wait for its end. Nothing was changed."
    else:
        report = await desk.undoing.undo(asked)
    if report is None:
        return "No file that this conversation wrote can be undone."
    return _told(report, desk, is_done=not asked_for)


def _told(report: UndoReport, desk: Desk, *, is_done: bool) -> str:
    head = "Undone" if is_done else "`/undo` would undo"
    lines = [f"{head} what was written at {report.at:%Y-%m-%d %H:%M} UTC:", ""]
    lines += [_line(done, desk, is_done) for done in report.files[:_MOST_FILES]]
    if len(report.files) > _MOST_FILES:
        lines.append(f"- … and {len(report.files) - _MOST_FILES} more")
    notes = []
    if report.uncovered:
        used = ", ".join(literal(name) for name in report.uncovered)
        notes.append(f"That turn also used {used}: files that commands changed stay as they are.")
    if not report.is_noted:
        notes.append("The database took no note of this; the log says why.")
    return "\n".join(lines) + "".join(f"\n\n{note}" for note in notes)


def _line(done: Undone, desk: Desk, is_done: bool) -> str:
    name = literal(desk.mask(desk.undoing.name_of(done.undo.path)))
    outcome = done.outcome.value if is_done else _WOULD[done.outcome]
    return f"- {name}: {outcome}" + (f", {desk.mask(done.why)}" if done.why else "")


_WOULD = {
    Outcome.RESTORED: "would be put back",
    Outcome.REMOVED: "would be removed",
    Outcome.RECREATED: "would be created again",
    Outcome.UNCHANGED: "is already as it was",
    Outcome.LEFT: "would be left alone",
}
