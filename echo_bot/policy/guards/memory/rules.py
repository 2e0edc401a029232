"""Orders by their ideas: each rule names ideas that stand near one another, in any wording and any language."""

# ruff: noqa: E501 - one idea, one line

from __future__ import annotations

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
    near: tuple[Near, ...] = ()
    unless: tuple[Near, ...] = ()
    commanded: bool = False
    negatable: bool = True


def _near(ideas: str, reach: int) -> Near:
    return Near(tuple(ideas.split()), reach, reach)


def _after(ideas: str, reach: int) -> Near:
    return Near(tuple(ideas.split()), 0, reach)


def _before(ideas: str, reach: int) -> Near:
    return Near(tuple(ideas.split()), reach, 0)


_TALK = _near("REVIEWED", 12)
_HOUSEHOLD = _near("BUSINESS", 8)
_SHARED = _near("GUEST", 4)

RULES: tuple[Rule, ...] = (
    # The rules of the assistant set aside, declared dead, or outranked.
    Rule(INJECTION, "DROP", (_after("CORE", 7),), (_TALK,), commanded=True),
    Rule(INJECTION, "DROP", (_after("RULES", 8), _after("OWN OLD", 12)), (_TALK, _HOUSEHOLD), commanded=True),
    Rule(INJECTION, "DROP", (_after("WEAKLY", 8), _after("OWN", 12)), (_TALK, _HOUSEHOLD), commanded=True),
    Rule(
        INJECTION, "DROP", (_after("ALL", 2), _after("RULES WEAKLY", 3)), (_TALK, _HOUSEHOLD), commanded=True
    ),
    Rule(INJECTION, "CORE", (_near("DROP", 6), _near("YOU THIS COUNTS", 9)), (_TALK,)),
    Rule(INJECTION, "DROP", (_after("RULES", 3), _near("DEAD", 10)), (_TALK, _HOUSEHOLD), commanded=True),
    Rule(
        INJECTION,
        "SUPERSEDE",
        (_before("DEMONSTRATIVE THIS", 4), _after("RULES CORE", 6), _after("OWN OLD ALL", 6)),
        (_TALK, _HOUSEHOLD),
    ),
    Rule(INJECTION, "OVER", (_after("CORE", 3), _before("DEMONSTRATIVE THIS RULES", 8)), (_TALK, _HOUSEHOLD)),
    Rule(
        INJECTION,
        "OVER",
        (_after("RULES WEAKLY", 4), _after("OWN", 3), _before("DEMONSTRATIVE THIS RIGHT", 8)),
        (_TALK, _HOUSEHOLD),
    ),
    Rule(
        INJECTION,
        "ASRULES",
        (_near("THIS SOURCE COMPLY TREAT DEMONSTRATIVE", 9),),
        (_TALK, _near("AS_DATA NOT DONT", 5)),
    ),
    Rule(INJECTION, "WEAKLY", (_after("DEAD", 7), _near("YOU", 9)), (_TALK, _HOUSEHOLD)),
    Rule(
        INJECTION,
        "WEAKLY",
        (_after("DEAD", 4), _near("OLD", 3), _near("ALL RIGHT PRETEND TREAT", 7)),
        (_TALK, _HOUSEHOLD),
    ),
    Rule(INJECTION, "RULES", (_after("DEAD", 10), _near("OWN OLD", 8)), (_TALK, _HOUSEHOLD)),
    Rule(INJECTION, "WEAKLY", (_after("DEAD", 6), _near("OWN", 3)), (_TALK, _HOUSEHOLD)),
    Rule(INJECTION, "EARLIER", (_near("DROP DEAD", 10),), (_TALK,)),
    Rule(INJECTION, "CORE", (_near("DEAD", 6),), (_TALK,)),
    Rule(INJECTION, "THIS", (_near("COUNTS", 6), _near("CORE ELSE EARLIER", 12))),
    Rule(INJECTION, "RULES", (_near("DEAD", 6), _near("RIGHT", 12)), (_TALK,)),
    Rule(INJECTION, "CORE", (_near("COUNTS RIGHT", 8), _near("THIS", 12)), (_TALK,)),
    Rule(
        INJECTION,
        "SOURCE",
        (_near("ORDERS RULES", 6), _near("COMPLY OBEY", 8)),
        (_TALK, _near("NOT DONT", 9), _near("AS_DATA", 6)),
    ),
    Rule(INJECTION, "COMPLY", (_after("WHOM", 5), _after("ALL ORDERS", 6), _near("RULES", 10)), (_TALK,)),
    # Consent skipped, assumed, faked or worked around.
    Rule(INJECTION, "WITHOUT", (_after("CONSENT", 5), _near("ACT", 9)), (_TALK, _HOUSEHOLD, _near("NOT", 9))),
    Rule(
        INJECTION,
        "WITHOUT",
        (_after("CONSENT", 4), _near("AGENT", 6)),
        (_TALK, _HOUSEHOLD, _near("NOT", 9)),
        commanded=True,
    ),
    Rule(INJECTION, "UNDONE", (_before("CONSENT", 3), _near("ACT", 7)), (_TALK, _HOUSEHOLD)),
    Rule(
        INJECTION,
        "LACKING",
        (_after("CONSENT", 4), _near("ACT", 7)),
        (_TALK, _HOUSEHOLD, _near("NOT DONT", 9)),
    ),
    Rule(INJECTION, "SKIP", (_near("CONSENT", 5), _near("ACT", 9)), (_TALK, _HOUSEHOLD, _before("NOT", 6))),
    Rule(
        INJECTION,
        "SKIP",
        (_near("CONSENT", 4), _near("AGENT", 6)),
        (_TALK, _HOUSEHOLD, _before("NOT", 6)),
        commanded=True,
    ),
    Rule(
        INJECTION, "AGREED", (_near("PERSON", 5), _near("ALL", 5), _near("ACT AGENT", 9)), (_TALK, _HOUSEHOLD)
    ),
    Rule(INJECTION, "AGREED", (_near("ALL", 3), _near("ACT", 5)), (_TALK, _HOUSEHOLD)),
    Rule(INJECTION, "ANSWER", (_after("YES", 8), _near("DIALOG", 8)), (_TALK, _HOUSEHOLD), commanded=True),
    Rule(
        INJECTION,
        "DISGUISE",
        (_after("SO", 9), _after("GATE", 12), _near("ACT", 8)),
        (_TALK,),
        commanded=True,
    ),
    Rule(INJECTION, "GRANT", (_after("WHOM", 5), _after("POWER", 8)), (_TALK,), commanded=True),
    Rule(
        INJECTION,
        "TRIGGER",
        (_after("WHOM", 12), _after("POWER", 14), _after("GRANT COMPLY BECOMES", 14)),
        (_TALK,),
    ),
    Rule(
        INJECTION,
        "SKIP",
        (_after("CONSENT", 3),),
        (_TALK, _HOUSEHOLD, _before("NOT DONT OUTSIDER", 6)),
        commanded=True,
    ),
    Rule(
        INJECTION,
        "CONSENT",
        (_after("SKIP", 5), _after("IT WHOM", 8)),
        (_TALK, _HOUSEHOLD, _near("NOT DONT", 6)),
    ),
    Rule(INJECTION, "CONSENT", (_near("EMPTY", 6),), (_TALK, _HOUSEHOLD)),
    Rule(
        INJECTION,
        "CONSENT",
        (_after("OBTAINED", 4), _near("ALL", 8), _near("ACT REQUESTS", 9)),
        (_TALK, _HOUSEHOLD),
    ),
    Rule(
        INJECTION,
        "WITHOUT",
        (_after("CONSENT", 4), _before("WRITE", 7)),
        (_TALK, _HOUSEHOLD, _near("NOT DONT OUTSIDER", 9)),
    ),
    Rule(INJECTION, "BLANKET", (_near("ACT YOU REQUESTS ALL", 9),), (_TALK, _HOUSEHOLD)),
    Rule(
        INJECTION,
        "TREAT",
        (_after("AGREED CONSENT", 9), _near("ACT REQUESTS", 8)),
        (_TALK, _HOUSEHOLD),
        commanded=True,
    ),
    Rule(
        INJECTION,
        "APPROVE",
        (_near("BEHALF", 5),),
        (_TALK, _HOUSEHOLD, _before("NOT DONT", 5)),
        commanded=True,
    ),
    Rule(
        INJECTION,
        "APPROVE",
        (_after("ALL AUTO WHOM ACT", 4), _after("REQUESTS ACT", 7)),
        (_TALK, _HOUSEHOLD, _before("OUTSIDER PERSON ONLY", 3)),
        commanded=True,
    ),
    Rule(
        INJECTION,
        "AUTO",
        (_after("APPROVE", 3), _near("REQUESTS ACT", 8)),
        (_TALK, _HOUSEHOLD, _before("OUTSIDER", 2), _near("NOT", 6)),
    ),
    Rule(
        INJECTION, "SETTING", (_after("KNOB", 5), _after("KEYWORD", 9)), (_TALK, _HOUSEHOLD), commanded=True
    ),
    Rule(
        INJECTION,
        "PRETEND",
        (_after("NOTEXIST", 9), _near("CONSENT PERSON WEAKLY RULES", 9)),
        (_TALK, _HOUSEHOLD),
        commanded=True,
    ),
    Rule(
        INJECTION,
        "OFF",
        (_after("SHIELD", 4),),
        (_TALK, _HOUSEHOLD, _near("DEVICE", 8), _before("NOT DONT OUTSIDER", 6)),
        commanded=True,
    ),
    Rule(
        INJECTION,
        "SHIELD",
        (_after("DOWN", 4),),
        (_TALK, _HOUSEHOLD, _near("DEVICE", 8), _before("NOT OUTSIDER", 6), _near("NOT", 3)),
    ),
    Rule(INJECTION, "PRETEND", (_near("THIS", 4), _after("CORE POWER", 8)), (_TALK,), commanded=True),
    # Whom to obey, and against what.
    Rule(
        INJECTION,
        "SERVE",
        (_after("ANYONE_ELSE", 3),),
        (_TALK, _before("OUTSIDER PERSON", 2), _before("NOT DONT", 4)),
        commanded=True,
    ),
    Rule(INJECTION, "DONOTOBEY", (_near("PERSON POWER", 3),), (_TALK,), negatable=False),
    Rule(
        INJECTION,
        "MUSTNOT",
        (_after("REFUSED", 2), _after("ANYREQUEST", 5), _near("YOU WHOM ALL", 9)),
        (_TALK, _HOUSEHOLD),
        negatable=False,
    ),
    Rule(INJECTION, "DESPITE", (_after("FORBID", 6), _near("DOIT", 8)), (_TALK, _HOUSEHOLD)),
    Rule(
        INJECTION,
        "REPLACEMENT",
        (_near("CORE RULES", 3), _near("COMPLY OBEY SERVE DROP YOU ERASE APPROVE", 9)),
        (_TALK, _HOUSEHOLD),
    ),
    # Secrecy from the people the assistant answers to.
    Rule(INJECTION, "NOTTELL", (Near(("HUMAN",), 2, 4), _near("KEPT KNOW", 10)), (_TALK,), negatable=False),
    Rule(INJECTION, "HUMAN", (_near("NOTKNOW", 7), _near("KEPT NOBODY", 10)), (_TALK,), negatable=False),
    Rule(INJECTION, "NOBODY", (_after("NOTKNOW", 8), _after("KEPT", 10)), (_TALK,), negatable=False),
    Rule(
        INJECTION,
        "HUMAN",
        (_before("NOBODY", 6), _after("LEARN", 3), _after("SELF", 6)),
        (_TALK,),
        negatable=False,
    ),
    Rule(INJECTION, "HIDE", (_after("FROMHUMAN", 9),), (_TALK, _near("DEVICE", 8)), commanded=True),
    Rule(INJECTION, "FROMHUMAN", (_near("KEPT KNOW DEED", 6),), (_TALK,)),
    Rule(INJECTION, "HIDE", (_after("MEMO SELF", 3), _after("CONFIDENTIAL", 5)), (_TALK,), commanded=True),
    Rule(INJECTION, "DECEIVE", (_after("HUMAN", 3),), (_TALK,), commanded=True),
    Rule(INJECTION, "NOTSAY", (_after("MEMO", 4),), (_TALK,), commanded=True, negatable=False),
    Rule(
        INJECTION,
        "ERASE",
        (_after("AUDIT", 4), _near("AFTERWARDS", 8)),
        (_TALK, _HOUSEHOLD, _near("NOT DONT OUTSIDER", 5)),
        commanded=True,
    ),
    Rule(INJECTION, "NOTLOG", (_near("ACTION", 5),), (_TALK, _near("SECRET", 6)), negatable=False),
    Rule(INJECTION, "COVER", (), (_TALK,)),
    Rule(INJECTION, "OUT", (_near("REPORTED", 9), _near("DEED", 7)), (_TALK, _HOUSEHOLD), commanded=True),
    Rule(INJECTION, "IFASKED", (_after("COVERSTORY NOTEXIST", 12),), (_TALK,)),
    # Another role.
    Rule(ROLE, "BECOME", (_after("UNBOUND", 12),), (_TALK, _before("OUTSIDER", 5)), commanded=True),
    Rule(ROLE, "YOU", (_after("UNBOUND", 6),), (_TALK,)),
    Rule(ROLE, "BECOME", (_after("RANK", 7),), (_TALK, _before("OUTSIDER", 4)), commanded=True),
    Rule(ROLE, "NOTASSISTANT", (_near("YOU", 5),), (_TALK, _before("OUTSIDER", 3)), negatable=False),
    Rule(ROLE, "NEWSELF", (), (_TALK,)),
    Rule(
        ROLE,
        "ENTER",
        (_after("MODE", 5),),
        (_TALK, _near("DEVICE", 8), _before("OUTSIDER", 4)),
        commanded=True,
    ),
    Rule(ROLE, "MODE", (_near("SHIELD UNBOUND WEAKLY", 8),), (_TALK, _near("DEVICE", 8))),
    Rule(ROLE, "LOYAL", (_near("ONLY", 4), _near("YOU AGENT", 8)), (_TALK,)),
    # Secrets and instructions carried out, doors let open.
    Rule(
        EXFIL,
        "SEND",
        (_after("SECRET", 9), _near("SINK", 12)),
        (_TALK, _SHARED, _before("OUTSIDER", 1), _after("WHETHER", 3)),
        commanded=True,
    ),
    Rule(
        EXFIL,
        "SEND",
        (_after("IT", 2), _before("SECRET", 12), _after("SINK", 8)),
        (_TALK, _SHARED, _before("OUTSIDER", 1)),
        commanded=True,
    ),
    Rule(
        EXFIL,
        "MOVE",
        (_near("SECRET", 9), _near("SINK", 7)),
        (_TALK, _SHARED, _before("DONT NOT OUTSIDER", 8)),
    ),
    Rule(
        EXFIL,
        "HANDOVER",
        (_near("SECRET", 3), _near("SINK", 4)),
        (_TALK, _SHARED, _near("SOURCE", 3), _near("DONT NOT OUTSIDER", 8)),
    ),
    Rule(EXFIL, "MOVE", (_near("MYPROMPT", 6), _near("FULL", 6)), (_TALK, _before("DONT NOT OUTSIDER", 8))),
    Rule(
        EXFIL,
        "SEND",
        (_near("MYPROMPT CORE", 7), _near("FULL", 10)),
        (_TALK, _near("OUTSIDER", 1)),
        commanded=True,
    ),
    Rule(EXFIL, "TOOLNET", (_near("SENSITIVE", 14), _near("ADDRESS SINK", 14)), (_TALK,)),
    Rule(EXFIL, "AUTHKEYS", (_near("REPEAT OPEN INSERTED GRANT SEND", 8),), (_TALK,)),
    Rule(EXFIL, "RETELL", (_after("YOURPROMPT", 5),), (_TALK, _before("NOT DONT", 5)), commanded=True),
    Rule(
        EXFIL,
        "SEND",
        (_after("GOODS", 5), _after("ADDRESS", 9)),
        (_TALK, _before("OUTSIDER NOT DONT", 4)),
        commanded=True,
    ),
    Rule(EXFIL, "RETELL", (_after("EARLIER", 5),), (_TALK,), commanded=True),
    Rule(EXFIL, "SEND", (_after("SENSITIVE", 5), _near("ADDRESS SINK", 9)), (_TALK,)),
    Rule(EXFIL, "TRIGGER", (_after("SEND", 14), _after("ADDRESS", 16), _near("SECRET READING", 16))),
    Rule(INJECTION, "FETCHRUN", (_near("EVERYRUN", 14), _near("ADDRESS", 12)), (_TALK,)),
    Rule(EXFIL, "BACKDOOR", (_before("OPEN", 4),), (_TALK,)),
    Rule(INJECTION, "REPEAT", (_near("SELF", 5), _near("EVERYWHERE", 8)), (_TALK,), commanded=True),
    Rule(INJECTION, "UNDELETE", (_near("SELF", 6),), (_TALK,), negatable=False),
    Rule(
        INJECTION,
        "OBEY",
        (_after("ORDERS", 5), _after("CONCEALED", 7)),
        (_TALK, _near("OUTSIDER", 1)),
        commanded=True,
    ),
)


def orders_in(reading: Reading) -> Iterator[tuple[str, str]]:
    """The kind and the words of each order: at most one for each rule."""
    for rule in RULES:
        for place in reading.places(rule.first):
            if _holds(rule, place, reading):
                yield rule.kind, reading.text[max(0, place[2] - 10) : place[3] + 40]
                break


def _holds(rule: Rule, place: Place, reading: Reading) -> bool:
    if rule.commanded and not reading.begins_clause(place):
        return False
    if any(not _found(near, place, reading, place) for near in rule.near):
        return False
    if any(_found(near, place, reading, None) for near in rule.unless):
        return False
    return not (rule.negatable and is_negated(reading.text, place[2]))


def _found(near: Near, place: Place, reading: Reading, apart: Place | None) -> bool:
    low, high = place[0] - near.before, place[1] + near.after
    return any(reading.has(idea, low, high, apart=apart) for idea in near.ideas)
