"""The scan: characters on the raw text, patterns on copies with disguises undone, then what words weigh."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from echo_bot.policy.decision import Finding, Verdict
from echo_bot.policy.guards.memory import chinese as zh
from echo_bot.policy.guards.memory import english, evidence, exfil, fold, ideas, languages, marks, standing
from echo_bot.policy.guards.memory.characters import blocked_characters
from echo_bot.policy.guards.memory.lexicon import unleet, unsplit
from echo_bot.policy.guards.memory.negation import is_negated
from echo_bot.policy.guards.memory.pattern import Pattern
from echo_bot.policy.guards.memory.reading import Reading
from echo_bot.policy.guards.memory.rules import orders_in

_SENTENCES = {
    "prompt_injection": "The text gives orders to the assistant (“{found}”): only facts are remembered.",
    "role_hijack": "The text gives the assistant another role (“{found}”): only facts are remembered.",
    "secret_exfil": "The text asks to send or let in secrets (“{found}”): that is never remembered.",
}
_ORDERS = (
    english.INJECTION
    + standing.CONSENT
    + standing.SILENCE
    + standing.SCOPE
    + ideas.RULES_REMOVED
    + ideas.CONSENT_SKIPPED
    + ideas.SILENT
)
_ROLES = english.ROLES + standing.ROLES
_SPELT_OUT = Pattern(
    r"(?:ignore|disregard|forget|override|bypass|disobey)(?:all|any|the|my|your|previous|prior|above|earlier|system|safety|of){1,6}"
    r"(?:instruction|rule|prompt|guideline|directive|polic)",
    match=("ignoreallpreviousinstructions",),
    no_match=("ignoretheweather",),
)
_LONGEST_QUOTE = 60


def scan_memory(text: str, field: str) -> tuple[Finding, ...]:
    """Why `text` must not be remembered: at most one finding per kind of order, one per blocked character."""
    findings = list(blocked_characters(text, field))
    seen: set[str] = set()
    for kind, found in _matches(text):
        if kind not in seen:
            seen.add(kind)
            sentence = _SENTENCES[kind].format(found=found[:_LONGEST_QUOTE].strip())
            findings.append(Finding(kind, Verdict.DENY, sentence, field))
    if not findings and (passage := _weighed(text)):
        sentence = _SENTENCES["prompt_injection"].format(found=passage[:_LONGEST_QUOTE].strip())
        findings.append(Finding("prompt_injection", Verdict.DENY, sentence, field))
    return tuple(findings)


def _weighed(text: str) -> str | None:
    return next(filter(None, map(evidence.order_in, (text, *fold.decoded(text)))), None)


def _matches(text: str) -> Iterator[tuple[str, str]]:
    yield from _in_plain(fold.without_mentions(fold.plain(text)))
    for hidden in fold.decoded(text):
        yield from _plainest(fold.latin(fold.plain(hidden)))


def _in_plain(plain: str) -> Iterator[tuple[str, str]]:
    yield from orders_in(Reading(plain))
    latin = fold.latin(plain)
    words = fold.words(latin)
    yield from _search("prompt_injection", marks.TEMPLATE_MARKS, plain)
    yield from _search("prompt_injection", _ORDERS, words)
    yield from _search("role_hijack", _ROLES, words)
    yield from _search("secret_exfil", exfil.EXFILTRATION, latin)
    yield from _search("secret_exfil", ideas.SECRET_OUT, words)
    yield from _search("prompt_injection", (_SPELT_OUT,), fold.squashed(latin))
    for undone in filter(None, (unleet(latin), unsplit(latin))):
        yield from _plainest(undone)
    yield from _search("prompt_injection", languages.OTHER_LANGUAGES, plain)
    if chinese := fold.chinese(plain):
        yield from _search("prompt_injection", languages.CHINESE + zh.ORDERS, chinese)
        yield from _search("role_hijack", languages.CHINESE_ROLES + zh.ROLES, chinese)
        yield from _search("secret_exfil", zh.EXFILTRATION, chinese)


def _plainest(latin: str) -> Iterator[tuple[str, str]]:
    """The orders of a copy that is mostly noise."""
    yield from orders_in(Reading(latin))
    yield from _search("prompt_injection", english.INJECTION[:2], fold.words(latin))


def _search(kind: str, patterns: Iterable[Pattern], copy: str) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        for found in pattern.compiled.finditer(copy):
            if not is_negated(copy, found.start()):
                yield kind, found[0]
                break
