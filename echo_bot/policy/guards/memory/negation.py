"""A "never" before an order turns it into a rule of the user: "never bypass the approval" is a good note."""

# ruff: noqa: E501 - a pattern is read as one line

from __future__ import annotations

import re

from echo_bot.policy.guards.memory import fold

_LONGEST = 40
_ENGLISH = re.compile(
    r"\b(?:never|do not|don['’ ]?t|must not|mustn['’ ]?t|should not|shouldn['’ ]?t|shall not|cannot|can['’]? ?not|can['’ ]?t|may not"
    r"|(?:nobody|no one|none of us|no script|no tool|no bot)(?: \w+){0,2}|refuse to|avoid|not allowed to|forbidden to|prohibited to|it is wrong to)"
    r"(?: (?!hesitate|forget|fail|wait|delay|worry|bother|stop|refuse|decline|only|be)\w+| or| and){0,2},? $"
    r"|\b(?:users?|anyone|anybody|those|people|employees|members|contributors|attackers?|scripts?|bots?|he|she) (?:who|that|which)(?: \w+)? $"
    r"|\b(?:attacks?|malware|messages?|texts?|e ?mails?|pages?|prompts?|payloads?|jailbreaks?)(?: that| which)? (?:tries to|try to|trying to|attempts? to|attempting to|asks? (?:\w+ )?to|exfiltrat\w+)(?: \w+)? $"
    r"|\b(?:refuse|reject|report|block|decline|flag)s?(?: \w+){0,3} to $|\b(?:i|we|only [a-z]+(?: (?:and|or) [a-z]+)?|[a-z]+ and i) (?:want to|may|will|can|must|would like to|have to|need to|am allowed to) $"
    r"|\b(?:found|is|was|are|there is) no $"
    r"|\b(?:told|asked|advised|reminded|warned|taught) (?:him|her|them|us|his \w+|her \w+|their \w+) (?:not )?to $"
)
_CHINESE = re.compile(
    r"(?:不要|不能|不得|不可以?|不应该?|不准|不许|禁止|严禁|切勿|请勿|千万别|勿|别|绝不|决不|从不|不会|避免|防止)"
    r"(?:再|随意|擅自|私自|轻易|直接|任何人|试图|尝试|主动|把|将){0,2}$"
)

_BEFORE = "ne n' no non não nie niet nicht inte ikke jangan jamais nunca niemals nooit aldrig mai никогда не ні älä μην لا אל ห้าม อย่า đừng không"
_BEHIND = "jamais pas plus nunca jamás niemals nie nicht nichts keine keinen kein nooit niet geen aldrig inte ikke mai никогда मत"


def _either(words: str) -> str:
    return "|".join(fold.latin(fold.plain(words)).split())


_ELSEWHERE = re.compile(
    rf"(?<!\w)(?:{_either(_BEFORE)})(?: (?:[lts]e|me|la|los|las|o|a|os|je|eu|al|it)){{0,2}} ?$"
)
_AT_THE_END = "ないで ません てはいけ てはなら るな 禁止 지_?마 지_?말 지_?않"
"""What forbids in languages whose verb comes last; `_?` is a blank that may be missing."""

_ELSEWHERE_BEHIND = re.compile(
    rf" ?(?:{_either(_BEHIND)})(?!\w)|\S{{0,3}}?(?:{_either(_AT_THE_END).replace('_', ' ')})"
)
_CYRILLIC = re.compile(r"\w*[\u0400-\u04ff]")
_NOT_IN_CYRILLIC = fold.latin("не ")
"""Folded it looks like an English word."""


def is_negated(copy: str, start: int, end: int | None = None) -> bool:
    """Does what stands right before `start`, or in other languages right behind `end`, forbid it?"""
    before = copy[max(0, start - _LONGEST) : start]
    if _ENGLISH.search(before) or _CHINESE.search(before):
        return True
    found = _ELSEWHERE.search(before)
    if found and (found[0] != _NOT_IN_CYRILLIC or _CYRILLIC.match(copy, start)):
        return True
    return end is not None and bool(_ELSEWHERE_BEHIND.match(copy, end))
