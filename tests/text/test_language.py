"""The catalogue holds exactly what the source says, whole, and the choice of the language is late."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from typing import Literal

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from echo_bot.approval.request import Choice
from echo_bot.approval.words import Words
from echo_bot.text.language import DOMAIN, FOLDER, _, choose, chosen, english, language_of, listed

ROOT = Path(__file__).parents[2]
PO = FOLDER / "zh" / "LC_MESSAGES" / f"{DOMAIN}.po"
METHODS = [("**.py", "python"), ("channels/web/page/*.js", "javascript")]
KEYWORDS: dict[str, tuple[int, ...] | None] = {"_": None, "N_": None, "fill": None, "ngettext": (1, 2)}
HAN = re.compile("[\u4e00-\u9fff]")
AS_THEY_ARE = {"key=value …", "at {time} on {weekdays}", " and ", "Echo Bot:"}
"""Their translations need no word."""


@pytest.fixture(autouse=True)
def ends_in_english() -> Iterator[None]:
    yield
    choose("en")


@pytest.fixture(scope="module")
def catalogue() -> Catalog:
    with PO.open("rb") as file:
        return read_po(file, locale="zh")


@pytest.fixture(scope="module")
def source() -> dict[str, str]:
    """Every sentence that the source asks for, with where it stands."""
    found: dict[str, str] = {}
    for folder in ("echo_bot", "channels"):
        asked = extract_from_dir(
            ROOT / folder,
            [(pattern.removeprefix(f"{folder}/"), method) for pattern, method in METHODS],
            {"web/page/*.js": {"parse_template_string": "true"}},
            KEYWORDS,
        )
        for name, line, message, _comments, _context in asked:
            for each in [message] if isinstance(message, str) else message:
                found.setdefault(each, f"{folder}/{name}:{line}")
    return found


def ids_of(message: Message) -> tuple[str, ...]:
    return message.id if isinstance(message.id, tuple) else (str(message.id),)


def said_of(message: Message) -> tuple[str, ...]:
    said = message.string
    return tuple(said) if isinstance(said, list | tuple) else (str(said),)


def has_words(message: Message) -> bool:
    text = re.sub(r"\{[^}]*\}", "", ids_of(message)[0])
    return bool(re.search("[A-Za-z]", text)) and message.id not in AS_THEY_ARE


def entries(catalogue: Catalog) -> list[Message]:
    return [message for message in catalogue if message.id]


def placeholders(template: str) -> set[tuple[str, str]]:
    return {(name, spec or "") for _text, name, spec, _how in string.Formatter().parse(template) if name}


def test_every_sentence_of_the_source_is_in_the_catalogue(catalogue: Catalog, source: dict[str, str]) -> None:
    there = {each for message in entries(catalogue) for each in ids_of(message)}
    assert {text: place for text, place in source.items() if text not in there} == {}


def test_the_catalogue_holds_nothing_else(catalogue: Catalog, source: dict[str, str]) -> None:
    there = {each for message in entries(catalogue) for each in ids_of(message)}
    assert there - source.keys() == set()
    assert not catalogue.obsolete


def test_every_sentence_is_translated(catalogue: Catalog) -> None:
    untranslated = [
        message.id
        for message in entries(catalogue)
        for said in said_of(message)
        if not said or message.fuzzy or (has_words(message) and not HAN.search(said))
    ]
    assert untranslated == []


def test_the_placeholders_are_the_same(catalogue: Catalog) -> None:
    differing = [
        message.id
        for message in entries(catalogue)
        for said in said_of(message)
        if placeholders(said) != placeholders(ids_of(message)[-1])
    ]
    assert differing == []


def test_what_is_loaded_is_what_the_catalogue_compiles_to(catalogue: Catalog) -> None:
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    with PO.with_suffix(".mo").open("rb") as file:
        committed = GNUTranslations(file)
    wanted = GNUTranslations(compiled)
    for message in entries(catalogue):
        one, *many = ids_of(message)
        if many:
            assert committed.ngettext(one, many[0], 3) == wanted.ngettext(one, many[0], 3)
        else:
            assert committed.gettext(one) == wanted.gettext(one) == said_of(message)[0]
    assert sentences(committed) == sentences(wanted)


def sentences(translations: GNUTranslations) -> dict[object, object]:
    return {key: said for key, said in vars(translations)["_catalog"].items() if key}


def test_no_two_sentences_differ_in_case_or_blanks_alone(source: dict[str, str]) -> None:
    folded: dict[str, str] = {}
    alike = []
    for text in source:
        key = " ".join(text.casefold().split())
        if folded.setdefault(key, text) != text:
            alike.append((folded[key], text))
    assert alike == []


def asked_in(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name("_" | "N_" | "ngettext")):
                yield node


def test_no_template_is_made_while_it_runs_and_none_hides_in_an_f_string() -> None:
    """An extractor sees neither."""
    found = []
    for path in (path for folder in ("echo_bot", "channels") for path in (ROOT / folder).rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        made = [call for call in asked_in(tree) if isinstance(call.args[0], ast.JoinedStr | ast.BinOp)]
        inside = (
            call for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for call in asked_in(node)
        )
        hidden = [call for call in inside if isinstance(call.args[0], ast.Constant)]
        found += [f"{path.relative_to(ROOT)}:{call.lineno}" for call in (*made, *hidden)]
    assert found == []


@pytest.mark.parametrize(
    ("wanted", "environment", "language"),
    [
        ("auto", {}, "en"),
        ("auto", {"LANG": "zh_CN.UTF-8"}, "zh"),
        ("auto", {"LANG": "zh"}, "zh"),
        ("auto", {"LANG": "ZH_TW"}, "zh"),
        ("auto", {"LANG": "C.UTF-8"}, "en"),
        ("auto", {"LANG": "de_DE.UTF-8"}, "en"),
        ("auto", {"LC_MESSAGES": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
        ("auto", {"LC_MESSAGES": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ("auto", {"LC_ALL": "C", "LC_MESSAGES": "zh_CN", "LANG": "zh_CN"}, "en"),
        ("auto", {"LC_ALL": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
        ("auto", {"LC_ALL": "", "LANG": "zh_CN.UTF-8"}, "zh"),
        ("auto", {"LANGUAGE": "zh_CN"}, "en"),
        ("zh", {"LC_ALL": "en_US.UTF-8"}, "zh"),
        ("en", {"LC_ALL": "zh_CN.UTF-8"}, "en"),
    ],
)
def test_auto_is_the_language_of_the_locale(
    wanted: Literal["auto", "en", "zh"], environment: dict[str, str], language: str
) -> None:
    assert language_of(wanted, environment) == language


def test_constants_are_said_in_the_language_of_now() -> None:
    assert (Words.tool, Choice.DENY.label, listed(["a", "b"])) == ("Tool", "Deny", "a, b")
    choose("zh")
    assert (Words.tool, Choice.DENY.label, listed(["a", "b"])) == ("工具", "拒绝", "a、b")
    assert listed(["a", "b"], english) == "a, b"
    choose("en")
    assert (chosen(), Words.tool, Choice.DENY.label) == ("en", "Tool", "Deny")


def test_nothing_and_the_unknown_stay_as_they_are() -> None:
    choose("zh")
    assert (_(""), _("no sentence of ours")) == ("", "no sentence of ours")
