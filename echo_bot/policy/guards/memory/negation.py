"""A "never" before an order turns it into a rule of the user: "never bypass the approval" is a good note."""

# ruff: noqa: E501 - a pattern is read as one line

from __future__ import annotations

import re

_LONGEST = 40
_ENGLISH = re.compile(
    r"\b(?:never|do not|don['’ ]?t|must not|mustn['’ ]?t|should not|shouldn['’ ]?t|shall not|cannot|can['’]? ?not|can['’ ]?t|may not"
    r"|(?:nobody|no one|none of us|no script|no tool|no bot)(?: \w+){0,2}|refuse to|avoid|not allowed to|forbidden to|prohibited to|it is wrong to)"
    r"(?: (?!hesitate|forget|fail|wait|delay|worry|bother|stop|refuse|decline|only|be)\w+| or| and){0,2},? $"
    r"|\b(?:users?|anyone|anybody|those|people|employees|members|contributors|attackers?|scripts?|bots?|he|she) (?:who|that|which)(?: \w+)? $"
    r"|\b(?:attacks?|malware|messages?|texts?|e ?mails?|pages?|prompts?|payloads?|jailbreaks?)(?: that| which)? (?:tries to|try to|trying to|attempts? to|attempting to|asks? (?:\w+ )?to|exfiltrat\w+)(?: \w+)? $"
    r"|\b(?:refuse|reject|report|block|decline|flag)s?(?: \w+){0,3} to $|\b(?:i|we|only [a-z]+(?: (?:and|or) [a-z]+)?|[a-z]+ and i) (?:want to|may|will|can|must|would like to|have to|need to|am allowed to) $"
    r"|\b(?:found|is|was|are|there is) no $"
)
_CHINESE = re.compile(
    r"(?:不要|不能|不得|不可以?|不应该?|不准|不许|禁止|严禁|切勿|请勿|千万别|勿|别|绝不|决不|从不|不会|避免|防止)"
    r"(?:再|随意|擅自|私自|轻易|直接|任何人|试图|尝试|主动|把|将){0,2}$"
)


def is_negated(copy: str, start: int) -> bool:
    """Does what stands right before `start` forbid what follows?"""
    before = copy[max(0, start - _LONGEST) : start]
    return bool(_ENGLISH.search(before) or _CHINESE.search(before))
