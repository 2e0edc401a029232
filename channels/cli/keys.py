"""A key for each button of a card, made from the labels alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_lowercase, digits

from channels.cli.clean import clean_line
from echo_bot.events import Button

_ASIDE = re.compile(r"\([^)]*\)")
_WORD = re.compile(r"[^\W_]+")
_KEYS = frozenset(ascii_lowercase + digits)


@dataclass(frozen=True, slots=True)
class KeyedButton:
    """A button and its key. `parts` is the label around the marked key: ("Approve ", "o", "nce")."""

    key: str
    button: Button
    parts: tuple[str, str, str]

    @property
    def text(self) -> str:
        before, marked, after = self.parts
        return f"{before}[{marked}]{after}"


def keyed(buttons: tuple[Button, ...]) -> tuple[KeyedButton, ...]:
    """Every button with a key of its own: where it can be, the first letter of the label's last word.

    Once each label had its favourite, the others get a letter of theirs, a digit, or any letter left. Buttons
    beyond 36 get a number of two digits or more.
    """
    labels = [clean_line(button.label) for button in buttons]
    taken: dict[int, str] = {}
    for position, label in enumerate(labels):
        favourite = next(_initials(label), "")
        if favourite and favourite not in taken.values():
            taken[position] = favourite
    for position, label in enumerate(labels):
        if position not in taken:
            taken[position] = _free_key(label, frozenset(taken.values()), position)
    return tuple(
        KeyedButton(taken[position], button, _marked(labels[position], taken[position]))
        for position, button in enumerate(buttons)
    )


def _initials(label: str) -> Iterator[str]:
    """First letters, the last word's first: that is where "Approve once" and "Approve always" differ."""
    words = _WORD.findall(_ASIDE.sub(" ", label).lower())
    return (word[0] for word in reversed(words) if word[0] in _KEYS)


def _free_key(label: str, taken: frozenset[str], position: int) -> str:
    letters = (letter for letter in label.lower() if letter in _KEYS)
    for candidates in (_initials(label), letters, "123456789", ascii_lowercase):
        for candidate in candidates:
            if candidate not in taken:
                return candidate
    return str(position + 10)


def _marked(label: str, key: str) -> tuple[str, str, str]:
    """The label with its key marked where a word begins with it, else anywhere, else in front."""
    starts = [word.start() for word in _WORD.finditer(label) if word[0][0].lower() == key]
    anywhere = label.lower().find(key) if len(key) == 1 and key.isalpha() else -1
    at = starts[-1] if starts else anywhere
    if at < 0 or len(label.lower()) != len(label):
        return ("", key, f" {label}")
    return (label[:at], label[at], label[at + 1 :])
