"""What a configuration says that cannot come true: told at the start, and refused nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from echo_bot.channel import ChannelManifest, SenderIds
from echo_bot.config.checks import check, check_senders
from echo_bot.config.loader import config_from_keys


@pytest.mark.parametrize(
    ("listed", "warned"),
    [("123456789", False), ("*", False), ("Ada", True), ("@ada", True), ("12 34", True), ("１２", True)],
)
def test_a_name_where_a_sender_id_belongs_is_a_warning(listed: str, warned: bool) -> None:
    telegram = ChannelManifest("telegram", "Telegram", "x:y", sender_ids=SenderIds(r"\d+", "a number"))
    config = config_from_keys({"channels.telegram.allow_from": [listed]}, [telegram])
    found = check_senders(config, [telegram])
    assert [each.key for each in found] == (["channels.telegram.allow_from"] if warned else [])
    assert not any(each.refuses for each in found)


@pytest.mark.parametrize("language", ["auto", "en", "zh"])
def test_no_language_is_objected_to(language: str) -> None:
    assert not [each for each in check(config_from_keys({"language": language})) if each.key == "language"]


@pytest.mark.parametrize(
    ("key", "written", "warned"),
    [
        ("delivery.targets", {"ops": "telegram:-100"}, []),
        ("delivery.targets", {"ops": "telgram:-100"}, ["delivery.targets.ops"]),
        ("delivery.targets", {"ops": "telegram/second:-100"}, ["delivery.targets.ops"]),
        ("delivery.allowed_targets", ["telegram:-100:55", "matrix:1"], ["delivery.allowed_targets.1"]),
        ("permissions.approval.route", ["matrix:1"], ["permissions.approval.route.0"]),
        ("permissions.approval.route", "dm", []),
        ("permissions.approval.escalate_to", ["owner", "matrix:1"], ["permissions.approval.escalate_to.1"]),
        ("inspection.target", "matrix:1", ["inspection.target"]),
    ],
)
def test_a_target_on_a_channel_that_there_is_none_of_is_a_warning(
    key: str, written: object, warned: list[str]
) -> None:
    found = [each for each in check(config_from_keys({key: written})) if "no channel" in each.sentence]
    assert [each.key for each in found] == warned
    assert not any(each.refuses for each in found)


@pytest.mark.parametrize("key", ["permissions.admin_users", "permissions.approval.approvers"])
@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("telegram:42", ""),
        ("telegram/second:42", ""),
        ("cli:local", ""),
        ("ada", "such as telegram:123456789"),
        ("42", "such as telegram:123456789"),
        ("telegarm:42", "there is no channel telegarm; did you mean telegram?"),
        ("telegram:@ada", "an id is a number"),
        ("api:ci", "no token of gateway.admin_tokens"),
    ],
)
def test_whoever_decides_and_can_be_nobody_is_a_warning(key: str, written: str, says: str) -> None:
    telegram = ChannelManifest("telegram", "Telegram", "x:y", sender_ids=SenderIds(r"-?\d+", "a number"))
    config = config_from_keys({key: [written]}, [telegram])
    found = [each for each in (*check(config), *check_senders(config, [telegram])) if each.key == key]
    assert len(found) == bool(says)
    assert all(says in each.sentence and not each.refuses for each in found)


def test_a_workspace_that_is_not_there_is_a_warning(tmp_path: Path) -> None:
    for folder, warned in ((tmp_path, False), (tmp_path / "lisbn", True)):
        found = [
            each for each in check(config_from_keys({"workspace": str(folder)})) if each.key == "workspace"
        ]
        assert ["there is no such folder" in each.sentence for each in found] == [True] * warned


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("channels.web.group_policy", "mention", ""),
        ("channels.web.group_policy", "open", "no groups"),
        ("channels.web.proxy", "http://127.0.0.1:3128", "connects to nothing"),
        ("channels.cli.api_base", "http://127.0.0.1:1", "connects to nothing"),
        ("channels.webhook.api_base", "http://127.0.0.1:1", "callback_url"),
        ("channels.webhook.accounts.ci.api_base", "http://127.0.0.1:1", "callback_url"),
        ("channels.webhook.proxy", "http://127.0.0.1:3128", ""),
        ("channels.slack.group_policy", "open", ""),
    ],
)
def test_a_key_that_means_nothing_on_its_channel_is_a_warning_once_it_is_changed(
    key: str, value: str, why: str
) -> None:
    found = [each for each in check(config_from_keys({key: value})) if each.key == key]
    assert len(found) == bool(why)
    assert all(why in each.sentence and not each.refuses for each in found)
    assert not any(value in each.sentence for each in found)
