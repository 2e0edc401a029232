"""The language people read, chosen once when a bot starts. The sentences in the source are English.

`_` is asked where a sentence is shown, never when a module is loaded, so that the choice holds for all.
What goes to the model, to logs and to the audit is not passed through it and stays English.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from gettext import NullTranslations, translation
from pathlib import Path
from typing import Final, Literal

Language = Literal["en", "zh"]

DOMAIN: Final = "echo_bot"
FOLDER: Final = Path(__file__).parent.parent / "locale"
"""`<language>/LC_MESSAGES/echo_bot.po` and what it compiles to."""

Say = Callable[[str], str]
"""How a sentence that both people and the model read is said: `_` for people, `english` for the model."""

_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")

_chosen: NullTranslations = NullTranslations()
_code: Language = "en"


def language_of(wanted: Literal["auto", "en", "zh"], environment: Mapping[str, str]) -> Language:
    """What the configuration says; `auto` is that of the first variable of the locale that is set."""
    if wanted != "auto":
        return wanted
    locale = next((value for name in _VARIABLES if (value := environment.get(name))), "")
    return "zh" if locale.lower().startswith("zh") else "en"


def choose(language: Language) -> None:
    """From now on everything in this process is said in this language."""
    global _chosen, _code
    _chosen = NullTranslations() if language == "en" else translation(DOMAIN, FOLDER, [language])
    _code = language


def chosen() -> Language:
    return _code


def _(message: str) -> str:
    """The sentence in the chosen language; one that the catalogue does not hold stays as it is."""
    return _chosen.gettext(message) if message else ""


def ngettext(one: str, many: str, number: int) -> str:
    """The template for this number of things."""
    return _chosen.ngettext(one, many, number)


def N_(message: str) -> str:
    """Marks a constant for the catalogue; whoever shows it passes it through `_`."""
    return message


def english(message: str) -> str:
    """The sentence as the source says it."""
    return message


def is_english(say: Say) -> bool:
    return say is english or _code == "en"


def listed(items: Iterable[str], say: Say | None = None) -> str:
    """ "a, b, c"."""
    return (say or _)(N_(", ")).join(items)
