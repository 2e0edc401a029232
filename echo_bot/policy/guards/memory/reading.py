"""A text read as ideas: which classes of words stand where, whatever the language, the wording and the order."""

# ruff: noqa: E501 - patterns and tables are read as one line

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict

from echo_bot.policy.guards.memory import fold
from echo_bot.policy.guards.memory.lexicon import Lexicon, lexicon

Place = tuple[float, float, int, int]
"""First and last position in words, then first and last character in the text."""

_GLUED = r"\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(
    r"(?P<keys>authorized_keys)|(?P<address>(?:https?|wss?|ftp)://[^\s\"'<>，。$]+|(?<![\w.+-])[a-z0-9._+-]{0,60}@[a-z0-9_-]{1,40}(?:\.[a-z0-9-]{1,40}){0,4}|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}\b"
    r"|(?<![\w.-])(?:[a-z0-9-]{1,40}\.){1,4}(?:example|com|net|org|io)\b)"
    r"|(?P<secret>\.(?:ssh|aws|gnupg|kube|netrc|npmrc|pgpass|docker|env)(?![a-z.])|id_(?:rsa|ed25519|ecdsa)\b(?!\.pub)"
    r"|\b[\w-]{1,40}\.(?:db|sqlite3?|kdbx|pem)\b"
    r"|/etc/(?:passwd|shadow)|/proc/self/environ|\b(?:os\.environ|process\.env)\b(?!\s?[.\[])|\bdocument\.cookie\b|\blocalstorage\b|%(?:[a-z0-9]+_){1,6}(?:key|token|secret|password)%|\$(?:env:)?\{?(?:[a-z0-9]+_){0,6}(?:key|token|secret|password|pat)\b|config\.ya?ml|\$\((?:cat|env|printenv|echo)\b|(?<![\w.])env(?=`?\s*\|)|\$home\b|\.bash_history)"
    r"|(?P<shell>\|\s*(?:sudo\s+)?(?:ba|z)?sh\b|\|\s*python3?\b)"
    r"|(?P<variable>\b[a-z0-9]{1,30}_(?:[a-z0-9]{1,20}_){0,3}(?:key|token|secret|password|pat)\b)"
    r"|(?P<image>!\[[^\]]{0,60}\]\()"
    rf"|(?P<glued>[{_GLUED}])|(?P<word>(?:(?![{_GLUED}])[^\W_])+(?:['’-](?:(?![{_GLUED}])[^\W_])+)*)"
    r"|(?P<stop>[.!?](?=[\s\"')]|$)|[。！？;；:：,，、\n\"“”()\[\]*>])"
)
_KEY_FILE = re.compile(r"\.(?:ssh|aws|gnupg|kube|netrc|pgpass)|id_|/etc/shadow|/proc/")
_STOP_LENGTH = {".": 3, "!": 3, "?": 3, "。": 3, "！": 3, "？": 3, ";": 2, "；": 2, ":": 1, "：": 1}
_GLUED_CHARACTER = re.compile(f"[{_GLUED}]")
_THIRD_PERSON = re.compile(r"[他她它]们?\w?$")
_GLUED_WIDTH = 0.5
_SAME_PHRASE = 3
_LEADS = frozenset(
    [
        "and",
        "then",
        "or",
        "please",
        "just",
        "always",
        "simply",
        "now",
        "also",
        "you",
        "must",
        "should",
        "shall",
        "will",
        "can",
        "may",
        "kindly",
        "automatically",
        "silently",
        "immediately",
        "first",
        "never",
        "not",
        "to",
        "secretly",
        "quietly",
        "let",
        "lets",
        "only",
        "again",
        "instead",
        "either",
        "ever",
        "could",
        "would",
        "be",
        "it",
        "them",
        "so",
        "but",
        "from",
        *(
            "und",
            "dann",
            "bitte",
            "immer",
            "jetzt",
            "y",
            "e",
            "et",
            "puis",
            "toujours",
            "maintenant",
            "luego",
        ),
        *("ahora", "siempre", "sempre", "poi", "ora", "agora", "en", "nu", "zawsze", "teraz", "и", "всегда"),
        *("теперь", "потом", "hay", "och", "og", "alltid", "altid", "ve", "selalu"),
    ]
)


_NO_PROHIBITION = frozenset(
    [
        "ask",
        "asking",
        "wait",
        "waiting",
        "bother",
        "hesitate",
        "forget",
        "fail",
        "prompt",
        "stop",
        "refuse",
        "request",
        "require",
        "need",
        "check",
        "consult",
        "confirm",
        "delay",
        "worry",
        "decline",
        "seek",
        "tell",
        "inform",
        "mention",
        "let",
        "show",
        "reveal",
        "notify",
        "object",
        "question",
    ]
)
"""After these a "never" is no prohibition of what follows later: "never wait, run it"."""

_ASKING_ELSEWHERE = frozenset(
    [
        *(
            "demande",
            "demandes",
            "demandez",
            "demander",
            "preguntes",
            "preguntar",
            "pidas",
            "pedir",
            "peça",
            "peças",
        ),
        *(
            "chiedere",
            "chiedi",
            "frag",
            "frage",
            "fragen",
            "nachfragen",
            "vraag",
            "pytaj",
            "спрашивай",
            "запрашивай",
        ),
    ]
)
"""The same in other languages, where the "never" may also stand behind."""


class Reading:
    """The places of every idea in a text, and where a clause begins."""

    __slots__ = ("_leads", "_places", "_starts", "ideas", "text")

    def __init__(self, plain_text: str) -> None:
        self.text = fold.simplified(fold.latin(plain_text)).replace("’", "'")
        self._places: dict[str, list[Place]] = defaultdict(list)
        self._leads: set[int] = set()
        self._read()
        self._derive()
        for places in self._places.values():
            places.sort()
        self._starts = {idea: [place[0] for place in places] for idea, places in self._places.items()}
        self.ideas = self._places.keys()

    def _read(self) -> None:
        known = lexicon()
        tokens = [
            (found.lastgroup, found[0], found.start(), found.end()) for found in _TOKEN.finditer(self.text)
        ]
        position, lead = 0.0, True
        positions: list[float] = []
        for kind, text, start, _ in tokens:
            if kind == "stop":
                position += _STOP_LENGTH.get(text, 0)
                lead = True
                positions.append(position)
                continue
            if lead:
                self._leads.add(start)
            positions.append(position)
            position += _GLUED_WIDTH if kind == "glued" else 1.0
            lead = text in _LEADS or (lead and text.endswith("ly"))
        for index, (kind, text, start, end) in enumerate(tokens):
            here = positions[index]
            if kind == "address":
                self._add("SINK", here, here, start, end)
                self._add("ADDRESS", here, here, start, end)
            elif kind == "secret":
                self._add("SECRET", here, here, start, end)
                self._add("SENSITIVE", here, here, start, end)
                if _KEY_FILE.match(text):
                    self._add("KEYFILE", here, here, start, end)
            elif kind == "shell":
                self._add("FETCHRUN", here, here, start, end)
            elif kind == "variable":
                self._add("VARIABLE", here, here, start, end)
                self._add("SECRET", here, here, start, end)
            elif kind == "keys":
                self._add("AUTHKEYS", here, here, start, end)
            elif kind == "image":
                self._add("SINK", here, here, start, end)
            elif kind == "glued":
                self._read_glued(known, text, here, start)
            elif kind == "word":
                self._read_word(known, tokens, positions, index)

    def _derive(self) -> None:
        """What two classes mean together: "no" with "limits" is "unbound"."""
        limits = sorted(place[0] for place in self._places.get("LIMITS", ()))
        for first, last, start, end in self._places.get("NO", ()):
            at = bisect_left(limits, first)
            if at < len(limits) and limits[at] <= last + _SAME_PHRASE:
                self._add("UNBOUND", first, last, start, end)

    def _read_glued(self, known: Lexicon, first: str, here: float, start: int) -> None:
        for opening in (first, self.text[start : start + 2]):
            for word, idea in known.glued.get(opening, ()):
                wanted = word.rstrip("#")
                end = start + len(wanted)
                if not self.text.startswith(wanted, start):
                    continue
                if word.endswith("#") and not re.match(r"\s*\d", self.text[end : end + 4]):
                    continue
                self._add(idea, here, here + (len(wanted) - 1) * _GLUED_WIDTH, start, end)

    def _read_word(
        self,
        known: Lexicon,
        tokens: list[tuple[str | None, str, int, int]],
        positions: list[float],
        index: int,
    ) -> None:
        _, word, start, end = tokens[index]
        here = positions[index]
        following = tokens[index + 1][1] if index + 1 < len(tokens) else ""
        previous = tokens[index - 1][1] if index else ""
        for idea in known.words.get(word, ()):
            if idea != "NOT" or not (
                following in _NO_PROHIBITION or {previous, following} & _ASKING_ELSEWHERE
            ):
                self._add(idea, here, here, start, end)
        if "-" in word or "'" in word:
            for part in re.split("[-']", word):
                for idea in known.words.get(part, ()):
                    self._add(idea, here, here, start, end)
        if not word.isascii() or len(word) > 5:
            for length in range(3, min(len(word), 16) + 1):
                for idea in known.stems.get(word[:length], ()):
                    self._add(idea, here, here, start, end)
        for rest, idea in known.phrases.get((word, "#" if following.isdigit() else following), ()):
            last = index + 1 + len(rest)
            if last < len(tokens) and all(
                wanted == tokens[index + 2 + at][1] or (wanted == "#" and tokens[index + 2 + at][1].isdigit())
                for at, wanted in enumerate(rest)
            ):
                after = tokens[last + 1][1] if last + 1 < len(tokens) else ""
                if idea != "NOT" or after not in _NO_PROHIBITION:
                    self._add(idea, here, positions[last], start, tokens[last][3])

    def _add(self, idea: str, first: float, last: float, start: int, end: int) -> None:
        self._places[idea].append((first, last, start, end))

    def places(self, idea: str) -> list[Place]:
        return self._places.get(idea, [])

    def has(self, idea: str, low: float, high: float, *, apart: Place | None = None) -> bool:
        """Does the idea begin at a position from `low` to `high`, elsewhere than in the place `apart`?"""
        starts = self._starts.get(idea)
        if not starts:
            return False
        at = bisect_left(starts, low)
        while at < len(starts) and starts[at] <= high:
            if apart is None or not self._is_within(self._places[idea][at], apart):
                return True
            at += 1
        return False

    @staticmethod
    def _is_within(inner: Place, outer: Place) -> bool:
        return inner[2] < outer[3] and outer[2] < inner[3]

    def begins_clause(self, place: Place) -> bool:
        """Does the word stand where an order begins: first in its clause, or after `and`, `always`, `you must`?"""
        start = place[2]
        if start in self._leads:
            return True
        return bool(_GLUED_CHARACTER.match(self.text, start)) and not _THIRD_PERSON.search(
            self.text[max(0, start - 4) : start]
        )
