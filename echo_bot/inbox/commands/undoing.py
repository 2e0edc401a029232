"""/undo: what the last writing turn of this conversation wrote is put back, as far as it is still that."""

from __future__ import annotations

from echo_bot.files.checkpoints import Outcome, Undone
from echo_bot.inbox.commands.desk import Desk, Request
from echo_bot.inbox.commands.words import literal, utc_minute
from echo_bot.inbox.undoing import Asked, UndoReport
from echo_bot.session import turn_id_of
from echo_bot.text.language import N_, _, listed

_MOST_FILES = 40


async def undo(request: Request, desk: Desk) -> str:
    asked_for = request.rest.strip().lower()
    if asked_for not in ("", "show"):
        return _("Write `/undo`, or `/undo show` to see what it would change. Nothing was changed.")
    asked = Asked(request.sender, request.session_key, turn_id_of(request.event))
    if asked_for:
        report = await desk.undoing.look(asked)
    elif desk.queues.current(request.session_key):
        return _("A turn is running here: `/stop` it first, or wait for its end. Nothing was changed.")
    else:
        report = await desk.undoing.undo(asked)
    if report is None:
        return _("No file that this conversation wrote can be undone.")
    return _told(report, desk, is_done=not asked_for)


def _told(report: UndoReport, desk: Desk, *, is_done: bool) -> str:
    head = (
        _("Undone what was written at {time}:")
        if is_done
        else _("`/undo` would undo what was written at {time}:")
    )
    lines = [head.format(time=utc_minute(report.at)), ""]
    lines += [_line(done, desk, is_done) for done in report.files[:_MOST_FILES]]
    if len(report.files) > _MOST_FILES:
        lines.append(_("- … and {count} more").format(count=len(report.files) - _MOST_FILES))
    notes = []
    if report.uncovered:
        used = listed(literal(name) for name in report.uncovered)
        told = _("That turn also used {tools}: files that commands changed stay as they are.")
        notes.append(told.format(tools=used))
    if not report.is_noted:
        notes.append(_("The database took no note of this; the log says why."))
    return "\n".join(lines) + "".join(f"\n\n{note}" for note in notes)


def _line(done: Undone, desk: Desk, is_done: bool) -> str:
    name = literal(desk.mask(desk.undoing.name_of(done.undo.path)))
    line = "- " + _("{label}: {text}").format(label=name, text=_((_IS if is_done else _WOULD)[done.outcome]))
    return line + (_(", {reason}").format(reason=desk.mask(_(done.why))) if done.why else "")


_IS = {
    Outcome.RESTORED: N_("put back"),
    Outcome.REMOVED: N_("removed"),
    Outcome.RECREATED: N_("created again"),
    Outcome.UNCHANGED: N_("already as it was"),
    Outcome.LEFT: N_("left alone"),
}
_WOULD = {
    Outcome.RESTORED: N_("would be put back"),
    Outcome.REMOVED: N_("would be removed"),
    Outcome.RECREATED: N_("would be created again"),
    Outcome.UNCHANGED: N_("is already as it was"),
    Outcome.LEFT: N_("would be left alone"),
}
