"""The lexicon of ideas: which words, phrases and characters stand for which, made once from the vocabularies."""

# ruff: noqa: E501 - patterns are read as one line

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, product

from echo_bot.policy.guards.memory import fold
from echo_bot.policy.guards.memory.vocabulary import VERBS, WORDS
from echo_bot.policy.guards.memory.vocabulary_chinese import CHINESE
from echo_bot.policy.guards.memory.vocabulary_glued import GLUED_PHRASES
from echo_bot.policy.guards.memory.vocabulary_other import OTHERS, PER_CHARACTER
from echo_bot.policy.guards.memory.vocabulary_phrases import PHRASES
from echo_bot.policy.guards.memory.vocabulary_world import GLUED_WORLD, WORLD

_CHOICE = re.compile(r"\{[^}]*\}|[^{]+")
_SPLIT_WORD = re.compile(r"(?<![\w-])[a-z]{1,8}(?:[-.·*_~|'^][a-z]{1,8}){1,8}(?![\w-])")
_ALSO = {"DROP": "DEAD", "SEND": "MOVE"}
"""Where the verb comes last, the idea that is also looked for behind its object."""

_SEPARATOR = re.compile("[^a-z]")
_LEET_WORD = re.compile(r"(?<![\w@$!|.-])(?:[a-z]+[0-9@$!|]|[0-9@$!|]+[a-z])[a-z0-9@$!|]*")
_LEET = str.maketrans("0345789@$!|", "oeastbgasii")


def _forms(verb: str) -> set[str]:
    forms = {
        verb,
        verb + "s",
        verb + "es",
        verb + "ed",
        verb + "d",
        verb + "ing",
        verb + verb[-1] + "ing",
        verb + verb[-1] + "ed",
    }
    if verb.endswith("e"):
        forms.add(verb[:-1] + "ing")
    if verb.endswith("y"):
        forms |= {verb[:-1] + "ies", verb[:-1] + "ied"}
    return forms


def spelt_out(template: str) -> Iterator[str]:
    """Every text of a template: `{no,zero} force` is `no force` and `zero force`; an empty choice leaves no gap."""
    choices = [part[1:-1].split(",") if part[:1] == "{" else [part] for part in _CHOICE.findall(template)]
    for chosen in product(*choices):
        yield " ".join("".join(chosen).split())


def _third_person(verb: str) -> set[str]:
    """ "It runs" tells what is; "run" may be an order."""
    return {verb + "s", verb + "es"}


@dataclass(frozen=True, slots=True)
class Lexicon:
    words: dict[str, set[str]]
    stems: dict[str, set[str]]
    phrases: dict[tuple[str, str], list[tuple[tuple[str, ...], str]]]
    glued: dict[str, list[tuple[str, str]]]


def _opening(word: str) -> str:
    """What a glued word is looked up by: its first two characters, or its only one."""
    return word.rstrip("#")[:2]


@functools.cache
def lexicon() -> Lexicon:
    words: dict[str, set[str]] = defaultdict(set)
    stems: dict[str, set[str]] = defaultdict(set)
    phrases: dict[tuple[str, str], list[tuple[tuple[str, ...], str]]] = defaultdict(list)
    glued: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for idea, verbs in VERBS.items():
        for verb in verbs.split():
            for form in _forms(verb) - (_third_person(verb) if idea in ("ACT", "SERVE") else set()):
                words[form].add(idea)
    for table in (WORDS, OTHERS, WORLD):
        for idea, text in table.items():
            singles, *many = fold.latin(fold.plain(text)).split("|")
            for word in singles.split():
                if word.endswith("*"):
                    stems[word[:-1]].add(idea)
                elif "-" in word or "." in word or "'" in word:
                    words[word].add(idea)
                else:
                    words[word].add(idea)
            for phrase in many:
                first, *rest = phrase.replace("*", "").split() or [""]
                if rest:
                    phrases[first, rest[0]].append((tuple(rest[1:]), idea))
                elif first:
                    words[first].add(idea)
    for idea, templates in PHRASES.items():
        for phrase in chain.from_iterable(map(spelt_out, map(fold.latin, map(fold.plain, templates)))):
            first, second, *others = phrase.split(" ")
            phrases[first, second].append((tuple(others), idea))
    for table in (CHINESE, PER_CHARACTER, GLUED_WORLD):
        for idea, text in table.items():
            for word in map(fold.simplified, fold.plain(text).split()):
                if word[0].isascii():
                    words[word].add(idea)
                else:
                    word = word.replace("_", " ")
                    glued[_opening(word)].append((word, idea))
                    if idea in _ALSO and (table is not CHINESE or idea == "DROP"):
                        glued[_opening(word)].append((word, _ALSO[idea]))
    for idea, templates in GLUED_PHRASES.items():
        for word in chain.from_iterable(map(spelt_out, map(fold.plain, templates))):
            word = fold.simplified(word)
            glued[_opening(word)].append((word, idea))
    return Lexicon(words, stems, phrases, {first: list(dict.fromkeys(some)) for first, some in glued.items()})


def ideas_known() -> frozenset[str]:
    """The names of all ideas."""
    tables = (VERBS, WORDS, CHINESE, OTHERS, PER_CHARACTER, WORLD, GLUED_WORLD, PHRASES, GLUED_PHRASES)
    return frozenset(chain.from_iterable(tables)) | {
        "ADDRESS",
        "SENSITIVE",
        "AUTHKEYS",
        "VARIABLE",
        "KEYFILE",
    }


def unleet(latin_text: str) -> str | None:
    """The text with digits and marks used as letters undone; None when fewer than two words have any."""
    if len(_LEET_WORD.findall(latin_text)) < 2:
        return None
    return _LEET_WORD.sub(_undone, latin_text)


def unsplit(latin_text: str) -> str | None:
    """The text with words put together that marks split (`ig-nore`); None when that makes no known word."""
    known = lexicon().words
    changed = False

    def joined(found: re.Match[str]) -> str:
        nonlocal changed
        word = _SEPARATOR.sub("", found[0])
        if word not in known or found[0] in known:
            return found[0]
        changed = True
        return word

    together = _SPLIT_WORD.sub(joined, latin_text)
    return together if changed else None


def _undone(found: re.Match[str]) -> str:
    known = lexicon().words
    word = found[0].translate(_LEET)
    for letter in ("i", "l"):
        if (variant := word.replace("1", letter)) in known:
            return variant
    halves = word.replace("1", "l", 1).replace("1", "i")
    return halves if halves in known else word.replace("1", "i")
