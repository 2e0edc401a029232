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
    Rule(INJECTION, "DROP", (_after("RULES", 8), _after("OWN OLD", 9)), (_TALK, _HOUSEHOLD), commanded=True),
    Rule(INJECTION, "DROP", (_after("WEAKLY", 8), _after("OWN", 9)), (_TALK, _HOUSEHOLD), commanded=True),
    Rule(
        INJECTION, "DROP", (_after("ALL", 2), _after("RULES WEAKLY", 3)), (_TALK, _HOUSEHOLD), commanded=True
    ),
    Rule(INJECTION, "CORE", (_near("DROP", 6), _near("YOU THIS COUNTS", 9)), (_TALK,)),
    Rule(INJECTION, "RULES", (_after("DEAD", 6), _near("OWN OLD", 8)), (_TALK, _HOUSEHOLD)),
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
    # Secrecy from the people the assistant answers to.
    Rule(INJECTION, "NOTTELL", (_after("HUMAN", 4), _near("KEPT KNOW", 10)), (_TALK,), negatable=False),
    Rule(INJECTION, "HUMAN", (_near("NOTKNOW", 7), _near("KEPT NOBODY", 10)), (_TALK,), negatable=False),
    Rule(INJECTION, "NOBODY", (_after("NOTKNOW", 8), _after("KEPT", 10)), (_TALK,), negatable=False),
    Rule(
        INJECTION,
        "HUMAN",
        (_before("NOBODY", 6), _after("LEARN", 3), _after("SELF", 6)),
        (_TALK,),
        negatable=False,
    ),
    Rule(INJECTION, "COVER", (), (_TALK,)),
    Rule(INJECTION, "OUT", (_near("REPORTED", 9), _near("DEED", 7)), (_TALK, _HOUSEHOLD), commanded=True),
    Rule(INJECTION, "IFASKED", (_after("COVERSTORY", 12),), (_TALK,)),
    # Another role.
    Rule(ROLE, "BECOME", (_after("UNBOUND", 12),), (_TALK, _before("OUTSIDER", 5)), commanded=True),
    Rule(ROLE, "YOU", (_after("UNBOUND", 6),), (_TALK,)),
    Rule(ROLE, "BECOME", (_after("RANK", 7),), (_TALK, _near("OUTSIDER", 4)), commanded=True),
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
        (_near("MYPROMPT", 7), _near("FULL", 10)),
        (_TALK, _near("OUTSIDER", 1)),
        commanded=True,
    ),
    Rule(EXFIL, "TOOLNET", (_after("SENSITIVE", 12),), (_TALK,)),
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
    if any(not _found(near, place, reading) for near in rule.near):
        return False
    if any(_found(near, place, reading) for near in rule.unless):
        return False
    return not (rule.negatable and is_negated(reading.text, place[2]))


def _found(near: Near, place: Place, reading: Reading) -> bool:
    low, high = place[0] - near.before, place[1] + near.after
    return any(reading.has(idea, low, high, apart=place) for idea in near.ideas)
