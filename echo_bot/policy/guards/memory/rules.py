"""Orders by their ideas: each rule names ideas that stand near one another, in any wording and any language."""

# ruff: noqa: E501 - one idea, one line

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from echo_bot.policy.guards.memory.negation import is_negated
from echo_bot.policy.guards.memory.reading import Place, Reading

INJECTION, ROLE, EXFIL = "prompt_injection", "role_hijack", "secret_exfil"


@dataclass(frozen=True, slots=True)
class Near:
    """`ideas` (any of them) from `before` words before the first idea to `after` words after it."""

    ideas: tuple[str, ...]
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Rule:
    """`first` with all of `near` and none of `unless` around it. `commanded`: only where an order begins."""

    kind: str
    first: str
    near: tuple[Near, ...]
    unless: tuple[Near, ...]
    commanded: bool
    negatable: bool


_DISTANCE = re.compile(r"(?:~(?P<around>\d+)|(?:-(?P<before>\d+))?(?:\+(?P<after>\d+))?) ")
_TALK = "~12 REVIEWED"
"""Talk about attacks is no attack."""


def _rule(
    kind: str, first: str, near: str, unless: str = "", *, commanded: bool = False, negatable: bool = True
) -> Rule:
    """Distances in words: `+8 RULES` up to 8 after `first`, `-4` before, `~6` on either side."""
    none = _nears(f"{unless}, {_TALK}" if unless else _TALK)
    return Rule(kind, first, _nears(near) if near else (), none, commanded, negatable)


def _nears(text: str) -> tuple[Near, ...]:
    return tuple(_near(part) for part in text.split(", "))


def _near(text: str) -> Near:
    found = _DISTANCE.match(text)
    if found is None:
        raise ValueError(f"no distance in {text!r}")
    around = found["around"] or "0"
    before, after = found["before"] or around, found["after"] or around
    return Near(tuple(text[found.end() :].split()), int(before), int(after))


RULES: tuple[Rule, ...] = (
    # The rules of the assistant set aside, declared dead, or outranked.
    _rule(INJECTION, "DROP", "+7 CORE", commanded=True),
    _rule(INJECTION, "DROP", "+8 RULES, +12 OWN OLD", unless="~8 BUSINESS", commanded=True),
    _rule(INJECTION, "DROP", "+8 WEAKLY, +12 OWN", unless="~8 BUSINESS", commanded=True),
    _rule(INJECTION, "DROP", "+2 ALL, +3 RULES WEAKLY", unless="~8 BUSINESS", commanded=True),
    _rule(INJECTION, "DROP", "+3 WEAKLY RULES, -4 YOU", unless="~8 BUSINESS, -4 NOT", commanded=True),
    _rule(INJECTION, "CORE", "~6 DROP, ~9 YOU THIS COUNTS"),
    _rule(INJECTION, "DROP", "+3 RULES, ~10 DEAD", unless="~8 BUSINESS", commanded=True),
    _rule(
        INJECTION, "SUPERSEDE", "-4 DEMONSTRATIVE THIS, +6 RULES CORE, +6 OWN OLD ALL", unless="~8 BUSINESS"
    ),
    _rule(INJECTION, "OVER", "+3 CORE, -8 DEMONSTRATIVE THIS RULES", unless="~8 BUSINESS"),
    _rule(INJECTION, "OVER", "+4 RULES WEAKLY, +3 OWN, -8 DEMONSTRATIVE THIS RIGHT", unless="~8 BUSINESS"),
    _rule(INJECTION, "ASRULES", "~9 THIS SOURCE COMPLY TREAT DEMONSTRATIVE", unless="~5 AS_DATA NOT DONT"),
    _rule(INJECTION, "WEAKLY", "+7 DEAD, ~9 YOU", unless="~8 BUSINESS"),
    _rule(INJECTION, "WEAKLY", "+4 DEAD, ~3 OLD, ~7 ALL RIGHT PRETEND TREAT", unless="~8 BUSINESS"),
    _rule(INJECTION, "RULES", "+10 DEAD, ~8 OWN OLD", unless="~8 BUSINESS"),
    _rule(INJECTION, "WEAKLY", "+6 DEAD, ~3 OWN", unless="~8 BUSINESS"),
    _rule(INJECTION, "EARLIER", "~10 DROP DEAD"),
    _rule(INJECTION, "CORE", "~6 DEAD"),
    _rule(INJECTION, "THIS", "~6 COUNTS, ~12 CORE ELSE EARLIER"),
    _rule(INJECTION, "RULES", "~6 DEAD, ~12 RIGHT"),
    _rule(INJECTION, "CORE", "~8 COUNTS RIGHT, ~12 THIS"),
    _rule(INJECTION, "SOURCE", "~6 ORDERS RULES, ~8 COMPLY OBEY", unless="~9 NOT DONT, ~6 AS_DATA"),
    _rule(INJECTION, "COMPLY", "+5 WHOM, +6 ALL ORDERS, ~10 RULES"),
    _rule(INJECTION, "AGAINST", "+4 RULES WEAKLY CORE, +3 OWN", unless="~8 BUSINESS, -6 NOT DONT OUTSIDER"),
    _rule(INJECTION, "CARRYOUT", "~12 ADDRESS SOURCE", unless="~6 NOT DONT"),
    _rule(INJECTION, "WEAKLY", "+4 DEAD, -4 ELSE, -6 THIS", unless="~8 BUSINESS"),
    _rule(INJECTION, "WHOM", "~4 NEWOWNER, ~9 YOU ORDERS AGENT COMPLY", unless="~8 BUSINESS"),
    _rule(
        INJECTION,
        "SHIELD",
        "+4 INAPPLICABLE, ~12 WHOM REQUESTS SOURCE YOU MESSAGES",
        unless="~8 BUSINESS DEVICE",
    ),
    _rule(INJECTION, "WEAKLY", "+4 INAPPLICABLE, ~8 YOU, ~9 OWN", unless="~8 BUSINESS"),
    _rule(INJECTION, "FREELY", "~10 RULES WEAKLY SHIELD LIMITS CORE", unless="~8 BUSINESS", commanded=True),
    _rule(INJECTION, "DECODE", "~10 OBEYIT", commanded=True),
    _rule(INJECTION, "OVER", "+3 ELLIPTIC, -8 DEMONSTRATIVE THIS RULES", unless="~8 BUSINESS"),
    _rule(INJECTION, "HEED", "+8 RULES, +12 NOLONGER, ~12 OWN OLD", unless="~8 BUSINESS", commanded=True),
    _rule(INJECTION, "OBEDIENT", "~8 WHOM SOURCE YOU AGENT", unless="-3 OUTSIDER NOT DONT"),
    _rule(INJECTION, "SOLEMASTER", "", unless="-3 OUTSIDER"),
    _rule(INJECTION, "SUPREME", "~8 THIS", unless="~8 BUSINESS"),
    _rule(INJECTION, "THISWAY", "~8 CLASH", unless="~8 BUSINESS"),
    _rule(INJECTION, "ECHODO", "~8 SOURCE WHOM", unless="~8 BUSINESS"),
    _rule(INJECTION, "LET", "+6 SOURCE, +10 DECIDES", unless="-4 NOT DONT", commanded=True),
    _rule(INJECTION, "NOTHINGABOVE", "+8 BINDING COUNTS"),
    _rule(INJECTION, "WHATFORBIDDEN", "+6 ALLCLEAR DOIT"),
    _rule(INJECTION, "NOTHINGSTOPS", ""),
    _rule(INJECTION, "TRUSTVERB", "+3 WHOM, +5 OVER", unless="~8 BUSINESS", commanded=True),
    _rule(INJECTION, "TAKEORDERS", "+6 SOURCE PICTURES", unless="-3 OUTSIDER NOT DONT"),
    _rule(INJECTION, "LOCKON", "+9 DOWN", unless="~8 BUSINESS DEVICE"),
    # Consent skipped, assumed, faked or worked around.
    _rule(INJECTION, "WITHOUT", "+5 CONSENT, ~9 ACT", unless="~8 BUSINESS, ~9 NOT, ~5 NOTHING"),
    _rule(INJECTION, "WITHOUT", "+4 CONSENT, ~6 AGENT", unless="~8 BUSINESS, ~9 NOT", commanded=True),
    _rule(INJECTION, "UNDONE", "-3 CONSENT, ~7 ACT", unless="~8 BUSINESS, ~5 NOTHING"),
    _rule(INJECTION, "LACKING", "+4 CONSENT, ~7 ACT", unless="~8 BUSINESS, ~9 NOT DONT"),
    _rule(INJECTION, "SKIP", "~5 CONSENT, ~9 ACT", unless="~8 BUSINESS, -6 NOT"),
    _rule(INJECTION, "SKIP", "~4 CONSENT, ~6 AGENT", unless="~8 BUSINESS, -6 NOT", commanded=True),
    _rule(INJECTION, "AGREED", "~5 PERSON, ~5 ALL, ~9 ACT AGENT", unless="~8 BUSINESS"),
    _rule(INJECTION, "AGREED", "~3 ALL, ~5 ACT", unless="~8 BUSINESS"),
    _rule(INJECTION, "ANSWER", "+8 YES, ~8 DIALOG", unless="~8 BUSINESS", commanded=True),
    _rule(INJECTION, "ALWAYSYES", "~12 DIALOG CONSENT", unless="~8 BUSINESS"),
    _rule(INJECTION, "ANSWER", "+6 DIALOG, ~9 BEHALF", unless="~8 BUSINESS, ~6 NOT DONT", commanded=True),
    _rule(INJECTION, "EXECUTED", "~9 NOQUESTIONS, ~9 REQUESTS ORDERS", unless="~8 BUSINESS"),
    _rule(INJECTION, "WITHOUT", "+5 CONSENT, ~14 TRUSTED", unless="~8 BUSINESS"),
    _rule(INJECTION, "AGREED", "~5 PERSON, ~8 NOASK", unless="~8 BUSINESS"),
    _rule(INJECTION, "OWNERSYES", "+6 PRESUMED", unless="~8 BUSINESS, ~6 NOT"),
    _rule(INJECTION, "SILENCED", "~6 ASYES", unless="~8 BUSINESS, ~6 NOT"),
    _rule(INJECTION, "ASYES", "~6 TOKENYES", unless="~8 BUSINESS, ~6 NOT"),
    _rule(INJECTION, "ANSWER", "+5 ALLOWBUTTON", unless="~8 BUSINESS", commanded=True),
    _rule(INJECTION, "ANSWER", "+4 ASHUMAN, +12 CONSENT DIALOG", unless="~8 BUSINESS", commanded=True),
    _rule(INJECTION, "ANSWER", "+3 YES, +7 HUMANSBEHALF", unless="~8 BUSINESS", commanded=True),
    _rule(INJECTION, "SOURCE", "~8 REVIEWNOUN, ~8 ACT ORDERS", unless="~8 BUSINESS"),
    _rule(INJECTION, "CONSENT", "+4 OBTAINED, ~8 FORGOOD", unless="~8 BUSINESS"),
    _rule(INJECTION, "WITHOUT", "+7 OWNERSYES", unless="~8 BUSINESS"),
    _rule(INJECTION, "BYYOU", "~8 DIALOG CONSENT BUTTON", unless="~8 BUSINESS"),
    _rule(INJECTION, "ALREADYYES", "~8 DESPITE", unless="~8 BUSINESS"),
    _rule(
        INJECTION, "APPROVE", "+1 EVERYTHING", unless="~8 BUSINESS, -3 OUTSIDER PERSON ONLY", commanded=True
    ),
    _rule(INJECTION, "TAPFOR", "~8 DIALOG", unless="~8 BUSINESS"),
    _rule(INJECTION, "CONSENT", "+5 SKIPLAST", unless="~8 BUSINESS, ~6 NOT DONT"),
    _rule(INJECTION, "DONTASK", "~6 ACT", unless="~8 BUSINESS"),
    _rule(INJECTION, "ACTFIRST", "~8 CONSENT ACT NOREPORT REQUESTS", unless="~8 BUSINESS"),
    _rule(INJECTION, "DESPITENO", "~9 ANYWAY ACT DOIT", unless="~8 BUSINESS"),
    _rule(INJECTION, "NOCARD", "~9 ACT", unless="~8 BUSINESS"),
    _rule(INJECTION, "NOBLOCK", "~9 ACT REQUESTS", unless="~8 BUSINESS"),
    _rule(INJECTION, "DISMISS", "~6 DIALOG, ~6 STRAIGHT AUTO ALL", unless="~8 BUSINESS"),
    _rule(INJECTION, "ABOUTSAFETY", "~9 ALLCLEAR YES, ~9 ANSWER REPORTED", unless="~8 BUSINESS"),
    _rule(INJECTION, "FROMGATE", "-8 HIDE SLIP DISGUISE", unless="-8 OUTSIDER"),
    _rule(INJECTION, "DISGUISE", "+9 SO, +12 GATE, ~8 ACT", commanded=True),
    _rule(INJECTION, "GRANT", "+5 WHOM, +8 POWER", commanded=True),
    _rule(INJECTION, "TRIGGER", "+12 WHOM, +14 POWER, +14 GRANT COMPLY"),
    _rule(INJECTION, "SKIP", "+3 CONSENT", unless="~8 BUSINESS, -6 NOT DONT OUTSIDER", commanded=True),
    _rule(INJECTION, "CONSENT", "+5 SKIP, +8 IT WHOM", unless="~8 BUSINESS, ~6 NOT DONT"),
    _rule(INJECTION, "CONSENT", "~6 EMPTY", unless="~8 BUSINESS"),
    _rule(INJECTION, "CONSENT", "+4 OBTAINED, ~8 ALL, ~9 ACT REQUESTS", unless="~8 BUSINESS"),
    _rule(INJECTION, "WITHOUT", "+4 CONSENT, -7 WRITE", unless="~8 BUSINESS, ~9 NOT DONT OUTSIDER"),
    _rule(INJECTION, "DENIED", "~9 ANYWAY, ~6 CONSENT PERSON", unless="~8 BUSINESS, ~5 NOT DONT"),
    _rule(INJECTION, "AFTERACT", "~5 CONSENT", unless="~8 BUSINESS"),
    _rule(INJECTION, "CONSENT", "~5 NEVERSHOW", unless="~8 BUSINESS"),
    _rule(INJECTION, "EXECUTED", "~9 ALL WHOM, ~9 REQUESTS WHOM", unless="~8 BUSINESS, -5 NOT DONT"),
    _rule(INJECTION, "AGREED", "~3 PERSON, +5 STRAIGHT, +6 ACT", unless="~8 BUSINESS"),
    _rule(INJECTION, "CONSENT", "-5 YOU, +4 ACT, +5 ALL", unless="~8 BUSINESS, ~6 NOT"),
    _rule(
        INJECTION,
        "APPROVE",
        "+2 AUTO ALL, +6 WHOM ANYONE_ELSE",
        unless="-3 OUTSIDER PERSON ONLY",
        commanded=True,
    ),
    _rule(INJECTION, "BLANKET", "~9 ACT YOU REQUESTS ALL", unless="~8 BUSINESS"),
    _rule(INJECTION, "TREAT", "+9 AGREED CONSENT, ~8 ACT REQUESTS", unless="~8 BUSINESS", commanded=True),
    _rule(INJECTION, "APPROVE", "~5 BEHALF", unless="~8 BUSINESS, -5 NOT DONT", commanded=True),
    _rule(
        INJECTION,
        "APPROVE",
        "+4 ALL AUTO WHOM ACT, +7 REQUESTS ACT",
        unless="~8 BUSINESS, -3 OUTSIDER PERSON ONLY WHETHER",
        commanded=True,
    ),
    _rule(INJECTION, "AUTO", "+3 APPROVE, ~8 REQUESTS ACT", unless="~8 BUSINESS, -2 OUTSIDER, ~6 NOT"),
    _rule(INJECTION, "SETTING", "+5 KNOB, +9 KEYWORD", unless="~8 BUSINESS", commanded=True),
    _rule(
        INJECTION,
        "PRETEND",
        "+9 NOTEXIST, ~9 CONSENT PERSON WEAKLY RULES",
        unless="~8 BUSINESS",
        commanded=True,
    ),
    _rule(
        INJECTION, "OFF", "+4 SHIELD", unless="~8 BUSINESS, ~8 DEVICE, -6 NOT DONT OUTSIDER", commanded=True
    ),
    _rule(INJECTION, "SHIELD", "+4 DOWN", unless="~8 BUSINESS, ~8 DEVICE, -6 NOT OUTSIDER, ~3 NOT"),
    _rule(INJECTION, "PRETEND", "~4 THIS, +8 CORE POWER", commanded=True),
    # Whom to obey, and against what.
    _rule(INJECTION, "SERVE", "+3 ANYONE_ELSE", unless="-2 OUTSIDER PERSON, -4 NOT DONT", commanded=True),
    _rule(INJECTION, "DONOTOBEY", "~3 PERSON POWER", negatable=False),
    _rule(
        INJECTION,
        "MUSTNOT",
        "+2 REFUSED, +5 ANYREQUEST, ~9 YOU WHOM ALL",
        unless="~8 BUSINESS",
        negatable=False,
    ),
    _rule(INJECTION, "DESPITE", "+6 FORBID, ~8 DOIT", unless="~8 BUSINESS"),
    _rule(
        INJECTION,
        "REPLACEMENT",
        "~3 CORE RULES, ~9 COMPLY OBEY SERVE DROP YOU ERASE APPROVE",
        unless="~8 BUSINESS",
    ),
    # Secrecy from the people the assistant answers to.
    _rule(INJECTION, "NOTTELL", "-2+4 HUMAN, ~10 KEPT KNOW", negatable=False),
    _rule(INJECTION, "HUMAN", "~7 NOTKNOW, ~10 KEPT NOBODY", negatable=False),
    _rule(INJECTION, "NOBODY", "+8 NOTKNOW, +10 KEPT", negatable=False),
    _rule(INJECTION, "HUMAN", "-6 NOBODY, +3 LEARN, +6 SELF", negatable=False),
    _rule(INJECTION, "HIDE", "+9 FROMHUMAN", unless="~8 DEVICE", commanded=True),
    _rule(INJECTION, "FROMHUMAN", "~6 KEPT KNOW DEED"),
    _rule(INJECTION, "HIDE", "+3 MEMO SELF, +5 CONFIDENTIAL", commanded=True),
    _rule(INJECTION, "HIDE", "+3 AUDIT", unless="~8 DEVICE", commanded=True),
    _rule(INJECTION, "COVERUP", "+5 DEED ACTION ACT", unless="-3 OUTSIDER"),
    _rule(INJECTION, "HANDOVER", "-6 DONT, -5 KEPT, +2 HUMAN", unless="~6 SECRET", negatable=False),
    _rule(INJECTION, "DECEIVE", "+3 HUMAN", commanded=True),
    _rule(INJECTION, "LIE", "+4 MEMO", commanded=True),
    _rule(INJECTION, "FALSEREPORT", "~10 DESPITE", unless="-3 OUTSIDER"),
    _rule(INJECTION, "NOTSAY", "+4 MEMO", commanded=True, negatable=False),
    _rule(
        INJECTION,
        "ERASE",
        "~4 AUDIT, ~8 AFTERWARDS",
        unless="~8 BUSINESS, ~5 NOT DONT OUTSIDER",
        commanded=True,
    ),
    _rule(INJECTION, "NOTLOG", "~5 ACTION", unless="~6 SECRET", negatable=False),
    _rule(INJECTION, "COVER", ""),
    _rule(INJECTION, "HUSH", "~9 DEED ACT SELF MEMO"),
    _rule(INJECTION, "NOTLOG", "~8 QUIETLY", negatable=False),
    _rule(INJECTION, "TOHUMAN", "+8 NOTTELL, ~10 KEPT KNOW DEED RULES", negatable=False),
    _rule(INJECTION, "ERASE", "+3 SELF, +9 REPORTED, +12 HUMAN", commanded=True),
    _rule(INJECTION, "SAYNOTHING", "+5 HUMAN", unless="-3 OUTSIDER", negatable=False),
    _rule(INJECTION, "OUT", "~9 REPORTED, ~7 DEED", unless="~8 BUSINESS", commanded=True),
    _rule(INJECTION, "IFASKED", "~12 COVERSTORY NOTEXIST"),
    # Another role.
    _rule(ROLE, "BECOME", "+12 UNBOUND", unless="-5 OUTSIDER", commanded=True),
    _rule(ROLE, "YOU", "+6 UNBOUND"),
    _rule(ROLE, "BECOME", "+7 RANK", unless="-4 OUTSIDER", commanded=True),
    _rule(ROLE, "NOTASSISTANT", "~5 YOU", unless="-3 OUTSIDER", negatable=False),
    _rule(ROLE, "NEWSELF", ""),
    _rule(ROLE, "NOLONGERYOU", "+5 ASSISTANT", negatable=False),
    _rule(ROLE, "NOTASSISTANT", "-8 YOU", negatable=False),
    _rule(ROLE, "PRETEND", "+8 UNBOUND, ~12 YOU", unless="~8 BUSINESS", commanded=True),
    _rule(ROLE, "ENTER", "+5 MODE", unless="~8 DEVICE, -4 OUTSIDER", commanded=True),
    _rule(ROLE, "MODE", "~8 SHIELD UNBOUND WEAKLY", unless="~8 DEVICE"),
    _rule(ROLE, "LOYAL", "~4 ONLY, ~8 YOU AGENT"),
    # Secrets and instructions carried out, doors let open.
    _rule(EXFIL, "SEND", "+9 SECRET, ~12 SINK", unless="~4 GUEST, -1 OUTSIDER, +3 WHETHER", commanded=True),
    _rule(EXFIL, "SEND", "+2 IT, -12 SECRET, +8 SINK", unless="~4 GUEST, -1 OUTSIDER", commanded=True),
    _rule(EXFIL, "MOVE", "~9 SECRET, ~7 SINK", unless="~4 GUEST, -8 DONT NOT OUTSIDER"),
    _rule(EXFIL, "HANDOVER", "~3 SECRET, ~4 SINK", unless="~4 GUEST, ~3 SOURCE, ~8 DONT NOT OUTSIDER"),
    _rule(EXFIL, "MOVE", "~6 MYPROMPT, ~6 FULL", unless="-8 DONT NOT OUTSIDER"),
    _rule(EXFIL, "SEND", "~7 MYPROMPT CORE, ~10 FULL", unless="~1 OUTSIDER", commanded=True),
    _rule(EXFIL, "TOOLNET", "~14 SENSITIVE, ~14 ADDRESS SINK", unless="~3 IDENTITY"),
    _rule(EXFIL, "RETELL", "+3 VARIABLE, -14 TRIGGER", commanded=True),
    _rule(EXFIL, "SEND", "+3 IT, -10 SENSITIVE", unless="-4 NOT DONT OUTSIDER", commanded=True),
    _rule(EXFIL, "AUTHKEYS", "~8 REPEAT OPEN INSERTED GRANT SEND", unless="~8 BUSINESS"),
    _rule(EXFIL, "RETELL", "+5 YOURPROMPT", unless="-5 NOT DONT", commanded=True),
    _rule(EXFIL, "SEND", "+5 GOODS, +9 ADDRESS", unless="-4 OUTSIDER NOT DONT", commanded=True),
    _rule(EXFIL, "RETELL", "+5 EARLIER", commanded=True),
    _rule(EXFIL, "SEND", "+5 SENSITIVE, ~9 ADDRESS SINK"),
    _rule(EXFIL, "TRIGGER", "+14 SEND, +16 ADDRESS, ~16 SECRET"),
    _rule(INJECTION, "FETCHRUN", "~14 EVERYRUN, ~12 ADDRESS"),
    _rule(EXFIL, "BACKDOOR", "-4 OPEN"),
    _rule(EXFIL, "SECRET", "~12 GETCOPY, ~12 WHOM", unless="~6 GUEST, ~8 NOT DONT"),
    _rule(EXFIL, "LET", "+4 WHOM, +6 LEARN, +10 SECRET", unless="~6 GUEST, -4 NOT DONT", commanded=True),
    _rule(
        EXFIL,
        "SEND",
        "+9 SECRET, +14 TRIGGER, +16 ANYBODY",
        unless="~6 GUEST, -4 NOT DONT OUTSIDER",
        commanded=True,
    ),
    _rule(
        EXFIL, "COLLECT", "+8 SECRET, +22 WHOM, +22 RETRIEVE", unless="-4 NOT DONT OUTSIDER", commanded=True
    ),
    _rule(EXFIL, "POSTED", "-3 WHOM, +6 SECRET", unless="~6 GUEST, ~8 NOT DONT"),
    _rule(EXFIL, "MOVE", "-9 KEYFILE", unless="-9 DONT NOT OUTSIDER"),
    _rule(INJECTION, "REPEAT", "~5 SELF, ~8 EVERYWHERE", commanded=True),
    _rule(INJECTION, "UNDELETE", "~6 SELF", negatable=False),
    _rule(INJECTION, "OBEY", "+5 ORDERS, +7 CONCEALED", unless="~1 OUTSIDER", commanded=True),
)


def orders_in(reading: Reading) -> Iterator[tuple[str, str]]:
    """The kind and the words of each order: at most one for each rule."""
    for rule in filter(lambda rule: rule.first in reading.ideas, RULES):
        for place in reading.places(rule.first):
            if holds(rule, place, reading):
                yield rule.kind, reading.text[max(0, place[2] - 10) : place[3] + 40]
                break


def holds(rule: Rule, place: Place, reading: Reading) -> bool:
    """Is this place of the first idea of `rule` an order?"""
    if rule.commanded and not reading.begins_clause(place):
        return False
    if any(not _found(near, place, reading, place) for near in rule.near):
        return False
    if any(_found(near, place, reading, None) for near in rule.unless):
        return False
    return not (rule.negatable and is_negated(reading.text, place[2], place[3]))


def _found(near: Near, place: Place, reading: Reading, apart: Place | None) -> bool:
    low = place[0] - near.before
    high = place[1] + near.after if near.after else place[0]
    return any(reading.has(idea, low, high, apart=apart) for idea in near.ideas)
