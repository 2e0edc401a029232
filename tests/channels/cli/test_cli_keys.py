"""Keys for a card's buttons: from the labels, each its own, marked where it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.cli.keys import keyed
from echo_bot.events import Button

_CARD = (
    "Approve once",
    "For this session",
    "For 1 hour",
    "Always (exact call)",
    "Deny",
    "Deny with reason",
)


@pytest.mark.parametrize(
    ("labels", "keys"),
    [
        pytest.param(_CARD, "oshadr", id="an approval card has the keys its labels suggest"),
        pytest.param(("Approve once", "Deny"), "od", id="a dangerous call has two"),
        pytest.param(("Yes", "No", "Other answer…"), "yna", id="a question's options work the same way"),
        pytest.param(("The red one", "The blue one"), "ob", id="a taken letter leaves the next word's"),
        pytest.param(("Да", "Нет"), "12", id="letters that not every keyboard has become numbers"),
        pytest.param(("", "…"), "12", id="a label without letters gets a number"),
    ],
)
def test_the_keys(labels: tuple[str, ...], keys: str) -> None:
    assert "".join(each.key for each in keyed(_buttons(labels))) == keys


def test_the_key_is_marked_in_the_label() -> None:
    assert [each.text for each in keyed(_buttons(_CARD))] == [
        "Approve [o]nce",
        "For this [s]ession",
        "For 1 [h]our",
        "[A]lways (exact call)",
        "[D]eny",
        "Deny with [r]eason",
    ]


@given(st.lists(st.text(max_size=20), max_size=50))
def test_every_button_has_a_key_of_its_own(labels: list[str]) -> None:
    found = keyed(_buttons(tuple(labels)))
    assert len({each.key for each in found}) == len(labels)
    for each in found:
        assert each.key.isascii()
        assert each.key.isalnum()
        assert each.key == each.key.lower() == each.parts[1].lower()


def _buttons(labels: tuple[str, ...]) -> tuple[Button, ...]:
    return tuple(Button(label, f"token-{place}") for place, label in enumerate(labels))


def test_labels_without_latin_letters_are_numbered() -> None:
    labels = ("批准一次", "本次会话内批准", "批准一小时", "始终批准（仅此调用）", "拒绝", "修改")
    assert [each.text for each in keyed(_buttons(labels))] == [
        f"[{place}] {label}" for place, label in enumerate(labels, 1)
    ]
