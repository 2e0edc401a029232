"""What a press is told that comes to nothing."""

from __future__ import annotations

from echo_bot.events import PressReply
from echo_bot.text.language import _


def unknown_button() -> PressReply:
    return _no(_("This button belongs to a request this bot no longer knows. Nothing was run."))


def needs_no_words() -> PressReply:
    return _no(_("This button needs no words: press it to decide."))


def not_stored() -> PressReply:
    return _no(
        _("The decision could not be stored, so it does not count. Try again; /status says what is wrong.")
    )


def not_theirs_to_ask_again() -> PressReply:
    return _no(_("Only the requester or an approver can ask again."))


def decided_already() -> PressReply:
    return _no(_("This request was decided; there is nothing to ask again."))


def _no(sentence: str) -> PressReply:
    return PressReply(sentence, ok=False)
