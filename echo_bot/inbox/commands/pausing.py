"""Holding new work: /pause and /resume. An admin holds everything, whoever else may speak this chat alone."""

from __future__ import annotations

from echo_bot.inbox.commands.desk import Desk, Request
from echo_bot.inbox.commands.words import literal, utc_minute
from echo_bot.text.language import N_, _

HERE, EVERYWHERE = "here", "everywhere"
PLACES = (HERE, EVERYWHERE)

_ONLY_ADMINS = N_(
    "Only an admin can do that everywhere; `/{name} here` is about this chat. Nothing was done."
)


async def pause(request: Request, desk: Desk) -> str:
    where = await _where(request, desk, "pause")
    if where == HERE:
        if not await desk.pausing.pause(request.sender, request.session_key):
            return _("This chat is paused already. `/resume` lets it go on.")
        await desk.audit.record("paused", by=str(request.sender), session=request.session_key)
        return _("This chat is paused. What is running goes on; new messages wait until `/resume`.")
    if where == EVERYWHERE:
        if not await desk.pausing.pause(request.sender):
            return _everything_is_paused(desk)
        await desk.audit.record("paused", by=str(request.sender), session="")
        return _(
            "Everything is paused: nothing new begins in any chat, and no job or worker. "
            "What is running goes on; messages wait until an admin's `/resume`."
        )
    return where


async def resume(request: Request, desk: Desk) -> str:
    """Without a place: this chat and, by an admin, everything."""
    where = await _where(request, desk, "resume")
    if where not in PLACES:
        return where
    lifted = [HERE] if await desk.pausing.resume(request.session_key) else []
    if where == EVERYWHERE and await desk.pausing.resume():
        lifted.append(EVERYWHERE)
    for place in lifted:
        session = request.session_key if place == HERE else ""
        await desk.audit.record("resumed", by=str(request.sender), session=session)
    if desk.pausing.is_paused():
        return _("Everything is paused, and only an admin's `/resume` ends that.")
    if not lifted:
        return _("Nothing is paused.") if where == EVERYWHERE else _("This chat is not paused.")
    return _("Everything goes on.") if EVERYWHERE in lifted else _("Going on.")


def _everything_is_paused(desk: Desk) -> str:
    held = desk.pausing.pause_of()
    if held is None:
        return _("Everything is paused already. `/resume` lets it go on.")
    told = _("Everything is paused already, since {time} by {person}. `/resume` lets it go on.")
    return told.format(time=utc_minute(held.at), person=held.by)


async def _where(request: Request, desk: Desk, name: str) -> str:
    """One of `PLACES`, or the sentence that refuses."""
    asked = request.rest.strip().lower()
    if asked not in ("", *PLACES):
        told = _("{word} is no place; write `/{name} here` or `/{name} everywhere`. Nothing was done.")
        return told.format(word=literal(asked), name=name)
    is_admin = await desk.overview.is_admin(request.sender)
    if asked == EVERYWHERE and not is_admin:
        return _(_ONLY_ADMINS).format(name=name)
    return asked or (EVERYWHERE if is_admin else HERE)
