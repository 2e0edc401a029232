from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echo_bot.config.rewriting import replace_file, value_in, with_keys, without_keys
from echo_bot.config.yaml_tree import parse_yaml
from echo_bot.errors import ConfigError

WRITTEN = """\
# mine
workspace: "~/work"   # where I work
channels:
  telegram:
    allow_from: ["42"]   # me
    group_policy: off

tools:
  deny: [exec]
"""

KEYS = st.dictionaries(
    st.lists(st.sampled_from(["a", "b", "c", "channels"]), min_size=2, max_size=4).map(".".join),
    st.one_of(st.booleans(), st.text("abc:#-'\" é\n", max_size=12), st.lists(st.just("42"), max_size=2)),
    max_size=1,
)


def test_only_the_named_keys_change() -> None:
    changed = with_keys(WRITTEN, {"channels.telegram.enabled": True, "channels.discord.enabled": True}, "f")
    for line in WRITTEN.splitlines():
        assert line in changed.splitlines()
    values = parse_yaml(changed, "f").values
    assert value_in(values, "channels.telegram.enabled") is True
    assert value_in(values, "channels.discord.enabled") is True
    assert value_in(values, "channels.telegram.group_policy") == "off"
    assert value_in(values, "workspace") == "~/work"


@given(KEYS)
def test_a_key_that_was_set_is_read_back_and_the_rest_stays(keys: dict[str, object]) -> None:
    changed = parse_yaml(with_keys("tools:\n  deny: [exec]  # no\n", keys, "f"), "f").values
    for key, value in keys.items():
        assert value_in(changed, key) == value
    assert value_in(changed, "tools.deny") == ["exec"]


@pytest.mark.parametrize("text", ["", "# only a remark\n", "---\n"])
def test_a_file_without_keys_gets_some(text: str) -> None:
    changed = with_keys(text, {"channels.slack.mode": "http"}, "f")
    assert value_in(parse_yaml(changed, "f").values, "channels.slack.mode") == "http"
    assert changed.startswith(text.strip().removesuffix("---"))


def test_a_list_that_grows_keeps_what_stands_beside_its_items() -> None:
    text = "channels:\n  discord:\n    allow_from:\n      - 4242 # the lead\n      - '43'\n"
    changed = with_keys(text, {"channels.discord.allow_from": ["4242", "43", "44"]}, "f")
    assert changed == f"{text}      - '44'\n"


def test_line_ends_stay_as_they_are() -> None:
    changed = with_keys("# mine\r\ntools: # all\r\n  deny: [exec]\r\n", {"channels.slack.mode": "http"}, "f")
    assert changed.count("\n") == changed.count("\r\n") == 6


def test_a_section_that_an_alias_gives_to_another_key_too_is_left_to_a_person() -> None:
    """Else whoever is let in on one platform would be let in on the other."""
    text = "channels:\n  telegram: &same\n    allow_from: ['42']\n  discord: *same\n"
    with pytest.raises(ConfigError, match="alias"):
        with_keys(text, {"channels.discord.allow_from": ["42", "99"]}, "f")


def test_a_list_that_is_an_alias_becomes_one_of_its_own() -> None:
    text = "channels:\n  telegram:\n    allow_from: &us ['42']\n  discord:\n    allow_from: *us\n"
    values = parse_yaml(with_keys(text, {"channels.discord.allow_from": ["42", "99"]}, "f"), "f").values
    assert value_in(values, "channels.telegram.allow_from") == ["42"]
    assert value_in(values, "channels.discord.allow_from") == ["42", "99"]


@pytest.mark.parametrize("text", ["channels: [a]\n", "channels: 3\n"])
def test_what_is_no_section_is_not_overwritten(text: str) -> None:
    with pytest.raises(ConfigError, match="not a section"):
        with_keys(text, {"channels.slack.mode": "http"}, "f")


def test_a_broken_file_is_refused_with_its_line() -> None:
    with pytest.raises(ConfigError, match="f:2"):
        with_keys("a: 1\n b: [\n", {"c.d": 1}, "f")


def test_a_file_is_replaced_whole_and_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.yaml", tmp_path / "link.yaml"
    real.write_text("a: 1\n")
    real.chmod(0o640)
    link.symlink_to(real)
    replace_file(link, "a: 2\n")
    assert (real.read_text(), stat.S_IMODE(real.stat().st_mode), link.is_symlink()) == ("a: 2\n", 0o640, True)
    replace_file(tmp_path / "new" / "config.yaml", "b: 1\n")
    assert stat.S_IMODE((tmp_path / "new" / "config.yaml").stat().st_mode) == 0o600
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.yaml", "new", "real.yaml"]


@pytest.mark.parametrize(
    ("text", "key", "left"),
    [
        (WRITTEN, "channels.telegram.group_policy", WRITTEN.replace("    group_policy: off\n", "")),
        ("a: {b: 1, c: 2}\n", "a.b", "a: {c: 2}\n"),
        ("a:\n  b: >-\n    one\n    two\n  c: 2\n", "a.b", "a:\n  c: 2\n"),
        ("# only\na: 1\n", "a", "# only\n"),
        ("a: 1\n", "b.c", "a: 1\n"),
        ("a:\n  b: 1\nc: 2\n", "a.b", "a:\nc: 2\n"),
    ],
    ids=[
        "a line of its own goes whole",
        "a flow mapping keeps the rest",
        "a text of several lines goes whole",
        "a comment before the key stays",
        "a key that is not there",
        "a section that is left empty",
    ],
)
def test_a_key_is_taken_out(text: str, key: str, left: str) -> None:
    assert without_keys(text, [key], "f") == left


def test_a_key_that_others_refer_to_is_left_to_a_person() -> None:
    with pytest.raises(ConfigError, match="remove it by hand"):
        without_keys("a: &x {t: 1}\nb: *x\n", ["a.t"], "f")


@given(KEYS, KEYS)
def test_taking_out_what_was_set_leaves_the_rest(before: dict[str, object], after: dict[str, object]) -> None:
    try:
        text = with_keys(WRITTEN, before, "f")
        longer = with_keys(text, after, "f")
    except ConfigError:
        return
    shorter = without_keys(longer, after, "f")
    for key in after:
        assert value_in(parse_yaml(shorter, "f").values, key) is None
    for key in ("workspace", "channels.telegram.allow_from", "tools.deny"):
        if key not in after:
            assert value_in(parse_yaml(shorter, "f").values, key) is not None


def test_a_list_that_stays_as_it_is_stays_as_it_is_written() -> None:
    text = "channels:\n  discord:\n    allow_from:\n      - 4242 # the lead\n      - '43'  # Bo\n"
    assert with_keys(text, {"channels.discord.allow_from": ["4242", "43"]}, "f") == text
