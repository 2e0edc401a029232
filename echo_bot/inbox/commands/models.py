"""The models of a conversation and what they cost: /model, /cost."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from echo_bot.agent.usage_words import usage_line, usage_lines
from echo_bot.inbox.commands.desk import Desk, Request
from echo_bot.inbox.commands.words import literal
from echo_bot.text.language import N_, _, listed

_NONE = N_("No model is configured; `models.default` names one.")


async def model(request: Request, desk: Desk) -> str:
    """Which models there are; with a name the one that this conversation asks first."""
    models = desk.models
    if models is None:
        return _(_NONE)
    wanted = request.rest.strip()
    chosen = await models.chosen(request.session_key)
    if not wanted:
        lines = [_listed(name, chosen, models.default) for name in models.names]
        return "\n".join([*lines, "", _("`/model <name>` chooses one for this conversation.")])
    if request.event.is_group and not await desk.overview.is_admin(request.sender):
        return _("In a group only admins choose the model.")
    name = _meant(wanted, models.names, models.default)
    if name is None:
        near = get_close_matches(wanted, models.names, n=1, cutoff=0.3)
        template = (
            _("There is no model {name}. Did you mean {near}? Nothing was changed.")
            if near
            else _("There is no model {name}. `/model` lists them. Nothing was changed.")
        )
        return template.format(name=literal(desk.mask(wanted[:100])), near="".join(map(literal, near)))
    await models.choose(request.session_key, name)
    return _("This conversation now asks {name}.").format(name=literal(name))


async def cost(request: Request, desk: Desk) -> str:
    """What this conversation used; admins see the whole day as well."""
    mine = await desk.ledger.of_session(request.session_key)
    lines = [_("This conversation: {used}.").format(used=usage_line(mine)), *_below(usage_lines(mine))]
    if await desk.overview.is_admin(request.sender):
        today = await desk.ledger.today()
        lines += [
            "",
            _("Today, everybody: {used}.").format(used=usage_line(today)),
            *_below(usage_lines(today)),
        ]
    if refusal := await desk.ledger.refusal(_):
        lines += ["", _("No model is asked any more today: {reason}.").format(reason=refusal)]
    return "\n".join(lines)


def _meant(wanted: str, names: tuple[str, ...], default: str) -> str | None:
    """By its whole name, or by what stands behind the provider where that is one model's alone."""
    if wanted.lower() == "default":
        return default
    same = [name for name in names if wanted.lower() in (name.lower(), name.partition(":")[2].lower())]
    return same[0] if len(same) == 1 else None


def _listed(name: str, chosen: str, default: str) -> str:
    marks = [
        word for word, holds in ((_("chosen"), name == chosen), (_("default"), name == default)) if holds
    ]
    return f"- {literal(name)}" + (f" ({listed(marks)})" if marks else "")


def _below(lines: Iterable[str]) -> list[str]:
    return [f"- {line}" for line in lines]
